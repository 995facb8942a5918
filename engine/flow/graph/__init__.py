"""The serialised DAG: what the DAG processor stores and every other role reads."""

from flow.graph.canonical import decode, encode, spec_hash
from flow.graph.index import Graph, head
from flow.graph.spec import DagSpec, GroupSpec, TaskSpec, TriggerRule

__all__ = [
    "DagSpec",
    "Graph",
    "GroupSpec",
    "TaskSpec",
    "TriggerRule",
    "decode",
    "encode",
    "head",
    "spec_hash",
]

"""`flow parse`: turns DAG files into stored definitions. Any number side by side."""

from flow.roles.parse.memory import Memory
from flow.roles.parse.parser import Parser
from flow.roles.parse.role import serve
from flow.roles.parse.settings import Settings

__all__ = ["Memory", "Parser", "Settings", "serve"]

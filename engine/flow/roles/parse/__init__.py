"""`flow parse`: turns DAG files into stored definitions. Any number side by side."""

from flow.roles.parse.parser import Memory, Parser, Settings
from flow.roles.parse.role import serve

__all__ = ["Memory", "Parser", "Settings", "serve"]

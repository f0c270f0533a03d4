"""What servers need that load files and no modules, such as Aegra: "./app.py:make_graph", "./app.py:auth"."""

from taskloom.agent.graph import make_graph
from taskloom.agent.graph.auth import auth

__all__ = ["auth", "make_graph"]

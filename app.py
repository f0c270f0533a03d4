"""The graph for servers that load a file and no module, such as Aegra: "./app.py:make_graph"."""

from taskloom.agent.graph import make_graph

__all__ = ["make_graph"]

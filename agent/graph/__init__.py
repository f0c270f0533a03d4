"""The LangGraph application: nodes, the services they are given, and what builds the graph."""

from taskloom.agent.turn.state import Context

from .build import build_graph, make_graph
from .services import Services
from .wiring import default_services

__all__ = ["Context", "Services", "build_graph", "default_services", "make_graph"]

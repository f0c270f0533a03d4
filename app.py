"""What servers need that load files and no modules, such as Aegra by aegra.json."""

from typing import Any

from taskloom.agent.graph import make_graph
from taskloom.agent.graph.auth import auth
from taskloom.agent.graph.consolidating import make_consolidation
from taskloom.agent.graph.watching import make_watching

__all__ = ["auth", "make_consolidation", "make_graph", "make_watching"]


def __getattr__(name: str) -> Any:
    """`web`: /metrics as an application of FastAPI's, which Aegra wants; others may not have the library."""
    if name != "web":
        raise AttributeError(name)
    from fastapi import FastAPI

    from taskloom.agent.graph.web import middleware

    return FastAPI(middleware=middleware)

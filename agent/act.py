"""The tools that a host application gives the graph; it stands in `taskloom.agent.acting`."""

from .acting.equipment import Equipment

__all__ = ["Equipment"]

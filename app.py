"""What servers need that load files and no modules, such as Aegra by aegra.json."""

from taskloom.agent.graph import make_graph
from taskloom.agent.graph.auth import auth
from taskloom.agent.graph.consolidating import make_consolidation

__all__ = ["auth", "make_consolidation", "make_graph"]

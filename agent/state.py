"""What a host application gives a run and gets from it; it stands in `taskloom.agent.turn`."""

from .turn.decisions import Approval, CallDecision, Decision, EditedAction
from .turn.state import Context, Turn

__all__ = ["Approval", "CallDecision", "Context", "Decision", "EditedAction", "Turn"]

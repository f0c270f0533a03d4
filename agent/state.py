"""What a host application gives a run and gets from it; it stands in `taskloom.agent.turn`."""

from .turn.state import Approval, CallDecision, Context, Decision, EditedAction, Turn

__all__ = ["Approval", "CallDecision", "Context", "Decision", "EditedAction", "Turn"]

"""What the graph asks leave for before it goes on, and the answers that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator


class ActionRequest(BaseModel):
    """A call that waits for approval, in the form of LangChain's human-in-the-loop middleware."""

    model_config = ConfigDict(frozen=True)
    name: str = Field(description="The tool.")
    args: dict[str, Any] = Field(description="Its parameters.")
    description: str = Field(default="", description="What it is for, and what is known of earlier tries.")


class Approval(BaseModel):
    """What the graph asks for before it goes on: the value of an interrupt."""

    model_config = ConfigDict(frozen=True)
    action: Literal["remove", "load", "call"] = Field(
        description="remove: a whole task with its parts leaves the plan. load: an import takes its place. "
        "call: tools with side effects are called."
    )
    question: str = Field(description="What to ask the user.")
    tasks: tuple[str, ...] = Field(default=(), description="Titles of the tasks that would go.")
    action_requests: tuple[ActionRequest, ...] = Field(default=(), description="The calls, for 'call'.")


class EditedAction(BaseModel):
    """A call with other parameters."""

    model_config = ConfigDict(frozen=True)
    name: str = Field(default="", description="The tool; it cannot be exchanged for another.")
    args: dict[str, Any]


class CallDecision(BaseModel):
    """The decision on one call, in the form of LangChain's human-in-the-loop middleware."""

    model_config = ConfigDict(frozen=True)
    type: Literal["approve", "edit", "reject"]
    edited_action: EditedAction | None = Field(default=None, description="For 'edit'.")
    message: str = Field(default="", description="For 'reject': why.")

    @model_validator(mode="after")
    def _edits(self) -> CallDecision:
        if (self.type == "edit") != (self.edited_action is not None):
            raise ValueError("an edit, and nothing else, needs edited_action with the new args")
        return self


_WANTED = "an approval needs either approve (true or false) or decisions on the calls, not both"


class Decision(BaseModel):
    """The answer to an `Approval`.

    Resume with {"approve": true} or {"approve": false}, or just true, false, "yes" or "no"; calls may be
    decided one by one, in their order, with {"decisions": [{"type": "approve"}, {"type": "edit",
    "edited_action": {"args": {...}}}, {"type": "reject", "message": "too expensive"}]}.
    """

    model_config = ConfigDict(frozen=True)
    approve: StrictBool | None = Field(
        default=None, description="Whether to go ahead; false leaves everything as it is."
    )
    decisions: tuple[CallDecision, ...] = Field(default=(), description="One for each call, in order.")

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, given: Any) -> Any:
        """A bare yes or no; nothing else goes for one by accident."""
        said = {"yes": True, "no": False}.get(given.strip().lower()) if isinstance(given, str) else given
        if isinstance(said, bool):
            return {"approve": said}
        if not isinstance(given, Mapping | Decision):
            raise ValueError(_WANTED)
        return given

    @model_validator(mode="after")
    def _decided(self) -> Decision:
        if (self.approve is None) == (not self.decisions):
            raise ValueError(_WANTED)
        return self


class OneDecision(Decision):
    """The answer to an `Approval` of one thing: a removal, an import."""

    @model_validator(mode="after")
    def _one(self) -> OneDecision:
        if len(self.decisions) > 1 or any(one.type == "edit" for one in self.decisions):
            raise ValueError("there is one thing to decide here: give approve, true or false")
        return self

    @property
    def goes(self) -> bool:
        """Whether to go ahead."""
        return self.decisions[0].type == "approve" if self.decisions else self.approve is True

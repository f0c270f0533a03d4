"""Schemas of tasks: which slots a kind of task has."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class SlotSchema(BaseModel):
    """One slot of a kind of task."""

    model_config = ConfigDict(frozen=True)
    name: str
    description: str = ""
    required: bool = False
    values: tuple[str, ...] = Field(default=(), description="Allowed values; () allows any.")
    examples: tuple[str, ...] = Field(default=(), description="Some values of a slot that allows any.")


class TaskSchema(BaseModel):
    """A kind of task and the slots it has, in the order in which to ask for them."""

    model_config = ConfigDict(frozen=True)
    name: str
    description: str = ""
    slots: tuple[SlotSchema, ...] = ()


class SchemaError(ValueError):
    """A task schema that cannot be read; the message names the place and what belongs there."""

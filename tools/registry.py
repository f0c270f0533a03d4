"""Equipped functions: the tools an agent has, each with what it needs of the tasks and gives to them.

A registry is a mapping from name to tool. Selection gives names: those that are always there, then those
that a query finds (langgraph-bigtool does it so; TaskGen calls them equipped functions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import TIMEOUT_MAX, Lock
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.pydantic import get_fields
from langgraph.pregel import Pregel
from pydantic import BaseModel, PydanticUserError

from .agents import inner_agent
from .errors import ToolDefinitionError
from .functions import function_tool
from .index import Index

Thing = BaseTool | Callable[..., Any] | Pregel[Any, Any, Any, Any]

# Parameters that are filled in here, never by a caller, in a tool that marks them with InjectedToolArg: the
# shared variables; what was completed before, for an inner agent; a name of this call for good.
INJECTED = ("shared", "completed", "idempotency_key")

_NAME = re.compile(r"[\w-]{1,128}", re.ASCII)
_SLOT = re.compile(r"[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class Equipped:
    """A tool with what Taskloom has to know of it.

    needs: the slot that each parameter is filled from; () for a tool that only a model can call. gives: the
    slot that holds its result; '' where the tool declares none. side_effects: whether it changes something
    outside; then it is approved before, and never run twice for one approval. always: selected for every
    task. users, schemas: who may use it, and for which kinds of tasks; () for all. timeout: seconds of one
    call. attempts: calls for one result while there is a transient error; with side effects only one.
    """

    tool: BaseTool
    needs: Mapping[str, str] = field(default_factory=dict)
    gives: str = ""
    side_effects: bool = False
    always: bool = False
    users: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset()
    timeout: float = 60.0
    attempts: int = 3

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool.name

    @property
    def declared(self) -> bool:
        """Whether it can run from slots, without a model."""
        return bool(self.needs)

    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the parameters that a caller gives; injected ones are not among them."""
        schema = self.tool.tool_call_schema
        if isinstance(schema, dict):
            return schema
        definition: dict[str, Any] = (
            schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()
        )
        return definition

    def hidden(self) -> tuple[str, ...]:
        """The parameters that no caller gives."""
        shown = self.tool.tool_call_schema
        if isinstance(shown, dict):
            return ()
        visible = get_fields(shown)
        return tuple(name for name in get_fields(self.tool.get_input_schema()) if name not in visible)


def equip(
    thing: Thing,
    *,
    needs: Sequence[str] | Mapping[str, str] = (),
    gives: str = "",
    side_effects: bool | None = None,
    always: bool = False,
    users: Iterable[str] = (),
    schemas: Iterable[str] = (),
    timeout: float = 60.0,
    attempts: int = 3,
    name: str = "",
    description: str = "",
) -> Equipped:
    """A tool from anything that LangChain calls one, a typed function, or a compiled graph.

    Args:
        thing: a BaseTool, a function with docstring and annotations, or a graph with `messages` in its state
            (an inner agent).
        needs: slots that it is filled from; a mapping where parameters have other names than the slots.
        gives: the slot of its result; default the tool's name, where it needs slots.
        side_effects: default what the tool's metadata says; False where it says nothing.
        always: whether it is selected for every task.
        users: ids of those who may use it; () for all.
        schemas: names of the kinds of tasks that it is for; () for all.
        timeout: seconds that a call may take.
        attempts: calls while there is a transient error.
        name: of an inner agent; other tools have names.
        description: of an inner agent.

    Raises:
        ToolDefinitionError: something is missing, or `needs` names no parameter; the message says what.
    """
    if isinstance(thing, Pregel):
        tool: BaseTool = inner_agent(thing, name=name, description=description)
    elif name or description:
        raise ToolDefinitionError(f"{thing!r:.80}: only an inner agent gets a name and a description here")
    elif isinstance(thing, BaseTool):
        tool = thing
    else:
        tool = function_tool(thing)
    given = {"needs": needs, "users": users, "schemas": schemas}
    if texts := [which for which, one in given.items() if isinstance(one, str)]:
        raise ToolDefinitionError(f"{tool.name} cannot be equipped: {', '.join(texts)}: a list, not a text")
    mapped = needs if isinstance(needs, Mapping) else _by_parameter(tool.name, needs)
    if side_effects is None:
        side_effects = bool((tool.metadata or {}).get("side_effects", False))
    equipped = Equipped(
        tool=tool, needs=dict(mapped), gives=gives or (tool.name if mapped else ""),
        side_effects=side_effects, always=always, users=frozenset(users), schemas=frozenset(schemas),
        timeout=timeout, attempts=1 if side_effects else attempts,
    )  # fmt: skip
    if faults := [*_faults(equipped), *_parameter_faults(equipped)]:
        raise ToolDefinitionError(f"{equipped.name} cannot be equipped: {'; '.join(faults)}")
    return equipped


def _by_parameter(tool: str, slots: Iterable[str]) -> dict[str, str]:
    """Slots by the parameters that are called as their last parts are."""
    mapped: dict[str, str] = {}
    for slot in slots:
        if (before := mapped.setdefault(slot.rpartition(".")[2], slot)) != slot:
            raise ToolDefinitionError(
                f"{tool} cannot be equipped: the slots {before} and {slot} would fill one parameter; "
                "write needs as a mapping from parameters to slots"
            )
    return mapped


def _faults(equipped: Equipped) -> Iterator[str]:
    """What keeps a tool from being used as it is equipped, its parameters apart."""
    if not _NAME.fullmatch(equipped.name):
        yield "its name is not 1 to 128 letters, digits, _ and -"
    if not (equipped.tool.description or "").strip():
        yield "it has no description"
    slots = [*equipped.needs.values(), *filter(None, [equipped.gives])]
    if wrong := [repr(slot) for slot in slots if not _SLOT.fullmatch(slot)]:
        yield f"{', '.join(wrong)} cannot name a slot (letters, digits, _ and -, with dots between parts)"
    if not 0 < equipped.timeout < TIMEOUT_MAX:
        yield "its timeout is not a number of seconds above 0"
    if equipped.attempts < 1:
        yield "it has no attempt"


def _parameter_faults(equipped: Equipped) -> Iterator[str]:
    """What is wrong with a tool's parameters, and with the slots that they are to be filled from."""
    from jsonschema.exceptions import SchemaError  # with what it imports, no chat without tools needs it
    from jsonschema.validators import validator_for

    if unfilled := [name for name in equipped.hidden() if name not in INJECTED]:
        yield f"nothing fills its injected parameter {', '.join(unfilled)} (there are {', '.join(INJECTED)})"
    try:
        schema = equipped.parameters()
        validator_for(schema).check_schema(schema)
    except PydanticUserError as error:
        yield f"it has a parameter that JSON cannot hold: {error.message.splitlines()[0]}"
        return
    except SchemaError as error:
        yield f"its parameters are no JSON Schema: {error.json_path}: {error.message}"
        return
    if not equipped.needs:
        return
    known = schema.get("properties", {})
    if unknown := [one for one in equipped.needs if one not in known]:
        yield f"it has no parameter {', '.join(unknown)} (it has {', '.join(known) or 'none'})"
    if left := [one for one in schema.get("required", ()) if one not in equipped.needs]:
        yield f"its parameter {', '.join(left)} is required and no slot fills it"


class Registry(Mapping[str, Equipped]):
    """The tools of an agent, by name."""

    def __init__(self, equipped: Iterable[Equipped] = (), index: Callable[[], Index] | None = None) -> None:
        """The tools, and what finds them.

        Args:
            equipped: tools with different names.
            index: makes the index that selection searches, when it is first needed; without one, selection
                takes the tools in their order.

        Raises:
            ToolDefinitionError: two tools have one name.
        """
        self._tools: dict[str, Equipped] = {}
        for one in equipped:
            if one.name in self._tools:
                raise ToolDefinitionError(f"two tools are called {one.name}; names must differ")
            self._tools[one.name] = one
        self._index = None if index is None else _Lazy(index, self._texts)

    def __getitem__(self, name: str) -> Equipped:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def _texts(self) -> dict[str, str]:
        return {name: searched(one) for name, one in self._tools.items() if not one.always}

    def allowed(
        self, name: str, *, user: str = "", schemas: Iterable[str] = (), above: Iterable[str] = ()
    ) -> bool:
        """Whether a tool may be used by a user, for tasks of these kinds, below these agents.

        above: the agents that called this one, from the top; none of them may be called again.
        """
        one = self._tools[name]
        return (
            (not one.users or user in one.users)
            and (not one.schemas or not one.schemas.isdisjoint(schemas))
            and name not in above
        )

    def select(
        self,
        query: str,
        limit: int,
        *,
        user: str = "",
        schemas: Sequence[str] = (),
        above: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Names of the tools for a task: those that are always there, then the ones most like the words.

        limit: how many beside those that are always there; all of them, in their order, if they are not more.
        """

        def may(name: str) -> bool:
            return self.allowed(name, user=user, schemas=schemas, above=above)

        always = [name for name, one in self._tools.items() if one.always and may(name)]
        others = [name for name, one in self._tools.items() if not one.always and may(name)]
        if self._index is None or len(others) <= limit:
            return (*always, *others[:limit])
        chosen: list[str] = []
        wanted, total = limit, len(self._tools)
        while len(chosen) < limit:  # tools of others may stand before those that may be used
            found = self._index.search(query, wanted)
            chosen = [name for name in found if name in self._tools and may(name)][:limit]
            if wanted >= total:
                break
            wanted = min(4 * wanted, total)
        return (*always, *chosen)


def searched(equipped: Equipped) -> str:
    """The text by which a tool is found: its name in words, and what it does, a line each."""
    description = " ".join(
        line for line in equipped.tool.description.splitlines() if not line.startswith("Gives:")
    )
    return f"{equipped.name.replace('_', ' ')}\n{' '.join(description.split())}"


class _Lazy:
    """An index that is filled when it is first searched."""

    def __init__(self, make: Callable[[], Index], texts: Callable[[], dict[str, str]]) -> None:
        self._make, self._texts, self._guard = make, texts, Lock()
        self._index: Index | None = None

    def search(self, query: str, limit: int) -> list[str]:
        with self._guard:
            if self._index is None:
                index = self._make()
                index.put(self._texts())
                self._index = index
        return [found.key for found in self._index.search(query, limit)]

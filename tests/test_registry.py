"""Equipped functions: what can be one, what is refused and why, and how they are selected."""

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from taskloom.agent.acting.index import HybridIndex
from taskloom.memory.embed import Embedder, Vectors
from taskloom.tools.agents import Completed
from taskloom.tools.calls import call, validated
from taskloom.tools.errors import ToolDefinitionError, ToolError
from taskloom.tools.index import Found, Index
from taskloom.tools.registry import INJECTED, Equipped, Registry, equip, searched
from taskloom.tools.shared import Shared, SharedVariables
from tests.chroma_server import HashEmbedder


def flights(destination: str, date: str, seats: int = 1) -> str:
    """Look flights up.

    Args:
        destination: Where to.
        date: When.
        seats: How many.
    """
    return f"{seats} to {destination} on {date}"


async def pay(amount: float) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def plain(text: str) -> str:
    """Say it again."""
    return text


def nosy(
    text: str, shared: SharedVariables, completed: Completed, idempotency_key: Annotated[str, InjectedToolArg]
) -> str:
    """Say what was filled in."""
    return f"{text} {shared['budget']} {completed} {idempotency_key}"


class Shout(BaseTool):
    name: str = "shout"
    description: str = "Say it loudly."

    def _run(self, text: str) -> str:
        return text.upper()


class Bare(TypedDict):
    words: str


def desk(state: Any = MessagesState) -> Any:
    builder = StateGraph(state)
    builder.add_node("say", lambda state: {"messages": [AIMessage("done it")]} if "messages" in state else {})
    builder.add_edge(START, "say")
    builder.add_edge("say", END)
    return builder.compile()


def served(schema: dict[str, Any], name: str = "remote") -> BaseTool:
    """A tool whose parameters are JSON Schema, as those of MCP servers are."""
    return StructuredTool.from_function(
        func=lambda **given: str(given), name=name, description="Do it elsewhere.", args_schema=schema
    )


def named(name: str, description: str = "Do something.", **more: Any) -> Equipped:
    return equip(StructuredTool.from_function(lambda: "", name=name, description=description), **more)


def refusal(thing: Any, **more: Any) -> str:
    with pytest.raises(ToolDefinitionError) as error:
        equip(thing, **more)
    return str(error.value)


# ---- what can be equipped -------------------------------------------------------------------------


def test_every_kind_of_thing() -> None:
    @tool
    def spoken(text: str) -> str:
        """Say it."""
        return text

    model = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    things: list[tuple[Any, dict[str, Any]]] = [
        (plain, {}), (spoken, {}), (Shout(), {}), (served(model), {}),
        (desk(), {"name": "desk", "description": "Does what a desk does."}),
    ]  # fmt: skip
    for thing, more in things:
        one = equip(thing, **more)
        properties = one.parameters()["properties"]
        (param,) = properties
        assert not one.declared
        assert one.gives == ""
        assert call(one, {param: "hello"}, shared=Shared()).status == "done"
        assert equip(thing, needs=[param], **more).gives == one.name
    assert call(equip(pay), {"amount": 3}, shared=Shared()).text == "paid 3.0"


def test_needs_as_a_list_are_parameters_by_the_last_part_of_the_slot() -> None:
    one = equip(flights, needs=["trip.destination", "date"], gives="trip.flights")
    assert one.needs == {"destination": "trip.destination", "date": "date"}
    assert one.gives == "trip.flights"
    assert one.declared
    assert equip(flights, needs=["destination", "date", "seats"]).gives == "flights"


def test_needs_as_a_mapping_have_names_of_their_own() -> None:
    one = equip(flights, needs={"destination": "trip.city", "date": "day"})
    assert one.needs == {"destination": "trip.city", "date": "day"}


def test_side_effects_are_those_of_the_metadata_or_what_is_said() -> None:
    told = StructuredTool.from_function(plain, metadata={"side_effects": True})
    assert equip(told).side_effects
    assert not equip(told, side_effects=False).side_effects
    assert not equip(plain).side_effects
    assert equip(plain, side_effects=True, attempts=5).attempts == 1
    assert equip(plain, attempts=5).attempts == 5


# ---- what cannot ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"needs": ["destination", "price"]}, "it has no parameter price (it has destination, date, seats)"),
        ({"needs": {"where": "place"}}, "it has no parameter where"),
        ({"needs": ["destination"]}, "its parameter date is required and no slot fills it"),
        ({"needs": ["trip.date", "party.date"]}, "trip.date and party.date would fill one parameter"),
        ({"needs": {"destination": "", "date": "day"}}, "'' cannot name a slot"),
        ({"needs": ["destination", "date"], "gives": "trip."}, "'trip.' cannot name a slot"),
        ({"gives": "two words"}, "'two words' cannot name a slot"),
        ({"needs": "date"}, "needs: a list, not a text"),
        ({"users": "ana", "schemas": "trip"}, "users, schemas: a list, not a text"),
        ({"timeout": 0}, "its timeout is not a number of seconds above 0"),
        ({"timeout": float("nan")}, "its timeout is not a number"),
        ({"timeout": float("inf")}, "its timeout is not a number"),
        ({"attempts": 0}, "it has no attempt"),
        ({"name": "other"}, "only an inner agent gets a name"),
    ],
)
def test_definition_errors(more: dict[str, Any], told: str) -> None:
    text = refusal(flights, **more)
    assert "flights" in text
    assert told in text


def test_all_faults_are_told_at_once() -> None:
    text = refusal(flights, needs=["where"], timeout=-1, attempts=0)
    assert text.startswith("flights cannot be equipped: ")
    for part in ("timeout", "attempt", "no parameter where", "destination, date is required"):
        assert part in text


def test_what_is_no_tool_at_all() -> None:
    assert "is not a Python function" in refusal(5)
    assert "is not a Python function" in refusal(Shout)
    assert "no docstring" in refusal(lambda: None)
    assert "no description" in refusal(
        StructuredTool(name="mute", description=" ", func=plain, args_schema={})
    )
    assert "its name is not" in refusal(StructuredTool.from_function(plain, name="say it!"))


def test_an_inner_agent_wants_a_name_a_description_and_messages() -> None:
    assert "needs a name" in refusal(desk())
    assert "needs a name" in refusal(desk(), name="two words", description="x")
    assert "needs a name" in refusal(desk(), name="desk")
    assert "has no messages" in refusal(desk(Bare), name="desk", description="x")


def test_parameters_that_json_cannot_hold() -> None:
    @tool
    def apply(function: Callable[[int], int]) -> int:
        """Apply a function."""
        return function(1)

    assert "apply cannot be equipped: it has a parameter that JSON cannot hold" in refusal(apply)


def test_a_schema_that_is_none() -> None:
    text = refusal(served({"type": "object", "properties": {"size": {"type": "strin"}}}))
    assert "remote cannot be equipped: its parameters are no JSON Schema: $.properties.size.type" in text


def test_schemas_of_earlier_drafts() -> None:
    tuples = {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}
    draft = "http://json-schema.org/draft-07/schema#"
    one = equip(served({"$schema": draft, "type": "object", "properties": {"pair": tuples}}))
    assert validated(one, {"pair": [1, "x"]})
    with pytest.raises(ToolError, match=r"pair\.1: 2 is not of type 'string'"):
        validated(one, {"pair": [1, 2]})
    newer = "https://json-schema.org/draft/2020-12/schema"
    assert "no JSON Schema" in refusal(served({"$schema": newer, "properties": {"pair": tuples}}))


# ---- what no caller gives -------------------------------------------------------------------------


def test_injected_parameters_never_show_and_cannot_be_given() -> None:
    one = equip(nosy)
    assert list(one.parameters()["properties"]) == ["text"]
    assert one.hidden() == INJECTED
    assert not any(name in searched(one) for name in INJECTED)
    for name in INJECTED:
        with pytest.raises(ToolError, match=f"nosy has no parameter {name}"):
            validated(one, {"text": "x", name: "mine"})
        assert f"it has no parameter {name}" in refusal(nosy, needs=["text", name])
    forged = {"text": "x", "shared": {"budget": 0}, "completed": ("all",), "idempotency_key": "mine"}
    result = call(one, forged, shared=Shared({"budget": 500}), completed=["a"], key="k1")
    assert result.text == "x 500 ('a',) k1"


def test_parameters_of_these_names_that_are_not_injected_are_ordinary() -> None:
    def share(shared: bool, completed: str) -> str:
        """Share something."""
        return f"{shared} {completed}"

    one = equip(share, needs=["shared", "completed"])
    assert list(one.parameters()["properties"]) == ["shared", "completed"]
    assert call(one, {"shared": False, "completed": "x"}, shared=Shared()).text == "False x"


def test_an_unknown_injected_parameter_is_named() -> None:
    def own(
        text: str, database: Annotated[str, InjectedToolArg], runtime: Annotated[str, InjectedToolArg]
    ) -> str:
        """Look it up."""
        return text

    text = refusal(own)
    assert "nothing fills its injected parameter database, runtime" in text
    assert "there are shared, completed, idempotency_key" in text

    def asked(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Look it up."""
        return text

    assert "nothing fills its injected parameter call_id" in refusal(asked)


def test_the_run_of_a_call_is_filled_in() -> None:
    def who(config: RunnableConfig) -> str:
        """Say whose thread it is."""
        return str(config["configurable"]["thread_id"])

    one = equip(who)
    assert one.hidden() == ()
    given: RunnableConfig = {"configurable": {"thread_id": "t"}}
    assert call(one, {}, shared=Shared(), config=given).text == "t"


# ---- the registry ---------------------------------------------------------------------------------


def test_a_registry_is_a_mapping_in_order() -> None:
    registry = Registry([named("b"), named("a")])
    assert list(registry) == ["b", "a"]
    assert registry["a"].name == "a"
    assert len(registry) == 2
    assert "c" not in registry
    with pytest.raises(KeyError):
        registry["c"]


def test_names_must_differ() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools are called a"):
        Registry([named("a"), named("b"), named("a")])


def test_users_kinds_of_tasks_and_agents_above() -> None:
    registry = Registry(
        [named("ours", users=["ana", "bob"]), named("trips", schemas=["trip", "visit"]), named("free")]
    )
    assert [registry.allowed("ours", user=user) for user in ("ana", "bob", "eve", "")] == [1, 1, 0, 0]
    assert [registry.allowed("trips", schemas=kinds) for kinds in (["visit"], ["meal"], [])] == [1, 0, 0]
    assert registry.allowed("free", user="eve", schemas=["meal"], above=["ours"])
    assert not registry.allowed("free", above=["top", "free"])
    assert registry.select("x", 5, user="ana", schemas=["trip"], above=["free"]) == ("ours", "trips")
    assert registry.select("x", 5) == ("free",)


def test_without_an_index_tools_come_in_their_order() -> None:
    registry = Registry([*map(named, "abcd"), named("e", always=True)])
    assert registry.select("anything", 2) == ("e", "a", "b")
    assert registry.select("anything", 0) == ("e",)


# ---- selection ------------------------------------------------------------------------------------

THINGS = (
    "hotel", "flight", "weather", "invoice", "calendar", "photo", "recipe", "train", "password", "parcel",
    "garden", "concert", "dentist", "library", "taxi", "visa", "museum", "printer", "budget", "meeting",
)  # fmt: skip


def hybrid() -> Index:
    embedder: Embedder = HashEmbedder()
    return HybridIndex(lambda: embedder)


def test_selection_finds_by_words() -> None:
    registry = Registry([named(f"find_{thing}", f"Looks a {thing} up.") for thing in THINGS], hybrid)
    for thing in THINGS:
        names = registry.select(f"please look for the {thing} that I need", 3)
        assert names[0] == f"find_{thing}"
        assert len(names) == 3


def test_tools_that_are_always_there_come_first_and_are_not_searched() -> None:
    tools = [named(f"find_{thing}", f"Looks a {thing} up.") for thing in THINGS]
    registry = Registry([*tools, named("help", "Looks a hotel up.", always=True)], hybrid)
    names = registry.select("a hotel", 2)
    assert names[:2] == ("help", "find_hotel")
    assert len(set(names)) == 3


@given(mine=st.integers(0, 7), limit=st.integers(1, 10))
def test_tools_of_others_before_those_that_may_be_used(mine: int, limit: int) -> None:
    words = ["hotel in Bergen with a view"]  # all of the others match better than mine
    tools = [
        named(f"t{number}", "Looks a hotel in Bergen up." if number != mine else "Waters plants.",
              users=["ana"] if number == mine else ["bob"])
        for number in range(8)
    ]  # fmt: skip
    registry = Registry(tools, hybrid)
    assert registry.select(words[0], limit, user="ana") == (f"t{mine}",)
    assert len(registry.select(words[0], limit, user="bob")) == min(limit, 7)
    assert registry.select(words[0], limit, user="eve") == ()


def test_many_tools_of_others_before_a_few_that_may_be_used() -> None:
    others = [named(f"other{n}", "Books a hotel room in Bergen.", users=["bob"]) for n in range(60)]
    mine = [named(f"mine{n}", f"Waters the {thing}.", users=["ana"]) for n, thing in enumerate(THINGS)]
    registry = Registry([*others, *mine], hybrid)
    names = registry.select("book a hotel room in Bergen", 4, user="ana")
    assert len(names) == 4
    assert all(name.startswith("mine") for name in names)


class Counting:
    """An index that takes its time to be made."""

    def __init__(self) -> None:
        self.puts: list[dict[str, str]] = []

    def put(self, texts: Mapping[str, str]) -> None:
        threading.Event().wait(0.05)
        self.puts.append(dict(texts))

    def remove(self, keys: Iterable[str]) -> None:
        raise NotImplementedError

    def search(self, query: str, limit: int) -> tuple[Found, ...]:
        return tuple(Found(key, 1.0) for key in self.puts[0])[:limit]


def test_the_index_is_made_once_when_it_is_first_needed() -> None:
    made: list[Counting] = []

    def make() -> Counting:
        made.append(Counting())
        return made[-1]

    registry = Registry([*map(named, "abcdef"), named("g", always=True)], make)
    assert registry.select("x", 6) == ("g", *"abcdef")
    assert made == []  # all there are: nothing to search
    found: list[tuple[str, ...]] = []
    start = threading.Barrier(8)

    def select() -> None:
        start.wait()
        found.append(registry.select("x", 2))

    threads = [threading.Thread(target=select) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [("g", "a", "b")] * 8
    assert len(made) == 1
    assert [list(one) for one in made[0].puts] == [list("abcdef")]


def test_an_index_that_finds_nothing() -> None:
    class Blind(Counting):
        def search(self, query: str, limit: int) -> tuple[Found, ...]:
            return super().search(query, limit)[:1]

    registry = Registry([*map(named, "abcdef"), named("g", always=True)], Blind)
    assert registry.select("x", 3) == ("g", "a")


def test_an_index_that_could_not_be_made_is_tried_again() -> None:
    class Busy(HashEmbedder):
        def __call__(self, texts: Sequence[str]) -> Vectors:
            if not self.calls:
                self.calls += 1
                raise ConnectionError("the endpoint is away")
            return super().__call__(texts)

    embedder = Busy()
    registry = Registry(map(named, "abcdef"), lambda: HybridIndex(lambda: embedder))
    with pytest.raises(ConnectionError):
        registry.select("x", 2)
    assert len(registry.select("x", 2)) == 2


# ---- the text that is searched --------------------------------------------------------------------


def test_a_tool_is_found_by_its_name_and_its_description() -> None:
    text = searched(equip(flights))
    assert text == "flights\nLook flights up."
    odd = served({"type": "object", "properties": {"any_thing": True, "size": {"description": "How big."}}})
    assert searched(equip(odd)) == "remote\nDo it elsewhere."


def test_tools_with_models_of_the_first_pydantic() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydantic import v1

        class Old(v1.BaseModel):
            text: str

        old: Any = Old
        one = equip(StructuredTool.from_function(plain, args_schema=old), needs=["text"])
        assert one.hidden() == ()
        assert call(one, {"text": "x"}, shared=Shared()).text == "x"
        with pytest.raises(ToolError, match="text"):
            validated(one, {})

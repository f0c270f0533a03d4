"""An agent from a YAML file: saved and loaded, and what is wrong with it named with its place."""

import itertools
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import ValidationError

from taskloom.tools.calls import call
from taskloom.tools.config import SHIPPED, AgentConfig
from taskloom.tools.errors import ToolDefinitionError
from taskloom.tools.loading import Loaded, load_agent
from taskloom.tools.plain_yaml import SIZE
from taskloom.tools.shared import Shared

MCP_SERVER = Path(__file__).with_name("mcp_server.py")
NUMBER = itertools.count()

SHOP = '''
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

def search(query: str, limit: int = 5) -> list[str]:
    """Search the shop.

    Args:
        query: What for.
        limit: How many.
    """
    return [query] * limit

def buy(item: str) -> str:
    """Buy something."""
    return f"bought {item}"

def vague(item):
    return item

class Shelf:
    @staticmethod
    def look(row: int) -> int:
        """Look at a shelf."""
        return row

SEVERAL = [search, buy]
PRICE = 5

def inner():
    builder = StateGraph(MessagesState)
    builder.add_node("say", lambda state: {"messages": [AIMessage("it was done")]})
    builder.add_edge(START, "say")
    return builder.compile()

desk = inner()
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write a module beside the configuration; its name, which no other test has."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(text: str) -> str:
        name = f"shop_of_a_test_{next(NUMBER)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    return write


@pytest.fixture
def shop(module: Callable[[str], str]) -> str:
    return module(SHOP)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Loaded]:
    """Load a configuration from its text."""

    def loaded(text: str | bytes, **more: Any) -> Loaded:
        path = tmp_path / "agent.yaml"
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return load_agent(path, **more)

    return loaded


Load = Callable[..., Loaded]


def refusal(load: Load, text: str | bytes, **more: Any) -> str:
    """What is wrong with a configuration; the file is named first."""
    with pytest.raises(ToolDefinitionError) as error:
        load(text, **more).close()
    told = str(error.value)
    file, _, rest = told.partition("agent.yaml")
    assert file
    assert "\n" not in told
    return rest


# ---- what can be said -----------------------------------------------------------------------------


def test_every_kind_of_tool(load: Load, shop: str) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage('{"praise": "fine"}')]))
    loaded = load(f"""
        tools:
          - use: {shop}:search
            needs: [trip.query]
            gives: found
            users: [ana]
            schemas: [trip]
            timeout: 2.5
            attempts: 1
          - {{use: "{shop}:buy", needs: {{item: product}}, side_effects: true, always: true}}
          - use: {shop}:Shelf.look
          - {{use: "{shop}:desk", name: desk, description: Does what a desk does.}}
          - name: praise
            description: Praise something.
            llm:
              template: Praise <thing> in a word.
              output: {{praise: str}}
              examples: [{{inputs: {{thing: tea}}, output: {{praise: hot}}}}]
        context: "The budget is <budget>, the day <day>."
        shared: {{budget: 500, day: 2026-05-01, none: null}}
        """, model=lambda: model)  # fmt: skip
    search, buy, look, desk, praise = loaded.registry.values()
    assert (search.needs, search.gives, search.attempts) == ({"query": "trip.query"}, "found", 1)
    assert (search.users, search.schemas, search.timeout) == (frozenset(["ana"]), frozenset(["trip"]), 2.5)
    assert (buy.needs, buy.gives, buy.side_effects, buy.always) == ({"item": "product"}, "buy", True, True)
    assert loaded.config.shared == {"budget": 500, "day": "2026-05-01"}
    assert loaded.schemas is None
    shared = Shared(loaded.config.shared)
    assert call(look, {"row": 3}, shared=shared).text == "3"
    assert call(desk, {"task": "do it"}, shared=shared).text == "it was done"
    assert call(praise, {"thing": "cake"}, shared=shared).text == '{"praise": "fine"}'
    loaded.close()


def test_nothing_at_all_is_a_configuration(load: Load, tmp_path: Path) -> None:
    for text in ("", "# nothing\n", "tools: []"):
        assert list(load(text).registry) == []
    (tmp_path / "trip.json").write_text("{}")
    assert load("schemas: trip.json").schemas == tmp_path / "trip.json"


def test_tools_that_come_several_at_once(load: Load, shop: str) -> None:
    loaded = load(f"tools: [{{use: '{shop}:SEVERAL', users: [ana], timeout: 9}}]")
    assert [(one.name, sorted(one.users), one.timeout) for one in loaded.registry.values()] == [
        ("search", ["ana"], 9.0), ("buy", ["ana"], 9.0),
    ]  # fmt: skip
    (buy,) = load(
        f"tools: [{{use: '{shop}:SEVERAL', only: [buy], needs: [item], gives: receipt}}]"
    ).registry.values()
    assert (buy.name, buy.gives) == ("buy", "receipt")
    for more, told in [
        ("needs: [item]", "it gives search, buy: pick one with `only` for needs and gives"),
        ("gives: x", "pick one with `only`"),
        ("only: [sell, rent]", "it does not give sell, rent, but search, buy"),
        ("name: x", "it gives several tools, which have names"),
    ]:
        assert told in refusal(load, f"tools: [{{use: '{shop}:SEVERAL', {more}}}]")


SHIPPING = '''
from pydantic import BaseModel, ConfigDict
from taskloom.tools.errors import UnavailableError

CLOSED = []

class Policy(BaseModel):
    model_config = ConfigDict(extra="forbid")
    ports: tuple[int, ...] = ()

class Tools(list):
    def close(self):
        CLOSED.append(len(self))

def make(policy: Policy | None = None, *, home: str = "", count: int = 1):
    if home == "away":
        raise UnavailableError("there is no browser: playwright install chromium")
    if home == "odd":
        raise ValueError("home: is odd")
    def page(url: str) -> str:
        """Read a page."""
        return f"{url} {policy.ports if policy else ()} {count}"
    def click(where: str) -> str:
        """Click."""
        return where
    return Tools([page, click])
'''


def test_tools_that_ship_take_options_and_are_closed(
    load: Load, module: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = module(SHIPPING)
    monkeypatch.setitem(SHIPPED, "taskloom.several", f"{name}:make")
    options = "options: {policy: {ports: [80, 443]}, count: 3}"
    loaded = load(f"tools: [{{use: taskloom.several, {options}, only: [page]}}]")
    (page,) = loaded.registry.values()
    assert call(page, {"url": "x"}, shared=Shared()).text == "x (80, 443) 3"
    closed = sys.modules[name].CLOSED
    assert closed == []
    loaded.close()
    loaded.close()
    assert closed == [2]
    for wrong, told in [
        ("{polcy: 1}", "its options do not fit: polcy: Unexpected keyword argument"),
        ("{policy: {port: 1}}", "its options do not fit: policy.port: Extra inputs are not permitted"),
        ("{policy: {ports: [x]}}", "policy.ports.0: Input should be a valid integer"),
        ("{home: odd}", "its options do not fit: home: is odd"),
        ("{home: away}", "tool 1 (taskloom.several): there is no browser: playwright install chromium"),
    ]:
        assert told in refusal(load, f"tools: [{{use: taskloom.several, options: {wrong}}}]")
    refusal(load, f"tools: [{{use: taskloom.several}}, {{use: '{name}:none'}}]")
    assert closed == [2, 2]  # what was made before the fault was found


# ---- there and back -------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WORD = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
VALUES = JSON.filter(lambda value: value is not None)
COMMON = {
    "needs": st.lists(TEXT, max_size=3).map(tuple) | st.dictionaries(TEXT, TEXT, max_size=3),
    "gives": TEXT, "side_effects": st.none() | st.booleans(), "always": st.booleans(),
    "users": st.lists(TEXT, max_size=2).map(tuple), "schemas": st.lists(TEXT, max_size=2).map(tuple),
    "timeout": st.floats(0.001, 1e22), "attempts": st.integers(1, 9), "name": TEXT, "description": TEXT,
    "only": st.lists(WORD, max_size=2).map(tuple),
}  # fmt: skip
EXAMPLE = st.fixed_dictionaries({"inputs": st.dictionaries(TEXT, JSON, max_size=2), "output": JSON})
LLM = st.fixed_dictionaries(
    {"template": TEXT, "output": st.dictionaries(WORD, TEXT, max_size=2)},
    optional={"examples": st.lists(EXAMPLE, max_size=2).map(tuple)},
)
ENTRY = (
    st.fixed_dictionaries({"use": TEXT.filter(bool)}, optional=COMMON)
    | st.fixed_dictionaries({"llm": LLM}, optional=COMMON)
    | st.fixed_dictionaries(
        {"use": st.sampled_from(sorted(SHIPPED)), "options": st.dictionaries(TEXT, JSON, max_size=2)}
    )
)


@given(
    tools=st.lists(ENTRY, max_size=3).map(tuple),
    mcp=st.dictionaries(WORD, st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
    shared=st.dictionaries(WORD, VALUES, max_size=3),
    words=TEXT,
    schemas=TEXT,
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_saved_is_loaded(
    tmp_path: Path, tools: Any, mcp: Any, shared: dict[str, Any], words: str, schemas: str
) -> None:
    context = words.replace("<", "") + "".join(f"<{name}>" for name in shared)
    config = AgentConfig(tools=tools, mcp=mcp, shared=shared, context=context, schemas=schemas)
    path = tmp_path / "saved.yaml"
    config.save(path)
    assert AgentConfig.load(path) == config


def test_a_saved_file_is_for_people(tmp_path: Path) -> None:
    path = tmp_path / "saved.yaml"
    entry: Any = {"use": "shop:buy", "needs": ("item", "day"), "side_effects": True}
    AgentConfig(tools=(entry,), context="Grüße, <name>", shared={"name": "Ana", "day": "2026-05-01"}).save(
        path
    )
    assert path.read_text(encoding="utf-8") == textwrap.dedent("""\
        tools:
        - use: shop:buy
          needs:
          - item
          - day
          side_effects: true
        context: Grüße, <name>
        shared:
          name: Ana
          day: '2026-05-01'
        """)
    with pytest.raises(OSError, match="Is a directory"):
        AgentConfig().save(tmp_path)


# ---- what is wrong with the file ------------------------------------------------------------------


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError, match=r"none\.yaml cannot be read: No such file or directory$"):
        load_agent(tmp_path / "none.yaml")
    with pytest.raises(ToolDefinitionError, match=r"cannot be read: Is a directory$"):
        load_agent(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tools: [", " is not valid YAML: "),
        ("a: b: c", " is not valid YAML: mapping values are not allowed here"),
        ("a: 1\n\tb: 2", "line 2, column 1"),
        (b"\xff\xfe\x00", " is not UTF-8 text (byte 0)"),
        ("context: \x07", " is not valid YAML: "),
        ("a: !!int x", " is not valid YAML: "),
        ("a: " + "1" * 5000, " is not valid YAML: Exceeds the limit"),
        ("[" * 5000, " is not a configuration: nested too deeply"),
        ("a: " * 1 + "{x: " * 3000, " is not a configuration: nested too deeply"),
        ("#" + "x" * SIZE, f" is larger than {SIZE:,} bytes"),
        ("--- 1\n--- 2", " is not valid YAML: expected a single document"),
        ("tools: []\ncontext: x\ntools: []", " is not valid YAML: tools occurs twice in"),
        ("tools: [{use: a, use: b}]", "line 1, column 18"),
        ("? [a]\n: 1", "found unhashable key"),
        ("hello", ": it: Input should be"),
        ("[1]", ": it: Input should be"),
        ("1: x", "Keys should be strings"),
        ("tool: []\nmpc: {}", ": tool: Extra inputs are not permitted; mpc: Extra inputs are not permitted"),
        ("tools: {use: x}", ": tools: Input should be a valid tuple"),
        ("tools: [{use: x, side_effect: true}]", ": tools.0.side_effect: Extra inputs are not permitted"),
        (
            "tools: [{use: x, timeout: 0}, {use: y, attempts: 0}]",
            ": tools.0.timeout: Input should be greater",
        ),
        (
            "tools: [{use: x, timeout: 0}, {use: y, attempts: 0}]",
            "; tools.1.attempts: Input should be greater",
        ),
        ("tools: [{use: x, needs: day}]", ": tools.0.needs."),
        ("tools: [{name: x}]", "tools.0: Value error, a tool needs either 'use' or 'llm'"),
        ("tools: [{use: x, llm: {template: x, output: {}}}]", "either 'use' or 'llm'"),
        ("tools: [{llm: {template: x}}]", "tools.0.llm.output: Field required"),
        ("tools: [{use: 'a:b', options: {x: 1}}]", "only a tool that ships has options: taskloom."),
        ("tools: [{use: taskloom.python, options: {x: !!binary aGk=}}]", "tools.0.options.x: "),
        ("mcp: {weather: curl}", "mcp.weather: Input should be a valid dictionary"),
        ("shared: {a b: 1}", "shared: Value error, 'a b' cannot name a shared variable"),
        ("shared: {x: !!set {a}}", "shared: Value error, the shared variable x cannot be kept as JSON"),
        ("shared: {x: .nan}", "shared: Value error, the shared variable x cannot be kept as JSON"),
        ("context: <budget> <day>\nshared: {day: 1}", "that are not set: budget"),
        ("context: <budget>\nshared: {budget: null}", "that are not set: budget"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str | bytes, told: str, load: Load) -> None:
    assert told in refusal(load, text)


def test_a_configuration_made_in_code_is_checked_too() -> None:
    with pytest.raises(ValidationError, match="budget"):
        AgentConfig(context="<budget>")
    with pytest.raises(ValidationError, match="cannot be kept"):
        AgentConfig(shared={"x": object()})


# ---- tricks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trick",
    [
        "!!python/object/apply:os.system ['touch {file}']",
        "!!python/object/new:os.system ['touch {file}']",
        "!!python/name:os.system x",
        "!!python/module:os x",
        "!!python/tuple [1]",
        "!Mine {{x: 1}}",
    ],
)
def test_nothing_but_data_is_made(trick: str, load: Load, tmp_path: Path) -> None:
    file = tmp_path / "made"
    told = refusal(load, f"shared: {{x: {trick.format(file=file)}}}")
    assert "is not valid YAML: could not determine a constructor for the tag" in told
    assert not file.exists()


def bomb(levels: int, leaf: str = "x") -> str:
    """Each level is ten of the one before."""
    lines = [f"  a0: &a0 [{', '.join([leaf] * 10)}]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "shared:\n" + "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        bomb(9),
        bomb(60),
        bomb(4, "x" * 1000),
        "shared:\n  a: &a {x: " + "y" * 900_000 + "}\n  b: {m: *a, n: *a}",
        "shared:\n  m0: &m0 {a: 1, b: 2}\n"
        + "\n".join(f"  m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}" for n in range(1, 40)),
    ],
    ids=["lists", "deep", "texts", "one text", "merges"],
)
def test_aliases_stand_for_so_much_and_no_more(text: str, load: Load) -> None:
    assert "is not valid YAML: its aliases expand to too much" in refusal(load, text)


def test_an_alias_of_what_it_is_in(load: Load) -> None:
    for text in ("shared: {x: &a [*a]}", "&top {shared: *top}", "shared: {x: &a {b: [*a]}}"):
        assert "an alias refers to the collection that contains it" in refusal(load, text)


def test_aliases_that_people_write_are_fine(load: Load, shop: str) -> None:
    loaded = load(f"""
        shared:
          staff: &staff [ana, bob]
          base: &base {{home: Oslo, away: Rome}}
          other: {{<<: *base, home: Bergen}}
        tools:
          - {{use: "{shop}:buy", users: *staff}}
          - {{use: "{shop}:search", users: *staff}}
        """)
    assert loaded.registry["search"].users == {"ana", "bob"}
    assert loaded.config.shared["other"] == {"home": "Bergen", "away": "Rome"}


def test_many_keys_are_read(load: Load) -> None:
    text = "shared:\n  x: {" + ", ".join(f"k{n}: 1" for n in range(10_000)) + "}"
    assert len(load(text).config.shared["x"]) == 10_000


# ---- what is wrong with what it names -------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("shop", "'shop' names no tool: write module:attribute, or taskloom."),
        (":buy", "':buy' names no tool"),
        ("taskloom.pyhton", "'taskloom.pyhton' names no tool: write module:attribute, or taskloom.python"),
        ("no_such_module:buy", "there is no module no_such_module, here or installed"),
        ("no_such_module.part:buy", "there is no module no_such_module, here or installed"),
        ("SHOP.part:buy", "there is no module SHOP.part, here or installed"),
        (".SHOP:buy", "the module .SHOP cannot be imported: TypeError"),
        ("SHOP:sell", ".py) has no sell"),
        ("SHOP:Shelf.take", ".py) has no Shelf.take"),
        ("SHOP:PRICE", "5 is not a Python function"),
        ("SHOP:vague", "'vague' cannot be a tool: there is no docstring; parameter 'item' has no annotation"),
        ("SHOP:desk", "an inner agent needs a name"),
    ],
)
def test_what_is_not_there_or_is_no_tool(use: str, told: str, load: Load, shop: str) -> None:
    use = use.replace("SHOP", shop)
    found = refusal(load, f"tools: [{{use: '{use}'}}]")
    assert found.startswith(f": tool 1 ({use}): ")
    assert told.replace("SHOP", shop) in found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def f(:\n    pass", "SyntaxError: "),
        ("x = 1\ny = x + z", "NameError: name 'z' is not defined (NAME.py, line 2)"),
        ("import json\n\n1 / 0", "ZeroDivisionError: division by zero (NAME.py, line 3)"),
        (
            "import no_such_library",
            "ModuleNotFoundError: No module named 'no_such_library' (NAME.py, line 1)",
        ),
        ("from json import nothing", "ImportError: cannot import name 'nothing' from 'json'"),
        ("import sys\nsys.exit(3)", "SystemExit: 3 (NAME.py, line 2)"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines (NAME.py, line 1)"),
        ("import json\njson.loads('{')", "(NAME.py, line 2)"),
        ("class E(BaseException): pass\nraise E", None),
        ("\0", "cannot be imported: "),
    ],
)
def test_whatever_comes_out_of_a_module_is_named(
    text: str, told: str | None, load: Load, module: Callable[[str], str]
) -> None:
    name = module(text)
    if told is None:  # as Ctrl-C does: not for us
        with pytest.raises(BaseException, match=r"^$") as error:
            load(f"tools: [{{use: '{name}:x'}}]")
        assert not isinstance(error.value, Exception)
        return
    found = refusal(load, f"tools: [{{use: '{name}:x'}}]")
    assert f"tool 1 ({name}:x): the module {name} cannot be imported: " in found
    assert told.replace("NAME", name) in found


def test_all_tools_that_are_wrong_are_named(load: Load, shop: str) -> None:
    told = refusal(load, f"""
        tools:
          - {{use: "{shop}:sell"}}
          - {{use: "{shop}:buy", needs: [price]}}
          - {{use: "{shop}:search"}}
          - {{name: praise, description: Praise., llm: {{template: <x>, output: {{x: str}}}}}}
          - {{name: blame, llm: {{template: <x>, output: {{x: string}}}}}}
          - {{use: "{shop}:buy", name: purchase}}
        schemas: none.json
        mcp: {{gone: {{command: /no/such/program}}}}
        """)  # fmt: skip
    parts = told.split("; tool ")
    assert [part.split(" ")[0] for part in parts[1:]] == ["2", "4", "5", "6"]
    assert f"tool 1 ({shop}:sell): " in told
    assert "buy cannot be equipped: it has no parameter price (it has item)" in told
    assert "tool 4 (praise): an LLM function needs a chat model: set TASKLOOM_MODEL" in told
    assert "only an inner agent gets a name and a description" in told
    assert "; schemas: there is no file " in told
    assert "none.json" in told
    assert "mcp" not in told  # servers are started only when all else is right


def test_two_tools_of_one_name(load: Load, shop: str) -> None:
    text = f"tools: [{{use: '{shop}:buy'}}, {{use: '{shop}:buy'}}]"
    assert refusal(load, text) == ": two tools are called buy; names must differ"


@pytest.mark.parametrize(
    "wrong", ["template: '<x'", "output: {x: string}", "template: ''", "output: {_x: str}"]
)
def test_an_llm_function_that_is_wrong(wrong: str, load: Load) -> None:
    llm = {"template": "'Praise <x>.'", "output": "{x: str}"}
    key, _, value = wrong.partition(": ")
    llm[key] = value
    told = refusal(
        load,
        f"""
        tools:
          - name: praise
            description: Praise.
            llm: {{template: {llm["template"]}, output: {llm["output"]}}}
        """,
        model=lambda: GenericFakeChatModel(messages=iter([])),
    )
    assert told.startswith(": tool 1 (praise): 'praise' cannot be a tool: ")


# ---- servers --------------------------------------------------------------------------------------


def server(mark: str = "0", **more: Any) -> str:
    extra = "".join(f", {name}: {value}" for name, value in more.items())
    return f"mcp: {{test: {{command: '{sys.executable}', args: ['{MCP_SERVER}', stdio, '{mark}']{extra}}}}}"


def test_a_server_is_started_and_ended(load: Load) -> None:
    loaded = load(server(timeout=7.5))
    add = loaded.registry["add"]
    assert not add.side_effects
    assert loaded.registry["put"].side_effects
    assert add.timeout == 7.5
    assert call(add, {"first": 2, "second": 3}, shared=Shared()).text == "5"
    loaded.close()
    assert "the MCP tools were closed" in call(add, {"first": 2, "second": 3}, shared=Shared()).text


def test_a_server_is_ended_when_something_else_is_wrong(load: Load, module: Callable[[str], str]) -> None:
    name = module('def add(x: int) -> int:\n    """Add."""\n    return x')
    mark = str(1_000_000 + os.getpid())
    told = refusal(load, f"tools: [{{use: '{name}:add'}}]\n{server(mark)}")
    assert told == ": two tools are called add; names must differ"
    assert not running(mark)
    loaded = load(server(mark))
    assert running(mark)
    loaded.close()
    assert not running(mark)


def test_keys_of_a_server_come_from_the_environment(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "hidden-key-123")
    env = '{TEST_KEY: "key ${A_KEY}", TEST_OTHER: "$A_KEY"}'
    loaded = load(server(env=env))
    told = call(loaded.registry["about"], {}, shared=Shared()).text
    loaded.close()
    assert '"key": "key hidden-key-123"' in told
    assert '"home": "$A_KEY"' in told
    assert loaded.config.mcp["test"]["env"] == {"TEST_KEY": "key ${A_KEY}", "TEST_OTHER": "$A_KEY"}
    monkeypatch.delenv("A_KEY")
    told = refusal(load, "mcp: {one: {url: 'http://x', headers: {a: '${A_KEY}', b: '${B_KEY} ${A_KEY}'}}}")
    assert told == ": mcp: one: the environment has no A_KEY, B_KEY"
    assert refusal(load, "mcp: {one: {command: x, env: 5}}").startswith(": mcp: one: env: Input should be")


def running(mark: str) -> bool:
    """Whether a server with such an argument runs."""
    shown = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return f"stdio {mark}" in shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{command: /no/such/program}", "mcp: the MCP server 'one' cannot be started: No such file"),
        ("{command: 'true'}", "mcp: the MCP server 'one' ended before it answered; does it speak MCP?"),
        (
            "{command: sleep, args: ['60'], connect_timeout: 0.2}",
            "mcp: the MCP server 'one' did not answer in 0.2 s",
        ),
        ("{url: 'http://127.0.0.1:9/mcp'}", "mcp: the MCP server 'one' cannot be reached"),
        ("{}", "mcp: one: command: Field required"),
        ("{url: here}", "mcp: one: url: Input should be a valid URL"),
        (
            "{command: x, timeout: -1, comand: y}",
            "mcp: one: timeout: Input should be greater than 0; comand: ",
        ),
    ],
)
def test_a_server_that_cannot_be_used(given: str, told: str, load: Load) -> None:
    assert refusal(load, f"mcp: {{one: {given}}}").startswith(f": {told}")


def test_every_server_that_is_wrong_is_named(load: Load) -> None:
    told = refusal(load, "mcp: {one: {}, two: {url: x}, 'a b': {command: x}}")
    assert "one: command" in told
    assert "; two: url" in told


def test_without_the_extra_the_command_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("mcp: {one: {command: x}}")
    code = """
        import sys
        from pathlib import Path
        sys.modules["mcp"] = None
        from taskloom.tools.loading import load_agent
        from taskloom.tools.errors import ToolError
        try:
            load_agent(Path(sys.argv[1]))
        except ToolError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), tmp_path / "agent.yaml"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pip install 'taskloom[mcp]'" in done.stdout

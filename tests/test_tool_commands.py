"""`taskloom tools`, and tools of a YAML file through `taskloom run`, `chat` and `doctor`."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.settings import settings
from tests.openai_server import OpenAIServer, Say

TASKLOOM = Path(sys.executable).with_name("taskloom")
MCP_SERVER = Path(__file__).with_name("mcp_server.py")
COMMANDS = ("list", "show", "try")
NUMBER = itertools.count()
Invoke = Callable[..., Result]

TOOLS = '''
import os, sys
from pathlib import Path
from taskloom.tools.errors import TransientError
from taskloom.tools.shared import SharedVariables

def search_flights(destination: str, date: str) -> str:
    """Look up when planes leave.

    Args:
        destination: Where to.
        date: When.
    """
    return f"10:40 to {destination} on {date}"

def book_seat(flights: str) -> str:
    """Book a seat on the first of some flights."""
    with Path(os.environ["BOOKED"]).open("a") as file:
        file.write(f"{flights}\\n")
    return f"12A, {flights}"

def add(numbers: list[float], label: str = "sum", note: str | None = None, exact: int | str = 0) -> str:
    """Add numbers. The description of this tool is quite long, much longer than a line of eighty columns,
    so that it has to be wrapped somewhere, and in the end it is even cut since nobody wants to read a whole
    page in a list of tools; the rest is for `show`."""
    return f"{label} {sum(numbers)} {note} {exact!r}"

def budget(shared: SharedVariables) -> str:
    """Tell the budget."""
    return f"{shared['budget']}"

def letter(length: int) -> str:
    """Write a letter \\x1b[31m in red."""
    return "\\x1b[31m" + "y" * length

def broken() -> str:
    """Fail."""
    raise TransientError("the line is busy")
'''

CONFIG = """
tools:
  - {{use: "{name}:search_flights", needs: [destination, date], gives: flights}}
  - {{use: "{name}:book_seat", needs: [flights], gives: seat, side_effects: true, users: [local, ana]}}
  - {{use: "{name}:add"}}
  - {{use: "{name}:budget", always: true}}
  - {{use: "{name}:letter"}}
  - {{use: "{name}:broken", attempts: 1}}
shared: {{budget: 500}}
"""


@pytest.fixture(autouse=True)
def _booked_and_path(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKED", str(tmp_path / "booked.txt"))
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration that the settings name, with its module beside it."""
    name = f"tools_of_a_test_{next(NUMBER)}"
    (tmp_path / f"{name}.py").write_text(TOOLS, encoding="utf-8")
    path = tmp_path / "agent.yaml"
    path.write_text(CONFIG.format(name=name), encoding="utf-8")
    monkeypatch.setenv("TASKLOOM_TOOLS", str(path))
    return path


@pytest.fixture
def invoke(home: Path) -> Invoke:
    """Run a command; the exit code is checked."""

    def run(*args: str | Path, code: int = 0, **more: Any) -> Result:
        settings.cache_clear()
        result = CliRunner().invoke(app, [str(arg) for arg in args], **more)
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return run


def booked(config: Path) -> list[str]:
    path = config.with_name("booked.txt")
    return path.read_text().splitlines() if path.exists() else []


def one_line(result: Result) -> str:
    """What an error says, which is one line."""
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("taskloom: ")
    return str(line)


# ---- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_has_examples_and_fits_80_columns(command: tuple[str, ...], invoke: Invoke) -> None:
    shown = invoke("tools", *command, "--help").output
    assert f"  taskloom tools {' '.join(command)}".rstrip() in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_help_lists_the_commands_and_loads_little() -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom taskloom.agent.cli.main import app\n"
        "print(CliRunner().invoke(app, ['tools', '--help']).stdout)\n"
        "print({'langgraph', 'langchain_core', 'yaml', 'jsonschema'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    commands = shown.split("Commands:")[1].split("Examples:")[0]
    assert re.findall(r"^  (\w+)  ", commands, re.MULTILINE) == list(COMMANDS)
    assert shown.splitlines()[-1] == "set()"


# ---- list -----------------------------------------------------------------------------------------


def test_list_tells_needs_gives_and_marks(config: Path, invoke: Invoke) -> None:
    shown = invoke("tools", "list").stdout
    lines = shown.splitlines()
    assert lines[0] == "search_flights: needs destination, date; gives flights"
    assert lines[1] == "    Look up when planes leave. Gives: str"
    assert "book_seat: needs flights; gives seat; side effects" in lines
    assert "add" in lines
    assert "budget: always" in lines
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    assert "\x1b" not in shown


def test_list_as_json(config: Path, invoke: Invoke) -> None:
    found = json.loads(invoke("tools", "list", "--json").stdout)
    assert [one["name"] for one in found] == [
        "search_flights",
        "book_seat",
        "add",
        "budget",
        "letter",
        "broken",
    ]
    assert found[0]["needs"] == {"destination": "destination", "date": "date"}
    assert found[0]["parameters"]["properties"]["date"]["description"] == "When."
    assert found[1]["side_effects"]
    assert found[1]["users"] == ["ana", "local"]
    assert found[3]["parameters"]["properties"] == {}


def test_list_those_for_a_task(config: Path, invoke: Invoke) -> None:
    def names(*args: str) -> list[str]:
        shown = invoke("tools", "list", "--json", *args).stdout
        return [one["name"] for one in json.loads(shown)]

    assert names("--for", "when do planes leave", "--limit", "1") == ["budget", "search_flights"]
    assert names("--for", "add these numbers up", "--limit", "1") == ["budget", "add"]
    assert names("--for", "book a seat", "--limit", "1") != ["budget", "book_seat"]
    assert names("--for", "book a seat", "--limit", "1", "--user", "ana") == ["budget", "book_seat"]


def test_an_empty_file(config: Path, invoke: Invoke) -> None:
    config.write_text("")
    assert invoke("tools", "list").stdout == "There are no tools.\n"
    assert json.loads(invoke("tools", "list", "--json").stdout) == []
    assert one_line(invoke("tools", "show", "x", code=2)).endswith("there is no tool 'x'; there are: none")


# ---- which file -----------------------------------------------------------------------------------


def test_without_a_file(invoke: Invoke) -> None:
    for command in (["list"], ["show", "x"], ["try", "x"]):
        told = one_line(invoke("tools", *command, code=2))
        assert told == "taskloom: which file? Set TASKLOOM_TOOLS, or give --config FILE"


def test_the_option_goes_before_the_setting(config: Path, invoke: Invoke, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("")
    assert "no tools" in invoke("tools", "list", "--config", other).stdout
    assert "cannot be read: No such file" in one_line(
        invoke("tools", "list", "--config", tmp_path / "none.yaml", code=1)
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tools: [", "agent.yaml is not valid YAML: "),
        ("tols: []", "agent.yaml: tols: Extra inputs are not permitted"),
        (
            "tools: [{use: 'no_such_module:x'}]",
            "tool 1 (no_such_module:x): there is no module no_such_module",
        ),
        ("tools: [{use: 'this_module_is_wrong:x'}]", "NameError: name 'nowhere' is not defined"),
        ("tools: [{name: x, description: X., llm: {template: x, output: {y: str}}}]", "set TASKLOOM_MODEL"),
        ("mcp: {one: {command: /no/such/program}}", "the MCP server 'one' cannot be started"),
    ],
)
def test_a_broken_file_is_told_by_every_command_that_acts(
    text: str, told: str, config: Path, invoke: Invoke
) -> None:
    config.with_name("this_module_is_wrong.py").write_text("nowhere")
    config.write_text(text)
    script = config.with_name("script.json")
    script.write_text('["Plan a trip to Rome"]')
    for command in (["tools", "list"], ["tools", "try", "x"], ["run", str(script)], ["chat"]):
        assert told in one_line(invoke(*command, code=1))
    shown = invoke("doctor", code=1).stdout
    assert re.search(r"^tools +WRONG .*agent\.yaml", shown, re.MULTILINE)
    assert told in shown
    report = json.loads(invoke("doctor", "--json", code=1).stdout)
    (found,) = [one for one in report["findings"] if one["name"] == "tools"]
    assert (found["ok"], told in found["text"]) == (False, True)
    assert invoke("threads").stdout.startswith("No threads yet")  # commands that carry nothing out go on
    assert "Your turn" in invoke("demo", "--fast").stdout


def test_doctor_tells_what_there_is(config: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = invoke("doctor").stdout
    assert re.search(r"^tools +ok +6 in .*agent\.yaml, 1 with side effects$", shown, re.MULTILINE)
    monkeypatch.delenv("TASKLOOM_TOOLS")
    assert re.search(r"^tools +none ", invoke("doctor").stdout, re.MULTILINE)


# ---- show and try ---------------------------------------------------------------------------------


def test_show(config: Path, invoke: Invoke) -> None:
    found = json.loads(invoke("tools", "show", "search_flights").stdout)
    assert (found["name"], found["gives"], found["timeout"]) == ("search_flights", "flights", 60)
    told = one_line(invoke("tools", "show", "search", code=2))
    assert "there is no tool 'search'; there are: search_flights, book_seat, add" in told


def test_a_tool_goes_by_its_use_in_the_file_too(config: Path, invoke: Invoke) -> None:
    (module,) = config.parent.glob("*.py")
    module.write_text(f"{module.read_text()}\nboth = [add, letter]\n")
    uses = ["taskloom.python", f"{module.stem}:budget", f"{module.stem}:both"]
    config.write_text(json.dumps({"tools": [{"use": use} for use in uses], "shared": {"budget": 500}}))
    assert invoke("tools", "show", "taskloom.python").stdout == invoke("tools", "show", "python").stdout
    assert invoke("tools", "try", uses[1]).stdout == "500\n"
    told = one_line(invoke("tools", "show", uses[2], code=2))
    assert told.endswith(f"there is no tool '{uses[2]}'; there are: add, letter")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["numbers=[1, 2.5]"], "sum 3.5 None 0"),
        (["numbers=[]", "label=0123"], "sum 0 None 0".replace("sum", "0123")),
        (["numbers=[]", "label=12"], "12 0 None 0"),
        (["numbers=[]", "label=two words=three"], "two words=three 0 None 0"),
        (["numbers=[]", 'label="quoted"'], "quoted 0 None 0"),
        (["numbers=[]", "label=", "note=null"], " 0 None 0"),
        (["numbers=[]", "note=true", "exact=7"], "sum 0 true 7"),
        (["numbers=[]", "exact=x"], "sum 0 None 'x'"),
    ],
)
def test_parameters_are_json_or_words(given: list[str], told: str, config: Path, invoke: Invoke) -> None:
    assert invoke("tools", "try", "add", *given).stdout == f"{told}\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["flights"], "'flights' is not of the form PARAMETER=VALUE"),
        ([], "numbers: Field required: `taskloom tools show add` shows its parameters"),
        (["numbers=x", "lable=y"], "add has no parameter lable; numbers: Input should be a valid list"),
        (["numbers=[1]", "=x"], "add has no parameter "),
    ],
)
def test_parameters_that_do_not_fit(given: list[str], told: str, config: Path, invoke: Invoke) -> None:
    assert told in one_line(invoke("tools", "try", "add", *given, code=2))


def test_injected_parameters_cannot_be_given(config: Path, invoke: Invoke) -> None:
    assert invoke("tools", "try", "budget").stdout == "500\n"
    assert "budget has no parameter shared" in one_line(invoke("tools", "try", "budget", "shared={}", code=2))


def test_a_long_result_is_whole_and_gives_a_terminal_no_orders(config: Path, invoke: Invoke) -> None:
    assert invoke("tools", "try", "letter", "length=5000").stdout == f"[31m{'y' * 5000}\n"
    told = json.loads(invoke("tools", "try", "letter", "length=5000", "--json").stdout)
    assert told["text"] == "\x1b[31m" + "y" * 5000
    assert (told["status"], told["whole"], told["attempts"]) == ("done", None, 1)


def test_a_call_that_fails(config: Path, invoke: Invoke) -> None:
    assert one_line(invoke("tools", "try", "broken", code=1)) == "taskloom: broken failed: the line is busy"
    told = json.loads(invoke("tools", "try", "broken", "--json", code=1).stdout)
    assert (told["status"], told["text"]) == ("failed", "the line is busy")


def test_side_effects_are_confirmed(config: Path, invoke: Invoke) -> None:
    call = ("tools", "try", "book_seat", "flights=10:40")
    for answer in ("n\n", "\n", ""):
        result = invoke(*call, code=1, input=answer)
        assert "book_seat has side effects. Call it? [y/N]" in result.stderr
        assert "12A" not in result.stdout
    assert "no parameter" in one_line(invoke(*call, "seat=1", code=2))  # told before anything is asked
    assert booked(config) == []
    assert invoke(*call, input="y\n").stdout.endswith("12A, 10:40\n")
    assert (
        json.loads(invoke(*call, "--json", input="y\n").stdout.removeprefix(" y\n"))["text"] == "12A, 10:40"
    )
    result = invoke(*call, "--yes")
    assert (result.stdout, result.stderr) == ("12A, 10:40\n", "")
    assert len(booked(config)) == 3


def test_tools_of_a_server_and_of_a_model(
    config: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(f"""
mcp: {{test: {{command: '{sys.executable}', args: ['{MCP_SERVER}', stdio]}}}}
tools:
  - name: praise
    description: Praise something.
    llm: {{template: Praise <thing>., output: {{praise: str}}}}
""")
    with OpenAIServer([Say('{"praise": "so good"}')]) as server:
        monkeypatch.setenv("TASKLOOM_MODEL", "good")
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert invoke("tools", "try", "praise", "thing=tea").stdout == '{"praise": "so good"}\n'
        assert invoke("tools", "try", "add", "first=2", "second=3").stdout == "5\n"
        assert "first: 'two' is not of type" in one_line(invoke("tools", "try", "add", "first=two", code=2))
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "praise" in invoke("tools", "list").stdout  # nothing is asked of the model yet


# ---- the whole way --------------------------------------------------------------------------------


def played(invoke: Invoke, config: Path, *entries: Any) -> list[dict[str, Any]]:
    script = config.with_name("script.json")
    script.write_text(json.dumps(entries))
    return [json.loads(line) for line in invoke("run", script, "--json").stdout.splitlines()]


def tool_runs(turn: dict[str, Any]) -> list[tuple[str, str]]:
    return [(run["tool"], run["status"]) for run in turn["tool_runs"]]


def test_a_script_approves_where_it_says_so(config: Path, invoke: Invoke) -> None:
    plan = "Plan a trip. The destination is Rome and the date is June 10th."
    (turn,) = played(invoke, config, {"user": plan, "approve": True})
    assert tool_runs(turn) == [("search_flights", "done"), ("book_seat", "done")]
    search, book = turn["tool_runs"]
    assert search["args"] == {"destination": "Rome", "date": "June 10th"}
    assert search["text"] == "10:40 to Rome on June 10th"
    assert book["args"] == {"flights": search["text"]}
    assert booked(config) == [search["text"]]
    held = {task["id"]: task for task in turn["tasks"]}
    assert held[book["task"]]["value"] == "12A, 10:40 to Rome on June 10th"
    assert held[book["task"]]["status"] == "done"
    assert held[book["task"]]["source"] == "tool:book_seat"
    assert held[book["task"]]["depends_on"] == [search["task"]]
    for refused in (plan, {"user": plan}, {"user": plan, "approve": False}, {"user": plan, "approve": "yes"}):
        (turn,) = played(invoke, config, refused)
        assert tool_runs(turn) == [("search_flights", "done"), ("book_seat", "rejected")]
        assert "you did not approve it" in turn["reply"]
    assert len(booked(config)) == 1


def test_a_turn_that_changes_nothing_calls_nothing(config: Path, invoke: Invoke) -> None:
    turns = played(invoke, config, "Plan a trip. The destination is Rome.", "Where to?", "Hello")
    assert [turn["tool_runs"] for turn in turns] == [[], [], []]


def test_what_is_out_of_date_is_made_again_when_that_is_wanted(config: Path, invoke: Invoke) -> None:
    plan = {"user": "Plan a trip. The destination is Rome and the date is June 10th.", "approve": True}
    again = {"user": "Yes", "approve": True}
    _, changed, made = played(invoke, config, plan, "Make it June 12th.", again)
    assert changed["tool_runs"] == []
    assert "out of date" in changed["reply"]
    assert tool_runs(made) == [("search_flights", "done"), ("book_seat", "done")]
    assert [line.split(" on ")[1] for line in booked(config)] == ["June 10th", "June 12th"]


def test_without_the_setting_no_tool_is_called(
    config: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TASKLOOM_TOOLS")
    plan = "Plan a trip. The destination is Rome and the date is June 10th."
    (turn,) = played(invoke, config, {"user": plan, "approve": True})
    assert turn["tool_runs"] == []
    assert booked(config) == []


@pytest.mark.slow
def test_as_processes(config: Path, home: Path) -> None:
    def run(*args: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run([TASKLOOM, *args], capture_output=True, text=True, cwd=config.parent, **more)

    script = config.with_name("script.json")
    plan = "Plan a trip. The destination is Rome and the date is June 10th."
    script.write_text(json.dumps([{"user": plan, "approve": True}]))
    done = run(
        "run", script, "--thread", "trip", env={**os.environ, "TASKLOOM_TOOLS": "agent.yaml"}, check=True
    )
    assert "Seat: 12A, 10:40 to Rome on June 10th." in " ".join(done.stdout.split())
    assert len(booked(config)) == 1
    tasks = run("tasks", "--thread", "trip", check=True).stdout
    assert "seat: 12A" in tasks
    wrong = run("tools", "try", "sell")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("taskloom: there is no tool 'sell'; there are: search_flights")
    nobody = run("tools", "try", "book_seat", "flights=x", stdin=subprocess.DEVNULL)
    assert (nobody.returncode, nobody.stdout.strip()) == (1, "")
    assert len(booked(config)) == 1

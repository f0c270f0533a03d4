"""README.md, docs/ and the command line's help say what the code does."""

import json
import re
import shlex
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.cli.meeting import ASK
from taskloom.agent.graph.access import MAX_UTTERANCE
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.settings import Settings
from taskloom.agent.turn.state import Context

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
COMMANDS = typer.main.get_group(app).commands
PARTS = {
    f"{group} {name}": part
    for group, command in COMMANDS.items()
    if isinstance(command, TyperGroup)
    for name, part in command.commands.items()
}
EXAMPLES = [
    line
    for text in (TEXT, *(command.epilog or "" for command in (*COMMANDS.values(), *PARTS.values())))
    for line in text.splitlines()
    if re.match(r" *taskloom \w", line)
]


def block(language: str) -> str:
    """The text of the one code block of a language, on whichever page."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_transcript_is_what_run_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("COLUMNS", "80")
    written = block("transcript")
    script = tmp_path / "script.json"
    script.write_text(json.dumps(re.findall(r"^> (.*)$", written, re.MULTILINE)))
    result = CliRunner().invoke(app, ["run", str(script)])
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    assert written.strip() == printed.strip(), "paste what run prints into its page"


def test_the_sessions_are_what_run_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("COLUMNS", "80")
    written = block("sessions")
    said = re.findall(r"^(?:> (.*)|(--))$", written, re.MULTILINE)
    script = tmp_path / "script.json"
    script.write_text(json.dumps([user or {"session": "next"} for user, _ in said]))
    result = CliRunner().invoke(app, ["run", str(script)])
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    assert written.replace("--\n\n", "").strip() == printed.strip(), "paste what run prints into its page"


def test_the_tools_do_what_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TASKLOOM_TOOLS", str(tmp_path / "agent.yaml"))
    (tmp_path / "agent.yaml").write_text(block("yaml"))
    (tmp_path / "travel.py").write_text(block("py"))
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "home"))
    written = [line for line in block("tools").splitlines() if line]
    typed = re.findall(r"^(?:> |Do it\? .*: )(.*)$", "\n".join(written), re.MULTILINE)
    result = CliRunner().invoke(app, ["chat"], input="\n".join([*typed, "/quit"]))
    _, *printed = (line.rstrip() for line in result.stdout.splitlines())
    assert written == printed[: len(written)], "paste what chat prints into its page"
    assert printed[len(written)] == "> /quit"


def test_the_recording_is_asked_as_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)
    written = block("recording")
    typed = iter(re.findall(rf"^{re.escape(ASK)}(.*)$", written, re.MULTILINE))
    printed = ""
    for command in re.findall(r"^\$ taskloom (.*)$", written, re.MULTILINE):
        answers = [*typed] if command.startswith("video plan") else []
        output = CliRunner().invoke(app, shlex.split(command), input="\n".join(answers)).stdout
        for answer in answers:  # a terminal shows what is typed
            output = output.replace(ASK, f"{ASK.strip()}\0{answer}\n", 1)
        printed += f"$ taskloom {command}\n{output}".replace("\0", " ")
    assert written == printed, "paste what the commands print into its page"


def test_the_script_shows_what_a_session_knows_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    example = re.search(r"^A script is a list such as\s+`(\[.*?\])`", TEXT, re.MULTILINE)
    assert example
    (tmp_path / "script.json").write_text(example[1])
    printed = CliRunner().invoke(app, ["run", str(tmp_path / "script.json")]).stdout
    assert "I suggest: destination Rome" in printed.split("\n\n")[1]


def test_code_in_the_text_says_where_its_names_are_from() -> None:
    calls = re.findall(r"`([\w=]*(?:replace|[A-Z]\w+)\([^`]*\))`(?:\s+\(([^)]*)\))?", TEXT)
    assert len(calls) == 4
    for code, beside in calls:
        found = {name for module in re.findall(r"`([\w.]+)`", beside) for name in dir(import_module(module))}
        assert set(re.findall(r"\b[A-Z]\w+", code)) - {"True"} <= found, code


def test_the_snippet_is_the_one_that_is_tested() -> None:
    tested = (ROOT / "tests" / "test_embedding.py").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"# --- snippet\n(.*?)\n *# --- end", tested, re.DOTALL)
    assert block("python").strip() == textwrap.dedent(snippet).strip()


def test_the_snippet_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    done = subprocess.run(
        [sys.executable, "-c", block("python")], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "Rome" in done.stdout
    assert "June 10th" in done.stdout.splitlines()[1]


def test_the_table_of_settings_is_complete() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) ?\| (.+) \|$", TEXT, re.MULTILINE)
    fields = Settings.model_fields.items()
    assert [variable for variable, _, _ in rows] == [
        field.validation_alias or f"TASKLOOM_{name.upper()}" for name, field in fields
    ]
    for (variable, default, text), (_, field) in zip(rows, fields, strict=True):
        known = field.default
        value = f"{known:g}" if isinstance(known, float) else str("" if known is None else known)
        assert default.strip("`").lower() == value.lower(), variable
        assert field.description in (None, text), variable


def test_the_context_is_described() -> None:
    listed = re.search(r"`context=Context\(\.\.\.\)`[^:]*: ([^.]*)\.", TEXT)
    assert listed
    assert re.findall(r"`(\w+)`", listed[1]) == list(Context.model_fields)


def test_examples_use_commands_and_options_that_exist(subtests: pytest.Subtests) -> None:
    for line in EXAMPLES:
        with subtests.test(line):
            words = shlex.split(line.split("  #")[0].split(" | ")[0].split(" > ")[0])
            command = (
                PARTS[" ".join(words[1:3])]
                if words[1] in ("memory", "tools", "video")
                else COMMANDS[words[1]]
            )
            options = {name for param in command.params for name in param.opts}
            assert {word for word in words if word.startswith("--")} <= options


def test_the_readme_has_every_command_but_the_demo() -> None:
    named = set(re.findall(r"^taskloom ([a-z]+)", TEXT, re.MULTILINE))
    assert named == set(COMMANDS) - {"demo"}


def test_the_targets_of_make_exist() -> None:
    named = set(re.findall(r"(?:^|`)make (\w+)", TEXT, re.MULTILINE))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test", "serve"} == named <= targets
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^|`)make (\w+)", contributing, re.MULTILINE)) <= targets
    port = re.search(r"^PORT \?= (\d+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert port
    assert f"port {port[1]} " in TEXT


def test_the_schema_can_be_read() -> None:
    (schema,) = load_schemas(block("json"))
    assert [slot.name for slot in schema.slots] == ["destination", "class"]


def test_the_limits_are_as_told() -> None:
    assert f"at most {MAX_UTTERANCE:,} characters" in TEXT
    measured = (ROOT / "training" / "README.md").read_text(encoding="utf-8")
    row = re.search(r"^\| the local reader \| (\d+) / (\d+) / (\d+) \|", measured, re.MULTILINE)
    assert row
    right, asked, wrong = row.groups()
    told = f"{right} % are held without a model, {asked} % are asked about and {wrong} % are misread"
    assert told in " ".join(TEXT.split())


def test_the_benchmarks_say_what_they_need() -> None:
    told = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for script in (ROOT / "benchmarks").glob("*.py"):
        if "from tests.test_" in script.read_text(encoding="utf-8"):
            (row,) = re.findall(rf"^\| `{script.name}` \|.*$", told, re.MULTILINE)
            assert "needs pytest" in row, script.name


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert link.startswith("https://") or (page.parent / link).exists(), (page.name, link)
    listed = {
        ROOT / link for link in re.findall(r"\]\((docs/\w+\.md)\)", PAGES[0].read_text(encoding="utf-8"))
    }
    assert listed == {*PAGES[1:]}

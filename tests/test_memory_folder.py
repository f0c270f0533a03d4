"""Claude's memory tool on Taskloom's files, by the side of the one of Anthropic's SDK on a disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from taskloom.agent.graph.databases import open_outbox
from taskloom.agent.graph.runs import ForeignThreadError
from taskloom.agent.parts.claude import ClaudeMemoryTool
from taskloom.agent.parts.kept_folder import MemoryOffError, kept_folder
from taskloom.agent.parts.memory_folder import LONGEST, MOST, FolderError, MemoryFolder
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.settings import Settings
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from taskloom.memory.outbox import Outbox
from taskloom.memory.store import InMemoryStore
from tests.chroma_server import HashEmbedder, fact, unit
from tests.postgres_server import rows
from tests.scripted import services

ROOT = Path(__file__).parent.parent
Call = Callable[..., str]


def told(tool: Any, command: str, **given: Any) -> str:
    """What a tool tells of a call; an error with a mark."""
    try:
        return str(tool.call({"command": command, **given}))
    except ToolError as error:
        return f"ERROR {error}"


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox(tmp_path / "outbox.sqlite") as opened:
        yield opened


@pytest.fixture(params=["sdk", "ours"])
def call(request: pytest.FixtureRequest, tmp_path: Path, outbox: Outbox) -> Call:
    """Calls a tool: the SDK's, or ours."""
    ours = ClaudeMemoryTool(MemoryFolder(outbox.files, user="ann"))
    tool: Any = ours if request.param == "ours" else BetaLocalFilesystemMemoryTool(str(tmp_path / "disk"))
    return lambda command, **given: told(tool, command, **given)


# ---- the contract ---------------------------------------------------------------------------------


def test_the_documented_commands(call: Call, subtests: pytest.Subtests) -> None:
    notes = "/memories/notes.md"
    with subtests.test("create"):
        made = call("create", path=notes, file_text="one\ntwo\nthree\n")
        assert made == f"File created successfully at: {notes}"
        assert call("create", path=notes, file_text="x") == f"ERROR File {notes} already exists"
        call("create", path="/memories/deep/er/plan.md", file_text="")
        call("create", path="/memories/.hidden", file_text="x" * 2048)
    with subtests.test("view a file"):
        assert call("view", path=notes) == (
            f"Here's the content of {notes} with line numbers:\n"
            "     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
        )
        assert call("view", path=notes, view_range=[2, 3]).endswith(":\n     2\ttwo\n     3\tthree")
        assert call("view", path=notes, view_range=[3, -1]).endswith(":\n     3\tthree\n     4\t")
        missing = "ERROR The path /memories/no.md does not exist. Please provide a valid path."
        assert call("view", path="/memories/no.md") == missing
    with subtests.test("view a folder"):
        head, whole, *lines = call("view", path="/memories").splitlines()
        assert "up to 2 levels deep in /memories, excluding hidden items:" in head
        assert whole.endswith("\t/memories")
        assert [line.split("\t")[1] for line in lines] == [
            "/memories/deep/", "/memories/deep/er/", "/memories/notes.md"
        ]  # fmt: skip
        assert lines[-1] == "14B\t/memories/notes.md"
    with subtests.test("str_replace"):
        edited = call("str_replace", path=notes, old_str="two", new_str="2\nzwei")
        assert edited == (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            "     1\tone\n     2\t2\n     3\tzwei\n     4\tthree"
        )
        absent = f"ERROR No replacement was performed, old_str `two` did not appear verbatim in {notes}."
        assert call("str_replace", path=notes, old_str="two", new_str="x") == absent
        assert call("str_replace", path=notes, old_str="e", new_str="x") == (
            "ERROR No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 3, 4, 4."
            " Please ensure it is unique"
        )
        assert "is not a file" in call("str_replace", path="/memories/deep", old_str="a", new_str="b")
    with subtests.test("insert"):
        inserted = call("insert", path=notes, insert_line=1, insert_text="between\n")
        assert inserted == f"The file {notes} has been edited."
        assert "     2\tbetween\n     3\t2" in call("view", path=notes)
        assert call("insert", path=notes, insert_line=9, insert_text="x") == (
            "ERROR Invalid `insert_line` parameter: 9. It should be within the range [0, 5]."
        )
    with subtests.test("rename"):
        moved = call("rename", old_path="/memories/deep", new_path="/memories/a/b")
        assert moved == "Successfully renamed /memories/deep to /memories/a/b"
        assert "/memories/a/b/er/plan.md" in call("view", path="/memories/a/b")
        assert "already exists" in call("rename", old_path=notes, new_path="/memories/a")
        assert "does not exist" in call("rename", old_path="/memories/x", new_path="/memories/y")
        assert "itself" in call("rename", old_path="/memories", new_path="/memories/y")
    with subtests.test("delete"):
        assert call("delete", path="/memories/a") == "Successfully deleted /memories/a"
        assert call("delete", path="/memories/a") == "ERROR The path /memories/a does not exist"
        assert "Cannot delete the /memories directory itself" in call("delete", path="/memories")
        assert "does not exist" in call("view", path="/memories/a/b/er/plan.md")
    with subtests.test("paths that lead out"):
        for path in ("/etc/passwd", "/memories/../x", "/memories/a/../../x", "memories/x", ""):
            for command in ("view", "delete"):
                assert call(command, path=path).startswith("ERROR Path"), path


names = st.sampled_from(["a", "b", "c.md"])
paths = st.lists(names, max_size=3).map(lambda parts: "/".join(["/memories", *parts]))
texts = st.text("ab\n", max_size=8)
commands = st.one_of(
    st.tuples(st.just("view"), st.fixed_dictionaries({"path": paths})),
    st.tuples(
        st.just("view"),
        st.fixed_dictionaries(
            {"path": paths, "view_range": st.tuples(st.integers(1, 4), st.integers(-1, 4)).map(list)}
        ),
    ),
    st.tuples(st.just("create"), st.fixed_dictionaries({"path": paths, "file_text": texts})),
    st.tuples(
        st.just("str_replace"),
        st.fixed_dictionaries(
            {"path": paths, "old_str": st.text("ab\n", min_size=1, max_size=2), "new_str": texts}
        ),
    ),
    st.tuples(
        st.just("insert"),
        st.fixed_dictionaries({"path": paths, "insert_line": st.integers(-1, 4), "insert_text": texts}),
    ),
    st.tuples(st.just("delete"), st.fixed_dictionaries({"path": paths})),
    st.tuples(st.just("rename"), st.fixed_dictionaries({"old_path": paths, "new_path": paths})),
)


@settings(max_examples=30)
@given(st.lists(commands, min_size=5, max_size=25))
def test_any_commands_have_the_same_outcome(sequence: list[tuple[str, dict[str, Any]]]) -> None:
    """But for the sizes of folders, and where the SDK passes on an error of the system's."""
    with tempfile.TemporaryDirectory() as folder, Outbox(Path(folder) / "outbox.sqlite") as box:
        sdk = BetaLocalFilesystemMemoryTool(folder)
        ours = ClaudeMemoryTool(MemoryFolder(box.files, user="ann"))
        for command, given in sequence:
            found = told(ours, command, **given)
            if command == "rename" and re.search("does not exist|cannot hold|into itself", found):
                continue  # there the SDK makes the folder of the new place before it fails
            try:
                expected = told(sdk, command, **given)
            except OSError:
                assert found.startswith("ERROR "), (command, given)
            else:
                viewed = given.get("path", "")
                assert _plain(found, viewed) == _plain(expected, viewed), (command, given)


def _plain(text: str, viewed: str) -> str:
    """What was told, without the sizes of folders: of those in one that is viewed, and of itself."""
    folder = rf"^\S+\t(/memories(?:\S*/)?|/memories/\S*[abc]|{re.escape(viewed)})$"
    return re.sub(folder, r"\1", text, flags=re.MULTILINE)


# ---- what is ours ---------------------------------------------------------------------------------


def refused(folder: MemoryFolder, command: str, **given: Any) -> str:
    with pytest.raises(FolderError) as error:
        folder.carry_out({"command": command, **given})
    return str(error.value)


def test_what_cannot_be_done_is_told_and_leaves_all_as_it_was(
    outbox: Outbox, subtests: pytest.Subtests
) -> None:
    folder = MemoryFolder(outbox.files, user="ann", views={"facts.md": lambda: "seen"})
    note = "/memories/note.md"
    folder.carry_out({"command": "create", "path": note, "file_text": "x"})
    before = folder.carry_out({"command": "view", "path": "/memories"})
    facts, new = "/memories/facts.md", "/memories/new"

    def made(path: str, text: Any = "") -> dict[str, Any]:
        return {"command": "create", "path": path, "file_text": text}

    inserted = {"command": "insert", "path": note, "insert_line": 0, "insert_text": "x" * LONGEST}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("encoded", {"command": "view", "path": "/memories/%2e%2e/x"}, "would escape /memories"),
        ("an encoded slash", {"command": "view", "path": "/memories/a%2fb"}, "would escape /memories"),
        ("a backslash", made("/memories/..\\x"), "would escape"),
        ("another folder", made("/memoriesx/y"), "must start with"),
        ("control characters", made("/memories/a\nb"), "control"),
        ("a NUL in a path", made("/memories/a\0b"), "control"),
        ("a long path", made("/memories/" + "x" * 500), "the most are 400"),
        ("a huge file", made(new, "x" * (LONGEST + 1)), "100,001"),
        ("huge by an insert", inserted, "the most are 100,000"),
        ("binary", made(new, "a\0b"), "would not be text"),
        ("half a character", made(new, "\ud83d"), "not be text"),
        ("no command", {"path": note}, "Unknown command"),
        ("another command", {"command": "chmod", "path": note}, "Unknown command: chmod"),
        ("no path", {"command": "view"}, "Invalid `path`: Field required"),
        ("no text", {"command": "create", "path": new}, "Invalid `file_text`"),
        ("no text but a number", made(new, 5), "Invalid `file_text`"),
        ("a range of one", {"command": "view", "path": note, "view_range": [1]}, "Invalid `view_range`"),
        ("nothing to replace", {"command": "str_replace", "path": note, "old_str": ""}, "Invalid `old_str`"),
        ("a file as a folder", made(f"{note}/y"), "is a file, and cannot hold"),
        ("into a file", {"command": "rename", "old_path": note, "new_path": f"{note}/y"}, "cannot hold"),
        ("a view", made(facts), "can only be viewed"),
        ("a view's edit", {"command": "str_replace", "path": facts, "old_str": "s"}, "only be viewed"),
        ("below a view", made("/memories/plan.md/x"), "only be viewed"),
        ("onto a view", {"command": "rename", "old_path": note, "new_path": facts}, "only be viewed"),
        ("a view away", {"command": "delete", "path": "/memories/x/../facts.md"}, "only be viewed"),
    ]
    for name, asked, words in cases:
        with subtests.test(name), pytest.raises(FolderError, match=re.escape(words)):
            folder.carry_out(asked)
        assert folder.carry_out({"command": "view", "path": "/memories"}) == before, name
    with subtests.test("into itself"):
        folder.carry_out({"command": "create", "path": "/memories/a/b", "file_text": ""})
        assert "into itself" in refused(folder, "rename", old_path="/memories/a", new_path="/memories/a/c")
        long = "/memories/" + "y" * 399
        assert "the most are 400" in refused(folder, "rename", old_path="/memories/a", new_path=long)
    with subtests.test("many places"):
        folder.carry_out({"command": "create", "path": "/memories/many", "file_text": "ab\n" * 30_000})
        assert "in lines: 1, 2, 3," in refused(folder, "str_replace", path="/memories/many", old_str="ab")
    with subtests.test("too many"):
        with outbox.files.of("ann") as tree:
            for number in range(MOST - len(tree.paths())):
                tree.write(f"n{number}", "")
        assert "which are the most" in refused(folder, "create", path="/memories/z", file_text="")
        folder.carry_out({"command": "insert", "path": note, "insert_line": 0, "insert_text": "y"})
        assert ClaudeMemoryTool(folder).clear_all_memory() == "All memory cleared"
        assert "note.md" not in folder.carry_out({"command": "view", "path": "/memories"})


def test_the_tool_is_one_of_the_sdks(outbox: Outbox) -> None:
    tool = ClaudeMemoryTool(MemoryFolder(outbox.files, user="ann"))
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert told(tool, "chmod") == "ERROR Unknown command: chmod"
    with pytest.raises(ToolError, match="Unknown command: None"):
        tool.call("no dict")
    for name in ("view", "create", "str_replace", "insert", "delete", "rename", "execute"):
        with pytest.raises(ToolError, match="Invalid"):
            getattr(tool, name)({"command": "view"})


def test_a_users_files_are_nobody_elses_and_are_forgotten_to_the_byte(
    tmp_path: Path, database: str, subtests: pytest.Subtests
) -> None:
    for name, url in (("sqlite", None), ("postgres", SecretStr(database))):
        given = Settings(home=tmp_path / name, database_url=url)
        with subtests.test(name), open_outbox(given) as box:
            ann, bob = (MemoryFolder(box.files, user=user) for user in ("ann", "bob"))
            ann.carry_out({"command": "create", "path": "/memories/a/periwinkle", "file_text": "Xylophone\n"})
            bob.carry_out({"command": "create", "path": "/memories/b", "file_text": "Marimba\n"})
            assert "periwinkle" not in bob.carry_out({"command": "view", "path": "/memories"})
            assert "does not exist" in refused(bob, "view", path="/memories/a/periwinkle")
            assert "Xylophone" in ann.carry_out({"command": "view", "path": "/memories/a/periwinkle"})
            box.add("ann", [fact(1, "waits")])
            box.forget("ann")
            assert "does not exist" in refused(ann, "view", path="/memories/a/periwinkle")
            assert "Marimba" in bob.carry_out({"command": "view", "path": "/memories/b"})
            files = (
                b"".join(path.read_bytes() for path in given.home.rglob("*") if path.is_file())
                if not url
                else b""
            )
            assert b"Xylophone" not in files
            assert b"periwinkle" not in files
    assert rows(database, "Xylophone", "periwinkle") == []


WRITER = """
import sys
from pathlib import Path
from pydantic import SecretStr
from taskloom.agent.graph.databases import open_outbox
from taskloom.agent.parts.memory_folder import MemoryFolder
from taskloom.agent.settings import Settings
home, url, name = sys.argv[1:]
box = open_outbox(Settings(home=Path(home), database_url=SecretStr(url) if url else None))
folder = MemoryFolder(box.files, user="ann")
for n in range(20):
    line = {"path": "/memories/log", "insert_line": 0, "insert_text": f"{name}{n}"}
    folder.carry_out({"command": "insert", **line})
    folder.carry_out({"command": "create", "path": f"/memories/{name}/{n}", "file_text": "x"})
"""


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_two_processes_lose_nothing(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("database") if where == "postgres" else ""
    given = Settings(home=tmp_path, database_url=SecretStr(url) if url else None)
    with open_outbox(given) as box:
        folder = MemoryFolder(box.files, user="ann")
        folder.carry_out({"command": "create", "path": "/memories/log", "file_text": ""})
        writing = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), url, name],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            for name in ("a", "b")
        ]
        assert [process.wait() for process in writing] == [0, 0]
        lines = {
            line.split("\t")[1]
            for line in folder.carry_out({"command": "view", "path": "/memories/log"}).splitlines()[1:]
        }
        assert lines - {""} == {f"{name}{n}" for name in "ab" for n in range(20)}
        listed = folder.carry_out({"command": "view", "path": "/memories"})
        assert len(re.findall(r"/memories/[ab]/\d+$", listed, re.MULTILINE)) == 40


# ---- what Taskloom knows, as files ----------------------------------------------------------------


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Taskloom]:
    store = InMemoryStore(HashEmbedder())
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "outbox.sqlite"))
    with Taskloom(Threads(tmp_path / "home", wait=60), services(memory=longterm)) as made:
        yield made


def test_facts_and_the_plan_are_viewed(opened: Taskloom) -> None:
    assert opened.longterm is not None
    folder = kept_folder(opened, user="ann", thread="trip")

    def seen(name: str) -> str:
        text = folder.carry_out({"command": "view", "path": f"/memories/{name}"})
        return "\n".join(line[7:] for line in text.splitlines()[1:])

    assert seen("facts.md") == "# What is remembered, the oldest first\n\nNothing yet.\n"
    assert seen("plan.md") == "# The plan trip\n\nNothing yet.\n"
    opened.longterm.tell("ann", [fact(1, "Mia is allergic\nto nuts."), fact(2, "Ben lives in Oslo.")])
    opened.longterm.tell("bob", [fact(3, "Bob's secret.")])
    opened.longterm.put("ann", [unit(1, "a hotel"), fact(4, "gone", status="deleted")])
    context = Context(user_id="ann")
    opened.talk("task trip; put t1 place Rome; task pack", thread="trip", context=context)
    opened.talk("done t3", thread="trip", context=context)
    told = seen("facts.md")
    assert "- January 1, 2026: Mia is allergic to nuts.\n" in told
    assert "Bergen" in told
    assert "secret" not in told
    assert "gone" not in told
    assert seen("plan.md") == "# The plan trip\n\n- [ ] t1 trip\n  - [x] t2 place: Rome\n- [x] t3 pack\n"
    listed = folder.carry_out({"command": "view", "path": "/memories"})
    assert re.search(r"^\S+B\t/memories/facts.md\n\S+B\t/memories/plan.md$", listed, re.MULTILINE)
    assert "facts.md" in kept_folder(opened, user="bob").carry_out({"command": "view", "path": "/memories"})
    with pytest.raises(ForeignThreadError):
        kept_folder(opened, user="bob", thread="trip").carry_out({"command": "view", "path": "/memories"})


def test_forgetting_a_user_takes_the_files_too(opened: Taskloom, tmp_path: Path) -> None:
    assert opened.longterm is not None
    folder = kept_folder(opened, user="ann")
    folder.carry_out({"command": "create", "path": "/memories/x", "file_text": "Xylophone"})
    opened.longterm.forget("ann")
    assert "does not exist" in refused(folder, "view", path="/memories/x")
    assert b"Xylophone" not in b"".join(path.read_bytes() for path in tmp_path.glob("outbox*"))


def test_without_memory_there_is_no_folder(tmp_path: Path) -> None:
    with (
        Taskloom(Threads(tmp_path), services()) as opened,
        pytest.raises(MemoryOffError, match="TASKLOOM_MEMORY=1"),
    ):
        kept_folder(opened, user="ann")


def test_without_the_sdk_it_is_told_what_to_install() -> None:
    code = "import sys; sys.modules['anthropic'] = None\nimport taskloom.agent.parts.claude"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'taskloom[claude]'" in done.stderr
    assert json.dumps(done.returncode) == "1"

"""ARCHITECTURE.md, the import-linter contracts and the imports in the code say the same; files stay small."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_args

import grimp
import pytest

from taskloom.agent.cli import screen
from taskloom.agent.replying import changes
from taskloom.memory import operations
from taskloom.memory.operations import Operation
from taskloom.tools.config import PROGRAM, SHIPPED, VIDEO

ROOT = Path(__file__).parent.parent
PARTS = ("agent", "memory", "tools")
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]
WINGS_WITHIN = ("agent/grounding/resolving", "tools/video")
SOURCES = sorted(path for part in PARTS for path in (ROOT / part).rglob("*.py"))
RUFF = PYPROJECT["tool"]["ruff"]["lint"]

MOST_LINES, MOST_LINES_OF_A_FUNCTION, MOST_BRANCHES = 450, 60, 12


def table(first_heading: str) -> list[list[str]]:
    """The rows of the page's table whose first column is headed so, as lists of cells."""
    rows = re.search(rf"^\| {first_heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert rows, f"ARCHITECTURE.md has no table headed {first_heading!r}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1].splitlines()]


def code_words(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


MAY_IMPORT = {code_words(part).pop(): code_words(allowed) for part, allowed, _ in table("part")}
WINGS = {code_words(wing).pop(): int(floor) for wing, floor, _ in table("wing of `agent`")}
ONLY_IN = {code_words(library).pop(): code_words(file).pop() for library, file, _ in table("library")}


def imported(path: Path) -> set[str]:
    """Every dotted name that a file imports, wherever in the file; `from a import b` gives a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{path.name}:{node.lineno}: give the full name across folders"
            inside = ["taskloom", *path.parent.relative_to(ROOT).parts] if node.level else []
            module = ".".join([*inside, *filter(None, [node.module])])
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def test_the_table_has_every_part() -> None:
    assert set(MAY_IMPORT) == set(PARTS)


def test_imports_follow_the_page(subtests: pytest.Subtests) -> None:
    for path in SOURCES:
        with subtests.test(str(path.relative_to(ROOT))):
            part = path.relative_to(ROOT).parts[0]
            for name in imported(path):
                top, _, rest = name.partition(".")
                if top == "taskloom":
                    assert rest.split(".")[0] in MAY_IMPORT[part] | {part}, f"{part} must not import {name}"
                assert top not in PARTS, f"{name}: a host may have its own {top}, import taskloom.{name}"
                if top in ONLY_IN:
                    assert str(path.relative_to(ROOT)) == ONLY_IN[top], (
                        f"{top} belongs in {ONLY_IN[top]} only"
                    )


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph(
        *(f"taskloom.{part}" for part in PARTS), exclude_type_checking_imports=True, cache_dir=None
    )
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # a circle is an error that names it


def test_the_contracts_are_those_of_the_page() -> None:
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (layers, _) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    order = [[name.strip().removeprefix("taskloom.") for name in layer.split("|")] for layer in layers]
    below = {
        part: {other for later in order[depth + 1 :] for other in later}
        for depth, layer in enumerate(order)
        for part in layer
    }
    assert below == MAY_IMPORT
    exceptions = {
        contract["forbidden_modules"][0]: contract["ignore_imports"][:1]  # after it, parts of the library
        for contract in contracts
        if contract["type"] == "forbidden"
    }
    assert exceptions == {
        library: [f"taskloom.{file.removesuffix('.py').replace('/', '.')} -> {library}"]
        for library, file in ONLY_IN.items()
    }


def test_the_wings_are_those_of_the_page() -> None:
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (wings,) = [contract for contract in contracts if contract.get("containers") == ["taskloom.agent"]]
    *floors, lowest = reversed(
        [[wing.strip() for wing in floor.split("|")] for floor in wings["layers"][::-1]]
    )
    assert {wing: len(floors) - at for at, floor in enumerate(floors) for wing in floor} == WINGS
    assert lowest == ["settings"]
    assert wings["exhaustive"]
    files = {path.stem for path in (ROOT / "agent").glob("*.py")} - {"__init__"}
    assert files == {"settings", *wings["exhaustive_ignores"]}


def test_every_file_that_the_page_names_is_there() -> None:
    paths = [*SOURCES, *ROOT.glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))  # some without the folder, which stands before them
    assert [name for name in named if not any(f"{path}".endswith(f"/{name}") for path in paths)] == []
    for wing, _, lives in table("wing of `agent`"):
        folder = ROOT / "agent" / code_words(wing).pop()
        inside = (name for name in code_words(lives) if name.endswith(".py"))
        assert [name for name in inside if not (folder / name).is_file()] == [], folder


def test_the_folders_are_parts_and_their_packages() -> None:
    folders = {str(path.parent.relative_to(ROOT)) for path in SOURCES}
    assert folders == {*PARTS, *(f"agent/{wing}" for wing in WINGS), *WINGS_WITHIN}
    packages = {name.removeprefix("taskloom.").replace(".", "/") for name in SETUPTOOLS["packages"]}
    assert packages == folders


def test_the_links_show_the_folders_to_type_checkers() -> None:
    for part in PARTS:
        link = ROOT / ".links" / "taskloom" / part
        assert link.is_symlink()
        assert str(link.readlink()) == f"../../{part}"


# ---- how to add -----------------------------------------------------------------------------------


def test_every_kind_of_operation_is_carried_out_and_told(subtests: pytest.Subtests) -> None:
    kinds = {get_args(one.model_fields["kind"].annotation)[0] for one in get_args(get_args(Operation)[0])} - {
        "check",
        "clarify",
    }  # they change nothing
    told = {
        "memory/operations.py": operations._HANDLERS.keys(),
        "agent/replying/changes.py": changes._TEMPLATES.keys(),
        "agent/cli/screen.py": screen._DID.keys() - {"stale", "edit"},  # not by an operation
    }
    for file, known in told.items():
        with subtests.test(file):
            assert known == kinds


def test_every_tool_that_ships_is_described() -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    assert [name for name in (*SHIPPED, PROGRAM, VIDEO) if f"`{name}`" not in page] == []


# ---- sizes ----------------------------------------------------------------------------------------


@cache
def branching() -> dict[Path, list[str]]:
    """What ruff counts too many branches in, by file; whatever the settings and comments excuse."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--ignore-noqa", "--no-cache"]
    options = ["--select", "C901", "--config", f"lint.mccabe.max-complexity={MOST_BRANCHES}"]
    run = subprocess.run(
        [*command, *options, "--output-format", "json", *PARTS],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stderr
    found: dict[Path, list[str]] = {}
    for fault in json.loads(run.stdout):
        found.setdefault(Path(fault["filename"]), []).append(fault["message"])
    return found


def too_large(path: Path) -> list[str]:
    """What is too large in a file, in words."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    functions = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    sizes = {f"{node.name}:{node.lineno}": (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    return [
        *([f"{lines} lines"] if lines > MOST_LINES else []),
        *(f"{name} has {size} lines" for name, size in sizes.items() if size > MOST_LINES_OF_A_FUNCTION),
        *branching().get(path, []),
    ]


def test_files_and_functions_are_small() -> None:
    found = {str(path.relative_to(ROOT)): too_large(path) for path in SOURCES}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_ruff_excuses_no_branches() -> None:
    assert RUFF["mccabe"]["max-complexity"] == MOST_BRANCHES
    for pattern, codes in RUFF["per-file-ignores"].items():
        assert not any("C901".startswith(code) for code in codes), pattern

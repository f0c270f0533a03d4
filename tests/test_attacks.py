"""The table of attacks names tests that are there, leaves none out, and tells what came of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.attacks import ATTACKS, is_one, table

TESTS = Path(__file__).parent


def marked_in(path: Path) -> Iterator[tuple[str, bool]]:
    """Ids of the tests in a file, and whether they are marked as attacks there."""
    tree = ast.parse(path.read_text())
    whole = any("pytest.mark.attack" in ast.unparse(one) for one in tree.body if isinstance(one, ast.Assign))
    for one in tree.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test_"):
            marked = any(ast.unparse(mark) == "pytest.mark.attack" for mark in one.decorator_list)
            yield f"tests/{path.relative_to(TESTS)}::{one.name}", whole or marked


def test_each_name_is_a_tests_and_each_attack_has_a_line() -> None:
    found = dict(one for path in TESTS.rglob("test_*.py") for one in marked_in(path))
    named = {name for names in ATTACKS.values() for name in names}
    assert {name for name in named if not any(is_one(nodeid, [name]) for nodeid in found)} == set()
    left_out = {nodeid for nodeid, marked in found.items() if marked and not is_one(nodeid, [*named])}
    assert left_out == set()


def test_what_came_of_them_is_told() -> None:
    names = {tried: names for tried, names in ATTACKS.items() if names[0] in ("test_private", "test_quiet")}
    quiet, private = (next(tried for tried, one in names.items() if one[0] == name)
                      for name in ("test_quiet", "test_private"))  # fmt: skip
    lines = table({
        "tests/test_private.py::test_a": "passed", "tests/test_private.py::test_b[1]": "skipped",
        "tests/test_quiet.py::test_c": "failed", "tests/test_quiet.py::test_d": "passed",
    })  # fmt: skip
    assert len(lines) == len(ATTACKS)
    assert f"HELD  {private}: 1 passed, 1 skipped (test_private)" in lines
    assert f"OPEN  {quiet}: 1 failed, 1 passed (test_quiet)" in lines
    assert sum(line.endswith(")") and ": not run (" in line for line in lines) == len(ATTACKS) - 2
    assert all(line.startswith("OPEN ") for line in table({}))

"""The planner: shortest where all is known, there at last where nothing is, wiser after every run."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from taskloom.tools.errors import NotAllowedError, ToolError
from taskloom.tools.planner import Cell, Grid, NoWayError, Planner, moves, planner_tool


def distance(grid: Grid, walls: Iterable[Cell], start: Cell, goal: Cell) -> int | None:
    """Steps of the shortest path, None where there is none."""
    far, waiting, walls = {start: 0}, deque([start]), set(walls)
    while waiting:
        cell = waiting.popleft()
        for other in grid.neighbours(cell):
            if other not in walls and other not in far:
                far[other] = far[cell] + 1
                waiting.append(other)
    return far.get(goal)


def around(grid: Grid, cell: Cell) -> Iterator[Cell]:
    for row in range(max(0, cell[0] - 1), min(grid.rows, cell[0] + 2)):
        for column in range(max(0, cell[1] - 1), min(grid.columns, cell[1] + 2)):
            yield row, column


def walk(planner: Planner[Cell], grid: Grid, walls: Iterable[Cell], start: Cell, goal: Cell) -> list[Cell]:
    """The cells stepped on, seeing 3 x 3 cells; a run of its own."""
    walls, at, trace = set(walls), start, [start]
    planner.begin()

    def look() -> bool:
        view = set(around(grid, at))
        return planner.saw(view - walls, view & walls)

    look()
    path = list(planner.plan(at, goal).path)
    while at != goal:
        at = path.pop(0)
        assert at not in walls, "it walked into a wall that it saw"
        trace.append(at)
        if look():
            path = list(planner.plan(at, goal).path)
    return trace


@st.composite
def places(draw: st.DrawFn) -> tuple[Grid, set[Cell], Cell, Cell]:
    """A grid with obstacles, and two free cells of it."""
    grid = Grid(draw(st.integers(1, 9)), draw(st.integers(2, 9)))
    cells = [(row, column) for row in range(grid.rows) for column in range(grid.columns)]
    start, goal = draw(st.permutations(cells))[:2]
    walls = draw(st.sets(st.sampled_from(cells), max_size=len(cells) * 2 // 3))
    return grid, walls - {start, goal}, start, goal


# ---- one run ----------------------------------------------------------------------------------------


@given(places())
def test_with_all_obstacles_known_the_path_is_shortest(place: tuple[Grid, set[Cell], Cell, Cell]) -> None:
    grid, walls, start, goal = place
    planner, steps = Planner(grid, walls), distance(*place)
    if steps is None:
        with pytest.raises(NoWayError):
            planner.plan(start, goal)
        return
    path = planner.plan(start, goal).path
    assert len(path) == steps
    assert path[-1] == goal
    assert walls.isdisjoint(path)
    for cell, after in zip((start, *path), path, strict=False):
        assert after in grid.neighbours(cell)


@given(places())
def test_it_gets_there_if_there_is_a_way_and_says_so_if_not(
    place: tuple[Grid, set[Cell], Cell, Cell],
) -> None:
    grid, walls, _, goal = place
    if distance(*place) is None:
        with pytest.raises(NoWayError, match="begin a new run"):
            walk(Planner(grid), *place)
        return
    trace = walk(Planner(grid), *place)
    assert trace[-1] == goal
    assert len(trace) - 1 <= (len(walls) + 1) * (grid.rows * grid.columns - 1)


@given(places())
def test_a_run_that_sees_no_new_obstacle_was_the_shortest(place: tuple[Grid, set[Cell], Cell, Cell]) -> None:
    grid, walls = place[:2]
    steps, planner = distance(*place), Planner(grid)
    if steps is None:
        return
    for _ in range(len(walls) + 1):
        before = planner.obstacles
        trace = walk(planner, *place)
        if planner.obstacles == before:
            break
    assert planner.obstacles == before
    assert len(trace) - 1 == steps


def test_a_path_keeps_to_the_diagonal_and_to_ground_that_was_seen() -> None:
    grid = Grid(9, 9)
    planner = Planner(grid)
    assert all(abs(row - column) <= 1 for row, column in planner.plan((0, 0), (8, 8)).path)
    border = [(0, column) for column in range(9)] + [(row, 8) for row in range(9)]
    planner.saw(free=border)
    assert set(planner.plan((0, 0), (8, 8)).path) <= set(border)


def test_nothing_is_planned_where_one_is_already() -> None:
    assert Planner(Grid(2, 2)).plan((0, 1), (0, 1)).path == ()


def test_news_is_what_changes_the_obstacles() -> None:
    planner = Planner(Grid(3, 3), [(0, 0)])
    assert not planner.saw(free=[(2, 2)], blocked=[(0, 0)])
    assert planner.saw(blocked=[(1, 1)])
    assert not planner.saw(blocked=[(1, 1)])
    assert planner.saw(free=[(1, 1)])
    assert planner.saw(free=[(0, 0)])  # even one that was known
    assert planner.obstacles == frozenset()


# ---- run after run ----------------------------------------------------------------------------------

WALL = [(row, 5) for row in range(11) if row != 10]  # a gap at the bottom


def test_a_remembered_wall_is_gone_around() -> None:
    grid, planner = Grid(11, 11), Planner(Grid(11, 11))
    planner.saw(blocked=WALL)
    planner.begin()
    plan = planner.plan((0, 0), (0, 10))
    assert len(plan.path) == 30 == distance(grid, WALL, (0, 0), (0, 10))
    assert plan.through == ()


def test_once_a_part_is_gone_the_rest_is_doubted_but_not_forgotten() -> None:
    planner = Planner(Grid(11, 11))
    planner.saw(blocked=[*WALL, (0, 8)])
    planner.begin()
    planner.saw(free=[(9, 5)])
    plan = planner.plan((0, 0), (0, 10))
    assert len(plan.through) == 1
    assert (0, 8) not in plan.path  # not joined to the wall, so it is believed as before
    assert planner.obstacles == {*WALL, (0, 8)} - {(9, 5)}
    # A short way around is taken all the same.
    assert planner.plan((8, 4), (8, 6)).path == ((9, 4), (9, 5), (9, 6), (8, 6))


def test_a_wall_that_is_still_there_is_believed_again() -> None:
    planner = Planner(Grid(11, 11))
    planner.saw(blocked=WALL)
    planner.begin()
    planner.saw(free=[(9, 5)])
    planner.saw(blocked=WALL[:9])
    assert set(planner.plan((0, 0), (0, 10)).path).isdisjoint(WALL[:9])
    planner.begin()
    assert planner.plan((0, 0), (0, 10)).through == ()


def test_a_goal_closed_off_in_memory_only_is_still_gone_to() -> None:
    box = [(0, 1), (1, 1), (1, 0)]
    planner = Planner(Grid(5, 5))
    planner.saw(blocked=box)
    with pytest.raises(NoWayError, match=r"no way from \(4, 4\) to \(0, 0\)"):
        planner.plan((4, 4), (0, 0))
    planner.begin()
    assert len(planner.plan((4, 4), (0, 0)).through) == 1
    planner.saw(blocked=[(0, 0)])
    with pytest.raises(NoWayError, match="an obstacle itself"):
        planner.plan((4, 4), (0, 0))


@given(places(), st.data())
def test_walls_that_change_between_runs_never_keep_it_from_the_goal(
    place: tuple[Grid, set[Cell], Cell, Cell], data: st.DataObject
) -> None:
    grid, _, start, goal = place
    planner = Planner(grid)
    cells = [(row, column) for row in range(grid.rows) for column in range(grid.columns)]
    for _ in range(3):
        walls = data.draw(st.sets(st.sampled_from(cells))) - {start, goal}
        if distance(grid, walls, start, goal) is not None:
            assert walk(planner, grid, walls, start, goal)[-1] == goal


def test_a_longer_way_found_first_gives_way_to_a_cheaper_one() -> None:
    rooms = Rooms({"a": "wall hall", "wall": "a b", "hall": "a c", "c": "hall b", "b": "wall c d", "d": "b"})
    planner = Planner(rooms)
    planner.saw(blocked=["wall"])
    planner.begin()
    assert planner.plan("a", "d").path == ("hall", "c", "b", "d")
    impatient = Planner(rooms, patience=0.5)
    impatient.saw(blocked=["wall"])
    impatient.begin()
    assert impatient.plan("a", "d") == (("wall", "b", "d"), ("wall",))


# ---- other places -----------------------------------------------------------------------------------


class Rooms:
    """Rooms with doors between them: a place that is no grid."""

    def __init__(self, doors: Mapping[str, str]) -> None:
        self.doors = doors

    def neighbours(self, node: str) -> Iterable[str]:
        return self.doors[node].split()

    def aside(self, node: Hashable, start: Hashable, goal: Hashable) -> float:
        return 0


def test_any_graph_will_do() -> None:
    rooms = Rooms({"hall": "stairs lift", "stairs": "hall loft", "lift": "hall loft", "loft": "stairs lift"})
    planner = Planner(rooms, known=["stairs"])
    assert planner.plan("hall", "loft").path == ("lift", "loft")
    planner.saw(blocked=["lift"])
    with pytest.raises(NoWayError):
        planner.plan("hall", "loft")
    planner.begin()
    assert planner.plan("hall", "loft") == (("lift", "loft"), ("lift",))


# ---- as a tool --------------------------------------------------------------------------------------


def asked(planner: Planner[Cell] | None = None, **question: Any) -> Any:
    grid = Grid(5, 4)
    tool = planner_tool(planner or Planner(grid), grid)
    return tool.invoke({"position": [0, 0], "goal": [0, 3], **question})


def test_the_tool_gives_moves_in_words() -> None:
    assert asked() == {"moves": ["right 3"], "steps": 3, "through": []}
    assert asked(blocked=[[0, 1], [1, 1]]) == {
        "moves": ["down 2", "right 2", "up 2", "right 1"],
        "steps": 7,
        "through": [],
    }
    assert asked(goal=[0, 0])["moves"] == []
    assert moves((4, 4), [(3, 4), (2, 4), (2, 3), (1, 3)]) == ["up 2", "left 1", "up 1"]


def test_the_tool_remembers_from_run_to_run() -> None:
    planner = Planner(Grid(5, 4))
    wall = [[row, 1] for row in range(5)]
    with pytest.raises(NoWayError):
        asked(planner, blocked=wall)
    assert asked(planner, new_run=True)["through"] == [(0, 1)]
    assert asked(planner, free=wall)["through"] == []


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ({"goal": [0, 4]}, r"\(0, 4\) is outside of the grid: rows 0-4, columns 0-3"),
        ({"blocked": [[-1, 0]]}, "outside"),
        ({"free": [[9, 9]]}, "outside"),
        ({"blocked": [[0, 0]]}, "both your position and an obstacle"),
    ],
)
def test_cells_that_cannot_be_are_refused_and_nothing_is_learnt(question: Any, error: str) -> None:
    planner = Planner(Grid(5, 4))
    with pytest.raises(ToolError, match=error):
        asked(planner, **question)
    assert not planner.obstacles


def test_half_a_cell_is_refused() -> None:
    with pytest.raises(ValidationError):
        asked(position=[1])


def test_a_wrong_position_is_against_the_rules() -> None:
    with pytest.raises(NotAllowedError):
        asked(blocked=[[0, 0]])

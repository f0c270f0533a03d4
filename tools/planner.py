"""A way from one place to another past obstacles that are known, seen on the way, or remembered. Pure.

The planner takes what it has not seen as free and plans anew when it sees an obstacle (the free-space
assumption: Koenig and Smirnov 1997). What it saw in earlier runs it remembers and goes around, but not at any
price, as it may be gone. Once a remembered obstacle is seen to be gone it is forgotten, and those joined to
it cost little more than free ground, since a wall moves as a whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from typing import Annotated, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from .errors import NotAllowedError, ToolError

Cell: TypeAlias = tuple[int, int]  # row and column, from 0
Node = TypeVar("Node", bound=Hashable)

PATIENCE = 100.0  # steps of a detour that a remembered obstacle is worth
DOUBT = 4.0  # the same for one whose neighbours are gone

_MOVES = {(-1, 0): "up", (1, 0): "down", (0, -1): "left", (0, 1): "right"}


class NoWayError(ToolError):
    """The goal cannot be reached past the obstacles that are certain."""


class Place(Protocol[Node]):
    """Where one can be; finite, every step of it costs the same and can be taken back."""

    def neighbours(self, node: Node) -> Iterable[Node]:
        """What is one step away, obstacles included.

        Raises:
            ToolError: there is no such node.
        """
        ...

    def aside(self, node: Node, start: Node, goal: Node) -> float:
        """How far a node is off the straight way, to choose among ways of one length; 0 where none is."""
        ...


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in rows and columns, from (0, 0) at the top left, with steps up, down, left and right."""

    rows: int
    columns: int

    def neighbours(self, node: Cell) -> Iterator[Cell]:
        """The two to four cells beside one."""
        row, column = self.held(node)
        for down, right in _MOVES:
            if 0 <= row + down < self.rows and 0 <= column + right < self.columns:
                yield row + down, column + right

    def aside(self, node: Cell, start: Cell, goal: Cell) -> float:
        """Twice the area of the triangle of the three: among paths of one length that along the diagonal."""
        return abs((node[0] - start[0]) * (goal[1] - start[1]) - (node[1] - start[1]) * (goal[0] - start[0]))

    def held(self, cell: Cell) -> Cell:
        """The cell itself.

        Raises:
            ToolError: it is outside.
        """
        if 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns:
            return cell
        raise ToolError(
            f"{cell} is outside of the grid: rows 0-{self.rows - 1}, columns 0-{self.columns - 1}"
        )


class Plan(NamedTuple, Generic[Node]):
    """A way. path: the nodes after the start, the goal last. through: remembered obstacles on it."""

    path: tuple[Node, ...]
    through: tuple[Node, ...]


class Planner(Generic[Node]):
    """Knows the obstacles of a place, over as many runs through it as one likes. Not for several threads.

    Who sees at least the neighbours of where they stand, and asks for a plan again whenever `saw` gives True,
    reaches the goal if there is a way, after n + 1 plans of fewer steps than nodes for n times of news.
    """

    def __init__(
        self,
        place: Place[Node],
        known: Iterable[Node] = (),
        *,
        patience: float = PATIENCE,
        doubt: float = DOUBT,
    ) -> None:
        """Plan for a place.

        Args:
            place: where one can be.
            known: obstacles that are certain from the start.
            patience: steps of a detour that a remembered obstacle is worth.
            doubt: the same for one that was joined to an obstacle which is gone.
        """
        self._place, self._patience, self._doubt = place, patience, doubt
        self._known = set(known)
        self._seen: set[Node] = set()  # obstacles, in this run
        self._remembered: dict[Node, float] = {}  # obstacles of earlier runs, with what passing them costs
        self._free: set[Node] = set()

    @property
    def obstacles(self) -> frozenset[Node]:
        """All that are known, seen or remembered."""
        return frozenset(self._known | self._seen | self._remembered.keys())

    def begin(self) -> None:
        """Start another run: what was seen in the last one is from now on remembered only."""
        self._remembered.update(dict.fromkeys(self._seen, self._patience))
        self._seen.clear()

    def saw(self, free: Iterable[Node] = (), blocked: Iterable[Node] = ()) -> bool:
        """Take in what is seen now.

        Returns:
            Whether that is news about obstacles, so that a plan made before may be wrong or too long.
        """
        free, blocked = set(free) - set(blocked), set(blocked)
        gone = free & self.obstacles
        new = blocked - self._known - self._seen
        for node in gone & self._remembered.keys():
            for joined in self._joined(node):
                self._remembered[joined] = min(self._doubt, self._remembered[joined])
        self._free = (self._free | free) - blocked
        self._known -= gone
        self._seen = (self._seen - gone) | new
        self._remembered = {
            node: price for node, price in self._remembered.items() if node not in gone and node not in new
        }
        return bool(gone or new)

    def plan(self, start: Node, goal: Node) -> Plan[Node]:
        """The cheapest way: a step costs 1, onto a remembered obstacle its price more (Dijkstra 1959).

        Among ways of one cost that with the fewest nodes never seen is taken, then the straightest.

        Raises:
            NoWayError: known obstacles and those seen in this run close the goal off.
        """
        certain = self._known | self._seen
        if goal in certain:
            raise NoWayError(f"the goal {goal} is an obstacle itself")
        before: dict[Node, Node] = {}
        best = {start: (0.0, 0, 0.0)}
        done: set[Node] = set()
        number = count()  # nodes themselves need no order
        waiting = [(best[start], next(number), start)]
        while waiting:
            (cost, strange, aside), _, node = heapq.heappop(waiting)
            if node == goal:
                return self._traced(before, start, goal)
            if node in done:
                continue
            done.add(node)
            for other in self._place.neighbours(node):
                if other in certain or other in done:
                    continue
                reached = (
                    cost + 1 + self._remembered.get(other, 0.0),
                    strange + (other not in self._free),
                    aside + self._place.aside(other, start, goal),
                )
                if other not in best or reached < best[other]:
                    best[other], before[other] = reached, node
                    heapq.heappush(waiting, (reached, next(number), other))
        raise NoWayError(
            f"there is no way from {start} to {goal} past the obstacles seen in this run; "
            "if they may have moved, begin a new run"
        )

    def _joined(self, node: Node) -> set[Node]:
        """A remembered obstacle and those joined to it by others."""
        found, waiting = {node}, [node]
        while waiting:
            for other in self._place.neighbours(waiting.pop()):
                if other in self._remembered and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def _traced(self, before: dict[Node, Node], start: Node, goal: Node) -> Plan[Node]:
        path = [goal]
        while path[-1] != start:
            path.append(before[path[-1]])
        path = path[-2::-1]
        return Plan(tuple(path), tuple(node for node in path if node in self._remembered))


def moves(start: Cell, path: Sequence[Cell]) -> list[str]:
    """A path over a grid in words, equal steps together: ["down 4", "right 1"]."""
    cells = [start, *path]
    steps = [
        _MOVES[after[0] - before[0], after[1] - before[1]] for before, after in zip(cells, path, strict=False)
    ]
    return [f"{move} {len(list(run))}" for move, run in groupby(steps)]


# ---- as a tool ------------------------------------------------------------------------------------

_Place = Annotated[list[int], Field(min_length=2, max_length=2)]  # row and column


class _Question(BaseModel):
    position: _Place = Field(description="where you are")
    goal: _Place = Field(description="where you want to be")
    blocked: list[_Place] = Field([], description="obstacles seen since the last call")
    free: list[_Place] = Field([], description="cells seen to be free since then")
    new_run: bool = Field(False, description="a new way begins: obstacles may have moved since")


def planner_tool(planner: Planner[Cell], grid: Grid) -> BaseTool:
    """A tool that takes in what is seen and gives the way on.

    Its result: {"moves": ["down 4", "right 1"], "steps": 5, "through": [remembered obstacles on the way]}.
    It raises a ToolError for cells outside of the grid, and NoWayError.
    """

    def plan_path(
        position: list[int], goal: list[int], blocked: list[list[int]], free: list[list[int]], new_run: bool
    ) -> dict[str, Any]:
        here, there = grid.held(_cell(position)), grid.held(_cell(goal))
        walls = {grid.held(_cell(one)) for one in blocked}
        if here in walls:
            raise NotAllowedError(f"{here} cannot be both your position and an obstacle")
        if new_run:
            planner.begin()
        planner.saw({here, *(grid.held(_cell(one)) for one in free)}, walls)
        found = planner.plan(here, there)
        return {"moves": moves(here, found.path), "steps": len(found.path), "through": list(found.through)}

    return StructuredTool.from_function(
        plan_path,
        args_schema=_Question,
        description=(
            "The shortest way over a grid of cells [row, column], counted from 0 at the top left, around the "
            "obstacles known so far. Ask again with what you see whenever an obstacle comes into sight; "
            "obstacles of earlier runs are remembered."
        ),
    )


def _cell(pair: Sequence[int]) -> Cell:
    return pair[0], pair[1]

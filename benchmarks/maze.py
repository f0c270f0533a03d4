"""The maze of TaskGen (appendix D): 20 ways over 40 x 40 cells, and a wall that turns after ten of them.

    python benchmarks/maze.py [--json] [--episodes 20]

Ten episodes have a vertical wall through the middle with a gap in its centre, the others a horizontal one.
Start and exit are drawn anew for each episode, on both sides of the wall, with numpy's generator seeded with
the number of the episode, as in the paper. The agent sees the 3 x 3 cells around it. It keeps what it saw
from one episode to the next and is told of no wall. An episode is solved if the exit is reached within 1,600
steps; a step into a wall would count and leave the agent where it is. The paper's agent (gpt-4o plans and
moves) solved all 20 with 1,241 steps where the shortest paths have 837.

Each episode is one turn of the product: a request, and the act node that calls tools until nothing is left to
do. `calls` is how often the way was planned. No model is asked: the planner and the maze are two tools, each
gives the other what it asks for, and who chooses between them (`Explorer`) only passes that on.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from rich.console import Console
from rich.table import Table

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.choice import Check, Choice, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.tools.planner import Cell, Grid, Planner, planner_tool
from taskloom.tools.registry import Registry, equip

SIZE, CHANGE, EPISODES = 40, 10, 20
PAPER = (210, 46, 58, 34, 46, 182, 49, 42, 44, 38, 68, 62, 52, 48, 28, 75, 47, 21, 57, 34)  # its steps
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@dataclass
class Maze:
    """One episode: what is where, and where the agent is. Only `seen` and `walk` are for the agent."""

    walls: frozenset[Cell]
    start: Cell
    goal: Cell
    size: int = SIZE
    steps: int = 0
    sighted: set[Cell] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.position = self.start

    def around(self, cell: Cell, reach: int = 1) -> Iterator[Cell]:
        for row in range(max(0, cell[0] - reach), min(self.size, cell[0] + reach + 1)):
            for column in range(max(0, cell[1] - reach), min(self.size, cell[1] + reach + 1)):
                yield row, column

    def seen(self) -> dict[str, Any]:
        """Where the agent is, and the obstacles and free cells of the nine around it."""
        view = set(self.around(self.position))
        blocked = view & self.walls
        self.sighted |= blocked
        return {
            "position": list(self.position),
            "blocked": sorted(map(list, blocked)),
            "free": sorted(map(list, view - blocked)),
        }

    def walk(self, moves: Sequence[str]) -> dict[str, Any]:
        """Move, until an obstacle comes into sight that was not before; what was seen on the way."""
        found = self.seen()
        free = {tuple(cell) for cell in found["free"]}
        for step in (STEPS[name] for name, times in map(str.split, moves) for _ in range(int(times))):
            self.steps += 1
            ahead = self.position[0] + step[0], self.position[1] + step[1]
            if min(ahead) < 0 or max(ahead) >= self.size or ahead in self.walls:
                break
            self.position = ahead
            known = set(self.sighted)
            found = self.seen()
            free |= {tuple(cell) for cell in found["free"]}
            if self.sighted - known:
                break
        return {**found, "free": sorted(map(list, free))}

    def shortest(self) -> int:
        """Steps of the shortest path, by one who knows all walls."""
        far = {self.start: 0}
        waiting = deque([self.start])
        while self.goal not in far:
            row, column = waiting.popleft()
            for down, right in STEPS.values():
                cell = row + down, column + right
                if cell in self.around((row, column)) and cell not in self.walls and cell not in far:
                    far[cell] = far[row, column] + 1
                    waiting.append(cell)
        return far[self.goal]


def maze(episode: int, size: int = SIZE) -> Maze:
    """The paper's maze of that number, from 0."""
    half, turned = size // 2, episode >= CHANGE
    draw = np.random.RandomState(episode)
    sides = (0, half), (half + 1, size)
    start, goal = (
        tuple(int(draw.randint(*bounds)) for bounds in ((side, (0, size)) if turned else ((0, size), side)))
        for side in sides
    )
    walls = frozenset((half, at) if turned else (at, half) for at in range(size) if at != half)
    return Maze(walls, (start[0], start[1]), (goal[0], goal[1]), size)


def walk_tool(one: Maze) -> BaseTool:
    def walk(moves: list[str]) -> dict[str, Any]:
        return one.walk(moves)

    return StructuredTool.from_function(
        walk, description='Move through the maze, e.g. ["down 4", "right 1"]; stops when a wall appears.'
    )


@dataclass
class Explorer:
    """Chooses the tool that the last result calls for, as a model would that reads it."""

    goal: Cell
    seen: dict[str, Any]

    def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
        last = situation.completed[-1] if situation.completed else ""
        found = json.loads(last.partition(": done, ")[2]) if last else self.seen
        if "position" in found and tuple(found["position"]) == self.goal:
            return None, Usage()
        tool = "walk" if "moves" in found else "plan_path"
        self.found, self.first = found, not last
        return Choice(observation="", thoughts="", subtask=tool, tool=tool, task=1), Usage()

    def parameters(
        self,
        _: Situation,
        choice: Choice,
        __: Mapping[str, Any],
        check: Check,
    ) -> tuple[dict[str, Any], Usage]:
        if choice.tool == "walk":
            return check({"moves": self.found["moves"]}), Usage()
        return check({**self.found, "goal": list(self.goal), "new_run": self.first}), Usage()


def play(one: Maze, planner: BaseTool) -> int:
    """Carry out one episode in one turn of the graph; how often the way was planned."""
    explorer = Explorer(one.goal, one.seen())
    tools = Equipment(Registry([equip(planner), equip(walk_tool(one))]), max_subtasks=one.size**2)
    voice = Voice(local_reader(), TemplateResponder(), explorer)
    services = Services(voice=lambda _: voice, template=TemplateResponder(), tools=tools)
    said = HumanMessage("Find the way out of the maze.")
    turn = build_graph(services).invoke({"messages": [said]}, {"recursion_limit": 10_000})["turn"]
    failed = [run.text for run in turn.tool_runs if run.status != "done"]
    assert not failed, failed[0]
    return sum(run.call.tool == "plan_path" for run in turn.tool_runs)


def measured(episodes: int = EPISODES, size: int = SIZE) -> dict[str, Any]:
    grid = Grid(size, size)
    planner = planner_tool(Planner(grid), grid)
    rows = []
    for number in range(episodes):
        one = maze(number, size)
        calls = play(one, planner)
        solved = one.position == one.goal and one.steps <= size**2
        rows.append({"shortest": one.shortest(), "steps": one.steps, "calls": calls, "solved": solved})
    return {
        "solved": sum(row["solved"] for row in rows),
        "steps": sum(row["steps"] for row in rows),
        "shortest": sum(row["shortest"] for row in rows),
        "episodes": rows,
    }


def table(found: dict[str, Any]) -> Table:
    made = Table("episode", "shortest", "steps", "calls", "paper", title="A maze whose walls turn")
    for column in made.columns:
        column.justify = "right"
    rows = found["episodes"]
    for number, row in enumerate(rows):
        paper = str(PAPER[number]) if number < len(PAPER) else ""
        made.add_row(str(number + 1), *(str(row[key]) for key in ("shortest", "steps", "calls")), paper)
    made.add_section()
    share = found["steps"] / found["shortest"]
    made.add_row("all", *(str(sum(row[key] for row in rows)) for key in ("shortest", "steps", "calls")), "")
    made.caption = f"{found['solved']} of {len(rows)} solved, {share:.3f} times the shortest paths"
    if len(rows) == len(PAPER):
        made.caption += f" (paper: {sum(PAPER) / found['shortest']:.2f})"
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="how many, in order (20)")
    args = parser.parse_args()
    if args.episodes < 1:
        parser.error("--episodes: at least 1")
    found = measured(args.episodes)
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()

"""A graph that understands a handful of commands, so that tests of the graph depend on no wording.

    task trip            a task without a value          put t1 place Rome    a part of t1 with a value
    set t2 Paris         a new value                     drop t1 / done t1    out of the plan / done
    ask t2               a question for its value        which                a clarification
    crash / lost         the interpreter / the grounding fails

Several commands go in one utterance, with `;` between them or a line each. The server test copies this file
beside its langgraph.json.
"""

import re
from collections.abc import Generator, Sequence
from typing import Any

from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.turn.brief import Brief, Responder
from taskloom.agent.turn.reading import Reading, Usage, View
from taskloom.agent.turn.steps import Asked, Step
from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Inactivate,
    Operation,
    Question,
    Remove,
    Undo,
    Update,
)


class Commands:
    """The interpreter: one step for each command; remembers the views it was given."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def read(self, utterance: str, view: View) -> Reading:
        self.views.append(view)
        if "crash" in utterance:
            raise RuntimeError("the interpreter broke")
        free = Asked(kind="summary", free=True)
        steps = tuple(
            Step(text=part.strip(), act="set", asked=free if "free" in part else None)
            for part in re.split(r"[;\n]\s*", utterance)
        )
        return Reading(steps, usage=Usage(model_calls=1, prompt_tokens=10, completion_tokens=2))


def ground(steps: Sequence[Step], view: View) -> tuple[Operation, ...]:
    return tuple(_operation(step.text, view) for step in steps)


def _operation(text: str, view: View) -> Operation:
    match text.split(maxsplit=3):
        case ["task", title]:
            return Add(slot=title, title=title, said=text)
        case ["put", whole, name, value]:
            slot = f"{view.graph[whole].slot}.{name}" if whole in view.graph else f"lost.{name}"
            return Add(slot=slot, title=name, value=value, parent=whole, said=text)
        case ["set", key, *value]:
            return Update(task=key, value=" ".join(value), said=text)
        case ["drop", key]:
            return Remove(task=key, said=text)
        case ["done", key]:
            return Complete(task=key, said=text)
        case ["ask", key]:
            return Check(question=Question(kind="value", tasks=(key,)), said=text)
        case ["free", key]:
            return Check(question=Question(kind="summary", tasks=(key,)), said=text)
        case ["hold", key]:
            return Inactivate(task=key, said=text)
        case ["undo", turn]:
            return Undo(turn=int(turn), said=text)
        case ["lost"]:
            raise LookupError("nothing is where it should be")
        case _:
            return Clarify(question="Which one?", options=("this", "that"))


class Plain:
    """The template: what was done, what was refused, what is so, what is asked."""

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        turn = brief.turn
        yield f"[{len(brief.graph.active)} tasks]"
        for change in turn.changes:
            yield f" {change.operation.kind}: {change.refused or 'ok'}."
        for told in turn.answers:
            yield f" It is {brief.graph[told.tasks[0]].value if told.tasks else 'unknown'}."
        if turn.question:
            yield f" {turn.question.question}"
        yield f" {brief.note}" if brief.note else ""
        return Usage()


def services(**more: Any) -> Services:
    """Services of scripted parts; `interpreter`, `responder` and the fields of `Services` can be given."""
    template: Responder = more.pop("template", Plain())
    voice = Voice(more.pop("interpreter", Commands()), more.pop("responder", template))
    return Services(
        voice=lambda model: voice,
        template=template,
        **{"ground": ground, "check": lambda reply, brief: (), **more},
    )


_GRAPH = build_graph(services())


def make_graph() -> Taskgraph:
    """The factory for the development server."""
    return _GRAPH

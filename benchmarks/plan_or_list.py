"""What an agent still knows of twenty steps when its context is cut in the middle: with a plan, with a list.

    python benchmarks/plan_or_list.py [--json] [--keep 4]

The same agent of LangChain's `create_agent`, with `TodoListMiddleware` and with `TaskMemoryMiddleware`. A
script stands for the model: it writes twenty steps down, each after the one before, works (three calls of
another tool a step, then the step is marked), and moves a date at the sixth. In the eleventh all messages
but the last `--keep` are replaced by a summary that names the task alone; then the user asks what is next.
Counted is what stands in front of the model then, so that no figure depends on how good a model is. With six
messages and more the last list is still among them.

- `steps`: of the twenty, in the prompt; `marked`: with their state; `next`, `date`, `date_before`: in it.
- `by_calls`: steps whose state the agent can have from its own tools, what is not in the prompt too;
  `before_by_call`: the date before it moved. A todo list has no tool that reads it.
- `left`: steps still in the state after the agent has marked the eleventh, by what it knows.
- `tokens`: of the prompt, as LangChain counts.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from rich.console import Console
from rich.table import Table

from taskloom.agent.parts.calls import carry_out
from taskloom.agent.parts.middleware import TaskMemoryMiddleware
from taskloom.memory.tasks import TaskGraph

CONFIG: RunnableConfig = {"configurable": {"thread_id": "move"}}
STEPS = (
    "give notice to the landlord", "measure the new rooms", "book the van", "order forty boxes",
    "sort the cellar", "sell the wardrobe", "pack the books", "pack the kitchen", "cancel the electricity",
    "register the new address", "redirect the post", "ask friends to carry", "paint the old hall",
    "fill the drill holes", "defrost the freezer", "take the lamps down", "load the van",
    "hand over the keys", "unpack the beds", "return the van",
)  # fmt: skip
BEFORE, NOW, CUT = "June 12th", "June 14th", 10
SUMMARY = (
    "Here is a summary of the conversation to date: the user moves house, and the assistant works on it."
)
Call = tuple[str, dict[str, Any]]


class Scripted(GenericFakeChatModel):
    """Says what it is told to, and keeps what it was asked."""

    seen: list[list[BaseMessage]]

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:  # noqa: ARG002
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


@tool
def work(step: str) -> str:
    """Does a part of a step."""
    return f"Worked on it: {step[:3]}..."


def todo(done: int, date: str, known: Sequence[str] = STEPS) -> list[Call]:
    """The whole list, as it has to be written each time."""
    states = ["completed" if STEPS.index(one) < done else "pending" for one in known]
    names = [f"{one} ({date})" if one == "book the van" else one for one in known]
    items = [{"content": one, "status": at} for one, at in zip(names, states, strict=True)]
    return [("write_todos", {"todos": items})]


def plan(done: int, date: str) -> list[Call]:
    """What changes of the plan."""
    if not done:
        first = [("add_task", {"title": STEPS[0]})]
        rest = [("add_task", {"title": one, "after": [STEPS[at]]}) for at, one in enumerate(STEPS[1:])]
        return [*first, *rest, ("update_task", {"task": "book the van", "value": date})]
    moved = [("update_task", {"task": "book the van", "value": date})] if done == 6 else []
    return [*moved, ("complete_task", {"task": STEPS[done - 1]})]


def said(write: Callable[[int, str], list[Call]], then: Callable[[], list[Call]]) -> Iterator[AIMessage]:
    """The model's script: eleven of the steps are worked on, the eleventh is marked by what it knows then."""
    number = 0

    def message(calls: Sequence[Call]) -> AIMessage:
        nonlocal number
        number += 1
        made = [{"name": name, "args": args, "id": f"{number}-{at}"} for at, (name, args) in enumerate(calls)]
        return AIMessage("", tool_calls=made)

    yield message(write(0, BEFORE))
    yield AIMessage("Written down.")
    for done in range(1, CUT + 1):
        for _ in range(3):
            yield message([("work", {"step": STEPS[done - 1]})])
        yield message(write(done, NOW if done >= 6 else BEFORE))
    for _ in range(2):
        yield message([("work", {"step": STEPS[CUT]})])
    yield AIMessage("I am at it.")
    yield message(then())
    yield AIMessage("It goes on.")


def played(kind: str, keep: int) -> dict[str, Any]:
    """The figures of an agent with a plan, or with a list."""
    model = Scripted(messages=iter(()), seen=[])

    def rewritten() -> list[Call]:
        prompt = _text(model.seen[-1])
        known = [one for one in STEPS if one in prompt]
        return todo(CUT + 1, NOW, known) if known else todo(CUT + 1, NOW, STEPS[CUT : CUT + 1])

    listed = kind == "list"
    model.messages = said(todo if listed else plan, rewritten if listed else lambda: plan(CUT + 1, NOW))
    middleware: Any = TodoListMiddleware() if listed else TaskMemoryMiddleware()
    agent = create_agent(model, [work], middleware=[middleware], checkpointer=InMemorySaver())
    agent.invoke(_human("Write down how I move house."), CONFIG)
    agent.invoke(_human("Go on with it; the van comes on June 14th."), CONFIG)
    messages = agent.get_state(CONFIG).values["messages"]
    kept = [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage(SUMMARY), *messages[len(messages) - keep :]]
    agent.update_state(CONFIG, {"messages": kept})
    result = agent.invoke(_human("What is next?"), CONFIG)
    prompt = next(one for one in model.seen if one[-1].text == "What is next?")
    text = _text(prompt)
    graph = TaskGraph(result["plan"].values()) if not listed else TaskGraph()
    by_calls = "" if listed else carry_out(graph, "check_tasks", {}, 99).text
    history = "" if listed else carry_out(graph, "task_history", {"task": "book the van"}, 99).text
    return {
        "steps": sum(one in text for one in STEPS), "marked": sum(_marked(one, text) for one in STEPS),
        "next": STEPS[CUT] in text, "date": NOW in text, "date_before": BEFORE in text,
        "by_calls": sum(_marked(one, by_calls) or _marked(one, text) for one in STEPS),
        "before_by_call": BEFORE in history,
        "left": len(result["todos"]), "tokens": count_tokens_approximately(prompt),
    }  # fmt: skip


def _marked(step: str, text: str) -> bool:
    """Whether a text has a step beside its state."""
    states = r"(open|done|pending|completed|in_progress|filled)"
    return any(
        step in line and re.search(states, line) for line in text.replace("{'content'", "\n").splitlines()
    )


def _human(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def _text(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(f"{one.text} {getattr(one, 'tool_calls', '')}" for one in messages)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=int, default=4, help="messages that the cut leaves")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    found = {kind: played(kind, given.keep) for kind in ("list", "plan")}
    if given.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("after the cut", "todo list", "plan")
    for name in found["list"]:
        table.add_row(name, str(found["list"][name]), str(found["plan"][name]))
    Console().print(table)


if __name__ == "__main__":
    main()

"""The nodes of the graph: each reads the state, calls one function and returns an update.

No node changes what it is given, and none builds a service. `interrupt` runs a node again from its top when
the run is resumed; only `update_graph` interrupts, and it has no effect but its return value.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import NodeError
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite, interrupt

from taskloom.agent.acting.ready import ready, stale_results, undone
from taskloom.agent.acting.subgraph import STEPS, Acting, ActState, Equipment, act_graph
from taskloom.agent.grounding.asking_first import held_back
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.grounding.grounder import ground
from taskloom.agent.language.statements import statements
from taskloom.agent.language.wording import clip, join, spoken
from taskloom.agent.language.words import content
from taskloom.agent.plan.slots import ASK_AT_MOST, asked_key, fill, load_schemas, offered_roots
from taskloom.agent.reading.with_memory import read_with_memory
from taskloom.agent.recall.experiences import made, settled
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.memory import Examples, Memory, recollected
from taskloom.agent.replying.templates import faults_of
from taskloom.agent.settings import Style
from taskloom.agent.turn.brief import Brief, Responder, ResponderError, TooLong
from taskloom.agent.turn.choice import Chooser
from taskloom.agent.turn.export import ThreadExport
from taskloom.agent.turn.reading import Interpreter, Usage, View
from taskloom.agent.turn.schemas import SchemaError, TaskSchema
from taskloom.agent.turn.state import Approval, Change, Context, Decision, Pending, State, Turn, tasks_in
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import Answer, answer
from taskloom.memory.consolidate import Exchange
from taskloom.memory.operations import Add, Check, Clarify, Complete, Operation, Outcome, Remove, apply
from taskloom.memory.operations import Update as UpdateTask
from taskloom.memory.records import now
from taskloom.memory.retrieve import closure, render, render_revision, seeds
from taskloom.memory.tasks import GraphError, TaskGraph, TaskNode
from taskloom.tools.agents import ABOVE, APPROVED, FOR, SHARED
from taskloom.tools.shared import Shared

Update = dict[str, Any]
Grounding = Callable[[Sequence[Step], View], tuple[Operation, ...]]

MAX_UTTERANCE = 20_000  # characters; a longer text is a document, not something said
FOCUS = 12  # tasks kept in focus
EXCHANGES = 2  # (user, assistant) pairs that go along for pronouns
MISSED = 20  # turns for which answers tell that a message was not understood
SMALL_TALK = 300  # characters of a reply to small talk
THANKS = "Thank you, I noted that."
NOT_APPROVED = "you did not approve it, so nothing was removed"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voice:
    """Who understands, who answers, and who chooses tools where no slots decide it."""

    interpreter: Interpreter
    responder: Responder
    chooser: Chooser | None = None


@dataclass(frozen=True, slots=True)
class Services:
    """All that the nodes use and do not make: given to `build_graph` once.

    voice: gives the voice for the model a run asks for ('' for the configured one, 'rules' for none).
    template: answers without a model, when there is none, or when the model's reply is not right.
    replies: who answers, where the run does not say. ground: from steps in words to operations; exactly: from
    those that name tasks by id. check: what is wrong with a reply, in words. memory: what lasts beyond a
    thread; None for nothing. tools: what tasks are carried out with; None for nothing. loads: what can be
    loaded before the first turn, which else loads it.
    """

    voice: Callable[[str], Voice]
    template: Responder
    replies: Style = "auto"
    clock: Callable[[], datetime] = datetime.now
    ground: Grounding = ground
    exactly: Grounding = ground_exactly
    check: Callable[[str, Brief], Sequence[str]] = faults_of
    memory: LongTerm | None = None
    tools: Equipment | None = None
    loads: tuple[Callable[[], object], ...] = ()


# ---- the nodes ------------------------------------------------------------------------------------


def decompose(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Read the user's words into steps."""
    number, context = turn_of(state).number + 1, context_of(runtime)
    if services.tools and (keys := told_calls(turn_of(state))):
        services.tools.journal.close(keys)  # the turn that tells of them is on disk, or it would not be here
    begun = Turn(number=number, user=context.user_id, missed=_missed(turn_of(state)))
    if state.get("load"):
        return {"turn": begun}
    if state.get("feedback") and not isinstance([None, *state.get("messages", [])][-1], HumanMessage):
        return {"turn": begun.model_copy(update={"reply": THANKS})}
    text, fault = utterance_of(state.get("messages", []))
    if fault:
        return {"turn": begun.model_copy(update={"utterance": text, "reply": fault})}
    memory = _memory(services, runtime)
    examples = Examples(lambda: memory.examples(text))
    view = replace(_view(state, number, context, services), examples=examples)
    interpreter = services.voice(context.model).interpreter
    reading, recalled = read_with_memory(text, view, interpreter, memory)
    read = {
        "utterance": text,
        "steps": reading.steps,
        "by": reading.by,
        "note": " ".join(filter(None, (reading.note, memory.fault))),
        "recalled": recalled,
        "examples": tuple(one.id for one in examples.found or ()),
    }
    if memory:
        said = Exchange(thread=memory.thread, turn=number, at=now(), said=text)
        read["noted"] = tuple(fact.text for fact in statements((said,)))
    turn = begun.model_copy(update=read)
    return {"turn": turn.with_usage(reading.usage)}


def classify_intent(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Ground the steps: operations on task ids, a clarification where that cannot be done."""
    turn = turn_of(state)
    if not turn.steps:
        return {}
    ground = services.ground if turn.by == "rules" else services.exactly
    view = _view(state, turn.number, context_of(runtime), services)
    operations = ground(turn.steps, view)
    if not all(step.kind for step in turn.steps if step.act != "ask"):  # these are told in questions, too
        operations = held_back(operations, turn.utterance, view.graph)
    question = next((operation for operation in operations if isinstance(operation, Clarify)), None)
    return {"turn": turn.model_copy(update={"operations": operations, "question": question})}


def update_graph(state: State, runtime: Runtime[Context], *, services: Services) -> Update:  # noqa: ARG001
    """Carry the operations out, one after the other; ask first where the run wants that."""
    turn, context = turn_of(state), context_of(runtime)
    graph = graph_of(state)
    if text := state.get("load"):
        return _load(text, state, graph, ask=context.approve)
    changes, changed = [], dict[str, None]()
    refused = _many_refused(turn, graph) if context.approve else None
    for operation in turn.operations:
        if (refused is None and context.approve and not _approved(operation, graph)) or (
            refused and not isinstance(operation, Check | Clarify)
        ):
            outcome = Outcome(graph, operation, refused=NOT_APPROVED)
        else:
            outcome = apply(graph, operation, turn=turn.number, said=turn.utterance)
        graph = outcome.graph
        changed |= dict.fromkeys(outcome.changed)
        changes.append(
            Change(
                operation=operation,
                changed=outcome.changed,
                stale=outcome.stale,
                opened=outcome.opened,
                refused=outcome.refused,
            )
        )
    if not changes:
        return {}
    update: Update = {"turn": turn.model_copy(update={"changes": tuple(changes)})}
    if changed:
        update["tasks"] = {key: graph[key] for key in changed}
    return update


def retrieve_closure(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Answer the questions from the history, and gather the tasks that the reply needs."""
    turn = turn_of(state)
    if not turn.operations:
        return {}
    graph = graph_of(state)
    questions = [op.question for op in turn.operations if isinstance(op, Check)]
    answers = tuple(_without_itself(answer(graph, question), turn.number) for question in questions)
    found = closure(
        graph,
        seeds(graph, turn.operations, _touched(turn)),
        question=questions[0] if questions else None,
        budget=context_of(runtime).token_budget,
    )
    update: Update = {"answers": answers, "facts": found.tasks, "former": found.revisions}
    if questions and (memory := _memory(services, runtime)):
        update["earlier"], update["known"] = recollected(turn, answers, graph, memory, services.clock())
        update["note"] = " ".join(filter(None, (turn.note, memory.fault)))
    return {"turn": turn.model_copy(update=update)}


def _without_itself(told: Answer, turn: int) -> Answer:
    """An answer that does not cite the question: what was never so was not spoken of by asking for it."""
    verdict = told.verdict
    if verdict is None or verdict.kind != "never" or verdict.since != turn:
        return told
    return told.model_copy(update={"verdict": verdict.model_copy(update={"since": None, "said": ""})})


def fill_slots(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Propose values for what is missing in the tasks of this turn, or ask for one."""
    turn, context = turn_of(state), context_of(runtime)
    touched = tuple(key for change in turn.changes for key in change.changed) or _declined(state)
    if turn.recalled and not touched:  # another one is to be proposed
        touched = offered_roots(graph_of(state))
    if not touched or not (_kinds(context, services) or turn.recalled) or turn.question is not None:
        return {}
    graph, schemas = graph_of(state), _kinds(context, services)
    known = _memory(services, runtime).remembered(graph, turn, schemas)
    filling = fill(graph, touched, schemas, _counts(state), known)
    proposed: list[str] = []
    for operation in filling.proposals:
        outcome = apply(graph, operation, turn=turn.number, said=turn.utterance)
        graph = outcome.graph
        proposed += outcome.changed
    turn = turn.model_copy(update={"proposals": tuple(proposed), "question": filling.question})
    return {"turn": turn, "tasks": {key: graph[key] for key in proposed}} if proposed else {"turn": turn}


def goes_on(state: State, runtime: Runtime[Context], *, services: Services) -> Literal["act", "respond"]:
    """Whether there is something for tools to do, or to tell of what they did in a turn that was lost."""
    if services.tools is None or turn_of(state).reply:
        return "respond"
    acting = _acting(state, runtime, services, services.tools)
    turn, registry, graph = turn_of(state), services.tools.registry, graph_of(state)
    slots = ready(graph, acting.roots, registry, user=acting.user, schemas=acting.view.schemas,
                  above=acting.above, again=True)  # fmt: skip
    if next(iter(slots), None) or stale_results(graph, acting.roots, registry):
        return "act"
    if undone(graph, [key for change in turn.changes for key in change.changed], registry):
        return "act"
    wanted = any(change.changed for change in turn.changes) or _left_open(turn, graph)
    chosen = acting.chooser is not None and registry and wanted
    return "act" if chosen or services.tools.journal.open(acting.thread) else "respond"


def _left_open(turn: Turn, graph: TaskGraph) -> bool:
    """Whether a question of the turn has no answer in the tasks, or of something else, or one out of date."""
    if turn.asks_freely:
        return True
    if not turn.answers or turn.known:
        return not turn.operations and turn.utterance.rstrip().endswith("?")
    for told in turn.answers:
        found = [part for key in told.tasks if key in graph for part in graph.subtree(key)]
        says = content(" ".join(f"{spoken(node.name)} {node.title} {node.value or ''}" for node in found))
        if any(node.stale_since is not None for node in found) or not content(told.question.about) <= says:
            return True
        if told.question.slot or (not found and told.verdict is None):
            return True
    return False


def act_node(services: Services) -> Callable[..., Update]:
    """The node that carries tasks out by tools: a graph of its own, see `act`."""
    inner = act_graph()

    def act(state: State, runtime: Runtime[Context]) -> Update:
        if services.tools is None:
            return {}
        config = get_config()
        acting = _acting(state, runtime, services, services.tools)
        begun = ActState(
            turn=turn_of(state), made={}, calls=(), acts=(), recorded=0, variables={}, chosen=0, spent=0.0
        )
        bounded: RunnableConfig = {**config, "recursion_limit": acting.equipment.rounds * STEPS}
        ended = inner.invoke(begun, bounded, context=acting)
        update: Update = {"turn": ended["turn"]}
        for channel, given in (("tasks", ended.get("made")), ("shared", ended.get("variables"))):
            if given:
                update[channel] = given
        return update

    return act


def _acting(state: State, runtime: Runtime[Context], services: Services, equipment: Equipment) -> Acting:
    """What the act node works with in this turn."""
    turn, context, graph = turn_of(state), context_of(runtime), graph_of(state)
    given, info = get_config().get("configurable", {}), runtime.execution_info
    touched = (key for change in turn.changes for key in change.changed or _meant(change))
    return Acting(
        equipment=equipment, chooser=services.voice(context.model).chooser,
        view=_view(state, turn.number, context, services), utterance=turn.utterance,
        roots=tuple(dict.fromkeys(graph.root(key).id for key in touched if key in graph)),
        user=context.user_id, thread=_place_of(get_config(), (info.thread_id if info else "") or ""),
        shared=given.get(SHARED) or Shared({**equipment.shared, **state.get("shared", {})}),
        above=tuple(given.get(ABOVE, ())), approved=bool(given.get(APPROVED)),
        before=_told_before(state.get("messages", [])),
    )  # fmt: skip


def _told_before(messages: Sequence[BaseMessage]) -> str:
    """What an agent that calls this one tells right before its request, see `tools.agents.inner_agent`."""
    told = messages[-2] if len(messages) > 1 and isinstance(messages[-1], HumanMessage) else None
    return str(told.text) if isinstance(told, SystemMessage) else ""


def _meant(change: Change) -> tuple[str, ...]:
    """The task of an update or part that was so already: to say it again is to want its results."""
    op = change.operation
    found = op.task if isinstance(op, UpdateTask) else op.parent if isinstance(op, Add) else None
    return (found,) if found is not None else ()


def _place_of(config: RunnableConfig, thread: str) -> str:
    """Where a run is, for the journal: its thread, the graphs around it, and the call that it is made for."""
    given = config.get("configurable", {})
    around = str(given.get("checkpoint_ns", "")).rpartition("|")[0]
    return "/".join(filter(None, (thread, around, str(given.get(FOR, "")))))


def told_calls(turn: Turn) -> list[str]:
    """Keys of the calls that a turn has told the user of: its own, and those of lost turns."""
    keys = dict.fromkeys(key for act in turn.acts for key in (act.key, act.call.key) if key)
    return list(keys) if turn.reply else []


def respond(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Write the reply, streamed; one that contradicts the tasks is written again, then by template."""
    turn, context = turn_of(state), context_of(runtime)
    graph = graph_of(state)
    brief = Brief(
        utterance=turn.utterance,
        graph=graph,
        turn=turn,
        answers=turn.answers,
        facts=(
            *(render(graph[key]) for key in turn.facts),
            *(render_revision(graph[key], index) for key, index in turn.former),
        ),
        note=" ".join(filter(None, (turn.note, _left_out(turn)))),
        style=context.reply_style or services.replies,
        exchanges=_exchanges(state.get("messages", [])),
        now=services.clock(),
    )
    if turn.earlier or turn.known:  # told as it is: no model is to make anything of it
        brief = replace(brief, style="template")
    if turn.reply:
        message, usage = AIMessage(turn.reply, id=uuid4().hex), Usage()
    else:
        message, usage = _written(brief, services.voice(context.model).responder, services)
    turn = turn.model_copy(update={"reply": str(message.text)})
    return {"messages": [message], "turn": turn.with_usage(usage)}


def _missed(last: Turn) -> tuple[tuple[int, str], ...]:
    """What was not taken in up to a turn, in the turns before the next one; `last`: that turn."""
    agreed = any(step.act == "yes" for step in last.steps)
    before = last.missed[:-1] if agreed else last.missed
    unread = any(step.act == "unsure" for step in last.steps) and not any(one.changed for one in last.changes)
    found = (*before, (last.number, last.utterance)) if unread else before
    return tuple(one for one in found if one[0] + MISSED > last.number)


def _left_out(turn: Turn) -> str:
    """What an answer lacks: what the user said in turns before and nobody understood; '' for nothing."""
    if not (turn.answers and turn.missed and turn.by != "model"):
        return ""
    more = f" and {len(turn.missed) - 1} more of your messages" if len(turn.missed) > 1 else ""
    return f"I did not understand “{clip(turn.missed[-1][1], 60)}”{more}, so this leaves that out."


def remember(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Keep what the next turn needs, and what the next session may want to know."""
    turn = turn_of(state)
    update: Update = {"load": None} if state.get("load") else {}
    if memory := _memory(services, runtime):
        update |= _kept(state, _kinds(context_of(runtime), services), memory)
    if not turn.operations and not _declined(state):
        return update
    focus = dict.fromkeys([*_touched(turn), *state.get("focus", ())])
    aside = bool(turn.changes) and all(isinstance(change.operation, Check) for change in turn.changes)
    question = turn.question or (
        _question_of(state) if aside else None
    )  # what was asked can still be answered
    update |= {"question": question, "focus": tuple(focus)[:FOCUS]}
    counts = _counts(state)
    return {**update, "asked": counts} if counts != state.get("asked", {}) else update


def _kept(state: State, schemas: tuple[TaskSchema, ...], memory: Memory) -> Update:
    """Hand the records of a turn to long-term memory; what is still to be seen stays in the state."""
    turn, graph = turn_of(state), graph_of(state)
    before = tuple(map(_pending, state.get("pending", ())))
    outline = "\n".join(render(graph[key]) for key in state.get("focus", ()) if key in graph)
    new = made(turn, before, thread=memory.thread, outline=outline)
    done, left = settled(before, turn, graph, feedback=state.get("feedback"))
    memory.keep(graph, turn, schemas, done)
    update: Update = {"feedback": None} if state.get("feedback") else {}
    pending = (*left, new) if new else left
    if pending != before:
        update["pending"] = pending
    waiting = tuple((number, at) for number, at in state.get("unwritten", ()))
    turns = (*waiting, (turn.number, now().isoformat(timespec="milliseconds"))) if turn.steps else waiting
    if turns and turn.steps:
        closed = any(isinstance(change.operation, Complete) and change.changed for change in turn.changes)
        pairs = _exchanges(state.get("messages", ()), len(turns))
        taken = memory.session(exchanges_of(turns, pairs, memory.thread), graph, closed=closed)
        update["unwritten"] = () if taken else turns
    return update


def exchanges_of(
    turns: Sequence[tuple[int, str]], pairs: Sequence[tuple[str, str]], thread: str
) -> tuple[Exchange, ...]:
    """Turns with what was said in them; pairs: the last (user, assistant) pairs, as far as there are."""
    said = [("", "")] * (len(turns) - len(pairs)) + list(pairs)
    return tuple(
        Exchange(thread=thread, turn=number, at=datetime.fromisoformat(at), said=user, reply=reply)
        for (number, at), (user, reply) in zip(turns, said, strict=True)
    )


def _pending(given: Any) -> Pending:
    return given if isinstance(given, Pending) else Pending.model_validate(given)


def apologise(state: State, error: NodeError) -> Command[Literal["respond"]]:
    """Instead of a node that failed before anything was changed: a reply that says so."""
    _log.error("%s failed", error.node, exc_info=error.error)
    turn = turn_of(state) if error.node != "decompose" else Turn(number=turn_of(state).number + 1)
    why = str(error.error) if isinstance(error.error, SchemaError) else type(error.error).__name__
    reply = f"Something went wrong while I read that ({why}). Nothing was changed."
    update = {"operations": (), "question": None, "reply": reply}
    return Command(update={"turn": turn.model_copy(update=update)}, goto="respond")


# ---- what they call -------------------------------------------------------------------------------


def _memory(services: Services, runtime: Runtime[Any]) -> Memory:
    """Long-term memory for one run: of its user, on its thread; false where there is none.

    A run that names no user has none: all who come without a name would share it.
    """
    context, info = context_of(runtime), runtime.execution_info
    named = context.memory and "user_id" in context.model_fields_set
    longterm = services.memory if named else None
    return Memory(longterm, context.user_id, (info.thread_id if info else "") or "")


def context_of(runtime: Runtime[Any]) -> Context:
    """The context of a run: defaults without one; of a parent graph's own context, the user is known."""
    given = runtime.context
    if isinstance(given, Context):
        return given
    if isinstance(given, dict):
        return Context.model_validate(given)
    user = getattr(given, "user_id", None)
    return Context(user_id=user) if isinstance(user, str) and user else Context()


def graph_of(state: State) -> TaskGraph:
    """The tasks of a state as a graph; the same one for the same tasks, so that nodes share its indexes.

    Tasks of which most were there before make a graph that has the indexes of the one before.
    """
    tasks, recent = state.get("tasks", {}), tuple(_recent)
    for known, graph in recent:
        if known is tasks:
            return graph
    grown = (_grown(known, graph, tasks) for known, graph in reversed(recent))
    graph = next((graph for graph in grown if graph is not None), None) or TaskGraph(tasks_in(tasks))
    _recent.append((tasks, graph))
    return graph


def _grown(known: dict[str, TaskNode], graph: TaskGraph, tasks: dict[str, TaskNode]) -> TaskGraph | None:
    """A graph of tasks by way of one of others, where the same ones are in both, but for a few."""
    some = [key for key, _ in zip(known, range(9), strict=False)]
    if not 0 < len(known) <= len(tasks) or not any(tasks.get(key) is known[key] for key in some):
        return None
    changed = {key: node for key, node in tasks.items() if known.get(key) is not node}
    if len(changed) * 4 > len(tasks):
        return None
    grown = graph.with_nodes(tasks_in(changed).values())
    return grown if list(grown) == list(tasks) else None


_recent: deque[tuple[dict[str, TaskNode], TaskGraph]] = deque(maxlen=8)  # more than runs at a time


def utterance_of(messages: Sequence[BaseMessage]) -> tuple[str, str]:
    """The text of the last message if the user said it, without control characters, and what is wrong."""
    if not messages or not isinstance(messages[-1], HumanMessage):
        return "", "There is no message to read."
    text = str(messages[-1].text)
    if len(text) > MAX_UTTERANCE:
        short = f"{text[:80]}…"
        return (
            short,
            f"That is too long for me: {len(text):,} characters, where {MAX_UTTERANCE:,} is the most.",
        )
    kinds = [unicodedata.category(char) for char in text]
    clean = [" " if kind in ("Cc", "Cs") and char not in "\n\t" else char
             for char, kind in zip(text, kinds, strict=True)]  # fmt: skip
    if all(kind[0] in "CZ" for kind in kinds):
        return "", "I did not get any words. What should I note, change or look up?"
    return "".join(clean).strip(), ""


def turn_of(state: State) -> Turn:
    """The turn in the state: this one's, or the last one's before `decompose`.

    A server that is strict about types (LANGGRAPH_STRICT_MSGPACK) gives what it has read as plain data.
    """
    turn: Any = state.get("turn", {})
    return turn if isinstance(turn, Turn) else Turn.model_validate(turn)


def _question_of(state: State) -> Clarify | None:
    question: Any = state.get("question")
    return Clarify.model_validate(question) if isinstance(question, dict) else question


def _view(state: State, number: int, context: Context, services: Services) -> View:
    return View(
        graph=graph_of(state),
        turn=number,
        focus=tuple(state.get("focus", ())),
        question=_question_of(state),
        exchanges=_exchanges(state.get("messages", [])),
        schemas=_kinds(context, services),
        now=services.clock(),
        budget=context.token_budget,
    )


def _kinds(context: Context, services: Services) -> tuple[TaskSchema, ...]:
    """The kinds of tasks of a run: its own, else those that come with the tools."""
    return load_schemas(context.schemas or (list(services.tools.schemas) if services.tools else []))


def _exchanges(messages: Sequence[AnyMessage], count: int = EXCHANGES) -> tuple[tuple[str, str], ...]:
    """The last (user, assistant) pairs, without a message that has no reply yet."""
    answered = messages[:-1] if messages and isinstance(messages[-1], HumanMessage) else messages
    recent = answered[-2 * count :]
    pairs = pairwise(recent)
    return tuple(
        (str(said.text), str(reply.text))
        for said, reply in pairs
        if isinstance(said, HumanMessage) and isinstance(reply, AIMessage)
    )


def _touched(turn: Turn) -> tuple[str, ...]:
    """Ids of the tasks that a turn changed or was asked about, the latest first, without the stale ones."""
    found: list[str] = []
    for change in reversed(turn.changes):
        found += [key for key in change.changed if key not in change.stale]
    for told in turn.answers:
        found += told.tasks
    return tuple(dict.fromkeys(found))


def _declined(state: State) -> tuple[str, ...]:
    """The task whose slot was asked for and not told, if that is what the user said."""
    before = _question_of(state)
    if not before or not any(step.act == "no" for step in turn_of(state).steps):
        return ()
    choice = before.choices[0] if before.choices else None
    place = (
        choice.parent if isinstance(choice, Add) else choice.task if isinstance(choice, UpdateTask) else None
    )
    return (place,) if place and asked_key(before) else ()


def _counts(state: State) -> dict[str, int]:
    """How often each slot was asked for, after this turn; one that was declined counts as often enough."""
    turn, counts = turn_of(state), dict(state.get("asked", {}))
    before = _question_of(state)
    if before and (key := asked_key(before)) and any(step.act == "no" for step in turn.steps):
        counts[key] = ASK_AT_MOST
    if turn.question and (key := asked_key(turn.question)):
        counts[key] = counts.get(key, 0) + 1
    return counts


def _many_refused(turn: Turn, graph: TaskGraph) -> bool | None:
    """Whether the user refused what takes more than one whole task out; None where nothing does.

    By whatever operations, and whatever the words were: all of them are asked about at once.
    """
    after = graph
    for operation in turn.operations:
        after = apply(after, operation, turn=turn.number, said=turn.utterance).graph
    gone = [root for root in graph.parts(None) if not after[root.id].active]
    if len(gone) < 2:
        return None
    titles = tuple(root.title for root in gone)
    return not _ask("remove", f"Take {len(gone)} tasks out: {join(map(clip, titles), limit=8)}?", titles)


def _approved(operation: Operation, graph: TaskGraph) -> bool:
    """Whether an operation may go on; asks before a whole task with parts is removed."""
    root = graph.get(operation.task) if isinstance(operation, Remove) else None
    if (
        root is None
        or not root.active
        or root.parent is not None
        or not (parts := graph.subtree(root.id)[1:])
    ):
        return True
    number = f"{len(parts)} part{'s' if len(parts) > 1 else ''}"
    return _ask("remove", f"Remove {root.title} with its {number}?", (root.title, *(p.title for p in parts)))


def _ask(action: Literal["remove", "load"], question: str, tasks: tuple[str, ...]) -> bool:
    approval = Approval(action=action, question=question, tasks=tasks)
    return interrupt(approval.model_dump(mode="json"), response_schema=Decision).approve is True


def _load(text: str, state: State, graph: TaskGraph, *, ask: bool) -> Update:
    """An export in place of the tasks; nothing changes where it cannot be read or is not wanted."""
    turn = turn_of(state)
    try:
        export = ThreadExport.from_json(text)
    except GraphError as error:
        return {"turn": turn.model_copy(update={"reply": f"I could not load that: {error}."})}
    count = f"{len(export.graph.active)} task{'s' if len(export.graph.active) != 1 else ''}"
    there = tuple(root.title for root in graph.parts(None))
    if ask and there and not _ask("load", f"Load {count} in place of what is there?", there):
        return {"turn": turn.model_copy(update={"reply": "Nothing was loaded; everything is as it was."})}
    loaded = {"number": max(turn.number, export.last_turn() + 1), "reply": f"Loaded {count}."}
    update: Update = {
        "tasks": Overwrite(dict(export.graph)),
        "turn": turn.model_copy(update=loaded),
        "focus": export.focus,
        "question": None,
    }
    if export.messages:
        update["messages"] = Overwrite([*export.as_messages(), *state.get("messages", [])])
    return update


def _written(brief: Brief, responder: Responder, services: Services) -> tuple[AIMessage, Usage]:
    """The reply as the brief's style wants it, with what it cost."""
    usage, begun = Usage(), time.monotonic()
    if brief.style != "template" and (said := _small_talk(brief)) and not services.check(said, brief):
        message, _ = _streamed(uuid4().hex, _pieces(said))
        return message, usage
    for _ in range(2 if _wants_model(brief) else 0):
        key, pieces = uuid4().hex, responder.respond(brief)
        try:
            message, cost = _streamed(key, pieces)
        except TooLong as error:
            usage += error.usage
            brief = replace(brief, faults=(str(error),), spent=time.monotonic() - begun)
            continue
        except ResponderError as error:
            usage += error.usage
            brief = replace(brief, note=" ".join(filter(None, [brief.note, str(error)])))
            break
        usage += cost
        faults = tuple(services.check(str(message.text), brief))
        if not faults:
            return message, usage
        brief = replace(brief, faults=faults, spent=time.monotonic() - begun)
    message, cost = _streamed(uuid4().hex, services.template.respond(brief))
    return message, usage + cost


def _small_talk(brief: Brief) -> str:
    """What the model that read the turn says to small talk; '' where there was anything else."""
    turn = brief.turn
    quiet = not (
        turn.changes or turn.question or turn.proposals or turn.acts or turn.noted or brief.note or turn.note
    )
    if turn.by != "model" or not quiet or any(step.act != "chat" for step in turn.steps):
        return ""
    said = " ".join(step.value or "" for step in turn.steps).strip()
    return said if len(said) <= SMALL_TALK else ""


def _pieces(text: str) -> Generator[str, None, Usage]:
    yield text
    return Usage()


def _wants_model(brief: Brief) -> bool:
    """Whether the responder is to write: in style 'auto' what no template tells.

    That is what tools gave, now or before, and answers to questions of no kind.
    """
    told = [brief.graph[key] for answer in brief.answers for key in answer.tasks if key in brief.graph]
    by_tools = bool(brief.turn.acts) or any(node.source.startswith("tool:") for node in told)
    return brief.style == "model" or (brief.style == "auto" and (brief.turn.asks_freely or by_tools))


def _streamed(key: str, pieces: Generator[str, None, Usage]) -> tuple[AIMessage, Usage]:
    """The message that the pieces make, each passed to the stream as it comes, with what it cost.

    All chunks carry the id of the message: to a client a new id says that the text before was withdrawn.
    """
    text = ""
    while True:
        try:
            piece = next(pieces)
        except StopIteration as end:
            return AIMessage(text, id=key), end.value
        text += piece
        push_message(AIMessageChunk(content=piece, id=key), state_key=None)

"""The nodes of the graph: each reads the state, calls one function and returns an update.

No node changes what it is given, and none builds a service. `interrupt` runs a node again from its top when
the run is resumed; only `update_graph` interrupts, and it has no effect but its return value.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from taskloom.agent.grounding.asking_first import joined_proposal, question_before, unsaid_and_unasked
from taskloom.agent.language.statements import statements
from taskloom.agent.language.wording import clip, join
from taskloom.agent.plan.kinds import asked_key, offered_roots
from taskloom.agent.plan.slots import ASK_AT_MOST, fill
from taskloom.agent.reading.taken_up import accepted
from taskloom.agent.reading.with_memory import read_with_memory
from taskloom.agent.recall.experiences import experience_of, settle
from taskloom.agent.recall.memory import Examples, Memory, answer_from_memory
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.calls import is_rerun_offer, stale_in
from taskloom.agent.turn.reading import Usage, added
from taskloom.agent.turn.schemas import SchemaError, TaskSchema
from taskloom.agent.turn.state import Change, Context, State, Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import Answer, answer
from taskloom.memory.consolidate import Exchange
from taskloom.memory.operations import Add, Check, Clarify, Complete, Outcome, apply
from taskloom.memory.operations import Update as UpdateTask
from taskloom.memory.records import now
from taskloom.memory.retrieve import closure, render, render_revision, seeds
from taskloom.memory.tasks import TaskGraph

from .access import (
    Update,
    context_of,
    exchanges_of,
    graph_of,
    kinds_of,
    last_exchanges,
    memory_of,
    pending_of,
    question_of,
    turn_of,
    utterance_of,
    view_of,
)
from .approvals import NOT_APPROVED, approved, load_decision, request_approval
from .runs import ForeignThreadError, check_owner
from .services import Services
from .writing import THANKS, streamed, write_reply

FOCUS = 12  # tasks kept in focus
MISSED = 20  # turns after which an answer no longer says that a message was not understood
_log = logging.getLogger(__name__)


# ---- the nodes ------------------------------------------------------------------------------------


def decompose(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Read the user's words into steps; the thread is the user's from the first ones.

    Raises:
        ForeignThreadError: it is another's.
    """
    speaker, info = context_of(runtime).speaker, runtime.execution_info
    check_owner(speaker, (info.thread_id if info else "") or "", state.get("owner", ""))
    update: Update = {"owner": speaker, "turn": _read(state, runtime, services)}
    if (last := turn_of(state)).spent and not last.reply:  # it was given up while it waited, or failed
        update["spent"] = added(state.get("spent", {}), last.spent)
    return update


def _read(state: State, runtime: Runtime[Context], services: Services) -> Turn:
    """The turn as it begins: with what was read of the words."""
    number, context = turn_of(state).number + 1, context_of(runtime)
    if services.tools and (keys := reported_calls(turn_of(state))):
        services.tools.journal.close(keys)  # the turn that tells of them is on disk, or it would not be here
    begun = Turn(number=number, user=context.speaker, missed=_missed(turn_of(state)))
    if state.get("load"):
        return begun
    if state.get("feedback") and not isinstance([None, *state.get("messages", [])][-1], HumanMessage):
        return begun.model_copy(update={"reply": THANKS})
    text, ids, fault = utterance_of(state)
    begun = begun.model_copy(update={"read": ids})
    if fault:
        return begun.model_copy(update={"utterance": text, "reply": fault})
    memory = memory_of(services, runtime)
    examples = Examples(lambda: memory.examples(text))
    view = replace(view_of(state, number, context, services), examples=examples)
    interpreter = services.voice(context.model).interpreter
    reading, recalled = read_with_memory(text, view, interpreter, memory)
    read = {
        "utterance": text,
        "steps": reading.steps,
        "by": reading.by,
        "note": " ".join(filter(None, (reading.note, memory.fault))),
        "recalled": recalled,
        "examples": tuple(one.id for one in examples.found or ()),
        "missed": _still_missed(begun.missed, reading.steps, view.question),
        "presumed": view.question if reading.presuming else None,
    }
    if memory:
        said = Exchange(thread=memory.thread, turn=number, at=now(), said=text)
        read["noted"] = tuple(fact.text for fact in statements((said,)))
    return begun.model_copy(update=read).with_usage(reading.usage)


def classify_intent(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Ground the steps: operations on task ids, a clarification where that cannot be done."""
    turn = turn_of(state)
    if not turn.steps:
        return {}
    view = view_of(state, turn.number, context_of(runtime), services)
    if turn.presumed is not None:
        view = replace(view, graph=_graph_meant(state), question=None)
    operations = services.ground(turn.steps, view)
    if not all(step.kind for step in turn.steps if step.act != "ask"):  # these are told in questions, too
        operations = question_before(operations, turn.utterance, view.graph)
    if turn.presumed is not None:
        operations = tuple(joined_proposal(one, turn.presumed, view.graph) for one in operations)
    question = next((operation for operation in operations if isinstance(operation, Clarify)), None)
    return {"turn": turn.model_copy(update={"operations": operations, "question": question})}


def update_graph(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Apply the operations one after the other; ask for approval first where the run wants that."""
    turn, context = turn_of(state), context_of(runtime)
    graph = graph_of(state)
    if text := state.get("load"):
        loaded = load_decision(text, state, graph, ask=context.approve)
        if "tasks" in loaded and (waiting := _waiting(state)):  # those turns tell of the tasks before
            _tell(state, waiting, graph, memory_of(services, runtime), ended=True)
            loaded["unwritten"] = ()
        return loaded
    changes, changed = [], dict[str, None]()
    refused = _bulk_removal_refused(turn, graph) if context.approve else None
    for operation in turn.operations:
        if (refused is None and context.approve and not approved(operation, graph)) or (
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
    graph = _graph_meant(state)
    questions = [op.question for op in turn.operations if isinstance(op, Check)]
    answers = tuple(_without_itself(answer(graph, question), turn.number) for question in questions)
    found = closure(
        graph,
        seeds(graph, turn.operations, _focus_of(turn)),
        question=questions[0] if questions else None,
        budget=context_of(runtime).token_budget,
    )
    update: Update = {"answers": answers, "facts": found.tasks, "former": found.revisions}
    if questions and (memory := memory_of(services, runtime)):
        update["earlier"], update["known"] = answer_from_memory(
            turn, answers, graph, memory, services.clock()
        )
        update["note"] = " ".join(filter(None, (turn.note, memory.fault)))
    return {"turn": turn.model_copy(update=update)}


def _without_itself(given: Answer, turn: int) -> Answer:
    """An answer without citations of the question itself: asking about a thing is not mentioning it."""
    verdict = given.verdict
    if verdict is None or verdict.kind != "never" or verdict.since != turn:
        return given
    return given.model_copy(update={"verdict": verdict.model_copy(update={"since": None, "said": ""})})


def fill_slots(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Propose values for what is missing in the tasks of this turn, or ask for one."""
    turn, context = turn_of(state), context_of(runtime)
    touched = tuple(key for change in turn.changes for key in change.changed) or _declined_slot(state)
    if turn.recalled and not touched:  # another one is to be proposed
        touched = offered_roots(graph_of(state))
    if not touched or not (kinds_of(context, services) or turn.recalled) or turn.question is not None:
        return {}
    graph, schemas = graph_of(state), kinds_of(context, services)
    known = memory_of(services, runtime).remembered(graph, turn, schemas)
    filling = fill(graph, touched, schemas, _counts(state), known)
    proposed: list[str] = []
    for operation in filling.proposals:
        outcome = apply(graph, operation, turn=turn.number, said=turn.utterance)
        graph = outcome.graph
        proposed += outcome.changed
    turn = turn.model_copy(update={"proposals": tuple(proposed), "question": filling.question})
    return {"turn": turn, "tasks": {key: graph[key] for key in proposed}} if proposed else {"turn": turn}


def reported_calls(turn: Turn) -> list[str]:
    """Keys of the tool calls that a turn has reported to the user: its own, and those of lost turns."""
    keys = dict.fromkeys(key for run in turn.tool_runs for key in (run.key, run.call.key) if key)
    return list(keys) if turn.reply else []


def respond(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Write the reply, streamed; one that contradicts the tasks is written again, then by template."""
    turn, context = turn_of(state), context_of(runtime)
    brief = brief_of(state, context, services)
    if turn.reply:
        message, usage = streamed(turn.reply), Usage()
    else:
        message, usage = write_reply(brief, services.voice(context.model).responder, services)
    turn = turn.model_copy(update={"reply": str(message.text)})
    return {"messages": [message], "turn": turn.with_usage(usage)}


def brief_of(state: State, context: Context, services: Services) -> Brief:
    """Everything that the reply of a turn may use."""
    turn, graph = turn_of(state), _graph_meant(state)
    known = turn.earlier or turn.known  # told as it is: no model is to make anything of it
    unasked = unsaid_and_unasked(turn.operations, turn.question)
    return Brief(
        utterance=turn.utterance,
        graph=graph,
        turn=turn,
        answers=turn.answers,
        facts=(
            *(render(graph[key]) for key in turn.facts),
            *(render_revision(graph[key], index) for key, index in turn.former),
        ),
        note=" ".join(filter(None, (turn.note, unasked, _left_out(turn)))),
        style="template" if known else context.reply_style or services.replies,
        exchanges=last_exchanges(state.get("messages", [])),
        now=services.clock(),
    )


def _graph_meant(state: State) -> TaskGraph:
    """The tasks as the answers of a turn take them: with the proposal that is presumed to be meant."""
    turn, graph = turn_of(state), graph_of(state)
    if turn.presumed is None:
        return graph
    return accepted(graph, turn.presumed, turn=turn.number - 1) or graph


def _missed(last: Turn) -> tuple[tuple[int, str], ...]:
    """What was not understood up to a turn (last), except what an answer has already quoted."""
    before = tuple((number, "") for number, _ in last.missed) if _left_out(last) else last.missed
    unread = any(step.act == "unsure" for step in last.steps) and not any(one.changed for one in last.changes)
    found = (*before, (last.number, last.utterance)) if unread else before
    return tuple(one for one in found if one[0] + MISSED > last.number)


def _still_missed(
    missed: tuple[tuple[int, str], ...], steps: Sequence[Step], question: Clarify | None
) -> tuple[tuple[int, str], ...]:
    """What was not understood, without what a yes of the user's has told."""
    if not any(step.act == "yes" for step in steps):
        return missed
    told = question.presumed if question is not None else ()
    return tuple(one for one in missed if one[0] not in told) if told else missed[:-1]


def _left_out(turn: Turn) -> str:
    """A note on what an answer leaves out: earlier words that were not understood; '' for none.

    Each message is quoted once, and counted after that. What it takes as meant is told as well.
    """
    if not (turn.answers and turn.by != "model"):
        return ""
    if turn.presumed is None:
        return _unread(turn.missed)
    missed = [one for one in turn.missed if one[0] not in turn.presumed.presumed]
    unsure = f"I am not sure that I understood “{clip(turn.presumed.said, 40)}”; this takes it that I did."
    return " ".join(filter(None, (_unread(missed), unsure)))


def _unread(missed: Sequence[tuple[int, str]]) -> str:
    """What was not understood, in words; '' for nothing."""
    if not missed:
        return ""
    said, others = missed[-1][1], len(missed) - 1
    if not said:
        what = f"the {others + 1} messages" if others else "the message"
        return f"This leaves out {what} that I did not understand."
    more = f" and {'one' if others == 1 else others} more of your messages" if others else ""
    return f"I did not understand “{clip(said, 40)}”{more}, so this leaves that out."


def remember(state: State, runtime: Runtime[Context], *, services: Services) -> Update:
    """Keep what the next turn needs, and what the next session may want to know."""
    turn = turn_of(state)
    update: Update = {"load": None} if state.get("load") else {}
    if turn.spent:
        update["spent"] = added(state.get("spent", {}), turn.spent)
    if memory := memory_of(services, runtime):
        update |= _store_records(state, kinds_of(context_of(runtime), services), memory)
    if not turn.operations and not _declined_slot(state):
        denied = question_of(state) is not None and any(step.act == "no" for step in turn.steps)
        return {**update, "question": None} if denied else update
    focus = dict.fromkeys([*_focus_of(turn), *state.get("focus", ())])
    aside = bool(turn.changes) and all(isinstance(change.operation, Check) for change in turn.changes)
    before = question_of(state) if aside else _still_presumed(state)  # what was asked can still be answered
    if before is not None and is_rerun_offer(before) and not stale_in(before, graph_of(state)):
        before = None
    asks_more = turn.question is not None and (turn.question.choices or before is None)
    question = turn.question if asks_more or before is None else before
    update |= {"question": question, "focus": tuple(focus)[:FOCUS]}
    counts = _counts(state)
    return {**update, "asked": counts} if counts != state.get("asked", {}) else update


def _still_presumed(state: State) -> Clarify | None:
    """The proposal that is presumed to be meant still: nothing was changed or denied since."""
    before, turn = question_of(state), turn_of(state)
    if before is None or not before.presumed or any(change.changed for change in turn.changes):
        return None
    return None if any(step.act in ("yes", "no") for step in turn.steps) else before


def _store_records(state: State, schemas: tuple[TaskSchema, ...], memory: Memory) -> Update:
    """Hand the records of a turn to long-term memory; those with a pending outcome stay in the state."""
    turn, graph = turn_of(state), graph_of(state)
    before = tuple(map(pending_of, state.get("pending", ())))
    outline = "\n".join(render(graph[key]) for key in state.get("focus", ()) if key in graph)
    new = experience_of(turn, before, thread=memory.thread, outline=outline, graph=graph)
    done, left = settle(before, turn, graph, feedback=state.get("feedback"))
    memory.keep(graph, turn, schemas, done)
    update: Update = {"feedback": None} if state.get("feedback") else {}
    pending = (*left, new) if new else left
    if pending != before:
        update["pending"] = pending
    if turn.steps:
        turns = (*_waiting(state), (turn.number, now().isoformat(timespec="milliseconds")))
        closed = any(isinstance(change.operation, Complete) and change.changed for change in turn.changes)
        update["unwritten"] = () if _tell(state, turns, graph, memory, closed=closed) else turns
    return update


def _waiting(state: State) -> tuple[tuple[int, str], ...]:
    """The turns that no facts were made of yet, with their time."""
    return tuple((number, at) for number, at in state.get("unwritten", ()))


def _tell(
    state: State,
    turns: Sequence[tuple[int, str]],
    graph: TaskGraph,
    memory: Memory,
    *,
    closed: bool = False,
    ended: bool = False,
) -> bool:
    """Have facts made of turns, the last ones, when they are due; whether all of them were taken."""
    pairs = last_exchanges(state.get("messages", ()), len(turns))
    exchanges = exchanges_of(turns, pairs, memory.thread)
    return memory.session(exchanges, graph, closed=closed, ended=ended)


def apologise(state: State, error: NodeError, runtime: Runtime[Context]) -> Command[Literal["respond"]]:
    """Instead of a node that failed before anything was changed: a reply that says so."""
    if isinstance(error.error, ForeignThreadError):
        raise error.error
    _log.error("%s failed", error.node, exc_info=error.error)
    turn, speaker = turn_of(state), context_of(runtime).speaker
    if error.node == "decompose":
        turn = Turn(number=turn.number + 1, user=speaker)
    why = f" ({error.error})" if isinstance(error.error, SchemaError) else ""  # the caller's, who can mend it
    reply = f"Something went wrong while I read that{why}, so I changed nothing. Please try it again."
    update = {"operations": (), "question": None, "reply": reply}
    return Command(update={"owner": speaker, "turn": turn.model_copy(update=update)}, goto="respond")


# ---- what they call -------------------------------------------------------------------------------


def _focus_of(turn: Turn) -> tuple[str, ...]:
    """Ids of the tasks that a turn changed or was asked about, the latest first, without the stale ones."""
    found: list[str] = []
    for change in reversed(turn.changes):
        found += [key for key in change.changed if key not in change.stale]
    for one in turn.answers:
        found += one.tasks
    return tuple(dict.fromkeys(found))


def _declined_slot(state: State) -> tuple[str, ...]:
    """The task whose slot was asked for and not told, if that is what the user said."""
    before = question_of(state)
    if not before or not any(step.act == "no" for step in turn_of(state).steps):
        return ()
    choice = before.choices[0] if before.choices else None
    place = (
        choice.parent if isinstance(choice, Add) else choice.task if isinstance(choice, UpdateTask) else None
    )
    return (place,) if place and asked_key(before) else ()


def _counts(state: State) -> dict[str, int]:
    """How often each slot was asked for so far; a declined slot counts as asked often enough."""
    turn, counts = turn_of(state), dict(state.get("asked", {}))
    before = question_of(state)
    if before and (key := asked_key(before)) and any(step.act == "no" for step in turn.steps):
        counts[key] = ASK_AT_MOST
    if turn.question and (key := asked_key(turn.question)):
        counts[key] = counts.get(key, 0) + 1
    return counts


def _bulk_removal_refused(turn: Turn, graph: TaskGraph) -> bool | None:
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
    return not request_approval(
        "remove", f"Take {len(gone)} tasks out: {join(map(clip, titles), limit=8)}?", titles
    )

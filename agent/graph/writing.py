"""The reply: by template or by a model, streamed."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from dataclasses import replace
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph.message import push_message

from taskloom.agent.turn.brief import Brief, Responder, ResponderError, TooLong
from taskloom.agent.turn.reading import Usage
from taskloom.memory.shown import safe

from .services import Services

_PARTS = re.compile(r"(?:\s*\S+){1,4}\s*|\s+")  # a few words: what a template tells comes in sentences
SMALL_TALK = 300  # characters of a reply to small talk

THANKS = "Thank you, I noted that."


def write_reply(brief: Brief, responder: Responder, services: Services) -> tuple[AIMessage, Usage]:
    """The reply as the brief's style wants it, with what it cost."""
    usage, begun = Usage(), time.monotonic()
    if brief.style != "template" and (said := _small_talk(brief)) and not services.check(said, brief):
        return streamed(said), usage
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
    """The reading model's own reply to small talk; '' where the turn held anything else."""
    turn = brief.turn
    quiet = not (
        turn.changes
        or turn.question
        or turn.proposals
        or turn.tool_runs
        or turn.noted
        or brief.note
        or turn.note
    )
    if turn.by != "model" or not quiet or any(step.act != "chat" for step in turn.steps):
        return ""
    said = " ".join(step.value or "" for step in turn.steps).strip()
    return said if len(said) <= SMALL_TALK else ""


def streamed(text: str) -> AIMessage:
    """A message with a finished text, passed to the stream piece by piece."""
    message, _ = _streamed(uuid4().hex, _pieces(text))
    return message


def _pieces(text: str) -> Generator[str, None, Usage]:
    yield text
    return Usage()


def _wants_model(brief: Brief) -> bool:
    """Whether the responder should write: in style 'auto', where no template fits.

    That is what tools gave, now or before, and answers to questions of no kind.
    """
    nodes = [brief.graph[key] for answer in brief.answers for key in answer.tasks if key in brief.graph]
    by_tools = bool(brief.turn.tool_runs) or any(node.source.startswith("tool:") for node in nodes)
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
        shown = safe(piece)
        text += shown
        for part in _PARTS.findall(shown):
            push_message(AIMessageChunk(content=part, id=key), state_key=None)

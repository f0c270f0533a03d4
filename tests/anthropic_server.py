"""A local HTTP server that speaks the messages protocol of Anthropic; scripted as `openai_server` is.

A reply to a request that forces a tool is a call of that tool where it is a JSON object, else text.
"""

from __future__ import annotations

import json
from typing import Any

from tests.openai_server import Fault, Handler, OpenAIServer, Say, pieces_of

ENDS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


class _Handler(Handler):
    endpoints = ("/v1/messages",)

    def _error(self, fault: Fault) -> dict[str, Any]:
        return {"type": "error", "error": {"type": fault.code or "api_error", "message": fault.message}}

    def _message(self, body: dict[str, Any], **given: Any) -> dict[str, Any]:
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        return {**head, "stop_sequence": None, **given}

    def _whole(self, reply: Say, body: dict[str, Any]) -> dict[str, Any]:
        given = {"content": _content(reply, body), "stop_reason": _end(reply), "usage": _usage(reply)}
        return self._message(body, **given)

    def _events(self, reply: Say, body: dict[str, Any]) -> list[str]:
        usage = _usage(reply)
        message = self._message(body, content=[], stop_reason=None, usage={**usage, "output_tokens": 1})
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ]
        for piece in pieces_of(reply):
            delta = {"type": "text_delta", "text": piece}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        ended = {"stop_reason": _end(reply), "stop_sequence": None}
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": usage},  # cumulative, as it says
            {"type": "message_stop"},
        ]
        return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _usage(reply: Say) -> dict[str, int]:
    return {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}


def _end(reply: Say) -> str:
    return "tool_use" if reply.tool_calls else ENDS[reply.finish or "stop"]


def _content(reply: Say, body: dict[str, Any]) -> list[dict[str, Any]]:
    text = reply.content or ""
    if reply.tool_calls:
        return [{"type": "tool_use", "id": "toolu_1", **call} for call in reply.tool_calls]
    forced = body.get("tool_choice", {}).get("name")
    if forced and text.startswith("{"):
        return [{"type": "tool_use", "id": "toolu_1", "name": forced, "input": json.loads(text)}]
    return [{"type": "text", "text": text}] if text else []


class AnthropicServer(OpenAIServer):
    """The server, as a context manager; listens on a free port of the loopback interface."""

    handler = _Handler

    @property
    def url(self) -> str:
        """What the base_url of a client is to be."""
        return super().url.removesuffix("/v1")

"""What a tool of an MCP server gives: text for the model, structured content beside it."""

from __future__ import annotations

from json import dumps

from langchain_core.messages import ToolMessage
from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from .errors import ToolError

ERROR_LENGTH = 2000  # characters of a server's own words in an error


def message(result: CallToolResult, secrets: tuple[str, ...]) -> ToolMessage:
    """A result as text, structured content as artifact.

    Raises:
        ToolError: it is an error.
    """
    text = "\n".join(map(_block, result.content))
    if result.isError:
        raise ToolError(cleaned(text, secrets) or "the tool failed and did not say why")
    if not result.content and result.structuredContent is not None:
        text = dumps(result.structuredContent, ensure_ascii=False)
    return ToolMessage(text, artifact=result.structuredContent, tool_call_id="")


def _block(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mimeType}, {_size(block.data)} bytes]"
        case ResourceLink():
            return f"[{block.name}: {block.uri}]"
        case EmbeddedResource():
            if isinstance(block.resource, TextResourceContents):
                return block.resource.text
            kind = block.resource.mimeType or "of unknown type"
            return f"[file, {kind}, {_size(block.resource.blob)} bytes]"


def _size(base64: str) -> int:
    return len(base64) * 3 // 4 - base64.count("=")


def cleaned(text: str, secrets: tuple[str, ...]) -> str:
    """A server's words without the keys that it was given."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text if len(text) <= ERROR_LENGTH else f"{text[:ERROR_LENGTH]} …"

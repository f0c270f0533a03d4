"""An MCP server for tests: `python mcp_server.py stdio` or `python mcp_server.py http PORT`."""

import os
import sys
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ResourceLink,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import AnyUrl, BaseModel

PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = FastMCP("test", host="127.0.0.1", port=PORT, log_level="ERROR")


class Place(BaseModel):
    name: str
    people: int


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@server.tool(annotations=ToolAnnotations(readOnlyHint=True, destructiveHint=True))
def doubtful() -> str:
    """Says that it only reads and that it destroys."""
    return "?"


@server.tool(annotations=ToolAnnotations(destructiveHint=False, idempotentHint=True))
def put(key: str) -> str:
    """Put something."""
    return key


@server.tool()
def place(city: str) -> Place:
    """Look a place up."""
    return Place(name=city, people=7)


@server.tool(structured_output=False)
def picture() -> list[Any]:
    """Draw."""
    return ["Here it is:", Image(data=b"\x89PNG" + bytes(96), format="png")]


@server.tool(structured_output=False)
def blocks() -> list[Any]:
    """Everything else that a result may hold."""
    data = b64encode(b"12345").decode()
    text = TextResourceContents(uri=AnyUrl("file:///a.txt"), text="inside")
    blob = BlobResourceContents(uri=AnyUrl("file:///b"), blob=data)
    return [
        AudioContent(type="audio", data=data, mimeType="audio/wav"),
        ResourceLink(type="resource_link", name="page", uri=AnyUrl("https://example.org/")),
        EmbeddedResource(type="resource", resource=text),
        EmbeddedResource(type="resource", resource=blob),
    ]


@server.tool()
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(f"no luck with {text}, key {os.environ.get('TEST_KEY')}")


@server.tool(name="odd.names")
def odd_names(runtime: str, config: str, run_manager: str) -> str:
    """Take arguments that LangChain has names like."""
    return f"{runtime} {config} {run_manager}"


@server.tool()
def sleep(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return "slept"


@server.tool()
def die() -> str:
    """Die."""
    os._exit(3)


@server.tool()
def about(context: Context[Any, Any, Any]) -> dict[str, Any]:
    """Tell about the process and the request."""
    request = context.request_context.request
    return {
        "pid": os.getpid(),
        "cwd": str(Path.cwd()),
        "key": os.environ.get("TEST_KEY"),
        "home": os.environ.get("TEST_OTHER"),
        "authorization": request.headers.get("authorization") if request else None,
    }


if __name__ == "__main__":
    print("started", file=sys.stderr)
    server.run("stdio" if sys.argv[1] == "stdio" else "streamable-http")

"""A client of `taskloom mcp`, as any host of the Model Context Protocol is: `pip install 'taskloom[mcp]'`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def call(*calls: tuple[str, dict[str, Any]]) -> list[str]:
    taskloom = Path(sys.executable).with_name("taskloom")
    server = StdioServerParameters(
        command=str(taskloom), args=["mcp", "--thread", "dinner"], env=dict(os.environ)
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        return [(await session.call_tool(name, args)).content[0].text for name, args in calls]


def main(*calls: tuple[str, dict[str, Any]]) -> list[str]:
    """What is told of each call."""
    return asyncio.run(call(*calls))


if __name__ == "__main__":
    first = ("say", {"text": "Plan a dinner for six people on Friday"})
    print(*main(first, ("add_task", {"title": "Buy fish"}), ("check_tasks", {})), sep="\n")

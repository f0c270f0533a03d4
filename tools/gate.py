"""A SOCKS5 proxy on the loopback interface (RFC 1928) through which a browser reaches judged addresses only.

A browser resolves names, follows redirects and opens web sockets by itself; watching its requests shows
neither all of them nor the addresses that it connects to. Here every connection is seen, and made to the
very address that was checked.
"""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address
from types import TracebackType
from typing import Self, TypeAlias

from .addresses import Resolver, check_host, resolve
from .errors import NotAllowedError, ToolError, TransientError
from .web import WebPolicy, in_time

_VERSION = 5
_NO_PASSWORD = 0
_CONNECT = 1
_GRANTED, _FORBIDDEN, _REFUSED, _NO_SUCH_COMMAND = 0, 2, 5, 7
_CHUNK = 65_536
NOWHERE = "taskloom.invalid"  # a host that is refused without a word

Ends: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Gate:
    """The proxy, as an asynchronous context manager.

    problems: what went wrong with connections, in order, until its user clears it.
    allowance: bytes that may still come in; when none are left, connections are closed.
    """

    def __init__(self, policy: WebPolicy, resolver: Resolver = resolve) -> None:
        self.problems: list[ToolError] = []
        self.allowance = 0
        self._policy = policy
        self._resolver = resolver
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """What a browser takes as its proxy."""
        host, port = self._server.sockets[0].getsockname()
        return f"socks5://{host}:{port}"

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._served(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the browser, from its greeting to its end."""
        try:
            if far := await self._opened(reader, writer):
                try:
                    await self._joined((reader, writer), far)
                finally:
                    far[1].close()
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass  # the browser hung up, or it was no browser
        finally:
            writer.close()

    async def _opened(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Ends | None:
        """The requested connection; None, after an error reply, if there is none."""
        command, host, port = await _read_request(reader, writer)
        if command != _CONNECT or host == NOWHERE:
            writer.write(_reply(_NO_SUCH_COMMAND))
            return None
        try:
            far = await self._reached(host, port)
        except ToolError as problem:
            self.problems.append(problem)
            writer.write(_reply(_FORBIDDEN if isinstance(problem, NotAllowedError) else _REFUSED))
            return None
        writer.write(_reply(_GRANTED))
        return far

    async def _reached(self, host: str, port: int) -> Ends:
        """A connection to a checked address of a host."""
        policy = self._policy
        if policy.ports and port not in policy.ports:
            raise NotAllowedError(f"port {port} of {host} is not allowed")
        addresses = await asyncio.to_thread(
            in_time,
            lambda: check_host(host, port, policy.allow_private, self._resolver),
            policy.seconds,
            f"looking up {host}",
        )
        reasons = []
        for address in addresses:
            try:
                async with asyncio.timeout(policy.seconds / len(addresses)):
                    return await asyncio.open_connection(address, port)
            except OSError as error:  # TimeoutError is one, too
                reasons.append(str(error) or "it took too long")
        raise TransientError(f"no connection to {host}: {', '.join(reasons)}")

    async def _joined(self, near: Ends, far: Ends) -> None:
        """Pass data on in both directions, until one side ends or the allowance is used up."""
        ways = [
            asyncio.create_task(self._poured(near[0], far[1], counted=False)),
            asyncio.create_task(self._poured(far[0], near[1], counted=True)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _poured(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool
    ) -> None:
        while data := await reader.read(_CHUNK):
            if counted:
                self.allowance -= len(data)
                if self.allowance < 0:
                    self.problems.append(ToolError("the page was too large, a part of it was not loaded"))
                    return
            writer.write(data)
            await writer.drain()


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, str, int]:
    """The command, host and port of a request.

    Raises:
        ValueError: it is not of version 5.
    """
    version, methods = await reader.readexactly(2)
    if version != _VERSION:
        raise ValueError(f"SOCKS version {version}")
    await reader.readexactly(methods)
    writer.write(bytes([_VERSION, _NO_PASSWORD]))
    _, command, _, kind = await reader.readexactly(4)
    match kind:
        case 1:
            host = str(IPv4Address(await reader.readexactly(4)))
        case 4:
            host = str(IPv6Address(await reader.readexactly(16)))
        case _:
            (length,) = await reader.readexactly(1)
            host = (await reader.readexactly(length)).decode("ascii").strip("[]")
    return command, host, int.from_bytes(await reader.readexactly(2))


def _reply(code: int) -> bytes:
    return bytes([_VERSION, code, 0, 1, *bytes(6)])

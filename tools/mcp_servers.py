"""Servers of the Model Context Protocol: a program that is started here, or a URL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, HttpUrl, PositiveFloat, SecretStr


class _Server(BaseModel):
    """What servers of both kinds have. Times in seconds: to connect, and for one call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect_timeout: PositiveFloat = 20.0
    timeout: PositiveFloat = 60.0


class StdioServer(_Server):
    """A program that is started here.

    env: added to a few variables such as PATH; nothing else of the environment is passed on. log: the file
    that its error output is added to; None: it is dropped.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = {}
    cwd: Path | None = None
    log: Path | None = None


class HttpServer(_Server):
    """A server reached by streamable HTTP. Keys belong into headers: a URL may be logged."""

    url: HttpUrl
    headers: Mapping[str, SecretStr] = {}


Server: TypeAlias = StdioServer | HttpServer

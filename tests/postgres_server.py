"""A real PostgreSQL server on loopback, in a folder of its own; only its programs need be there."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Self

import psycopg

USER, PASSWORD = "ann", "open-sesame-42"  # asked for by scram, so that a wrong one is refused


def programs() -> Path | None:
    """The folder with initdb; Debian has it beside the path."""
    on_path = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: float(one.parts[4]))
    found = [Path(on_path).resolve()] if on_path else debian
    return found[-1].parent if found else None


class PostgresServer:
    """Begun by `with`; every `database()` is a new, empty one, and gives its URL."""

    def __init__(self, bin_: Path, *, connections: int = 100) -> None:
        self._bin, self._numbers, self._connections = bin_, count(1), connections
        # The server refuses to be root's; as another user it cannot look into pytest's own folders.
        self._user = "postgres" if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="taskloom-postgres-"))
        self._folder.chmod(0o700)
        if self._user:
            shutil.chown(self._folder, self._user)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        if self._user:
            shutil.chown(secret, self._user)
        made = subprocess.run(
            [self._bin / "initdb", "-D", self._folder / "data", "-U", USER, "--pwfile", secret, "-N",
             "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C"],
            user=self._user, cwd=self._folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._folder / "data", "-F", "-p", str(self.port),
                 "-c", "listen_addresses=127.0.0.1", "-k", self._folder,
                 "-c", f"max_connections={self._connections}"],
                user=self._user, cwd=self._folder, stdout=log, stderr=log,
            )  # fmt: skip
        for _ in range(300):
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self._folder / "log").read_text()
                time.sleep(0.1)
            else:
                return
        raise AssertionError((self._folder / "log").read_text())

    def stop(self) -> None:
        """End it as an operator does who waits for nobody."""
        if self._process:
            self._process.send_signal(2)  # SIGINT: "fast"
            self._process.wait(60)

    def url(self, name: str) -> str:
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{name}"

    def database(self) -> str:
        name = f"one{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def rows(url: str, *texts: str) -> list[tuple[str, str]]:
    """Every row of any table that holds one of the texts: the table, and the row as text; bytes too."""
    found = []
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608
                shown = " ".join(
                    bytes(value).decode("latin-1") if isinstance(value, bytes) else str(value)
                    for value in row
                )
                found += [(table, shown) for text in texts if text in shown]
    return found

"""Aegra, an open server of LangGraph's protocol, from nothing: PostgreSQL, Redis and workers, on loopback.

    TASKLOOM_AEGRA=.aegra/bin/aegra python -m tests.aegra_server [--workers 2]

serves the graphs of aegra.json until it is interrupted. Aegra needs Python 3.12 and an environment of its
own, with this project in it; TASKLOOM_AEGRA names its command:

    python3.12 -m venv .aegra
    .aegra/bin/pip install -c constraints.txt -e '.[server,postgres]' aegra-cli==0.11.0
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import httpx

from tests.postgres_server import PostgresServer, programs

ROOT = Path(__file__).parent.parent
KEYS = {"ann": "ann-shows-this-key", "bob": "bob-shows-this-key"}
# A worker that is gone is found out in seconds, not in the minute that a server in use is given.
SOON = {
    "LEASE_DURATION_SECONDS": "5", "HEARTBEAT_INTERVAL_SECONDS": "1", "REAPER_INTERVAL_SECONDS": "1",
    "STUCK_PENDING_THRESHOLD_SECONDS": "5",
}  # fmt: skip


def missing() -> str:
    """What it needs and is not there, with what mends that; '' where all is."""
    command = os.environ.get("TASKLOOM_AEGRA", "")
    if not command or not shutil.which(command):
        return "TASKLOOM_AEGRA names no aegra command; tests/aegra_server.py says how to make one"
    if not shutil.which("redis-server"):
        return "Redis is not installed (Debian: apt-get install redis-server)"
    return "" if programs() else "PostgreSQL is not installed (Debian: apt-get install postgresql)"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Redis:
    """A Redis server that keeps nothing on disk; begun by `with`."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def __enter__(self) -> Self:
        with (self._folder / "redis.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "",
                 "--appendonly", "no", "--dir", self._folder],
                stdout=log, stderr=log,
            )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


class Aegra:
    """Workers on one database and one Redis; begun by `with`. Callers show the keys of KEYS."""

    def __init__(
        self, folder: Path, database: str, redis: str, *, workers: int = 2,
        graphs: Mapping[str, str] = {}, given: Mapping[str, str] = {},
    ) -> None:  # fmt: skip
        """Arguments: graphs: beside those of aegra.json; given: of the environment."""
        self.home = folder / "home"
        self._folder, self._running = folder, dict[int, subprocess.Popen[bytes]]()
        config = json.loads((ROOT / "aegra.json").read_text())
        shutil.copy(ROOT / "app.py", folder)
        (folder / "aegra.json").write_text(json.dumps({**config, "graphs": config["graphs"] | graphs}))
        self.ports = [free_port() for _ in range(workers)]
        self.urls = [f"http://127.0.0.1:{port}" for port in self.ports]
        environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("COV", "OPENAI", "TASKLOOM_"))
        }  # fmt: skip
        self.environment = {
            **environment, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", "LOG_LEVEL": "WARNING",
            "DATABASE_URL": database, "REDIS_BROKER_ENABLED": "true", "REDIS_URL": redis,
            "TASKLOOM_HOME": str(self.home), "TASKLOOM_DATABASE_URL": database,
            "TASKLOOM_API_KEYS": ",".join(f"{user}={key}" for user, key in KEYS.items()), **given,
        }  # fmt: skip

    def __enter__(self) -> Self:
        try:
            for number in range(len(self.ports)):
                self.start(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            os.killpg(process.pid, signal.SIGTERM)
        until = time.monotonic() + 15
        for process in self._running.values():
            while _is_there(process) and time.monotonic() < until:
                time.sleep(0.05)
            if _is_there(process):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def start(self, number: int) -> None:
        """Begin a worker, and wait until it answers: the first one makes the tables."""
        with self._log(number).open("ab") as log:
            process = self._running[number] = subprocess.Popen(
                self.command(number), cwd=self._folder, env=self.environment, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + 120
        while True:
            try:
                if httpx.get(f"{self.urls[number]}/ready", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            assert process.poll() is None, self.log(number)
            assert time.monotonic() < until, self.log(number)
            time.sleep(0.1)

    def command(self, number: int) -> list[str | Path]:
        """What a worker is begun by."""
        where = ("--host", "127.0.0.1", "--port", str(self.ports[number]))
        return [os.environ["TASKLOOM_AEGRA"], "serve", *where, "-c", self._folder / "aegra.json"]

    def kill(self, number: int) -> None:
        """End a worker as a power cut would, with all that it started."""
        process = self._running.pop(number)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def worker_of(self, process: int) -> int:
        """The number of the worker that a process belongs to."""
        group = os.getpgid(process)
        return next(number for number, one in self._running.items() if one.pid == group)

    def processes(self) -> list[int]:
        """The groups of processes that the workers are."""
        return [one.pid for one in self._running.values()]

    def log(self, number: int) -> str:
        """What a worker wrote."""
        return self._log(number).read_text(errors="replace")

    def _log(self, number: int) -> Path:
        return self._folder / f"worker{number}.log"


def _is_there(process: subprocess.Popen[bytes]) -> bool:
    """Whether anything is left of what a process began: the command ends before the server that it starts."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=2)
    workers = parser.parse_args().workers
    if why := missing():
        raise SystemExit(why)
    found = programs()
    assert found
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else what was begun would go on without it
    with (
        tempfile.TemporaryDirectory() as name, PostgresServer(found) as postgres, Redis(Path(name)) as redis,
        Aegra(Path(name), postgres.database(), redis.url, workers=workers) as aegra,
    ):  # fmt: skip
        print("keys:", ", ".join(f"{user} {key}" for user, key in KEYS.items()))
        print("serving:", *aegra.urls, flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("ending")


if __name__ == "__main__":
    main()

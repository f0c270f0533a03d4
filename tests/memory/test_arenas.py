"""A server's process takes memory from few places of the C library's."""

import os
import platform
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from taskloom.memory import chroma

THREADS = """
import ctypes, threading
from taskloom.agent.graph.build import served
served()
together, done = threading.Barrier(12), threading.Barrier(12)
def work():
    together.wait()
    kept = [bytes(2000) for _ in range(100)]
    done.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
for one in threads: one.start()
for one in threads: one.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, file)
libc.fflush(file)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is done for glibc alone")
@pytest.mark.parametrize(("said", "least", "most"), [("", 1, 2), ("6", 3, 6)])
def test_threads_of_a_server_share_two_arenas_unless_the_environment_says_how_many(
    said: str, least: int, most: int, tmp_path: object
) -> None:
    given = {**os.environ, "TASKLOOM_HOME": str(tmp_path), "TASKLOOM_MODEL": ""}
    given.pop("MALLOC_ARENA_MAX", None)
    if said:
        given["MALLOC_ARENA_MAX"] = said
    told = subprocess.run([sys.executable, "-c", THREADS], env=given, capture_output=True, check=True).stdout
    assert least <= len(re.findall(rb'<heap nr="\d+">', told)) <= most


@pytest.mark.parametrize(
    ("library", "said", "done"), [("", "", False), ("glibc", "9", False), ("glibc", "", True)]
)
def test_another_library_and_what_is_set_are_left_alone(
    library: str, said: str, done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def mallopt(what: int, value: int) -> int:
        asked.append((what, value))
        return 1

    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    monkeypatch.setattr(chroma, "libc_ver", lambda: (library, ""))
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    if said:
        monkeypatch.setenv("MALLOC_ARENA_MAX", said)
    assert chroma.keep_few_arenas() is done
    assert asked == [(-8, 2)] * done

"""What is configured, and whether it works. Shows no secret."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from taskloom.agent.settings import Settings
from taskloom.agent.telemetry.configured import NEEDED
from taskloom.agent.turn.reading import Reading, View

from .problems import explain

LIBRARIES = ("langgraph", "langgraph-checkpoint-sqlite", "langchain-openai", "pydantic", "chromadb")
TIMEOUT = 3.0  # seconds for the endpoint, a database, a memory in use elsewhere
LITTLE_ROOM = 100 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: whether it is fine (None: for information only), and what was found."""

    name: str
    ok: bool | None
    text: str


def findings(given: Settings) -> Iterator[Finding]:
    """Check everything that the settings name, one after the other; the model reads one sentence."""
    names = {name: _version(name) for name in ("taskloom", *LIBRARIES)}
    yield Finding("taskloom", None, names.pop("taskloom"))
    yield Finding("python", None, f"{platform.python_version()} on {platform.system()}")
    yield Finding("libraries", None, ", ".join(f"{name} {number}" for name, number in names.items()))
    yield Finding("mode", None, _mode(given))
    yield _telemetry()
    if given.traced:
        yield _spans(given)
    if given.model:
        yield Finding(
            "key", None, "OPENAI_API_KEY is set" if given.openai_api_key else "OPENAI_API_KEY is not set"
        )
        yield _endpoint(given)
        yield _reading(given)
    if given.embeddings:
        where = _without_secrets(given.openai_base_url or "https://api.openai.com/v1")
        text = f"by {given.embeddings} at {where}, which is sent all that is remembered"
        yield Finding("embeddings", None, text)
    yield _home(given.home)
    yield _database(given) if given.database_url is None else _postgres(given)
    yield from _memory(given)
    yield _tools(given)
    yield _calls(given)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _telemetry() -> Finding:
    from taskloom.memory.quiet import IN_TIME, SWITCH, wanted

    if not IN_TIME:
        late = f"onnxruntime was imported before Taskloom, and reports home: start with {SWITCH}=1"
        return Finding("telemetry", False, late)
    if wanted():
        return Finding("telemetry", None, f"onnxruntime sends usage data: unset {SWITCH} to stop that")
    return Finding("telemetry", True, "off: no library reports home")


def _spans(given: Settings) -> Finding:
    try:
        there = find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        return Finding("spans", False, NEEDED.format("its exporter"))
    content = "with what users say" if given.tracing_text else "without a user's words"
    where = given.otlp_traces_endpoint or given.otlp_endpoint
    if where is None:
        return Finding("spans", None, f"go to the tracer provider of the process, {content}")
    return Finding("spans", None, f"are sent to {_without_secrets(where)}, {content}")


def _mode(given: Settings) -> str:
    if not given.model:
        sent = "nothing is sent anywhere" if not given.embeddings else "texts are sent to be embedded"
        return f"no language model, {sent} (TASKLOOM_MODEL names one)"
    reading = {"auto": "reads all but bare answers", "model": "reads every turn", "local": "does not read"}
    writing = {"template": "by template", "model": "by the model", "auto": "by template where one fits"}
    return f"the model {given.model} {reading[given.reader]}; replies {writing[given.replies]}"


def _endpoint(given: Settings) -> Finding:
    import openai

    key = given.openai_api_key.get_secret_value() if given.openai_api_key else "not set"
    client = openai.OpenAI(api_key=key, base_url=given.openai_base_url, timeout=TIMEOUT, max_retries=0)
    where = _without_secrets(str(client.base_url))
    try:
        known = {model.id for model in client.models.list()}
    except openai.APITimeoutError:
        return Finding(
            "endpoint", False, f"{where} did not answer within {TIMEOUT:g} s: check OPENAI_BASE_URL"
        )
    except openai.APIConnectionError:
        return Finding("endpoint", False, f"{where} cannot be reached: check OPENAI_BASE_URL")
    except openai.APIStatusError as error:
        if error.status_code in (401, 403):
            return Finding(
                "endpoint", False, f"{where} refused the key ({error.status_code}): check OPENAI_API_KEY"
            )
        if error.status_code in (404, 405, 501):
            return Finding("endpoint", None, f"{where} answers, and has no list of models")
        return Finding("endpoint", False, f"{where} answered {error.status_code}: check OPENAI_BASE_URL")
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        return Finding("endpoint", False, f"{where} sent no list of models: check OPENAI_BASE_URL")
    finally:
        client.close()
    if given.model in known:
        return Finding("endpoint", True, f"{where} has {given.model}")
    some = ", ".join(sorted(known)[:5])
    return Finding(
        "endpoint", False, f"{where} does not list {given.model} (it has {some}): check TASKLOOM_MODEL"
    )


SENTENCE = "Make the date June 12th, and take the hotel out."
OTHERWISE = "take another model, or read without one (TASKLOOM_READER=local)"


def _reading(given: Settings) -> Finding:
    """Whether the model reads a plain sentence as it would in a turn; takes at most its timeout."""
    from taskloom.agent.graph.wiring import chat_models
    from taskloom.agent.models.chat import Meter, ModelFault, Unreachable, Unusable
    from taskloom.agent.models.interpreter import ModelInterpreter
    from taskloom.memory.tasks import TaskGraph, TaskNode

    plan = TaskGraph([
        TaskNode(id="t1", slot="trip", title="Trip to Rome"),
        TaskNode(id="t2", slot="trip.date", title="date", value="June 10th", parent="t1", status="filled"),
        TaskNode(id="t3", slot="trip.hotel", title="hotel", value="Ritz", parent="t1", status="filled"),
    ])  # fmt: skip
    meter, begun = Meter(), time.monotonic()
    try:
        interpreter = ModelInterpreter(chat_models(given)(given.model), _Nobody())
        reading = interpreter.read_by_model(SENTENCE, View(plan, turn=2), meter)
    except Unusable:
        wrong = "answers, but not in the form of steps, also when told what is wrong"
        return Finding("reading", False, f"{given.model} {wrong}: {OTHERWISE}")
    except Unreachable as fault:
        return Finding("reading", False, f"{fault}; TASKLOOM_MODEL_TIMEOUT is {given.model_timeout:g} s")
    except ModelFault as fault:
        return Finding("reading", False, str(fault))
    seconds, usage = time.monotonic() - begun, meter.usage
    cost = (
        f"in {seconds:.1f} s ({usage.model_calls} request{'' if usage.model_calls == 1 else 's'}, "
        f"{usage.prompt_tokens} + {usage.completion_tokens} tokens)"
    )
    if not _reads_as_expected(reading):
        wrong = f"follows the form, but misread a plain sentence {cost}"
        return Finding("reading", False, f"{given.model} {wrong}: {OTHERWISE}")
    return Finding("reading", True, f"{given.model} read a sentence {cost}")


def _reads_as_expected(reading: Reading) -> bool:
    """Whether the model read the sentence, and read it correctly."""
    moved = any(
        step.act == "set" and "june 12" in (value or "").lower()
        for step in reading.steps
        for value in (step.value, *(one.value for one in step.details))
    )
    removed = any(step.act == "remove" and step.task == "t3" for step in reading.steps)
    return reading.by == "model" and moved and removed


class _Nobody:
    """A fallback reader that reads nothing, so that only the model's reading counts."""

    def read(self, utterance: str, view: View) -> Reading:  # noqa: ARG002
        return Reading((), sure=False)


def _without_secrets(address: str) -> str:
    """A URL without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _home(home: Path) -> Finding:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(bytes(4096))
        free = shutil.disk_usage(home).free
    except OSError as error:
        return Finding("home", False, explain(error, home) or str(error))
    if free < LITTLE_ROOM:
        return Finding("home", False, f"{home} has only {free // 2**20} MB of free space: make room")
    return Finding("home", True, f"{home} can be written, {free / 2**30:.1f} GB free")


def _database(given: Settings) -> Finding:
    home = given.home
    path = home / "threads.sqlite"
    if not path.exists():
        return Finding("threads", None, "none yet")
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=TIMEOUT)
        try:
            (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (count,) = connection.execute("SELECT COUNT(DISTINCT thread_id) FROM checkpoints").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Finding("threads", False, explain(error, home) or str(error))
    except UnicodeDecodeError:  # words of SQLite's that hold bytes of the file
        state = "damaged"
    if state != "ok":
        return Finding("threads", False, f"{path} is damaged: move it away and restore a backup")
    return Finding("threads", True, f"{count} in {path} ({path.stat().st_size / 2**10:,.0f} KB), sound")


def _postgres(given: Settings) -> Finding:
    """The threads in PostgreSQL."""
    from taskloom.agent.graph.databases import postgres
    from taskloom.agent.graph.errors import DatabaseError, MissingLibraryError
    from taskloom.agent.threads.taskloom import shelf_of

    url = given.database_url.get_secret_value() if given.database_url else ""
    try:
        place, shelf = postgres().place_of(url), shelf_of(given)
        try:
            count = len(shelf.ends())
        finally:
            shelf.close()
    except (DatabaseError, MissingLibraryError) as error:
        return Finding("threads", False, str(error))
    return Finding("threads", True, f"{count} in {place}")


def _memory(given: Settings) -> Iterator[Finding]:
    """Long-term memory: where it is, whether it opens, and what waits to be written."""
    from taskloom.agent.graph.databases import OUTBOX
    from taskloom.agent.graph.errors import MissingLibraryError
    from taskloom.agent.graph.wiring import longterm_of
    from taskloom.memory.outbox import OutboxError
    from taskloom.memory.store import StoreBusyError, StoreError

    longterm = longterm_of(given, wait=TIMEOUT, notify=str)
    if longterm is None:
        yield Finding("memory", None, "off (TASKLOOM_MEMORY=1 turns it on)")
        return
    here = given.chroma_url is None and given.database_url is None
    if here and not (given.home / "memory").exists() and not (given.home / OUTBOX).exists():
        yield Finding("memory", None, "none yet")
        return
    where = _without_secrets(given.chroma_url) if given.chroma_url else str(given.home / "memory")
    try:
        users = len(longterm.store.users())
        yield Finding("memory", True, f"{users} user{'' if users == 1 else 's'} in {where}")
    except StoreBusyError:
        yield Finding("memory", None, f"{where} is in use by another process, which does not release it")
    except StoreError as error:
        yield Finding("memory", False, str(error))
    try:
        waiting = longterm.outbox.waiting()
        failed = [one for one in waiting if one.error]
        text = f"{len(waiting)} record{'' if len(waiting) == 1 else 's'} to be written"
        if failed:
            yield Finding("outbox", False, f"{text}; the last error: {failed[-1].error}")
        else:
            yield Finding("outbox", True, text)
    except (OutboxError, MissingLibraryError) as error:
        yield Finding("outbox", False, str(error))
    finally:
        longterm.close()


def _tools(given: Settings) -> Finding:
    """The tools file: whether its tools can be made."""
    from taskloom.agent.graph.wiring import loaded_tools
    from taskloom.tools.errors import ToolError

    if given.tools is None:
        return Finding("tools", None, "none (TASKLOOM_TOOLS names a file of them)")
    try:
        loaded = loaded_tools(given)
    except ToolError as error:
        return Finding("tools", False, str(error))
    try:
        marked = sum(one.side_effects for one in loaded.registry.values())
        marks = f", {marked} with side effects" if marked else ""
        return Finding("tools", True, f"{len(loaded.registry)} in {given.tools}{marks}")
    finally:
        loaded.close()


def _calls(given: Settings) -> Finding:
    """The journal of calls: those that no turn has reported yet."""
    from taskloom.agent.graph.databases import has_journal, open_journal
    from taskloom.agent.graph.errors import MissingLibraryError
    from taskloom.tools.errors import ToolError

    if not has_journal(given):
        return Finding("calls", None, "none yet")
    try:
        journal = open_journal(given)
        try:
            left = journal.entries()
        finally:
            journal.shut()
    except (ToolError, MissingLibraryError) as error:
        return Finding("calls", False, str(error))
    if not left:
        return Finding("calls", True, "none open")
    named = [f"{entry.tool} on thread {entry.thread} ({entry.state})" for entry in left[-5:]]
    return Finding(
        "calls",
        None,
        f"{len(left)} from interrupted turns, to be reported in the next turn: {', '.join(named)}",
    )

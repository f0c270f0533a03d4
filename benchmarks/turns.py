"""What a turn costs, against a plain LangGraph chatbot that keeps and sends the whole history.

    python benchmarks/turns.py [--json] [--quick]

Both run here and now on SQLite checkpoints: Taskloom as `taskloom chat` runs it; the chatbot as LangGraph's
tutorials build it (`add_messages`, one node, stock saver and durability), with as many tasks as a plain dict
in its state for the rows of task sizes. The talk is that of `dialogue.py`, on a fixed seed.

- Time and KB are measured without a model: the local reader and templates here, a ready reply there. KB are
  those of the database after a WAL checkpoint, an empty one taken off; a snapshot of the tasks, which is due
  every 500th change, is spread evenly.
- Tokens and calls are what a local server of OpenAI's protocol reports. Its replies are scripted and fit the
  words, so they say nothing on how well a model reads. `prompt_tokens` is the default (the model reads all
  but bare answers, templates reply), `prompt_tokens_model` has it read and write everything. Each figure
  is the mean of the ten turns up to that one in three talks; any ten turns hold the same kinds of turns.
- A token is four bytes of UTF-8 text, for both: no vocabulary can be had offline. Four tokens are added to
  each message, and the schema of structured output counts as prompt, as OpenAI does.
- `resume_ms` is the first turn of a new process on the longest thread, the imports left out; `peak_mb` the
  largest resident memory of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]

from dialogue import FORM, FORM_TOKENS, Plan, Said, Talk, filled  # noqa: E402
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage  # noqa: E402
from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: E402
from langgraph.graph import END, START, StateGraph  # noqa: E402
from langgraph.graph.message import add_messages  # noqa: E402
from openai_server import OpenAIServer, Say  # noqa: E402
from pydantic import SecretStr  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from typing_extensions import TypedDict  # noqa: E402

from taskloom.agent.settings import Settings  # noqa: E402
from taskloom.agent.threads.taskloom import Taskloom  # noqa: E402
from taskloom.agent.turn.state import SNAPSHOT_EVERY, Turn  # noqa: E402
from taskloom.memory.retrieve import tokens  # noqa: E402
from taskloom.memory.tasks import TaskGraph  # noqa: E402

WINDOW = 10  # turns that a figure of tokens is the mean of
SEEDS = (7, 8, 9)  # talks
SYSTEM = "You are an assistant that keeps the user's plans. Confirm changes, answer questions briefly."
Result = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Numbers of tasks and the turns played on each, lengths of threads, turns of the talk with a model."""

    tasks: tuple[int, ...] = (100, 1_000, 10_000)
    on_each: int = 200
    turns: tuple[int, ...] = (10, 100, 1_000)
    dialogue: tuple[int, ...] = (10, 50, 200)


QUICK = Sizes(tasks=(100, 1_000), on_each=60, turns=(10, 100), dialogue=(10, 50))
CHATBOT_TURNS = 20  # with tasks in the state it writes megabytes a turn
# By default the model reads all but bare answers; in the other it reads and writes everything.
MODES: dict[str, dict[str, Any]] = {"": {}, "_model": {"reader": "model", "replies": "model"}}


# ---- the two ----------------------------------------------------------------------------------------


class ChatState(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    tasks: dict[str, dict[str, Any]]


class Chatbot:
    """Keeps all messages and sends them all; two of its tasks change in each turn."""

    def __init__(self, home: Path, answer: Callable[[list[AnyMessage]], AIMessage]) -> None:
        def chat(state: ChatState) -> dict[str, Any]:
            tasks = state.get("tasks") or {}
            number = len(state["messages"]) * 7919
            changed = [list(tasks)[n % len(tasks)] for n in (number, number + 1)] if tasks else []
            update: dict[str, Any] = {"messages": [answer(state["messages"])]}
            if changed:
                update["tasks"] = tasks | {key: tasks[key] | {"value": f"value {number}"} for key in changed}
            return update

        builder = StateGraph(ChatState)
        builder.add_node("chat", chat)
        builder.add_edge(START, "chat")
        builder.add_edge("chat", END)
        home.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(home / "threads.sqlite", check_same_thread=False)
        saver = SqliteSaver(self.connection)
        saver.setup()
        self.graph = builder.compile(checkpointer=saver)

    def talk(self, words: str, **more: Any) -> str:
        config: Any = {"configurable": {"thread_id": "main"}}
        given: Any = {"messages": [HumanMessage(words)], **more}
        return str(self.graph.invoke(given, config)["messages"][-1].text)

    def close(self) -> None:
        self.connection.close()


def chatbot_on(server: OpenAIServer, home: Path) -> Chatbot:
    from langchain_openai import ChatOpenAI

    given: dict[str, Any] = {"model": "bench", "api_key": SecretStr("any"), "base_url": server.url}
    model = ChatOpenAI(**given, use_responses_api=False)

    def answer(messages: list[AnyMessage]) -> AIMessage:
        reply = model.invoke([SystemMessage(SYSTEM), *messages])
        assert isinstance(reply, AIMessage)
        return reply

    return Chatbot(home, answer)


def ready(_: list[AnyMessage]) -> AIMessage:
    """The chatbot's reply where no model is measured: as long as Taskloom's."""
    return AIMessage("The date of the trip to Lisbon is now March 14 (it was March 11).")


def taskloom(home: Path, **more: Any) -> Taskloom:
    return Taskloom.open(Settings(home=home, **{"model": "", **more}))


# ---- time and disk ----------------------------------------------------------------------------------


def kilobytes(home: Path) -> float:
    """Size of the database, the write-ahead log folded in."""
    with sqlite3.connect(home / "threads.sqlite", timeout=30) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return sum(path.stat().st_size for path in home.glob("threads.sqlite*")) / 1024


def timed(run: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def sized(home: Path, size: int, turns: int, tick: Tick) -> tuple[float, float]:
    """Taskloom with so many tasks: KB and median milliseconds of a turn."""
    graph, plans = filled(size)
    app = taskloom(home)
    app.talk("Hello.")
    empty = kilobytes(home)
    app.load(graph.to_json())
    begun = kilobytes(home)
    talk = Talk(3, plans).turns()
    spent = [tick(timed(lambda: app.talk(next(talk).words))) for _ in range(turns)]
    grown = kilobytes(home) - begun
    app.close()
    snapshots = (begun - empty) / SNAPSHOT_EVERY
    return grown / turns + snapshots, statistics.median(spent)


def sized_chatbot(home: Path, size: int, turns: int, tick: Tick) -> tuple[float, float]:
    """The chatbot with so many tasks in its state: KB and median milliseconds of a turn."""
    graph, plans = filled(size)
    bot = Chatbot(home, ready)
    bot.talk("Hello.", tasks={node.id: node.model_dump(mode="json") for node in graph.values()})
    begun = kilobytes(home)
    talk = Talk(3, plans).turns()
    spent = [tick(timed(lambda: bot.talk(next(talk).words))) for _ in range(turns)]
    grown = kilobytes(home) - begun
    bot.close()
    return grown / turns, statistics.median(spent)


def lengths(home: Path, app: Taskloom | Chatbot, marks: tuple[int, ...], tick: Tick) -> dict[int, float]:
    """KB per turn of all turns so far, at some turns of one thread."""
    talk, found = Talk().turns(), dict[int, float]()
    empty = kilobytes(home)
    for number in range(1, max(marks) + 1):
        app.talk(next(talk).words)
        tick(0)
        if number in marks:
            found[number] = (kilobytes(home) - empty) / number
    return found


# ---- tokens -----------------------------------------------------------------------------------------


class Model:
    """The scripted model: understands and answers what is being said, and counts the tokens of requests."""

    def __init__(self) -> None:
        self.said: Said | None = None

    def __call__(self, body: dict[str, Any]) -> Say:
        said, asked = self.said, body.get("response_format")
        assert said is not None
        prompt = body["messages"][1]["content"]
        text = said.read(prompt) if asked else said.reply
        cost = sum(4 + tokens(message["content"]) for message in body["messages"])
        if asked:
            cost += tokens(json.dumps(asked["json_schema"]["schema"], separators=(",", ":")))
        return Say(text, prompt_tokens=cost, completion_tokens=tokens(text))


def read_and_answered(
    app: Taskloom, model: Model, talk: Iterator[Said], count: int, tick: Tick
) -> list[Turn]:
    """Turns with the model."""
    found = []
    for _ in range(count):
        model.said = next(talk)
        found.append(app.talk(model.said.words))
        tick(0)
    return found


def windows(talks: list[list[int]], marks: tuple[int, ...]) -> dict[int, float]:
    """The mean of the turns up to each mark."""
    return {
        mark: statistics.mean(cost for costs in talks for cost in costs[max(0, mark - WINDOW) : mark])
        for mark in marks
    }


def form_turns() -> Iterator[Said]:
    """The form-filling dialogue, with what a model would say."""
    form = ("form", "")
    steps: list[dict[str, Any]] = [
        {"act": "task", "title": "form", "slot": "form"},
        {"act": "set", "in": form, "slot": "name", "value": "John Doe"},
        {"act": "set", "in": form, "slot": "email", "value": "john@example.com"},
        {"act": "set", "in": form, "slot": "address", "value": "Market Street, San Francisco"},
        {"act": "set", "on": ("form", "name"), "value": "John Smith"},
        {"act": "ask", "q": "summary", "on": form},
    ]
    replies = (
        "Sure, tell me what goes into the form.", "Your name is John Doe.", "Your email is john@example.com.",
        "Your address is Market Street, San Francisco.", "Your name is John Smith now.",
        "Your name is John Smith, your email john@example.com and your address Market Street, San Francisco.",
    )  # fmt: skip
    for words, step, reply in zip(FORM, steps, replies, strict=True):
        yield Said("form", words, step, reply)


def talked(home: Path, sizes: Sizes, tick: Tick) -> Result:
    """Tokens and calls of the talks and of the form, Taskloom's in both modes and the chatbot's."""
    model, marks = Model(), sizes.dialogue
    found: Result = {"baseline": {"model_calls_per_turn": 1.0}}
    with OpenAIServer(model) as server:
        for mode, more in MODES.items():
            given = {"model": "bench", "openai_api_key": "any", "openai_base_url": server.url, **more}
            talks, right = [], []
            for seed in SEEDS:
                app, talk = taskloom(home / f"talk{mode}{seed}", **given), Talk(seed)
                talks.append(read_and_answered(app, model, talk.turns(), max(marks), tick))
                right.append(kept(app.tasks(), talk.plans))
                app.close()
            found[f"prompt_tokens{mode}"] = windows(
                [[t.prompt_tokens for t in turns] for turns in talks], marks
            )
            turns = [turn for turns in talks for turn in turns]
            found[f"model_calls_per_turn{mode}"] = statistics.mean(turn.model_calls for turn in turns)
            found[f"max_model_calls{mode}"] = max(turn.model_calls for turn in turns)
            found[f"read_locally{mode}"] = statistics.mean(turn.by != "model" for turn in turns)
            found[f"kept{mode}"] = statistics.mean(right)
            app = taskloom(home / f"form{mode}", **given)
            form = read_and_answered(app, model, form_turns(), len(FORM), tick)
            found[f"form_tokens{mode}"] = sum(turn.prompt_tokens + turn.completion_tokens for turn in form)
            app.close()
        sums = [
            sent(
                chatbot_on(server, home / f"chat{seed}"), model, server, Talk(seed).turns(), max(marks), tick
            )
            for seed in SEEDS
        ]
        found["baseline"]["prompt_tokens"] = windows(
            [[prompt for prompt, _ in turns] for turns in sums], marks
        )
        form_sums = sent(chatbot_on(server, home / "chat"), model, server, form_turns(), len(FORM), tick)
        found["baseline"]["form_tokens"] = sum(map(sum, form_sums))
    found["history_tokens"] = found["baseline"]["history_tokens"] = found["baseline"]["prompt_tokens"]
    return found


def sent(
    bot: Chatbot, model: Model, server: OpenAIServer, talk: Iterator[Said], count: int, tick: Tick
) -> list[tuple[int, int]]:
    """(prompt, completion) tokens of each turn of the chatbot."""
    found = []
    for _ in range(count):
        model.said = next(talk)
        bot.talk(model.said.words)
        reply = model(server.requests[-1])
        found.append((reply.prompt_tokens, reply.completion_tokens))
        tick(0)
    bot.close()
    return found


def kept(graph: TaskGraph, plans: list[Plan]) -> float:
    """The share of the plans' values that stand where they belong: the bench would be idle without."""
    wholes = [(whole.title, [part.value or "" for part in graph.parts(whole.id)]) for whole in graph.active]
    right = [
        any(
            value in values
            and set(plan.title.lower().split()) <= set(" ".join([title, "in", *values]).lower().split())
            for title, values in wholes
        )
        for plan in plans for value in plan.values.values()
    ]  # fmt: skip
    return sum(right) / len(right)


# ---- a process of its own ---------------------------------------------------------------------------


def resumed(which: str, home: Path) -> tuple[float, float]:
    """(milliseconds, MB) of the first turn of a new process on a thread."""
    command = [sys.executable, __file__, "--resume", which, str(home)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    milliseconds, megabytes = json.loads(done.stdout)
    return milliseconds, megabytes


def resume(which: str, home: Path) -> None:
    """What the new process does."""
    words = "What is the date?"

    def turn() -> None:
        (taskloom(home) if which == "taskloom" else Chatbot(home, ready)).talk(words)

    spent = timed(turn)
    print(json.dumps([spent, peak()]))


def peak() -> float:
    """The largest resident memory of this process in MB."""
    status = Path("/proc/self/status")  # Linux hands the parent's ru_maxrss on
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


# ---- all of it --------------------------------------------------------------------------------------

Tick = Callable[[float], float]
ERR = Console(stderr=True)


@contextmanager
def stage(name: str, total: int) -> Iterator[Tick]:
    """Progress of one measurement: a bar on a terminal, else a line when it begins."""
    from rich.progress import Progress

    if not ERR.is_terminal:
        ERR.print(f"{name} ({total} turns)", highlight=False)
        yield lambda value: value
        return
    with Progress(console=ERR, transient=True) as progress:
        bar = progress.add_task(name, total=total)

        def tick(value: float) -> float:
            progress.advance(bar)
            return value

        yield tick


def measure(sizes: Sizes, home: Path) -> Result:
    """All figures; keys as in the README of the benchmarks."""
    found: Result = {"kb_per_turn": {}, "p50_ms": {}}
    base: Result = {"kb_per_turn": {}, "p50_ms": {}}
    for size in sizes.tasks:
        with stage(f"{size:,} tasks", sizes.on_each) as tick:
            kb, ms = sized(home / f"t{size}", size, sizes.on_each, tick)
            found["kb_per_turn"][size], found["p50_ms"][size] = kb, ms
        few = min(CHATBOT_TURNS, sizes.on_each)
        with stage(f"{size:,} tasks, chatbot", few) as tick:
            kb, ms = sized_chatbot(home / f"c{size}", size, few, tick)
            base["kb_per_turn"][size], base["p50_ms"][size] = kb, ms
    longest = max(sizes.turns)
    with stage(f"{longest:,} turns", longest) as tick:
        app = taskloom(home / "long")
        found["kb_per_turn_at"] = lengths(home / "long", app, sizes.turns, tick)
        app.close()
    with stage(f"{longest:,} turns, chatbot", longest) as tick:
        bot = Chatbot(home / "long_chat", ready)
        base["kb_per_turn_at"] = lengths(home / "long_chat", bot, sizes.turns, tick)
        bot.close()
    found["resume_ms"], found["peak_mb"] = resumed("taskloom", home / "long")
    base["resume_ms"], base["peak_mb"] = resumed("chatbot", home / "long_chat")
    with stage("with a model", 3 * (len(SEEDS) * max(sizes.dialogue) + len(FORM))) as tick:
        talk = talked(home, sizes, tick)
    return {**found, **talk, "baseline": {**base, **talk["baseline"]}}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): rounded(one) for key, one in value.items()}
    return round(value, 2) if isinstance(value, float) else value


ROWS = (
    ("KB on disk per turn, {} tasks", "kb_per_turn"),
    ("KB on disk per turn, first {} turns", "kb_per_turn_at"),
    ("ms per turn without the model (p50), {} tasks", "p50_ms"),
    ("prompt tokens per turn, turn {}", "prompt_tokens"),
    ("  the same, the model asked for everything", "prompt_tokens_model"),
    ("model calls per turn", "model_calls_per_turn"),
    ("  the same, the model asked for everything", "model_calls_per_turn_model"),
    ("  most in one turn", "max_model_calls"),
    (f"tokens of the form (TME paper: {FORM_TOKENS})", "form_tokens"),
    ("  the same, the model asked for everything", "form_tokens_model"),
    ("resume: first turn of a new process, ms", "resume_ms"),
    ("peak memory of that process, MB", "peak_mb"),
    ("share of utterances read without the model", "read_locally"),
    ("share of values right at the end of the talk", "kept"),
    ("  the same, the model asked for everything", "kept_model"),
)


def table(found: Result) -> Table:
    made = Table("", "Taskloom", "plain chatbot", title="What a turn costs")
    for column in made.columns[1:]:
        column.justify = "right"

    def shown(value: Any) -> str:
        return "" if value is None else f"{value:,.2f}" if value < 10 else f"{value:,.0f}"

    for name, key in ROWS:
        ours, theirs = found.get(key), found["baseline"].get(key)
        if isinstance(ours, dict):
            for size, value in ours.items():
                title = name.format(f"{int(size):,}") if "{}" in name else f"{name}, turn {size}"
                made.add_row(title, shown(value), shown((theirs or {}).get(size)))
        else:
            made.add_row(name, shown(ours), shown(theirs))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, half a minute")
    for name in ("tasks", "turns", "dialogue"):  # for the smoke test
        parser.add_argument(f"--{name}", type=int, nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--on-each", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--resume", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.resume:
        resume(args.resume[0], Path(args.resume[1]))
        return
    sizes = QUICK if args.quick else Sizes()
    sizes = Sizes(
        tasks=tuple(args.tasks or sizes.tasks),
        on_each=args.on_each or sizes.on_each,
        turns=tuple(args.turns or sizes.turns),
        dialogue=tuple(args.dialogue or sizes.dialogue),
    )
    with tempfile.TemporaryDirectory(prefix="taskloom-bench-") as folder:
        found = rounded(measure(sizes, Path(folder)))
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()

"""A talk in the terminal: what is typed goes to the thread, what begins with / is about the thread."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console

from taskloom.memory.claims import answer
from taskloom.memory.operations import Question
from taskloom.memory.tasks import TaskNode

from .problems import explain
from .replies import TemplateResponder
from .responder import Brief
from .state import ActionRequest, Approval, CallDecision, Context, Decision, EditedAction, Turn
from .terminal import Stream, find_tasks, safe, steps, task_history, task_tree
from .threads import Taskloom

Read = Callable[[str], str]
"""Gives the next line for a prompt; raises EOFError at the end."""

RULES_ONLY = "rules"


def read_line(prompt: str) -> str:
    """The next line of standard input; one that does not come from a terminal is shown as if typed.

    Raises:
        EOFError: there is none.
    """
    if sys.stdin.isatty() and sys.stdout.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # input() then has line editing and a history
        return input(prompt)
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    line = line.rstrip("\r\n")
    sys.stdout.write(f"{safe(line)}\n")
    return line


class Chat:
    """One talk on one thread."""

    def __init__(
        self,
        app: Taskloom,
        console: Console,
        *,
        thread: str,
        context: Context,
        home: Path,
        read: Read = read_line,
    ) -> None:
        self.app, self.console, self.read = app, console, read
        self.thread, self.context, self.home = thread, context, home
        self.commands: dict[str, tuple[Callable[[str], None], str, str]] = {
            "/tasks": (self._tasks, "", "draw the task tree"),
            "/history": (self._history, "TASK", "every state of a task, and the words behind it"),
            "/why": (self._why, "TASK", "why a task is as it is"),
            "/good": (self._good, "", "the last change was right"),
            "/bad": (self._bad, "", "the last change was wrong; /undo takes it back"),
            "/undo": (self._undo, "", "take the last change back"),
            "/export": (self._export, "[FILE]", "write the thread to a file"),
            "/import": (self._import, "FILE", "put an export in place of this thread's tasks"),
            "/thread": (self._thread, "", "which thread this is, and how to resume it"),
            "/help": (self._help, "", "this list"),
            "/quit": (self._quit, "", "leave; Ctrl-D does the same"),
        }
        self._left = False

    def run(self) -> None:
        """Talk until the user leaves; every reply that was shown is on disk."""
        try:
            self._greet()
            while not self._left:
                line = self.read("> ").strip()
                if line:
                    self._guarded(self._command if line.startswith("/") else self._say, line)
        except EOFError:
            self.console.print()
        except KeyboardInterrupt:
            self.console.print("\nStopped. What was answered is kept.")
        self.console.print(f"Resume with: {self._resume()}", soft_wrap=True)

    def _greet(self) -> None:
        turn: Turn | None = self.app.state(self.thread).values.get("turn")
        about = f"{turn.number} turns so far" if turn else "new"
        self.console.print(f"Thread {safe(self.thread)} ({about}). /help lists commands, /quit leaves.")
        if turn and turn.utterance:
            self.console.print(f"> {safe(turn.utterance)}", style="dim")
        if turn and turn.reply:
            self.console.print(safe(turn.reply), style="dim")
        if waiting := self.app.pending(self.thread):
            approve = self._approve(waiting)
            self._turn(lambda stream: self.app.decide(approve, thread=self.thread, context=self.context,
                                                      ask=self._approve, show=stream.show))  # fmt: skip

    def _guarded(self, action: Callable[[str], None], line: str) -> None:
        """Carry out what was typed; what goes wrong is told, and the talk goes on."""
        try:
            action(line)
        except Exception as error:
            told = explain(error, self.home)
            if told is None:
                raise
            self.console.print(f"That did not work: {safe(told)}.", style="red")

    def _say(self, words: str, context: Context | None = None) -> None:
        self._turn(lambda stream: self.app.talk(words, thread=self.thread, context=context or self.context,
                                                ask=self._approve, show=stream.show))  # fmt: skip

    def _turn(self, talk: Callable[[Stream], Turn]) -> None:
        stream = Stream(self.console)
        stream.end(talk(stream).reply)

    def _approve(self, approval: Approval) -> bool | Decision:
        """Ask whether to go on with what the graph wants an approval for; each call is decided by itself."""
        if approval.action == "call":
            return Decision(decisions=tuple(map(self._decide, approval.action_requests)))
        self.console.print(safe(approval.question), style="yellow")
        self.console.print(f"  {safe(', '.join(approval.tasks))}", style="dim")
        return self._yes()

    def _decide(self, request: ActionRequest) -> CallDecision:
        """Approve a call, change its parameters, or reject it with a reason; the end of the input rejects."""
        args = dict(request.args)
        self.console.print(f"{safe(request.name)}: {safe(request.description)}", style="yellow")
        with contextlib.suppress(EOFError):
            while True:
                for name, value in args.items():
                    self.console.print(f"  {safe(name)} = {safe(json.dumps(value, ensure_ascii=False))}")
                said = self.read("Do it? y / n / n REASON / NAME=VALUE to change: ").strip()
                name, equals, value = said.partition("=")
                answer, _, reason = said.partition(" ")
                if answer.lower() in ("y", "yes") and not reason:
                    edited = EditedAction(name=request.name, args=args)
                    kind: Any = "approve" if args == request.args else "edit"
                    return CallDecision(type=kind, edited_action=edited if kind == "edit" else None)
                if answer.lower() in ("n", "no"):
                    return CallDecision(type="reject", message=reason.strip())
                if equals and name.strip() in args:
                    args[name.strip()] = _json_or_words(value.strip())
        return CallDecision(type="reject", message="the input ended before it was decided")

    def _yes(self) -> bool:
        """Read until there is a yes or a no; the end of the input is a no."""
        with contextlib.suppress(EOFError):
            while True:
                said = self.read("y/n? ").strip().lower()
                if said in ("y", "yes", "n", "no"):
                    return said.startswith("y")
        return False

    # ---- commands -----------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name.lower() not in self.commands:
            self.console.print(f"There is no {safe(name)}; /help lists what there is.")
            return
        action, wants, _text = self.commands[name.lower()]
        if wants and not wants.startswith("[") and not rest.strip():
            self.console.print(f"{name} needs a {wants.lower()}: {name} {wants}")
            return
        action(rest.strip())

    def _help(self, _: str) -> None:
        self.console.print("Say what you want to plan, change or know. Commands:")
        for name, (_action, wants, text) in self.commands.items():
            self.console.print(f"  {f'{name} {wants}':<16} {text}")
        self.console.print("TASK is an id from /tasks (t3) or a name (destination).")

    def _tasks(self, _: str) -> None:
        self.console.print(task_tree(self.app.tasks(self.thread)))

    def _task(self, words: str) -> TaskNode | None:
        graph = self.app.tasks(self.thread)
        found = find_tasks(graph, words)
        if len(found) == 1:
            return found[0]
        self.console.print(
            f"Which one is {safe(words)!r}?" if found else f"There is no task {safe(words)!r}."
        )
        for line in list(steps(graph, found))[:12]:
            self.console.print(f"  {line}")
        return None

    def _history(self, words: str) -> None:
        if node := self._task(words):
            self.console.print(task_history(node))

    def _why(self, words: str) -> None:
        if node := self._task(words):
            graph = self.app.tasks(self.thread)
            told = answer(graph, Question(kind="why", tasks=(node.id,), about=node.title))
            brief = Brief(utterance="", graph=graph, turn=Turn(), answers=(told,))
            self.console.print(safe("".join(TemplateResponder().respond(brief))))

    def _good(self, _: str) -> None:
        self._turn(lambda _: self.app.feedback(True, thread=self.thread, context=self.context))

    def _bad(self, _: str) -> None:
        self._turn(lambda _: self.app.feedback(False, thread=self.thread, context=self.context))

    def _undo(self, _: str) -> None:
        self._say("undo", self.context.model_copy(update={"model": RULES_ONLY}))

    def _export(self, name: str) -> None:
        path = Path(name or f"taskloom-{_file_name(self.thread)}.json").expanduser()
        if path.exists():
            self.console.print(f"{path} is there already. Write over it?", style="yellow")
            if not self._yes():
                return
        write_file(path, self.app.export(self.thread))
        self.console.print(f"Written to {path}", soft_wrap=True)

    def _import(self, name: str) -> None:
        text = Path(name).expanduser().read_text(encoding="utf-8-sig", errors="replace")
        self._turn(lambda _: self.app.load(text, thread=self.thread, context=self.context, ask=self._approve))

    def _thread(self, _: str) -> None:
        self.console.print(f"Thread {safe(self.thread)}. Resume with: {self._resume()}", soft_wrap=True)

    def _quit(self, _: str) -> None:
        self._left = True

    def _resume(self) -> str:
        user = "" if self.context.user_id == "local" else f" --user {quote(self.context.user_id)}"
        return safe(f"taskloom chat --thread {quote(self.thread)}{user}")


def _json_or_words(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: it cannot be written; what was there before is as it was.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # a pipe or a device
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _file_name(thread: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in thread)[:80]

"""The chat in the terminal: typed lines go to the thread; lines that begin with / are commands."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.decisions import ActionRequest, Approval, CallDecision, Decision, EditedAction
from taskloom.agent.turn.state import Context, Turn
from taskloom.memory.claims import answer
from taskloom.memory.operations import Add, Clarify, Question, Update
from taskloom.memory.tasks import TaskNode

from .commands import COMMANDS, HELP, command_of
from .deciding import WANTED, instead, verdict
from .problems import explain
from .screen import (  # fmt: skip
    Stream,
    failure,
    find_tasks,
    greeting,
    plan_history,
    resuming,
    safe,
    steps,
    task_history,
    task_tree,
)

Read = Callable[[str], str]
"""Gives the next line for a prompt; raises EOFError at the end."""

RULES_ONLY = "rules"
LEFT = "you wanted something else"
_VALUES = ("tasks", "history")  # words that mean a command and may be a value, too


def read_line(prompt: str) -> str:
    """The next line of standard input, which is no terminal; it is shown as if typed.

    Raises:
        EOFError: the input has ended.
    """
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    line = line.rstrip("\r\n")
    sys.stdout.write(f"{safe(line)}\n")
    return line


class Chat:
    """One chat on one thread."""

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
        self.commands: dict[str, Callable[[str], None]] = {
            "/tasks": self._tasks, "/history": self._history, "/why": self._why, "/good": self._good,
            "/bad": self._bad, "/undo": self._undo, "/export": self._export, "/import": self._import,
            "/thread": self._thread, "/help": self._help, "/quit": self._quit,
        }  # fmt: skip
        self._left = False
        self._next: list[str] = []  # typed at a question, and about something else

    def run(self, first: str = "") -> None:
        """Talk until the user leaves; every reply that was shown is on disk.

        first: a line that was read already, after a greeting.

        Raises:
            ForeignThreadError: the thread is another user's.
        """
        self.app.check_access(self.thread, self.context)
        try:
            if first:
                self._take(first)
            else:
                self._greet()
            while not self._left:
                self._take(self._next.pop(0) if self._next else self.read("> ").strip())
        except EOFError:
            self.console.print()
        except KeyboardInterrupt:
            self.console.print("\nStopped. What was answered is kept.")
        self.console.print(resuming(self.thread, self.context.speaker), soft_wrap=True)

    def names(self) -> list[str]:
        """Ids and titles of the active tasks, for completion by Tab."""
        nodes = self.app.tasks(self.thread).active
        return [name for node in nodes for name in (node.id, safe(node.title))]

    def _greet(self) -> None:
        turn: Turn | None = self.app.state(self.thread).values.get("turn")
        about = f"{turn.number} turns so far" if turn else "new"
        self.console.print(greeting(self.thread, about))
        if turn and turn.utterance:
            self.console.print(f"> {safe(turn.utterance)}", style="dim")
        if turn and turn.reply:
            self.console.print(safe(turn.reply), style="dim")
        if waiting := self.app.pending(self.thread):
            approve = self._approve(waiting)
            self._turn(lambda stream: self.app.decide(approve, thread=self.thread, context=self.context,
                                                      ask=self._approve, show=stream.show))  # fmt: skip

    def _take(self, line: str) -> None:
        """Carry out one typed line."""
        if not line:
            return
        if command := "" if self._asked_for(line) else command_of(line):
            self._guarded(self._command, command)
        else:
            self._guarded(self._say, line)

    def _asked_for(self, line: str) -> bool:
        """Whether a word that could be a command could also be the value that was asked for."""
        question = self.app.state(self.thread).values.get("question") if line.lower() in _VALUES else None
        choice = question.choices[0] if isinstance(question, Clarify) and question.choices else None
        return isinstance(choice, Add | Update) and choice.value is None

    def _guarded(self, action: Callable[[str], None], line: str) -> None:
        """Carry out what was typed; an error is shown, and the chat continues."""
        try:
            action(line)
        except Exception as error:  # those that `explain` knows are shown; all others are raised
            if (message := explain(error, self.home)) is None:
                raise
            self.console.print(failure(message), style="red")

    def _say(self, words: str, context: Context | None = None) -> None:
        self._turn(lambda stream: self.app.talk(words, thread=self.thread, context=context or self.context,
                                                ask=self._approve, show=stream.show))  # fmt: skip

    def _turn(self, talk: Callable[[Stream], Turn]) -> None:
        stream = Stream(self.console)
        stream.end(talk(stream).reply)

    def _approve(self, approval: Approval) -> bool | Decision:
        """Ask the user for the approval that the graph waits for; each tool call is decided separately."""
        if approval.action == "call":
            return Decision(decisions=tuple(map(self._decide, approval.action_requests)))
        if self._next:  # the user is at something else by now
            return False
        self.console.print(safe(approval.question), style="yellow")
        if any(task not in approval.question for task in approval.tasks):
            self.console.print(f"  {safe(', '.join(approval.tasks))}", style="dim")
        return self._yes()

    def _decide(self, request: ActionRequest) -> CallDecision:
        """Approve a call, change its parameters, or reject it with a reason; the end of the input rejects."""
        if self._next:  # the user is at something else by now
            return CallDecision(type="reject", message=LEFT)
        args = dict(request.args)
        self.console.print(f"{safe(request.name)}: {safe(request.description)}", style="yellow")
        with contextlib.suppress(EOFError):
            while True:
                for name, value in args.items():
                    self.console.print(f"  {safe(name)} = {safe(json.dumps(value, ensure_ascii=False))}")
                said = self.read("Do it? y / n / n REASON / NAME=VALUE to change: ").strip()
                name, equals, value = said.partition("=")
                answer, _, reason = said.partition(" ")
                if answer.lower() in ("n", "no") and not said.endswith("?"):
                    return CallDecision(type="reject", message=reason.strip())
                if equals and name.strip() in args:
                    args[name.strip()] = _json_or_words(value.strip())
                    continue
                match verdict(said):
                    case "yes":
                        edited = EditedAction(name=request.name, args=args)
                        kind: Any = "approve" if args == request.args else "edit"
                        return CallDecision(type=kind, edited_action=edited if kind == "edit" else None)
                    case "no" | "left":
                        self._leave_question(said)
                        return CallDecision(type="reject", message=LEFT)
                self.console.print(WANTED)
        return CallDecision(type="reject", message="the input ended before it was decided")

    def _yes(self) -> bool:
        """Read until there is a yes or a no, or something else is wanted; the end of the input is a no."""
        with contextlib.suppress(EOFError):
            while True:
                said = self.read("y/n? ").strip()
                match verdict(said):
                    case "yes":
                        return True
                    case "no" | "left":
                        self._leave_question(said)
                        return False
                self.console.print(WANTED)
        return False

    def _leave_question(self, said: str) -> None:
        """Take what was typed instead of an answer as the next line."""
        if other := instead(said):
            self._next.append(other)

    # ---- commands -----------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        action = self.commands.get(name.lower())
        if action is None:
            self.console.print(f"There is no {safe(name)}; /help lists what there is.")
            return
        wants, _ = COMMANDS[name.lower()]
        if wants and not wants.startswith("[") and not rest.strip():
            self.console.print(f"{name} needs a {wants.lower()}: {name} {wants}")
            return
        action(rest.strip())

    def _help(self, _: str) -> None:
        for line in HELP:
            self.console.print(line)

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
        if not words:
            self.console.print(plan_history(self.app.tasks(self.thread)))
        elif node := self._task(words):
            self.console.print(task_history(node))

    def _why(self, words: str) -> None:
        if node := self._task(words):
            graph = self.app.tasks(self.thread)
            reason = answer(graph, Question(kind="why", tasks=(node.id,), about=node.title))
            brief = Brief(utterance="", graph=graph, turn=Turn(), answers=(reason,))
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
            self.console.print(f"{path} exists already. Overwrite it?", style="yellow")
            if not self._yes():
                return
        write_file(path, self.app.export(self.thread))
        self.console.print(f"Written to {path}", soft_wrap=True)

    def _import(self, name: str) -> None:
        text = Path(name).expanduser().read_text(encoding="utf-8-sig", errors="replace")
        self._turn(lambda _: self.app.load(text, thread=self.thread, context=self.context, ask=self._approve))

    def _thread(self, _: str) -> None:
        resume = resuming(self.thread, self.context.speaker)
        self.console.print(f"Thread {safe(self.thread)}. {resume}", soft_wrap=True)

    def _quit(self, _: str) -> None:
        self._left = True


def _json_or_words(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_file(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: it cannot be written; a file that was there is unchanged.
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

"""Lines typed at a terminal: editing, completion by Tab, and Ctrl-C, which loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

from .commands import COMMANDS, PLAIN

HOW_TO_LEAVE = "To leave, press Ctrl-C once more, or Ctrl-D."
SAY = "> "


class Keyboard:
    """Reads lines from the terminal. Lines that are pasted together come as one text with line breaks."""

    def __init__(self, **terminal: Any) -> None:
        """terminal: `input` and `output` of prompt_toolkit, for tests."""
        self.names: Callable[[], Sequence[str]] = tuple
        """Gives what Tab completes beside the commands: ids and titles of tasks."""
        if "output" not in terminal:
            terminal["output"] = create_output()
            if isinstance(terminal["output"], Vt100_Output):
                # Where the cursor is is not asked: an answer that comes late would be shown as typed.
                terminal["output"].enable_cpr = False
        history, common = InMemoryHistory(), {"complete_style": CompleteStyle.READLINE_LIKE, **terminal}
        self._talk: PromptSession[str] = PromptSession(
            history=history, completer=Names(lambda: self.names()), complete_while_typing=False, **common
        )
        self._answer: PromptSession[str] = PromptSession(**common)
        self._warned = False

    def read(self, prompt: str) -> str:
        """The next line typed at a prompt. Ctrl-C clears the line; on an empty one it says how to leave.

        Raises:
            EOFError: Ctrl-D on an empty line.
            KeyboardInterrupt: Ctrl-C twice on an empty line.
        """
        session = self._talk if prompt == SAY else self._answer
        while True:
            try:
                line = session.prompt(prompt)
            except KeyboardInterrupt:
                self._stopped(session.default_buffer.text)
            else:
                self._warned = False
                return line

    def _stopped(self, typed: str) -> None:
        """Handle Ctrl-C: what was typed goes to the history, where the up arrow finds it."""
        if typed.strip():
            self._talk.history.append_string(typed)
        elif self._warned:
            raise KeyboardInterrupt
        else:
            print(HOW_TO_LEAVE)  # noqa: T201  # beside the prompt, as the prompt itself
        self._warned = not typed.strip()


_SLASHED = [f"{name} " if wants else name for name, (wants, _) in COMMANDS.items()]
"""The commands, and room for what one takes."""


class Names(Completer):
    """Completes commands where a line begins, files for those that want one, and the names of tasks."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        """names: gives the ids and titles of the tasks."""
        self._names, self._files = names, PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The completions for the text before the cursor."""
        text = document.text_before_cursor
        command, space, rest = text.partition(" ")
        if not space:
            words = (word for word in PLAIN if word.isalpha() and len(word) > 1)
            yield from _begun(command, (*_SLASHED, *words))
        if COMMANDS.get(command.lower(), ("", ""))[0].strip("[]") == "FILE":
            yield from self._files.get_completions(Document(rest), complete_event)
            return
        if not text.startswith("/"):
            yield from _anywhere(text, self._names())
        elif space:
            yield from _begun(rest, self._names())


def _begun(typed: str, names: Iterable[str]) -> Iterator[Completion]:
    """The names that begin as typed."""
    for name in dict.fromkeys(names):
        if name.lower().startswith(typed.lower()):
            yield Completion(name, -len(typed))


def _anywhere(text: str, names: Sequence[str]) -> Iterator[Completion]:
    """The names that begin as the last words of a text; the most words that begin any."""
    words = text.split(" ")
    for first in range(max(0, len(words) - 4), len(words)):
        typed = " ".join(words[first:])
        if len(typed) > 1 and (found := list(_begun(typed, names))):
            yield from found
            return

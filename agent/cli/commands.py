"""The commands of a chat, and the plain words that stand for them. Data only."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "/tasks": ("", "draw the task tree"),
    "/history": ("[TASK]", "what changed; every state of a task, and the words behind it"),
    "/why": ("TASK", "why a task is as it is"),
    "/good": ("", "the last change was right"),
    "/bad": ("", "the last change was wrong; /undo takes it back"),
    "/undo": ("", "take the last change back"),
    "/export": ("[FILE]", "write the thread to a file"),
    "/import": ("FILE", "put an export in place of this thread's tasks"),
    "/thread": ("", "which thread this is, and how to resume it"),
    "/help": ("", "this list"),
    "/quit": ("", "leave; Ctrl-D does the same"),
}
"""What each takes, and what it does."""

PLAIN = {
    "help": "/help", "undo": "/undo", "tasks": "/tasks", "history": "/history", "quit": "/quit",
    "help me": "/help", "commands": "/help", "what can you do": "/help", "what can i do": "/help",
    "what can i say": "/help", "how does this work": "/help", "show tasks": "/tasks", "list tasks": "/tasks",
    "show history": "/history", "exit": "/quit", "q": "/quit", ":q": "/quit",
}  # fmt: skip
"""Words that mean a command where they are all that is typed."""

HELP = (
    "Say what you want to plan, change or know. Commands:",
    *(f"  {f'{name} {wants}':<16} {text}" for name, (wants, text) in COMMANDS.items()),
    "TASK is an id from /tasks (t3) or a name (destination).",
    "help, undo, tasks, history and quit work without the slash, too.",
)


def command_of(line: str) -> str:
    """The command in a line, with its argument; '' for a message."""
    if line.startswith("/"):
        return line
    words = " ".join(line.lower().split())
    return "/help" if words == "?" else PLAIN.get(words.rstrip("?!. "), "")

"""A user's folder /memories, worked on by the commands of Claude's memory tool.

The commands, and the replies to them, are those of Anthropic's tool `memory_20250818`, as its SDK carries
them out on a disk. Here it is done in the database of the outbox: no path leads out of the user's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taskloom.memory.files import Files, Tree

ROOT = "/memories"
VIEWS = ("facts.md", "plan.md")  # names that nobody may write to
LONGEST, MOST = 100_000, 1_000  # characters of a file, and files and folders of a user
_LONGEST_PATH = 400  # characters
_NUMBER = 6  # the width of a line's number
_ABOVE = 2  # lines shown before and after a change


class FolderError(Exception):
    """A command that was not carried out. The message is for the model: it says what is wrong."""


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True)


class View(_Command):
    """What is in a folder, two levels deep, or a file; view_range: first and last line, -1 for the end."""

    path: str
    view_range: list[int] | None = Field(default=None, min_length=2, max_length=2)


class Create(_Command):
    """A new file."""

    path: str
    file_text: str


class StrReplace(_Command):
    """A text in a file, which has to be there once, in place of another."""

    path: str
    old_str: str = Field(min_length=1)
    new_str: str = ""


class Insert(_Command):
    """Text after a line; 0 is before the first."""

    path: str
    insert_line: int
    insert_text: str


class Delete(_Command):
    """A file, or a folder with all in it, is gone."""

    path: str


class Rename(_Command):
    """A file or folder gets another place."""

    old_path: str
    new_path: str


COMMANDS: dict[str, type[_Command]] = {
    "view": View, "create": Create, "str_replace": StrReplace, "insert": Insert, "delete": Delete,
    "rename": Rename,
}  # fmt: skip


class MemoryFolder:
    """The folder of one user. Any number of processes may use it at once; nothing is lost."""

    def __init__(
        self, files: Files, *, user: str, views: Mapping[str, Callable[[], str]] | None = None
    ) -> None:
        """What it works on.

        Args:
            files: where they are kept.
            user: whose they are.
            views: files that can only be read, by their names in VIEWS, and what gives their text.
        """
        self._files, self._user, self._views = files, user, dict(views or {})

    def carry_out(self, given: Mapping[str, Any]) -> str:
        """Carry out a command; what it did is on disk when this returns.

        given: the input of a call of the tool: `command`, and what belongs to it.

        Raises:
            FolderError: it cannot be carried out; nothing was changed.
            OutboxError: the files cannot be read or written; the message names the fix.
        """
        kind = COMMANDS.get(str(given.get("command")))
        if kind is None:
            raise FolderError(f"Unknown command: {str(given.get('command'))[:80]}")
        try:
            command = kind.model_validate({key: given[key] for key in given if key != "command"})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise FolderError(f"Invalid `{'.'.join(map(str, first['loc']))}`: {first['msg']}") from error
        views = self._seen(command.path) if isinstance(command, View) else {}
        with self._files.of(self._user) as tree:
            match command:
                case View():
                    return _view(tree, command, views)
                case Create():
                    return _create(tree, command)
                case StrReplace():
                    return _replace(tree, command)
                case Insert():
                    return _insert(tree, command)
                case Delete(path=path):
                    return _delete(tree, path)
                case Rename():
                    return _rename(tree, command)
        raise AssertionError(kind)

    def _seen(self, called: str) -> dict[str, str]:
        """The texts of the views that are seen at a path; made before the files are locked."""
        path = _inside(called)
        return {name: text() for name, text in self._views.items() if path in ("", name)}

    def clear(self) -> str:
        """Delete all files."""
        with self._files.of(self._user) as tree:
            tree.remove([*tree.paths()])
        return "All memory cleared"


# ---- the commands ---------------------------------------------------------------------------------


def _view(tree: Tree, command: View, views: Mapping[str, str]) -> str:
    path = _inside(command.path)
    text = views[path] if path in views else tree.read(path)
    if text is None:
        sizes = {**tree.paths(), **{name: len(given.encode()) for name, given in views.items()}}
        if path and path not in sizes:
            raise _absent(command.path)
        return _listed(command.path, path, sizes)
    lines, start = text.split("\n"), 1
    if command.view_range:
        first, last = command.view_range
        start = max(1, first)
        lines = lines[start - 1 : len(lines) if last == -1 else last]
    return f"Here's the content of {command.path} with line numbers:\n{_numbered(lines, start)}"


def _listed(called: str, path: str, sizes: Mapping[str, int | None]) -> str:
    """A folder in words, two levels deep, without what is hidden."""
    head = f"Here're the files and directories up to 2 levels deep in {called}, excluding hidden items:"
    lines = [f"{_size(_held(path, sizes))}\t{called}"]
    for one, size in sorted(_below(path, sizes).items(), key=lambda held: held[0].split("/")):
        names = one.removeprefix(f"{path}/" if path else "").split("/")
        if len(names) <= 2 and not any(name.startswith(".") for name in names):
            whole = _held(one, sizes) if size is None else size
            lines.append(f"{_size(whole)}\t{called}/{'/'.join(names)}{'/' if size is None else ''}")
    return "\n".join([head, *lines])


def _create(tree: Tree, command: Create) -> str:
    path, sizes = _writable(command.path), tree.paths()
    if not path or path in sizes:
        raise FolderError(f"File {command.path} already exists")
    _write(tree, command.path, command.file_text)
    return f"File created successfully at: {command.path}"


def _replace(tree: Tree, command: StrReplace) -> str:
    text = _text_of(tree, command.path)
    count = text.count(command.old_str)
    if not count:
        raise FolderError(
            f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in"
            f" {command.path}."
        )
    if count > 1:
        lines = ", ".join(map(str, _lines_with(text, command.old_str)))
        raise FolderError(
            f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines:"
            f" {lines}. Please ensure it is unique"
        )
    changed = text.replace(command.old_str, command.new_str)
    _write(tree, command.path, changed)
    line = text.count("\n", 0, text.index(command.old_str))
    first = max(0, line - _ABOVE)
    shown = changed.split("\n")[first : line + _ABOVE + 1]
    return (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        + _numbered(shown, first + 1)
    )


def _insert(tree: Tree, command: Insert) -> str:
    text = _text_of(tree, command.path)
    lines = text.removesuffix("\n").split("\n") if text else []
    if not 0 <= command.insert_line <= len(lines):
        raise FolderError(
            f"Invalid `insert_line` parameter: {command.insert_line}. "
            f"It should be within the range [0, {len(lines)}]."
        )
    lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
    changed = "\n".join(lines)
    _write(tree, command.path, changed if changed.endswith("\n") else f"{changed}\n")
    return f"The file {command.path} has been edited."


def _delete(tree: Tree, called: str) -> str:
    path, sizes = _writable(called), tree.paths()
    if not path:
        raise FolderError(f"Cannot delete the {ROOT} directory itself")
    if path not in sizes:
        raise FolderError(f"The path {called} does not exist")
    tree.remove([path, *_below(path, sizes)])
    return f"Successfully deleted {called}"


def _rename(tree: Tree, command: Rename) -> str:
    old, new, sizes = _writable(command.old_path), _writable(command.new_path), tree.paths()
    if not old:
        raise FolderError(f"Cannot rename the {ROOT} directory itself")
    if not new or new in sizes:
        raise FolderError(f"The destination {command.new_path} already exists")
    if old not in sizes:
        raise FolderError(f"The path {command.old_path} does not exist")
    _check_folders(sizes, new, command.new_path)
    if new.startswith(f"{old}/"):
        raise FolderError(f"Cannot move {command.old_path} into itself")
    moved = {one: new + one.removeprefix(old) for one in (old, *_below(old, sizes))}
    for one in moved.values():
        _check_length(one)
    tree.move(moved)
    return f"Successfully renamed {command.old_path} to {command.new_path}"


# ---- what they call -------------------------------------------------------------------------------


def _inside(called: str) -> str:
    """A path below the folder, '' for the folder itself.

    Raises:
        FolderError: it leads elsewhere, or is no path.
    """
    if called != ROOT and not called.startswith(f"{ROOT}/"):
        raise FolderError(f"Path must start with {ROOT}, got: {called[:_LONGEST_PATH]}")
    names: list[str] = []
    for name in called.removeprefix(ROOT).split("/"):
        if name == ".." and not names:
            raise FolderError(f"Path {called} would escape {ROOT} directory")
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(_checked(name, called))
    return _check_length("/".join(names))


def _checked(name: str, called: str) -> str:
    plain = unquote(name)
    if plain in (".", "..") or "/" in plain or "\\" in plain:
        raise FolderError(f"Path {called} would escape {ROOT} directory")
    if not name.isprintable():
        raise FolderError(f"Path {called!r} has a control character")
    return name


def _check_length(path: str) -> str:
    if len(path) > _LONGEST_PATH:
        raise FolderError(f"Path has {len(path):,} characters below {ROOT}, the most are {_LONGEST_PATH}")
    return path


def _writable(called: str) -> str:
    """See `_inside`; a view is refused."""
    path = _inside(called)
    if path.split("/")[0] in VIEWS:
        raise FolderError(f"{called} is kept by Taskloom and can only be viewed")
    return path


def _text_of(tree: Tree, called: str) -> str:
    """The text of a file that is to be changed."""
    path = _writable(called)
    text = tree.read(path)
    if text is not None:
        return text
    if not path or path in tree.paths():
        raise FolderError(f"The path {called} is not a file.")
    raise _absent(called)


def _write(tree: Tree, called: str, text: str) -> None:
    if len(text) > LONGEST:
        raise FolderError(
            f"{called} would have {len(text):,} characters, the most are {LONGEST:,}: make several files"
        )
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise FolderError(f"{called} would not be text: it has a NUL or half of a character")
    path, sizes = _inside(called), tree.paths()
    _check_folders(sizes, path, called)
    if path not in sizes and len(sizes) + path.count("/") >= MOST:
        raise FolderError(f"There are {MOST:,} files and folders, which are the most: delete some first")
    tree.write(path, text)


def _check_folders(sizes: Mapping[str, int | None], path: str, called: str) -> None:
    names = path.split("/")
    for depth in range(1, len(names)):
        folder = "/".join(names[:depth])
        if sizes.get(folder) is not None:
            raise FolderError(f"{ROOT}/{folder} is a file, and cannot hold {called}")


def _lines_with(text: str, part: str) -> Iterator[int]:
    """The numbers of the lines in which a part begins, overlapping ones too."""
    line, last, at = 1, 0, text.find(part)
    while at >= 0:
        line, last = line + text.count("\n", last, at), at
        yield line
        at = text.find(part, at + 1)


def _absent(called: str) -> FolderError:
    return FolderError(f"The path {called} does not exist. Please provide a valid path.")


def _below(path: str, sizes: Mapping[str, int | None]) -> dict[str, int | None]:
    return {one: size for one, size in sizes.items() if not path or one.startswith(f"{path}/")}


def _held(path: str, sizes: Mapping[str, int | None]) -> int:
    """The bytes of all files in a folder."""
    return sum(size or 0 for size in _below(path, sizes).values())


def _numbered(lines: list[str], start: int) -> str:
    return "\n".join(f"{number:>{_NUMBER}}\t{line}" for number, line in enumerate(lines, start))


def _size(count: int) -> str:
    """Bytes in short: 512B, 4K, 1.5K."""
    unit = 0
    size = float(count)
    while size >= 1024 and unit < 3:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f}{'BKMG'[unit]}" if size == int(size) else f"{size:.1f}{'BKMG'[unit]}"

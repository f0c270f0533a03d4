"""Claude's memory tool on what is kept of a user, for the tool runner of Anthropic's SDK.

Needs the extra `claude`. A host that makes the calls itself passes their input to `MemoryFolder.carry_out`.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from .memory_folder import FolderError, MemoryFolder

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("the memory tool needs anthropic: pip install 'taskloom[claude]'") from error


class ClaudeMemoryTool(BetaAbstractMemoryTool):
    """`client.beta.messages.tool_runner(tools=[ClaudeMemoryTool(folder)], ...)`."""

    def __init__(self, folder: MemoryFolder) -> None:
        """folder: where the files are, see `kept_folder`."""
        super().__init__()
        self._folder = folder

    def call(self, input: object) -> str:  # noqa: A002  # the SDK's name for it
        """Carry out a call of the tool.

        Raises:
            ToolError: it cannot be carried out; the runner tells the model.
        """
        given: Any = input.model_dump(exclude_unset=True) if isinstance(input, BaseModel) else input
        try:
            return self._folder.carry_out(given if isinstance(given, dict) else {})
        except FolderError as error:
            raise ToolError(str(error)) from error

    def execute(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def view(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def create(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def str_replace(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def insert(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def delete(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def rename(self, command: Any) -> str:
        """See `call`."""
        return self.call(command)

    def clear_all_memory(self) -> str:
        """Delete all files of the user."""
        return self._folder.clear()

"""An agent's configuration as one YAML file: its tools, its servers, its context, its shared variables.

    tools:
      - use: shop.tools:search_flights     # module and attribute
        needs: [origin, destination, date]
        gives: flights
      - use: taskloom.python               # one of those that ship, see SHIPPED
    mcp:
      weather: {command: weather-server, env: {KEY: "${WEATHER_KEY}"}}
    context: "The budget is <budget>."
    shared: {budget: 500}
    bank:
      rules: {files: [house-rules.md, contract.pdf], top_k: 3, ask: true}

What the bank has on a request joins the prompt that chooses tools; a collection with `ask` is a tool besides,
that answers questions from it. An entry may give several tools: a shipped one, or an attribute that is a
list. What it says of users, schemas, times and side effects then holds for all of them; `only` picks some,
`needs` and `gives` want one.
YAML is read without its dates, which stay texts, and without a key twice. `${NAME}` in `env` and `headers` of
a server stands for a variable of the environment, so that no key need stand in the file.

Loading imports what is named: a file from a stranger is to be trusted no more than a program from one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from .calls import faults
from .errors import ToolDefinitionError, ToolError
from .plain_yaml import SIZE, Dumper, Loader
from .shared import Shared, fill

# Tools that come with Taskloom: the function that makes them. The options of an entry are its arguments by
# name, validated by their annotations. It gives a tool, or a list of tools; where that has a `close`, it is
# called in the end.
SHIPPED = {
    f"taskloom.{name}": f"taskloom.tools.shipped:{name}"
    for name in ("python", "fetch", "search", "browser", "planner")
}
PROGRAM = "taskloom.program"  # ships too, and wants a model
VIDEO = "taskloom.video"  # the same, and wants the user's recordings


class Example(BaseModel):
    """What an LLM function gives for some inputs."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    inputs: dict[str, JsonValue]
    output: JsonValue


class LLMEntry(BaseModel):
    """A function that a chat model carries out; see `functions.llm_function`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    template: str
    output: dict[str, str] = Field(description="Names of what it gives, with their types.")
    examples: tuple[Example, ...] = ()


class ToolEntry(BaseModel):
    """One tool of a configuration; for what the other fields do see `registry.equip`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    use: str = Field(default="", description="'module:attribute', or a tool that ships.")
    options: dict[str, JsonValue] = Field(default={}, description="For a tool that ships.")
    only: tuple[str, ...] = Field(default=(), description="Of the tools that it gives these.")
    llm: LLMEntry | None = Field(default=None, description="In place of `use`.")
    name: str = Field(default="", description="Of an inner agent or an LLM function.")
    description: str = Field(default="", description="Of an inner agent or an LLM function.")
    needs: tuple[str, ...] | dict[str, str] = ()
    gives: str = ""
    side_effects: bool | None = None
    always: bool = False
    users: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    timeout: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.use) == (self.llm is not None):
            raise ValueError("a tool needs either 'use' or 'llm'")
        if self.options and self.use not in SHIPPED:
            raise ValueError(f"only a tool that ships has options: {', '.join(SHIPPED)}")
        return self


class CollectionEntry(BaseModel):
    """A collection of the memory bank; see `bank.Collection` and, for `ask`, `reading.Reader`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    files: tuple[str, ...] = Field(
        default=(), description="Text, Markdown or PDF, relative to the YAML file."
    )
    texts: tuple[str, ...] = ()
    mapper: str = Field(default="", description="'module:function', from a passage to what is searched.")
    top_k: int = Field(default=3, ge=1)
    ask: bool = Field(default=False, description="Whether there is a tool ask_NAME besides.")


class AgentConfig(BaseModel):
    """What an agent is made of, as data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    tools: tuple[ToolEntry, ...] = ()
    mcp: dict[str, dict[str, JsonValue]] = Field(default={}, description="MCP servers, see `mcp.mcp_tools`.")
    context: str = Field(default="", description="Template of the global context.")
    shared: dict[str, Any] = Field(default={}, description="Shared variables to begin with.")
    schemas: str = Field(default="", description="File with task schemas, relative to this one.")
    bank: dict[str, CollectionEntry] = Field(default={}, description="Collections of the memory bank.")

    @field_validator("shared")
    @classmethod
    def _can_be_kept(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The variables as they are kept: null is none."""
        shared = Shared()
        try:
            shared.update(given)
        except ToolError as error:
            raise ValueError(str(error)) from error
        return dict(shared)

    @model_validator(mode="after")
    def _context_can_be_filled(self) -> Self:
        try:
            fill(self.context, self.shared)
        except ToolError as error:
            raise ValueError(str(error)) from error
        return self

    @classmethod
    def load(cls, path: Path) -> AgentConfig:
        """Read a configuration.

        Raises:
            ToolDefinitionError: it cannot be read, is no YAML, or not of this form; all faults are named.
        """
        try:
            if path.stat().st_size > SIZE:
                raise ToolDefinitionError(
                    f"{path} is larger than {SIZE:,} bytes, too large for a configuration"
                )
            given = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506  a SafeLoader
        except OSError as error:
            raise ToolDefinitionError(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ToolDefinitionError(f"{path} is not UTF-8 text (byte {error.start})") from error
        except RecursionError as error:
            raise ToolDefinitionError(f"{path} is not a configuration: nested too deeply") from error
        except (yaml.YAMLError, ValueError) as error:  # ValueError: `!!int x`, a number of 5,000 digits
            raise ToolDefinitionError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
        try:
            return cls.model_validate({} if given is None else given)
        except ValidationError as error:
            raise ToolDefinitionError(f"{path}: {faults(error)}") from error

    def save(self, path: Path) -> None:
        """Write it, so that `load` gives the same again.

        Raises:
            OSError: it cannot be written.
        """
        given = self.model_dump(mode="json", exclude_defaults=True)
        path.write_text(
            yaml.dump(given, Dumper=Dumper, sort_keys=False, allow_unicode=True), encoding="utf-8"
        )

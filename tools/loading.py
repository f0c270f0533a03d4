"""From a configuration to its tools: what it names is imported, made and equipped.

Loading imports what is named: a file from a stranger is to be trusted no more than a program from one.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from pydantic import (
    ConfigDict,
    ValidationError,
    validate_call,
)

from .calls import error_text, faults
from .config import PROGRAM, SHIPPED, VIDEO, AgentConfig, ToolEntry
from .errors import ToolDefinitionError, ToolError
from .functions import llm_function
from .index import Index
from .registry import Equipped, Registry, equip

if TYPE_CHECKING:
    from .bank import MemoryBank
    from .video.tools import Recordings


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration with its tools made. Close it when they are no longer needed.

    uses: the names of the tools that each `use` gives. schemas: the file with task schemas. bank: None where
    the configuration has none. resources: what the tools keep open.
    """

    config: AgentConfig
    registry: Registry
    uses: Mapping[str, tuple[str, ...]]
    schemas: Path | None
    bank: MemoryBank | None
    resources: ExitStack

    def close(self) -> None:
        """End what the tools keep open: servers that were started, browsers."""
        self.resources.close()


def load_agent(
    path: Path,
    *,
    index: Callable[[], Index] | None = None,
    documents: Callable[[], Index] | None = None,
    model: Callable[[], BaseChatModel] | None = None,
    recordings: Callable[[str, float], Recordings] | None = None,
) -> Loaded:
    """Read a configuration and make its tools.

    Args:
        path: the YAML file; modules beside it can be named in it, after those that are installed.
        index: makes the index that tools are selected by.
        documents: makes the index of each collection of the bank.
        model: gives the chat model of LLM functions, and judges what answers a question.
        recordings: gives the recordings of a user, with so many seconds from then on for a model to look.

    Raises:
        ToolDefinitionError: what is named is not there or cannot be equipped; all such tools are named.
    """
    config = AgentConfig.load(path)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    with ExitStack() as resources:
        found, wrong, uses = list[Equipped](), list[str](), dict[str, tuple[str, ...]]()
        for number, entry in enumerate(config.tools, 1):
            try:
                tools = _of_entry(entry, model, recordings, resources)
                found += tools
                uses[entry.use] = (*uses.get(entry.use, ()), *(one.name for one in tools))
            except ToolError as error:
                wrong.append(f"tool {number} ({entry.use or entry.name}): {error}")
        bank = None
        try:
            bank = _bank(config, path.parent, documents)
            found += [] if bank is None else _asking(config, bank, model)
        except ToolError as error:
            wrong.append(f"bank: {error}")
        schemas = path.parent / config.schemas if config.schemas else None
        if schemas is not None and not schemas.is_file():
            wrong.append(f"schemas: there is no file {schemas}")
        if not wrong and config.mcp:  # not before, since servers take their time
            try:
                found += _of_servers(config.mcp, resources)
            except ToolError as error:
                wrong.append(f"mcp: {error}")
        if wrong:
            raise ToolDefinitionError(f"{path}: {'; '.join(wrong)}")
        try:
            registry = Registry(found, index)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"{path}: {error}") from error
        return Loaded(config, registry, uses, schemas, bank, resources.pop_all())


def _bank(config: AgentConfig, folder: Path, documents: Callable[[], Index] | None) -> MemoryBank | None:
    """The memory bank with its files read; None where there is none."""
    if not config.bank:
        return None
    if documents is None:
        raise ToolDefinitionError("a memory bank needs an index")
    from .bank import MemoryBank, itself  # with pypdf and the like

    bank = MemoryBank(documents)
    for name, entry in config.bank.items():
        mapper = _imported(entry.mapper) if entry.mapper else itself
        collection = bank.add(name, mapper=mapper, top_k=entry.top_k)
        for file in entry.files:
            collection.add_file(folder / file)
        if entry.texts:
            collection.append(*entry.texts, source=name)
    return bank


def _asking(
    config: AgentConfig, bank: MemoryBank, model: Callable[[], BaseChatModel] | None
) -> Iterator[Equipped]:
    """A tool for each collection that questions are answered from."""
    from .extractive import extractive_judge
    from .reading import ChatJudge, Reader, reading_tool

    for name, entry in config.bank.items():
        if entry.ask:
            judge = extractive_judge if model is None else ChatJudge(model())
            tool = reading_tool(Reader(bank[name], judge), f"They are about: {name.replace('_', ' ')}.")
            tool.name = f"ask_{name}"
            yield equip(tool)


def _of_entry(
    entry: ToolEntry,
    model: Callable[[], BaseChatModel] | None,
    recordings: Callable[[str, float], Recordings] | None,
    resources: ExitStack,
) -> list[Equipped]:
    """The tools of an entry."""
    if entry.use == VIDEO:
        things: Sequence[Any] = _watching(recordings, entry.timeout)
    else:
        things = _things(entry, model, resources)
    for_all: dict[str, Any] = {
        "side_effects": entry.side_effects, "always": entry.always, "users": entry.users,
        "schemas": entry.schemas, "timeout": entry.timeout, "attempts": entry.attempts,
    }  # fmt: skip
    name, description = ("", "") if entry.llm is not None else (entry.name, entry.description)
    if len(things) == 1:
        tools = [equip(things[0], name=name, description=description, **for_all)]
    elif name or description:
        raise ToolDefinitionError("it gives several tools, which have names and descriptions of their own")
    else:
        tools = [equip(thing, **for_all) for thing in things]
    names = ", ".join(one.name for one in tools)
    if strange := [name for name in entry.only if name not in {one.name for one in tools}]:
        raise ToolDefinitionError(f"it does not give {', '.join(strange)}, but {names}")
    tools = [one for one in tools if not entry.only or one.name in entry.only]
    if not entry.needs and not entry.gives:
        return tools
    if len(tools) > 1:
        raise ToolDefinitionError(f"it gives {names}: pick one with `only` for needs and gives")
    return [equip(one.tool, needs=entry.needs, gives=entry.gives, **for_all) for one in tools]


def _things(
    entry: ToolEntry, model: Callable[[], BaseChatModel] | None, resources: ExitStack
) -> Sequence[Any]:
    """The objects that an entry names."""
    if entry.llm is not None:
        if model is None:
            raise ToolDefinitionError("an LLM function needs a chat model: set TASKLOOM_MODEL")
        llm = entry.llm
        examples = [(one.inputs, one.output) for one in llm.examples]
        function = llm_function(
            entry.name, entry.description, llm.template, llm.output, model(), examples=examples
        )
        return (function,)
    if entry.use == PROGRAM:
        return (_programmer(model),)
    thing = _imported(SHIPPED.get(entry.use, entry.use))
    if entry.use in SHIPPED:
        make = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(thing)
        try:
            thing = make(**entry.options)
        except ValidationError as error:
            raise ToolDefinitionError(f"its options do not fit: {faults(error)}") from error
        except ValueError as error:
            raise ToolDefinitionError(f"its options do not fit: {error}") from error
        if close := getattr(thing, "close", None):
            resources.callback(close)
    return thing if isinstance(thing, list | tuple) else (thing,)


def _watching(recordings: Callable[[str, float], Recordings] | None, seconds: float) -> Sequence[BaseTool]:
    if recordings is None:
        raise ToolDefinitionError("recordings are in long-term memory: TASKLOOM_MEMORY=1 turns it on")
    from .video.tools import video_tools

    return video_tools(recordings, seconds)


def _programmer(model: Callable[[], BaseChatModel] | None) -> BaseTool:
    if model is None:
        raise ToolDefinitionError("programs are written by a chat model: set TASKLOOM_MODEL")
    from .python import Programmer, program_tool
    from .sandbox import Sandbox

    return program_tool(Programmer(model(), Sandbox()))


def _imported(name: str) -> Any:
    """What a module has under a name."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise ToolDefinitionError(f"{name!r} names no tool: write module:attribute, or {', '.join(SHIPPED)}")
    try:
        found: Any = import_module(module)
    except (Exception, SystemExit) as error:  # a module is anybody's code
        if isinstance(error, ModuleNotFoundError) and error.name in (module, module.partition(".")[0]):
            raise ToolDefinitionError(f"there is no module {error.name}, here or installed") from error
        raise ToolDefinitionError(
            f"the module {module} cannot be imported: {error_text(error)}{_line(error)}"
        ) from error
    where = getattr(found, "__file__", None) or "without a file"
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ToolDefinitionError(f"the module {module} ({where}) has no {attribute}")
        found = getattr(found, part)
    return found


def _line(error: BaseException) -> str:
    """The line of a module at which its import failed."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = next((one for one in frames if "importlib" not in one.filename), None)
    return "" if own is None else f" ({Path(own.filename).name}, line {own.lineno})"


def _of_servers(servers: Mapping[str, Mapping[str, Any]], resources: ExitStack) -> Iterator[Equipped]:
    """The tools of MCP servers, which are kept running."""
    from .mcp import mcp_tools  # an extra
    from .mcp_servers import HttpServer, Server, StdioServer

    checked, wrong = dict[str, Server](), list[str]()
    for name, given in servers.items():
        try:
            checked[name] = (HttpServer if "url" in given else StdioServer).model_validate(_with_keys(given))
        except ToolDefinitionError as error:
            wrong.append(f"{name}: {error}")
        except ValidationError as error:
            wrong.append(f"{name}: {faults(error)}")
    if wrong:
        raise ToolDefinitionError("; ".join(wrong))
    tools: Sequence[BaseTool] = resources.enter_context(mcp_tools(checked))
    for tool in tools:
        yield equip(tool, timeout=checked[(tool.metadata or {})["server"]].timeout)


def _with_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """A server's settings, its `${NAME}` filled from the environment.

    Raises:
        ToolDefinitionError: a variable is not set; all of them are named.
    """
    missing = list[str]()

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            missing.append(found[1])
        return os.environ.get(found[1], "")

    def filled(values: object) -> object:
        if not isinstance(values, Mapping):
            return values  # the validation tells of it
        return {
            name: _VARIABLE.sub(value, one) if isinstance(one, str) else one for name, one in values.items()
        }

    filled_in = {name: filled(one) if name in ("env", "headers") else one for name, one in given.items()}
    if missing:
        raise ToolDefinitionError(f"the environment has no {', '.join(dict.fromkeys(missing))}")
    return filled_in

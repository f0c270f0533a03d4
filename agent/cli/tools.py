"""`taskloom tools`: the tools of a configuration: list them, look at one, try one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from .memory import LOCAL
from .options import AsJson, examples, print_json

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from taskloom.tools.loading import Loaded
    from taskloom.tools.registry import Equipped

tools = typer.Typer(
    name="tools",
    help="The tools that tasks are carried out with, from a YAML file (TASKLOOM_TOOLS, or --config).",
    epilog=examples(
        "taskloom tools list --config agent.yaml",
        "taskloom tools show search_flights",
        "taskloom tools try search_flights origin=London destination=Rome",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The YAML file; default TASKLOOM_TOOLS.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The tool.")]


@tools.command("list", epilog=examples("taskloom tools list", 'taskloom tools list --for "book a flight"'))
def list_tools(
    config: Config = None,
    query: Annotated[
        str, typer.Option("--for", metavar="WORDS", help="Show only the tools that a model would be offered.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="How many with --for.")] = 8,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="With --for: for whom.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the tools with what they need and give."""
    with _loaded(config) as loaded:
        registry = loaded.registry
        names = registry.select(query, limit, user=user) if query else tuple(registry)
        found = [registry[name] for name in names]
    if as_json:
        print_json([_as_record(one) for one in found])
    elif found:
        _show(found)
    else:
        typer.echo("There are no tools.")


@tools.command(epilog=examples("taskloom tools show search_flights"))
def show(name: Name, config: Config = None) -> None:
    """Show one tool with its parameters, as JSON."""
    with _loaded(config) as loaded:
        print_json(_as_record(_named(loaded, name)))


@tools.command(
    "try",
    epilog=examples(
        "taskloom tools try search_flights origin=London destination=Rome",
        """taskloom tools try add 'numbers=[1, 2]'""",
        "taskloom tools try send_mail to=ana@example.org --yes",
    ),
)
def try_tool(
    name: Name,
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="PARAMETER=VALUE...", help="Values are JSON, or text as it is."),
    ] = None,
    config: Config = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before side effects.")] = False,
    as_json: AsJson = False,
) -> None:
    """Call one tool, outside of any task. Neither the call nor its result is kept."""
    from taskloom.tools.calls import call, validated
    from taskloom.tools.errors import ToolError
    from taskloom.tools.shared import Shared
    from taskloom.tools.video.tools import USER

    with _loaded(config) as loaded:
        equipped, shared = _named(loaded, name), Shared(loaded.config.shared)
        try:
            args = validated(equipped, _arguments(equipped, given or ()))
        except ToolError as error:
            raise _wrong(f"{error}: `taskloom tools show {name}` shows its parameters") from error
        if equipped.side_effects and not yes:
            typer.confirm(f"{name} has side effects. Call it?", abort=True, err=True)
        run: RunnableConfig = {"configurable": {USER: LOCAL}}
        result = call(equipped, args, shared=shared, key=uuid4().hex, config=run)
        text = shared[result.whole] if result.whole else result.text
    if as_json:
        print_json(result.model_copy(update={"text": text, "whole": None}).model_dump(mode="json"))
        raise typer.Exit(result.status == "failed")
    if result.status == "failed":
        raise ToolError(f"{name} failed: {text}")
    from .screen import safe

    typer.echo(safe(text))


# ---- what they call -------------------------------------------------------------------------------


def _arguments(equipped: Equipped, given: Iterable[str]) -> dict[str, Any]:
    """Parameters from the command line: JSON, or a text where that is no JSON or a text is wanted."""
    args, properties = {}, equipped.parameters().get("properties", {})
    for one in given:
        name, equals, text = one.partition("=")
        if not equals:
            raise _wrong(f"{one!r} is not of the form PARAMETER=VALUE")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        kinds = _kinds(properties.get(name))
        args[name] = text if "string" in kinds and not kinds & _KINDS[type(value)] else value
    return args


_KINDS = {
    str: {"string"}, int: {"integer", "number"}, float: {"number"}, bool: {"boolean"}, type(None): {"null"},
    list: {"array"}, dict: {"object"},
}  # fmt: skip


def _kinds(schema: Any) -> set[str]:
    """The JSON types that a parameter may have, if its own schema names them."""
    if not isinstance(schema, dict):
        return set()
    own = schema.get("type", [])
    inner = (_kinds(one) for one in schema.get("anyOf", []))
    return {own} if isinstance(own, str) else set(own).union(*inner)


def _as_record(one: Equipped) -> dict[str, Any]:
    return {
        "name": one.name, "description": one.tool.description, "needs": dict(one.needs), "gives": one.gives,
        "side_effects": one.side_effects, "always": one.always, "users": sorted(one.users),
        "schemas": sorted(one.schemas), "timeout": one.timeout, "parameters": one.parameters(),
    }  # fmt: skip


def _show(found: Iterable[Equipped]) -> None:
    from textwrap import fill

    from .screen import console, safe

    out = console()
    for one in found:
        marks = [
            mark for mark, there in (("side effects", one.side_effects), ("always", one.always)) if there
        ]
        parts = [
            *([f"needs {', '.join(one.needs.values())}"] if one.needs else []),
            *([f"gives {one.gives}"] if one.gives else []),
            *marks,
        ]
        out.print(f"{safe(one.name)}{': ' if parts else ''}{'; '.join(parts)}")
        description = safe(" ".join(one.tool.description.split())[:200])
        out.print(fill(description, out.width - 1, initial_indent="    ", subsequent_indent="    "))


def _named(loaded: Loaded, name: str) -> Equipped:
    """The tool of a name, or the only one that an entry of the file gives with that `use`."""
    given = loaded.uses.get(name, ())
    known = name if name in loaded.registry or len(given) != 1 else given[0]
    if known not in loaded.registry:
        raise _wrong(f"there is no tool {name!r}; there are: {', '.join(given or loaded.registry) or 'none'}")
    return loaded.registry[known]


def _wrong(message: str) -> Exception:
    from .problems import InputError

    return InputError(message)


@contextmanager
def _loaded(config: Path | None) -> Iterator[Loaded]:
    """A configuration with its tools, for as long as they are used."""
    from taskloom.agent.graph.wiring import loaded_tools
    from taskloom.agent.settings import settings

    given = settings()
    path = config or given.tools
    if path is None:
        raise _wrong("which file? Set TASKLOOM_TOOLS, or give --config FILE")
    loaded = loaded_tools(given.model_copy(update={"tools": path}))
    try:
        yield loaded
    finally:
        loaded.close()

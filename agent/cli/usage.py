"""`taskloom threads` and `taskloom usage`: what threads there are, and what models have cost in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import typer

from .options import (
    AsJson,
    Thread,
    checked_thread,
    examples,
    given_settings,
    open_threads,
    print_json,
    program,
)

if TYPE_CHECKING:
    from taskloom.agent.threads.store import ThreadInfo
    from taskloom.agent.turn.reading import Spent

    from .prices import Prices

THREADS_EXAMPLES = examples("taskloom threads", "taskloom threads --json")
USAGE_EXAMPLES = examples(
    "taskloom usage                      of all threads",
    "taskloom usage --thread trip --json",
    "TASKLOOM_PRICES=prices.yaml taskloom usage",
)
TOKENS = ("prompt_tokens", "completion_tokens")


def list_threads(as_json: AsJson = False) -> None:
    """List the threads, the last used first, with the tokens that models have cost in them."""
    from .screen import console, thread_list

    with open_threads(given_settings(tools=False)) as opened:
        found = opened.threads()
    if as_json:
        print_json([_record(info) for info in found])
    elif found:
        console().print(thread_list(found, console().width))
    else:
        typer.echo(f"No threads yet. Begin one with: {program()} chat")


def _record(info: ThreadInfo) -> dict[str, Any]:
    return {
        "thread": info.thread,
        "turns": info.turns,
        "used": info.used.isoformat(),
        "title": info.title,
        "tokens": info.tokens,
        "models": info.spent,
    }


def usage(thread: Thread = None, as_json: AsJson = False) -> None:
    """Show model calls and tokens by model, of one thread or of all, inner agents included.

    With prices in TASKLOOM_PRICES, the cost too. Calls that long-term memory makes outside of turns belong
    to no thread, and are not counted.
    """
    from taskloom.agent.turn.reading import added

    from .prices import Prices
    from .problems import InputError
    from .screen import console, safe, table

    given, name = given_settings(tools=False), checked_thread(thread)
    prices = Prices.load(given.prices)
    with open_threads(given) as opened:
        found = [info for info in opened.threads() if name in (None, info.thread)]
    if name is not None and not found:
        raise InputError(f"there is no thread {name!r}: `taskloom threads` lists them")
    spent: Spent = {}
    for info in found:
        spent = added(spent, info.spent)
    rows = _rows(spent, prices)
    total = _total(rows)
    if as_json:
        models = {row.pop("model"): row for row in rows}
        print_json({
            "thread": name, "threads": len(found), "currency": prices.currency or None, "models": models,
            "total": total,
        })  # fmt: skip
    elif not rows:
        typer.echo("No model was asked yet.")
    else:
        columns = ["model", "calls", "sent", "written", *(["cost"] if prices.models else [])]
        shown = [_shown(row, prices) for row in [*rows, *([{"model": "all", **total}] if rows[1:] else [])]]
        console().print(table(columns, shown))
        if prices.models and (unknown := [row["model"] for row in rows if row["cost"] is None]):
            typer.echo(safe(f"Without a price in {given.prices}, and so in no sum: {', '.join(unknown)}"))


def _rows(spent: Spent, prices: Prices) -> list[dict[str, Any]]:
    """What each model cost, the most tokens first."""
    rows = []
    for model, costs in spent.items():
        cost = prices.cost(model, *(costs[name] for name in TOKENS))
        rows.append({"model": model, **costs, "cost": None if cost is None else _number(cost)})
    return sorted(rows, key=lambda row: (-sum(row[name] for name in TOKENS), row["model"]))


def _total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    known = [row["cost"] for row in rows if row["cost"] is not None]
    sums = {name: sum(row[name] for row in rows) for name in ("model_calls", *TOKENS)}
    return {**sums, "cost": _sum(known)}


def _sum(costs: Iterable[float]) -> float | None:
    found = [Decimal(str(cost)) for cost in costs]
    return _number(sum(found, Decimal())) if found else None


def _number(cost: Decimal) -> float:
    return float(round(cost, 6))


def _shown(row: dict[str, Any], prices: Prices) -> dict[str, object]:
    cost = "" if row["cost"] is None else f"{row['cost']:.4f} {prices.currency}".strip()
    names = {"calls": "model_calls", "sent": "prompt_tokens", "written": "completion_tokens"}
    return {"model": row["model"], **{name: row[key] for name, key in names.items()}, "cost": cost}

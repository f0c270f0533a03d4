"""Tools of a travel agency, answering by what they are asked alone, and a guide that is an agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.tools.registry import Registry, equip


def search_flights(origin: str, destination: str, date: str) -> list[dict[str, Any]]:
    """Search flights between two cities on a day.

    Args:
        origin: the city to leave from.
        destination: the city to fly to.
        date: the day, as the user says it.
    """
    price = 80 + 10 * (len(destination) + len(origin))
    return [
        {"flight": f"TL{len(destination)}01", "leaves": "08:10", "price_eur": price},
        {"flight": f"TL{len(destination)}07", "leaves": "17:45", "price_eur": price - 30},
    ]


def search_hotels(city: str, nights: int) -> list[dict[str, Any]]:
    """Search hotels in a city with the price of the whole stay.

    Args:
        city: where the hotel is.
        nights: how many nights.
    """
    return [
        {"hotel": f"Hotel {city} Central", "price_eur": (90 + len(city)) * nights},
        {"hotel": f"{city} Garden Inn", "price_eur": (65 + len(city)) * nights},
    ]


def price_calculator(prices: list[float], travellers: int = 1) -> float:
    """Add up prices in euros, times the number of travellers.

    Args:
        prices: the single prices.
        travellers: how many people travel.
    """
    return sum(prices) * travellers


def opening_hours(place: str) -> str:
    """Tell when a museum or sight is open.

    Args:
        place: the museum or sight.
    """
    return f"{place}: Tuesday to Sunday, 10:00 to 18:00"


def guide(given: Settings) -> Taskgraph:
    """A city guide: a Taskloom with a tool of its own, and the model of the settings."""
    inner = default_services(given.model_copy(update={"memory": False}))
    return build_graph(replace(inner, tools=Equipment(Registry([equip(opening_hours)]))))


def agency(given: Settings) -> Equipment:
    """Three tools and an inner agent, with a global context."""
    guides = equip(
        guide(given),
        name="city_guide",
        description="Plans sightseeing in a city and knows when museums are open. Tell it the city, the day"
        " and what the user likes.",
    )
    tools = [equip(search_flights), equip(search_hotels), equip(price_calculator), guides]
    context = "Prices are in euros. The agency is called <agency>."
    return Equipment(Registry(tools), context=context, shared={"agency": "Far & Near"})

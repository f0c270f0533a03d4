"""Graph maths on plain edges: order, reduction, reach and cycle test. The only importer of networkx.

Edges are a mapping from a key to the keys it points to (a task to what it rests on), or, for `reduction`, a
mapping from an edge to what it carries. Everything is deterministic: ties go by the order of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import TypeVar

# networkx takes half a second to import with what it loads, and no turn needs it: the function on it imports
# it itself.

Data = TypeVar("Data")


def reach(seeds: Iterable[str], edges: Callable[[str], Iterable[str]]) -> list[str]:
    """The seeds and all that can be reached from them, nearest first (breadth first).

    Args:
        seeds: where to start; repeated ones count once.
        edges: gives the keys that a key points to.
    """
    found = list(dict.fromkeys(seeds))
    seen = set(found)
    for key in found:  # grows while it is walked
        for other in edges(key):
            if other not in seen:
                seen.add(other)
                found.append(other)
    return found


def levels(seeds: Iterable[str], edges: Callable[[str], Iterable[str]]) -> Iterator[list[str]]:
    """What can be reached, by its distance: the seeds, then what is one edge away, and so on.

    Args:
        seeds: where to start; repeated ones count once.
        edges: gives the keys that a key points to.
    """
    level = list(dict.fromkeys(seeds))
    seen = set(level)
    while level:
        yield level
        level = [key for key in dict.fromkeys(o for k in level for o in edges(k)) if key not in seen]
        seen.update(level)


def unreached(keys: Iterable[str], edges: Callable[[str], Iterable[str]]) -> list[str]:
    """The keys that cannot be reached from any other of them, in the order given.

    An edge to each of these, and to no other of the keys, is the transitive reduction of edges to all of them
    (Aho, Garey and Ullman 1972, theorem 1). The edges must have no cycle.
    """
    keys = list(dict.fromkeys(keys))
    below = set(reach((other for key in keys for other in edges(key)), edges))
    return [key for key in keys if key not in below]


def order(keys: Iterable[str], edges: Callable[[str], Iterable[str]]) -> list[str]:
    """Topological order: what a key points to comes before it, ties in the order given.

    Args:
        keys: what to put in order; edges to anything else are left out.
        edges: gives the keys that a key points to.

    Raises:
        graphlib.CycleError: the edges have a cycle.
    """
    given = list(dict.fromkeys(keys))
    place = {key: number for number, key in enumerate(given)}
    sorter = TopologicalSorter({key: [one for one in edges(key) if one in place] for key in given})
    sorter.prepare()
    found: list[str] = []
    ready: list[int] = []  # a heap: what is ready and was given first comes next
    while sorter.is_active():
        for key in sorter.get_ready():
            heappush(ready, place[key])
        found.append(given[heappop(ready)])
        sorter.done(found[-1])
    return found


def reduction(edges: Mapping[tuple[str, str], Data]) -> dict[tuple[str, str], Data]:
    """The edges that no other path gives, with what they carry.

    `networkx.transitive_reduction` drops the data of edges, so it only says which ones to keep.

    Raises:
        networkx.NetworkXError: the edges have a cycle.
    """
    import networkx as nx

    kept = nx.transitive_reduction(nx.DiGraph(list(edges)))
    return {edge: data for edge, data in edges.items() if kept.has_edge(*edge)}


def cycle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """Some cycle, its first key again at the end, each key pointing to the next; [] where there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]  # graphlib names what comes first, first
    return []

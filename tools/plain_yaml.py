"""YAML as configurations are written in it: plain data, dates as texts, no key twice, bounded aliases."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

SIZE = 1_000_000  # bytes of a configuration, and characters that its aliases may stand for


class Dumper(yaml.SafeDumper):
    """Writes what `Loader` reads; the characters that YAML takes for line ends as escapes."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """A text, in double quotes where it has such a character."""
        style = '"' if re.search("[\x85\u2028\u2029]", data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


Dumper.add_representer(str, Dumper.represent_str)


class Loader(yaml.SafeLoader):
    """Plain data only; aliases together may stand for so much and no more, and a key may come once."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.yaml_implicit_resolvers = {
            first: [(tag, form) for tag, form in found if tag != "tag:yaml.org,2002:timestamp"]
            for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        self._size, self._aliased = 0, 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """A node, counted with all that is in it."""
        is_alias, before = self.check_event(yaml.AliasEvent), self._size
        node = super().compose_node(parent, index)
        if node is None:
            return None
        if not is_alias:
            self._size += 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
            self._sizes[id(node)] = self._size - before
            return node
        if id(node) not in self._sizes:  # it is not finished
            raise ComposerError(
                None, None, "an alias refers to the collection that contains it", node.start_mark
            )
        self._size += self._sizes[id(node)]
        self._aliased += self._sizes[id(node)]
        if self._aliased > SIZE:
            raise ComposerError(None, None, "its aliases expand to too much", node.start_mark)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys differ."""
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise ConstructorError(None, None, f"{key.value} occurs twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

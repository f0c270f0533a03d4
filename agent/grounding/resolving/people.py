"""Who is meant by a name or a pronoun: of those whom the message, the reply or the plan tell of."""

from __future__ import annotations

import re

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Detail
from taskloom.memory.words import word_set

from .naming import Naming
from .scoring import bare

SOMEBODY = word_set("he she him her his hers himself herself")
ME = word_set("i me my mine myself") | {"yours truly", "muggins"}


class People(Naming):
    """People of a message."""

    def _people(self, clause: Clause) -> list[Detail]:
        """Who a clause says has something.

        Raises:
            Doubt: it says only 'she', and nobody knows who that is.
        """
        people = [self._person(span.text) for span in clause.all("P")]
        known = [name for name in people if name.lower() not in SOMEBODY]
        if people and not known and clause.act == "assign":
            raise Doubt(f"Who is “{people[0]}”?")
        return [Detail(slot="who", value=name) for name in known]

    def _person(self, text: str) -> str:
        """Somebody's name; a pronoun means who was last spoken of, where somebody was."""
        name = re.sub(r"['’]s$", "", bare(text))
        if len(both := re.split(r"\s+and\s+", name)) > 1:
            return " and ".join(map(self._person, both))
        said = re.split(r"[\s'’]+", name.lower())
        if name.lower() in ME or said[0] in ("i", "im", "ill", "ive"):
            return "me"
        if not set(said) <= SOMEBODY:
            return self._known_by(name)
        before, reply = self.view.exchanges[-1] if self.view.exchanges else ("", "")
        known = [node.value or "" for node in self.graph.active if is_assignee(node)]
        here = {
            one for one in known if one.lower() != "me" and re.search(rf"\b{re.escape(one)}\b", self.said)
        }
        if len(here) == 1:
            return next(iter(here))
        if here:
            raise Doubt(f"Who is “{text}”?")
        for heard in (reply, before):
            places = [(heard.lower().rfind(one.lower()), one) for one in known if one.lower() != "me"]
            if (last := max(places, default=(-1, "")))[0] >= 0:
                return last[1]
        return name

    def _known_by(self, name: str) -> str:
        """A name without the 's' of a verb, where that is somebody in a plan: 'Sams on the hood'."""
        short = name[:-1] if re.fullmatch(r"[^\W\d_]{2,}s", name) else ""
        if not short:
            return name
        held = {(node.value or node.title).lower(): node.value or node.title for node in self.graph.active}
        known = held.get(short.lower())
        return known if known is not None and name.lower() not in held else name

    def _somebody(self, name: str) -> str:
        """What joins a list; 'she' is who was spoken of.

        Raises:
            Doubt: nobody knows who that is.
        """
        if name.lower() in ("it", "this", "that", "them", "em"):
            raise Doubt(f"What is “{name}”?")
        if name.lower() not in SOMEBODY:
            return name
        if (who := self._person(name)).lower() in SOMEBODY:
            raise Doubt(f"Who is “{name}”?")
        return who

"""Speech acts about people: who does what.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import NAME, list_words, noun_phrase_of, step_of
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import names

if TYPE_CHECKING:
    from .rules import Reader


def read_assign(reader: Reader, clause: Clause) -> list[Step]:
    """'Assign the slides to Ken', 'Sofia takes Instagram, Raj does the rest', 'hand it over to Omar'."""
    core = clause.core
    pair = rf"(?:{NAME}|me)(?:(?:,| and|, and) {NAME})* (?:to|on) [\w' -]+?"
    if found := re.fullmatch(
        rf"(?i:assign|put) (?P<pairs>{pair}(?:(?:,| and|, and) (?:the rest(?: \([^)]*\))?|the others|{NAME}(?: and {NAME})*) (?:to|on) [\w' -]+?)+)",
        core,
    ):
        steps: list[Step] = []
        shares = re.finditer(
            rf"(?P<p>the rest \([^)]*\)|the rest|the others|{NAME}(?: and {NAME})*) (?:to|on) (?P<x>[\w' -]+?)(?=,|$| and (?:the rest|the others|[A-Z]))",
            found["pairs"],
        )
        for share in shares:
            person, x = share["p"], share["x"]
            named = re.search(r"\(([^)]*)\)", person)
            steps += step_of(clause, "assign", target=x, value=named[1] if named else person, slot="assignee")
        if len(steps) > 1:
            return steps
    if found := re.fullmatch(
        rf"(?P<q>{NAME}) (?:has )?(?:handed|gave|passed|given|transferred) (?:over )?(?P<x>.+?) (?:over |on )?to (?P<p>{NAME})",
        core,
    ):
        held = [
            node
            for node in reader.view.graph.active
            if names(found["q"], node.title) or names(found["q"], node.value)
        ]
        if held:
            return [
                Step(
                    text=clause.text,
                    act="replace",
                    intent="update",
                    old=found["q"],
                    value=found["p"],
                    everywhere=True,
                )
            ]
        return step_of(
            clause,
            "assign",
            target=re.sub(r"^(?:his|her|their)\s+", "", found["x"]),
            value=found["p"],
            slot="assignee",
            old=found["q"],
        )
    if found := re.fullmatch(
        rf"(?i:give|hand over|hand|move|pass|transfer|assign|reassign) (?:all|everything|(?=his |her |their ))(?: of)?\s?(?:(?:his|her|their|(?P<q>{NAME})'s) (?:stuff|things|tasks|work|chores|jobs|duties|items|part|share|responsibilities))? (?:over )?to (?P<p>{NAME})",
        core,
    ):
        gone = found["q"] or reader.missing or next(iter(reader.mentioned), "")
        if gone:
            return [
                Step(
                    text=clause.text,
                    act="replace",
                    intent="update",
                    old=gone,
                    value=found["p"],
                    everywhere=True,
                )
            ]
    if found := re.fullmatch(
        rf"(?i:give|hand over|hand|pass|transfer|assign|reassign) (?P<q>{NAME})'s \w+(?: \w+)? (?:over )?to (?P<p>{NAME})",
        core,
    ):
        if reader.known(found["q"]):
            return [
                Step(
                    text=clause.text,
                    act="replace",
                    intent="update",
                    old=found["q"],
                    value=found["p"],
                    everywhere=True,
                )
            ]
    who = rf"(?P<p>{NAME}|me|everyone|him|her|them)"
    known = known_people(reader)
    if known:
        who = rf"(?P<p>{NAME}|{'|'.join(map(re.escape, known))}|me|everyone|him|her|them)"
    patterns = (
        rf"(?:re-?assign|assign|give|hand over|hand|delegate|pass|transfer|move|allocate|leave) (?P<x>.+?) (?:over )?to {who}",
        rf"(?:re-?assign|assign|put) {who} (?:to|on|in charge of|down for|at) (?P<x>.+)",
        rf"(?:let|have|get|ask|make) {who} (?:to )?(?P<x>(?:do|handle|take care of|take over|take|run|lead|organi[sz]e|write|book|bring|make|cook|buy|be responsible for|be in charge of|look after|manage|prepare|cover|drive|print|design|review|order|pick up|call|sort|host|set up|paint|deal with)\b.+)",
        rf"{who} (?:is|will be|should be|are|'s|to be|'ll be) (?:responsible for|in charge of|on|doing|handling|taking care of|taking|leading|the owner of|assigned to|covering|running|looking after|managing|bringing|making|organi[sz]ing|the lead for|on duty for) (?P<x>.+)",
        rf"{who} (?:will|should|can|shall|is going to|'ll|must|has to|needs to|would|wants to) (?:take over|take care of|take|handle|do|run|lead|cover|look after|manage|own|be in charge of|be responsible for|deal with|get) (?P<x>.+?)(?: from (?P<q>{NAME}))?",
        rf"{who} (?:takes over|takes care of|takes|handles|does|runs|leads|covers|looks after|manages|owns|drives|gets|keeps) (?P<x>.+?)(?: from (?P<q>{NAME}))?",
        rf"(?P<x>.+?) (?:goes|go|is|are) (?:now )?(?:over )?(?:to|for|with|handled by|done by|led by|assigned to|run by|up to) {who}",
        rf"(?P<x>.+?) (?:is|are) {who}'s (?:job|task|responsibility|thing|turn|baby)(?:, not .*)?",
    )
    for number, pattern in enumerate(patterns):
        found = re.fullmatch(pattern, core)
        if not found:
            found = re.fullmatch(pattern, core, re.IGNORECASE)
            if not found or not (
                found["p"][:1].isupper()
                or found["p"].lower() in known
                or found["p"].lower() in ("me", "everyone", "him", "her", "them")
            ):
                continue
        x, person = found["x"], found["p"]
        if re.match(
            r"(?:the|it|that|we|i|you|they|this|these|there|he|she|let|don|who|what)\b", person, re.IGNORECASE
        ):
            continue
        if number == 5 and re.search(r"\b(?:takes|gets|keeps) (?:place|off|\d)", core):
            continue
        if number == 6 and not reader.known(x):
            continue
        if values.kind_of(person) or re.match(
            r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b", person
        ):
            continue
        if (
            re.fullmatch(r"(?:give|move|leave|pass|transfer)", core.split()[0], re.IGNORECASE)
            and number == 0
            and not (reader.known(x) or noun_phrase_of(x) == "" or person in known)
        ):
            if core.lower().startswith("move"):
                continue
        if number == 0 and core.lower().startswith("move") and not is_person(reader, person):
            continue
        x = re.sub(
            r"^(?:do|handle|take care of|take over|take|run|lead|manage|cover|look after|be responsible for|be in charge of|deal with)\s+",
            "",
            x,
        )
        rest = re.fullmatch(
            r"(?:the )?(?:rest|others|other ones|remaining (?:ones|tasks|items)|everything else|all the rest)(?: .*)?",
            x,
            re.IGNORECASE,
        )
        if rest:
            return step_of(clause, "assign", target="", value=person, everyone=True, slot="assignee")
        items = list_words(x)
        if len(items) > 1 and all(reader.known(item) for item in items):
            return [
                step
                for item in items
                for step in step_of(clause, "assign", target=item, value=person, slot="assignee")
            ]
        return step_of(
            clause, "assign", target=x, value=person, slot="assignee", old=found.groupdict().get("q")
        )
    return []


def known_people(reader: Reader) -> list[str]:
    """Lower-case names of members in the plan, for people who do not type capitals."""
    people = (node for node in tasks_in_role(reader.view.graph, "person") if node.active)
    return [(node.value or node.title).lower() for node in islice(people, 50)]


def is_person(reader: Reader, word: str) -> bool:
    """Whether a word is the name of somebody in the plan."""
    return word.lower() in known_people(reader) or any(
        names(word, node.value) for node in tasks_in_role(reader.view.graph, "assignee")
    )

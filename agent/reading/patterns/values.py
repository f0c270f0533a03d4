"""Speech acts that give values: settings, statements, bare values.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    NAME,
    SLOT_OF_KIND,
    covers,
    details_of,
    has_verb,
    list_words,
    matcher,
    names_event,
    noun_phrase_of,
    slot_name,
    step_of,
    typed_details,
)
from taskloom.agent.language.smalltalk import is_past
from taskloom.agent.language.words import content, is_event, singular, slot_group
from taskloom.agent.turn.steps import Detail, Step

if TYPE_CHECKING:
    from .rules import Reader


def read_set(reader: Reader, clause: Clause) -> list[Step]:
    """Every common way to give a slot its value."""
    core = clause.core
    if found := re.fullmatch(
        r"(?:i'?m|i am|(?:he|she|they|it|my \w+|[A-Z]\w+)(?:'s| is| are)) (?P<n>\w+(?:[ -]\w+)?) (?:years?|yrs?)[ -]old",
        core,
        re.IGNORECASE,
    ):
        return step_of(clause, "set", target="age", slot="age", value=found["n"], intent=None)
    if found := re.fullmatch(
        r"(?:i'?m|i am|(?:he|she|they|it|my \w+)(?:'s| is| are)) allergic to (?P<x>.+)", core, re.IGNORECASE
    ):
        return step_of(clause, "set", target="allergies", slot="allergies", value=found["x"], intent=None)
    if found := re.fullmatch(
        r"(?P<x>[\w' ]+? )?(?P<v>starts?|begins?|ends?|finish(?:es)?|start|begin) (?:on|at|in) (?P<value>.+?)(?: instead)?",
        core,
        re.IGNORECASE,
    ):
        details = typed_details(found["value"])
        if (
            details
            and covers(values.spot("at " + found["value"]), "at " + found["value"])
            and details[0].slot in ("date", "time")
        ):
            edge = "end" if found["v"].lower().startswith(("end", "finish")) else "start"
            task = (
                found["x"]
                and reader.names_task(noun_phrase_of(found["x"]))
                and is_event(noun_phrase_of(found["x"]))
            )
            if edge == "start":
                return step_of(
                    clause, "set", target=found["x"] if task else "", value=found["value"], details=details
                )
            return step_of(
                clause,
                "set",
                target=f"{edge} {details[0].slot}",
                slot=f"{edge}_{details[0].slot}",
                value=details[0].value,
            )
    if found := re.fullmatch(
        r"(?:rename|retitle) (?P<x>.+?) (?:to|as|into)? ?(?P<value>[A-Z\"'].*|(?<=to ).+)",
        core,
        re.IGNORECASE,
    ):
        return step_of(
            clause,
            "set",
            target=re.sub(r"\s+(?:to|as|into)$", "", found["x"]),
            value=re.sub(r"^(?:to|as|into)\s+", "", found["value"]),
            old="title",
        )
    core = re.sub(
        r",?\s+(?:because|since|as (?:the|my|i|we|it)|so that|due to|thanks to|now that)\b.*$",
        "",
        core,
        flags=re.IGNORECASE,
    )
    if found := re.fullmatch(
        r"(?:we|it|they)(?:'re| are|'s| is)(?: now)? (?:at|up to|down to|now at) (?P<n>\d+)(?: (?P<noun>\w+))?(?: now)?",
        core,
        re.IGNORECASE,
    ):
        if not (
            reader.view.graph
            and any(
                node.name == "time" and node.turn >= reader.view.turn - 1 for node in reader.view.graph.active
            )
        ):
            return step_of(
                clause,
                "set",
                target="",
                value=found["n"],
                details=(Detail(slot="count", value=f"{found['n']} {found['noun'] or 'people'}"),),
            )
    m = matcher(core)
    for pattern in (
        r"(?P<target>.+?) (?:should|must|has to|needs to|ought to|can|shall|will) (?:be )?(?:moved?|go|changed?|pushed|switched|rescheduled|shifted) (?:to|on|at|for) (?P<value>.+)",
        r"(?P<target>(?!i\b|we\b)[\w' -]+?)(?: has| have|'s|'ve)? (?:slips?|slipped|moves|shifts|shifted|jumps|goes|changes|changed|moved) (?:up |down |back |out )?to (?P<value>.+)",
        r"(?:move|reschedule|shift|bring|push|postpone|delay|switch|change|bump|adjust|update|advance|set)(?: (?:it|that|this|them|things|the (?:whole )?(?:thing|event)))?(?: up| back| forward| over| out)? (?:to|for|until|till|at|on|into|as) (?P<value>.+)",
        r"(?:move|reschedule|shift|push|postpone|delay|relocate|bring|bump|put off|put|transfer|advance)\s+(?P<target>(?!to\b|it\b).+?)(?: up| back| forward| over| out)? (?:to|until|till|into|onto|for) (?P<value>.+)",
        r"(?:they|he|she|we|i|the \w+)(?:'ve| have| has| just)* (?:moved|rescheduled|pushed|changed|shifted|switched|postponed|updated|set|delayed|bumped) (?P<target>.+?) (?:back )?to (?P<value>.+)",
        r"(?P<target>.+?) (?:has been|was|were|got|have been|is|are|gets|'s been|is being|will be) (?:moved|rescheduled|pushed|changed|shifted|switched|postponed|updated|relocated|delayed|bumped|set|renamed|raised|lowered|fixed)(?: back| up| forward)? (?:to|for|until|at|on) (?P<value>.+)",
        r"(?:change|set|update|switch|adjust|alter|modify|make|fix|correct|edit|raise|lower|increase|decrease|bump|reduce|lift|bring|drop|cut|extend|up|revise|amend|rename|turn|convert|set up) (?P<target>(?!it\b|that\b|this\b).+?)(?: up| down| over| back)? (?:to|as|into) (?:be )?(?P<value>.+)",
        r"(?:make|set|change|switch|update|turn|call|name|rename|put|keep|do|have|hold|start|schedule) (?:it|that|this|them|this one|that one|the (?:thing|whole thing))(?: to| into| as| at| on| for| be| in)?\s+(?P<value>.+)",
        r"(?:make|set) (?P<target>(?:the|my|our) [\w' -]+?) (?P<value>(?:a |an |the )?[A-Z$€£\d].*|a\s.+|an\s.+|[a-z-]+)",
        r"(?:i|we|they|it)(?:'ve| have)? (?:decided|settled|agreed|chosen|opted) (?:on|for|to use|to go with|to go for|upon)?\s*(?P<value>.+?) (?:for|as) (?P<target>(?:the |my |our )?.+)",
        r"(?:let'?s |we'?ll |i'?ll |i'?d like to |we )?(?:go|going|went|gonna go|will go) (?:with|for) (?P<value>.+?)(?: (?:for|as) (?P<target>(?:the |my |our )?[\w' -]+))?",
        r"(?:we(?:'re| are)|i(?:'m| am)) (?:thinking(?: of| about)?|leaning towards?|going with|going for|picking|choosing|opting for|calling|naming|looking at) (?P<value>.+?) (?:for|as) (?P<target>(?:the |my |our ).+)",
        r"(?:for|as) (?P<target>(?:the |my |our |a )?[\w' -]+?),? (?:use|take|put|choose|pick|go with|let'?s use|let'?s go with|let'?s do|let'?s have|let'?s take|write|set|have|enter|i'?d like|i want|we want|we'?ll use|we'?ll have|i prefer|i'?ll use|i'?ll take|book) (?P<value>.+)",
        r"(?:use|take|put|put down|choose|pick|enter|write|select|have|book|get) (?P<value>.+?) (?:as|for) (?P<target>(?:the |my |our ).+)",
        r"(?:i|we)(?:'m| am|'re| are) (?:calling|naming) (?P<target>.+?) (?P<value>[A-Z\"'].*)",
        r"(?:call|name|title) (?P<target>(?:it|the \w+|my \w+|our \w+)) (?P<value>.+)",
        r"(?:i|we)(?:'d| would)? (?:prefer|rather have|rather stay|rather do|rather go|rather) (?P<value>.+)",
        r"(?:stick|stay) (?:with|to) (?P<value>.+)",
        r"(?:do|have|try|say|take|choose|pick|prefer|meet|go|start|leave|come) (?:it )?(?P<value>.+)",
    ):
        found = m(pattern)
        if not found:
            continue
        if pattern.startswith("(?:do|have|try") and not covers(
            values.spot(found["value"]) or (), found["value"]
        ):
            continue
        groups = found.groupdict()
        target, value = groups.get("target") or "", groups["value"]
        if "slips?" in pattern and re.fullmatch(r"[A-Z]\w+", target) and not reader.known(target):
            return [reader.chat(clause)]  # a person that moved to Bergen is no slot
        if steps := setting(reader, clause, target, value, pattern):
            if (
                re.match(
                    r"(?:move|relocate|shift|push|bring|reschedule|postpone|pull)\b", core, re.IGNORECASE
                )
                and steps[0].act == "set"
                and steps[0].old is None
            ):
                steps = [steps[0].model_copy(update={"old": "move"}), *steps[1:]]
            return steps
    return read_is(reader, clause, core)


SLOT_OF = re.compile(
    r"(?:the |my |our )?(?P<slot>[\w ]+?) (?:of|for) (?:the |my |our )?(?P<x>[\w' -]+)", re.IGNORECASE
)


def read_of(reader: Reader, clause: Clause) -> list[Step]:
    """'Set the date of the trip to Rome to May 3', 'make the venue of the talk in Boise the Blue Room instead'."""
    core = re.sub(r"\s+(?:instead|please|now)$", "", clause.core, flags=re.IGNORECASE)
    opened = re.match(
        r"(?:make|set|change|update|switch|move|put|adjust|correct)\s+(?=(?:the|my|our)\s)",
        core,
        re.IGNORECASE,
    )
    if not opened:
        return []
    words = core[opened.end() :].split()
    for cut in range(len(words) - 1, 2, -1):  # the longest target that is known
        target, value = " ".join(words[:cut]), " ".join(words[cut:])
        found = SLOT_OF.fullmatch(target)
        if (
            not found
            or not reader.names_task(found["x"])
            or re.match(r"(?:of|for|in|at)\b", value, re.IGNORECASE)
        ):
            continue
        value = re.sub(r"^(?:to|as|into|on|at)\s+(?=\S)", "", value)
        if re.fullmatch(r"back(?: to .*)?", value, re.IGNORECASE):
            return []
        return step_of(
            clause, "set", target=target, slot=slot_name(found["slot"]), within=found["x"], value=value
        )
    return []


def setting(reader: Reader, clause: Clause, target: str, value: str, pattern: str) -> list[Step]:
    """The step for a value that was found by a pattern, with its typed parts."""
    target, raw = noun_phrase_of(target), value
    value = re.sub(
        r"\s+(?:please|instead|then|now|for everyone|for everybody|for all(?: of us)?|if possible)$",
        "",
        value.strip(" .,!"),
        flags=re.IGNORECASE,
    )
    value = re.sub(
        r"^(?:be|use|have|now|rather|instead|exactly|more like)\s+", "", value, flags=re.IGNORECASE
    )
    old = None
    if swap := reader.old_new(value):
        old, value = swap
    if (pair := re.fullmatch(r"(?P<target>.+?) from (?P<old>.+)", target)) and reader.known(pair["old"]):
        target, old = pair["target"], pair["old"]
    if (pair := re.fullmatch(r"from (.+?) to (.+)", value, re.IGNORECASE)) and reader.known(pair[1]):
        old, value = pair[1], pair[2]
    if pattern.startswith((r"(?:let'?s |we'?ll", r"(?:i|we)(?:'d| would)? (?:prefer")) and not target:
        if pair := re.fullmatch(r"(.+?) (?:than|over|rather than|instead of) (.+)", value):
            return step_of(
                clause,
                "replace",
                old=re.sub(r"^(?:near|in|at|on) ", "", pair[2]),
                value=re.sub(r"^(?:stay |go |do |have |take )?(?:near |in |at |on )?", "", pair[1]),
                everywhere=True,
            )
    if pattern.startswith(r"(?:make|set) (?P<target>(?:the|my|our)") and re.match(
        r"(?:sure|list|plan|reservation|call)\b", value
    ):
        return []
    if pattern.startswith(r"(?:use|take|put|put down") and re.match(
        r"(?:care|a look|note|time|place|into account)\b", value
    ):
        return []
    if pattern.startswith(r"(?:use|take|put|put down") and not (slot_group(target) or reader.known(target)):
        return []
    if len(value.split()) > 20:
        return []
    spans = values.spot(value, loose=True)
    if len({span.kind for span in spans}) < len(spans):
        return []
    details = typed_details(value)
    if (
        not details
        and re.fullmatch(r"\d{1,2}(?::\d\d)?(?:\s*,?\s*(?:sharp))?", value)
        and re.match(
            r"(?:move|push|shift|reschedule|make|change|let'?s do|do|bring)", clause.core, re.IGNORECASE
        )
    ):
        details = (Detail(slot="number", value=value),)
    if len(spans) > 1 or (spans and covers(spans, value)):
        return step_of(clause, "set", target=target, value=value, details=details, old=old)
    return step_of(
        clause,
        "set",
        target=target,
        value=value if not raw.startswith('"') else raw,
        old=old,
        details=details if not target else (),
    )


def read_is(reader: Reader, clause: Clause, core: str) -> list[Step]:
    """'The date is June 10th', 'my name should be John', 'it's 9 PM', 'the host will be Nadia'."""
    if found := re.fullmatch(
        rf"(?P<who>{NAME}(?:(?:, and|,| and) {NAME})+) (?:are|will be) (?:the |our |my )?(?P<role>[a-z][\w ]*s)",
        core,
    ):
        role = found["role"]
        return step_of(
            clause,
            "add",
            intent=None,
            target=role,
            within=role,
            items=tuple(
                Detail(slot=singular(slot_name(role)), value=person) for person in list_words(found["who"])
            ),
        )
    core = re.sub(
        r"^(it|that|this|he|she|(?:the|my|our|his|her) [\w -]{2,30}?|[A-Za-z]+)'s (?=\S)",
        lambda m: (
            f"{m[1]} is "
            if not re.search(r"\b(?:is|are|was|will|should|has)\b", core[m.end() :])
            and not has_verb(core)
            and (
                m[1].lower() in ("it", "that", "this", "he", "she")
                or values.spot(core[m.end() :])
                or slot_group(noun_phrase_of(m[1]))
            )
            else m[0]
        ),
        core,
        flags=re.IGNORECASE,
    )
    found = re.fullmatch(
        r"(?P<target>(?:the |my |our |his |her |their |its |your |a |this )?[\w'/&. -]{1,70}?)\s*(?:,\s*)?(?:\b(?:is|are|was|will be|should be|shall be|has to be|have to be|must be|ought to be|needs? to be|can be|would be|becomes?|remains?|is going to be|equals?|costs?|is called|are called|is named|goes by|starts? at|starts? on|begins? at|begins? on|ends? at|ends? on|lasts|takes place (?:on|at|in)|happens (?:on|at|in)|'ll be)\b|=)\s+"
        r"(?:now |then |actually |currently |probably not |instead |supposed to be |going to be |called |named |set to |set for |planned for |scheduled for |due (?:on|by|at)? ?|at |on |in )*(?P<value>.+)",
        core, re.IGNORECASE,
    )  # fmt: skip
    if not found:
        return []
    target, value = found["target"].strip(), found["value"].strip()
    if re.search(r"\b(?:not|never|n't)\b", target) or re.match(
        r"(?:there|who|what|that'?s why|here)\b", target, re.IGNORECASE
    ):
        return []
    if re.match(r"(?:not (?!sure)|n't )", value):
        if pair := re.fullmatch(r"not (.+?)[,;]? (?:but|it'?s|rather) (.+)", value, re.IGNORECASE):
            return step_of(clause, "set", target=noun_phrase_of(target), value=pair[2], old=pair[1])
        return []
    pronoun = re.fullmatch(r"(?:it|that|this|they|he|she)", target, re.IGNORECASE)
    if re.match(r"(?:i|we|you)$", target, re.IGNORECASE):
        return []
    if re.match(
        r"(?:a bit|so|very|too|really|quite|pretty|kind of|such a?|just a|a nightmare|crazy|great|nice|funny|lovely|amazing|weird|annoying|raining|snowing|sunny|cold|hot|beautiful|good|bad|fine|ok|okay|busy|ill|sick|allergic|tired|free|only free|late|sleeping|arguing|a good|a great|hard|easy|difficult|tough|boring|exhausting|stressful|scary|expensive stuff|overrated|fun|gorgeous|wonderful|driving|getting|coming along)\b",
        value,
        re.IGNORECASE,
    ):
        return [reader.chat(clause)]
    if (
        re.match(r"\w+ing\b", value)
        and not values.spot(value)
        and not pronoun
        and value.split()[0].lower()
        not in (
            "parking",
            "catering",
            "wedding",
            "painting",
            "training",
            "building",
            "onboarding",
            "evening",
            "morning",
            "pricing",
            "hiring",
            "hiking",
            "camping",
            "swimming",
            "spring",
            "string",
        )
    ):
        return []
    group = slot_group(noun_phrase_of(target))
    spans = values.spot(value)
    value = re.sub(r"\s+(?:now|instead|then|please|by the way|from now on)$", "", value, flags=re.IGNORECASE)
    old = None
    if swap := reader.old_new(value):
        old, value = swap
    if pronoun:
        if not spans and not reader.known(value) and not old and not clause.correction:
            if not re.match(r"(?:a|an|the)\s|[A-Z]", value):
                return []
            if not reader.view.focus:
                return []
        if not spans and not clause.correction and not old and not re.match(r"[A-Z]", value):
            return []
        return step_of(
            clause,
            "set",
            target="",
            value=value,
            old=old,
            details=typed_details(value) if spans and covers(spans, value) else (),
        )
    name = noun_phrase_of(target)
    if spans and not group and (reader.known(name) or names_event(name)):
        bare, details, items = details_of(
            f"{name} {core[found.start('value') :] if not re.match(r'(?:on|at|in)', value) else value}"
        )
        del bare
        prepped = re.search(
            r"\b(?:is|are|will be|starts?|begins?|takes place|happens)\s+((?:on|at|in|from|for|by)\s+.+)$",
            core,
            re.IGNORECASE,
        )
        if prepped:
            _, details, items = details_of(f"{name} {prepped[1]}")
        if details and (covers(spans, value) or len(details) > 1 or items):
            if covers(spans, value) and len(spans) == 1:
                details = typed_details(value)
            return step_of(clause, "set", target=name, value=value, details=details, items=items, old=old)
    if (
        reader.known(name)
        and not group
        and re.fullmatch(
            r"(?:all |already |now )?(?:\w{3,}ed|\w{3,}en|laid|cut|dug|hung|sown|grown|made|built|bought|sent|paid|sewn|done|up|in place)",
            value,
        )
    ):
        return step_of(clause, "done", target=name)
    if (
        not group
        and not spans
        and not re.match(r"(?:[A-Z\"'$€£\d]|a\s|an\s|the\s)", value)
        and not reader.known(name)
        and len(name.split()) > 3
    ):
        return []
    if len(value.split()) > 15:
        return []
    located = re.search(
        r"\b(?:is|are|was|will be|takes place|happens)\s+(?:in|at)\s+(?P<v>[A-Z].*|the\s.+)$", core
    )
    if located and not group and not spans:
        return step_of(
            clause, "set", target=name, value=value, details=(Detail(slot="place", value=value),), old=old
        )
    if slot_group(name) == "assignee" or re.fullmatch(r"responsible for .*", value):
        return []
    if found2 := re.fullmatch(r"(?P<slot>[\w ]+?) (?:of|for) (?:the |my |our )?(?P<x>[\w' -]+)", name):
        if slot_group(found2["slot"]) or reader.known(found2["x"]):
            return step_of(
                clause,
                "set",
                target=name,
                slot=slot_name(found2["slot"]),
                within=found2["x"],
                value=value,
                old=old,
            )
    if found2 := re.fullmatch(r"(?P<x>[\w -]+?)(?:'s|s') (?P<slot>[\w ]+)", name):
        return step_of(
            clause,
            "set",
            target=name,
            slot=slot_name(found2["slot"]),
            within=found2["x"],
            value=value,
            old=old,
        )
    return step_of(clause, "set", target=name, slot=slot_name(name), value=value, old=old,
                 details=typed_details(value) if spans and covers(spans, value) and not group else ())  # fmt: skip


FRAMES: tuple[tuple[str, str], ...] = (
    (
        r"(?:depart|departing|leave|leaving|fly out|flying|fly|start|starting|go|going|travel|travelling|traveling|set off|come|coming)\b.*?\bfrom\s+(?P<value>.+?)",
        "start",
    ),
    (
        r"(?:go|going|fly|flying|travel|travelling|traveling|drive|driving|head|heading|move|moving)\b.*?\bto\s+(?P<value>.+?)",
        "destination",
    ),
    (
        r"(?:leave|leaving|depart|departing|go|going|start|starting|travel|fly|move in|arrive|arriving|set off)\b.*?\bon\s+(?P<value>.+?)",
        "date",
    ),
    (r"(?:stay|staying|be staying|sleep)\s+(?:at|in)\s+(?P<value>.+?)", "hotel"),
    (r"(?:stay|staying)\s+(?:for\s+)?(?P<value>.+?)", "duration"),
    (
        r"(?:spend|pay|have)\s+(?:at most |up to |around |about |only |max(?:imum)? )?(?P<value>[$€£\d].*)",
        "budget",
    ),
    (r"(?:live|living|reside)\s+(?:at|in|on)\s+(?P<value>.+?)", "address"),
    (
        r"(?:meet|meeting|gather|gathering|camp|camping|eat|celebrate|start)\s+(?:up )?(?:at|in)\s+(?P<value>.+?)",
        "place",
    ),
    (r"(?:work|working)\s+(?:at|for)\s+(?P<value>.+?)", "employer"),
    (r"(?:was|were) born\s+(?:on|in)?\s*(?P<value>.+?)", "date_of_birth"),
)


def read_schedule(reader: Reader, clause: Clause) -> list[Step]:
    """'Do the latter on Sunday', 'have the call at 5': a known task gets its day or time."""
    found = re.fullmatch(
        r"(?:do|have|hold|schedule|plan|put|place|start|make|keep) (?P<x>(?:the |my |our |that |this ).+?) (?P<rest>(?:on|at|for|to|in) .+)",
        clause.core,
        re.IGNORECASE,
    )
    if not found:
        return []
    spans = values.spot(found["rest"])
    x = noun_phrase_of(found["x"])
    if (
        spans
        and covers(spans, found["rest"])
        and (reader.known(x) or re.fullmatch(r"(?:former|latter|first|second|last)(?: one)?", x))
    ):
        return step_of(clause, "set", target=x, value=found["rest"], details=typed_details(found["rest"]))
    return []


def read_frames(reader: Reader, clause: Clause) -> list[Step]:
    """'I will depart from Chicago', 'I want to leave on June 10th', 'I'm John', 'you can reach me at ...'."""
    core = clause.core
    body = re.sub(
        r"^(?:i|we)(?:'m| am|'re| are|'ll| will|'d| would)?(?: be| also| now| actually| like to| love to| want to| need to)*\s+",
        "",
        core,
        flags=re.IGNORECASE,
    )
    personal = body != core or clause.request
    if found := re.fullmatch(
        r"(?:i'?m|i am|this is|it'?s|they call me|people call me|call me)\s+(?P<value>[A-Z][\w'.-]+(?:\s+[A-Z][\w'.-]+)*)(?: speaking| here)?",
        core,
    ):
        if (
            not re.match(r"(?:I|OK|Yes|No)\b", found["value"])
            and not values.kind_of(found["value"])
            and core.lower().startswith(("i", "call", "they", "people", "this is"))
        ):
            return step_of(clause, "set", target="name", slot="name", value=found["value"], intent=None)
    if found := re.fullmatch(
        r"(?:you can )?(?:reach|contact|email|e-mail|mail|call|text|write)\s+(?:me|us)\s+(?:at|on|under|via)\s+(?P<value>\S.*)",
        core,
        re.IGNORECASE,
    ):
        kind = values.kind_of(found["value"])
        if kind in ("email", "phone"):
            return step_of(clause, "set", target=kind, slot=kind, value=found["value"], intent=None)
    if not personal:
        return []
    spans = values.spot(body)
    if found := re.fullmatch(
        r"(?:i'?m|i am)\s+(?P<n>\d{1,3})(?: years old)?(?:,? actually)?(?:,? not (?P<old>\d+))?(?:,? actually)?",
        core,
        re.IGNORECASE,
    ):
        if found["old"] and reader.known(found["old"]):
            return step_of(clause, "replace", old=found["old"], value=found["n"], everywhere=True)
        return step_of(clause, "set", target="age", slot="age", value=found["n"], intent=None)
    if found := re.fullmatch(
        r"(?:have|got|bring)\s+(?P<value>\d+ \w+|\w+ years?) of (?P<slot>[\w ]+)", body, re.IGNORECASE
    ):
        return step_of(
            clause,
            "set",
            target=found["slot"],
            slot=slot_name(found["slot"]),
            value=found["value"],
            intent=None,
        )
    if found := re.fullmatch(
        r"(?:also )?(?P<verb>speak|know|play|own|drive|study|studied|hold|teach|collect|do)\s+(?P<x>[A-Z].*)",
        body,
    ):
        return step_of(
            clause,
            "add",
            intent=None,
            target="",
            items=tuple(Detail(slot=found["verb"], value=word) for word in list_words(found["x"])),
        )
    if re.search(r"\bfrom\s+[A-Z]", body) and re.search(r"\bto\s+[A-Z]", body):
        return []
    _, told, people = details_of(body)
    if len(told) + len(people) > 1:
        return []
    for pattern, slot in FRAMES:
        found = re.fullmatch(pattern, body, re.IGNORECASE)
        if not found:
            continue
        value = found["value"].strip(" .,")
        if slot == "date" and values.kind_of(value) != "date":
            continue
        if slot == "duration" and values.kind_of(value) != "duration":
            continue
        if slot == "budget" and values.kind_of(value) not in ("amount", "count"):
            continue
        if slot in ("start", "destination", "hotel", "address", "place"):
            if (
                not re.match(r"(?:the )?(?:[A-Z\d]|a |an |downtown)", value)
                or len(spans) > (1 if slot == "address" else 0)
                or re.search(r"\b(?:from|to)\b", value)
            ):
                continue
        return step_of(clause, "set", target=slot, slot=slot, value=value, intent=None)
    return []


def read_bare_value(reader: Reader, clause: Clause) -> list[Step]:
    """'at 1 PM', 'Friday', 'jonas@example.com', 'for four people': a value on its own."""
    core = clause.core
    spans = values.spot(core)
    if spans and covers(spans, core):
        return step_of(
            clause,
            "set",
            target="",
            value=core,
            details=tuple(Detail(slot=SLOT_OF_KIND.get(s.kind, s.kind), value=s.text) for s in spans),
            intent=None,
        )
    if re.match(r"(?:at|on|for|in|near|from)\b", core, re.IGNORECASE) and len(core.split()) <= 12:
        _, details, items = details_of("x " + core)
        if details or items:
            return step_of(clause, "set", target="", value=core, details=details, items=items, intent=None)
    return []


def read_statement(reader: Reader, clause: Clause) -> list[Step]:
    """A sentence about the plan: 'my flight leaves on March 3 at gate B12', 'we picked Blue Spoon as the caterer'."""
    core = clause.core
    if is_past(core):
        return []
    if found := re.fullmatch(
        r"(?:we|i)(?:'ve| have)? (?:picked|chose|chosen|booked|selected|hired|named|decided on|settled on|went with|got|took|reserved) (?P<value>.+?) (?:as|for) (?P<target>(?:the |our |my ).+)",
        core,
        re.IGNORECASE,
    ):
        return step_of(
            clause,
            "set",
            target=found["target"],
            value=found["value"],
            slot=slot_name(noun_phrase_of(found["target"])),
            intent=None,
        )
    if found := re.fullmatch(
        r"(?P<target>(?:the |my |our )[\w' -]+?|[A-Z][\w' -]+?) (?:leaves?|departs?|lands?|arrives?|starts?|begins?|ends?|takes place|took place|happened|happens?|comes?|opens?|closes?|runs?|goes|is|are|reads?|lasts|costs?|falls|meets?|reads|flies|plays?|gives?|sells?)\s+(?P<rest>.+)",
        core,
    ):
        _, details, items = details_of(f"{found['target']} {found['rest']}")
        target = noun_phrase_of(found["target"])
        spans = values.spot(found["rest"])
        if details or items:
            bare = noun_phrase_of(details_of(core)[0])
            rest = bare[len(target) :] if bare.lower().startswith(target.lower()) else ""
            extra = re.sub(r"^\s*\w+s?\b\s*", "", rest).strip()
            title = bare if content(extra) else target
            reader.guessed = True
            return [
                Step(
                    text=clause.text,
                    act="task",
                    intent=None,
                    title=title,
                    target=target,
                    details=details,
                    items=items,
                )
            ]
        if spans and covers(spans, found["rest"]):
            return step_of(
                clause, "set", target=target, slot=slot_name(target), value=found["rest"], intent=None
            )
        if (
            not reader.known(target)
            and re.search(r"[A-Z\d]", found["rest"])
            and not re.search(r"\b(?:not|n't|very|so|too)\b", core)
        ):
            return [
                Step(text=clause.text, act="task", intent="new", title=noun_phrase_of(core), target=target)
            ]
        if reader.known(target) or re.match(r"(?:the|my|our)\s", found["target"], re.IGNORECASE):
            return []
    if found := re.fullmatch(
        r"(?:i|we)(?:'ll| will| can|'re going to) \w+ (?:it|them|that|those) (?P<rest>(?:at|in|from|on|with|by)\s.+)",
        core,
        re.IGNORECASE,
    ):
        _, details, items = details_of("x " + found["rest"])
        if details or items:
            return step_of(
                clause, "set", target="", value=found["rest"], details=details, items=items, intent=None
            )
    if (
        values.spot(core)
        and re.match(r"(?:i|we|it|the|my|our)\b", core, re.IGNORECASE)
        and not re.match(
            r"(?:i|we)(?:'m| am|'re| are)? (?:was|were|had|went|saw|think|hope|guess|feel|love|hate|like|tired|met)\b",
            core,
            re.IGNORECASE,
        )
    ):
        bare, details, items = details_of(core)
        if re.match(r"(?:it|they|that)\b", core, re.IGNORECASE):
            return (
                step_of(clause, "set", target="", value=core, details=details, items=items, intent=None)
                if details
                else []
            )
        reader.guessed = True
        return [
            Step(
                text=clause.text,
                act="task",
                intent=None,
                title=re.sub(r"^(?:i|we)(?:'m| am|'re| are|'ll| will)?\s+(?:be )?", "", bare),
                target=bare,
                details=details,
                items=items,
            )
        ]
    return []

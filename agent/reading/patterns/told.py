"""Values for slots of a kind of task, told without naming the slot in full. Pure.

"Express is enough" gives the slot that allows it, "insure it" the one that is yes or no, "I'll pick it up on
Friday" the pickup date and not the return date, "Carla hosts" the host. What is not sure is left to general
English.
"""

from __future__ import annotations

from collections.abc import Iterable

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.statements import tells_of
from taskloom.agent.language.wording import spoken, word_set
from taskloom.agent.language.words import GROUPS_OF_KIND, content, slot_group
from taskloom.agent.plan.kinds import allowed_value, held_slots
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.turn.calls import is_rerun_offer
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Add, Clarify, Update

_FILLER = content(
    """add also and be can case do enough fine for get give go good have include it just keep like make me need
    of okay one ones only or order please prefer put rather set should take thanks that the then this to too
    us use wait want will with work would"""
)
_AGAINST = re.compile(r"\b(?:no|not|don'?t|do not|without|never|skip|drop|\w+n't)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:later|earlier|sooner|more|less|fewer|longer|shorter|another)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"(?:i|we|he|she|they|you|it|there)(?:'\w+)?\s", re.IGNORECASE)
_BARE = re.compile(
    r"(?:(?:it'?s|it is|make (?:it|that)|that'?s|let'?s say|say|on|at|by|for|from|about|around|the|in|then|be|to"
    r"|please|instead|rather|now|ok(?:ay)?|better|is|fine|works|good)\W*)*",
    re.IGNORECASE,
)
_PEOPLE = word_set(
    """advisor agent assistant barber coach contact dentist doctor driver friend guest hairdresser host
    instructor manager nurse partner person physician receiver recipient sender stylist teacher therapist
    trainer tutor vet"""
)
_PLACES = word_set(
    """bakery bar cafe cinema clinic garage gym hotel library location museum park place pub restaurant salon
    shop store studio theater theatre venue"""
)
_RECEIVERS = word_set("addressee contact receiver recipient")
_TITLED = word_set("album book event film movie name play show song title track")
_VERBS = (
    ("bring back", "return"),
    ("give back", "return"),
    ("take back", "return"),
    ("collect", "pickup"),
    ("fetch", "pickup"),
    ("leave", "departure"),
    ("arrive", "arrival"),
)
_DONE = re.compile(
    r"(?:(?:and |so |ok(?:ay)? |great |perfect )*(?:it'?s|that'?s|this is|we'?re|i'?m|they'?re|it is|that is|all|everything'?s|everything is)?"
    r" ?(?:all |now |already |been )*(?:done|finished|completed?|sorted|settled|taken care of))(?: now| then| with (?:it|that|this))?",
    re.IGNORECASE,
)
_DID = re.compile(
    r"(?:(?:it'?s|that'?s|i|we|i'?ve|we'?ve|they'?re)? ?(?:been |just |already |have )*(?P<verb>[a-z]+)(?: it| off| now| them| that)*)",
    re.IGNORECASE,
)
_PAST = {
    "send": "sent",
    "buy": "bought",
    "make": "made",
    "pay": "paid",
    "get": "got",
    "write": "written",
    "rent": "rented",
}
_TYPED_GROUPS = frozenset(group for groups in GROUPS_OF_KIND.values() for group in groups)
_SEATS = word_set(
    "seats people persons guests passengers travelers travellers riders adults diners attendees"
)
_GENERAL = {
    "place": _PLACES, "location": _PLACES, "participant": _PEOPLE, "guest": _PEOPLE, "party_size": _SEATS,
}  # fmt: skip


def asked_slot(question: Clarify | None, view: View) -> str:
    """The name of the slot that a question asks for; '' for a question of another kind, or none."""
    choice = question.choices[0] if question and question.choices and not is_rerun_offer(question) else None
    if isinstance(choice, Add):
        return choice.slot.rpartition(".")[2]
    if isinstance(choice, Update) and choice.task in view.graph:
        return view.graph[choice.task].slot.rpartition(".")[2]
    return ""


def told_slots(clause: Clause, view: View, schema: TaskSchema, root: str | None) -> list[Step]:
    """The settings of a clause; root: the task, None where the utterance has just asked for it."""
    if clause.question and not clause.request:
        return []
    core = clause.core
    for found in (
        _choice(core, schema, asked_slot(view.question, view)),
        _flag(core, schema),
        _typed(core, view, schema, asked_slot(view.question, view)),
        _doer(core, schema),
        _verbed(core, schema),
        _beside(core, schema),
        _alike(core, view, schema, root),
        _again(core, view, schema, root),
        _fresh(core, schema, clause) if root is None else None,
    ):
        if found:
            return [_set(clause.text, *found)]
    return []


def _set(text: str, slot: str, value: str) -> Step:
    return Step(text=text, act="set", intent="update", target=spoken(slot), slot=slot, value=value)


def _choice(core: str, schema: TaskSchema, asked: str) -> tuple[str, str] | None:
    """A value that a slot allows, with nothing said beside it."""
    found: list[tuple[str, str]] = []
    for slot in schema.slots:
        value = allowed_value(core, slot.values) if slot.values and slot.values != ("yes", "no") else None
        numeric = value is not None and not re.search(r"[^\W\d_]", value)
        beside = content(core) - content(value or "") - _FILLER - content(spoken(slot.name))
        if value and not beside and (slot.name == asked or not numeric):
            found.append((slot.name, value))
    mine = [one for one in found if one[0] == asked]
    return mine[0] if mine else found[0] if len(found) == 1 else None


def _flag(core: str, schema: TaskSchema) -> tuple[str, str] | None:
    """A slot that is yes or no, by its word alone: 'insure it', 'no delivery'."""
    said = content(_AGAINST.sub(" ", core)) - _FILLER
    flags = [slot for slot in schema.slots if slot.values == ("yes", "no")]
    found = [slot for slot in flags if said and all(_begun(stem, _stems(slot)) for stem in said)]
    if len(found) != 1:
        return None
    return found[0].name, "no" if _AGAINST.search(core) else "yes"


def _begun(stem: str, others: Iterable[str]) -> bool:
    """Whether a stem is one of others, or begins as one: 'deliv' and 'deliveri'."""
    return any(
        stem == one or (min(len(stem), len(one)) > 3 and (one.startswith(stem) or stem.startswith(one)))
        for one in others
    )


def _stems(slot: SlotSchema) -> frozenset[str]:
    return content(spoken(slot.name))


def _typed(core: str, view: View, schema: TaskSchema, asked: str) -> tuple[str, str] | None:
    """A date, time, amount or the like, to the slot of its kind that is asked for, or named by another word."""
    spans = values.spot(core)
    if len(spans) != 1 or _RELATIVE.search(core) or _AGAINST.search(core):
        return None
    groups = GROUPS_OF_KIND.get(spans[0].kind, ())
    reached = spans[0].kind in ("phone", "email")
    fitting = [
        slot
        for slot in schema.slots
        if not slot.values and (_group(slot) in groups or (reached and "contact" in _stems(slot)))
    ]
    rest = f"{core[: spans[0].start]} {core[spans[0].end :]}".strip(" .,!")
    said = _said(rest)
    named = [slot.name for slot in fitting if _own(slot) and all(_begun(stem, said) for stem in _own(slot))]
    if len(named) == 1:
        return named[0], spans[0].text
    bare = _BARE.fullmatch(rest) is not None
    clausal = _SPEAKS.match(core) and not re.match(r"(?:it|that)(?:'s| is)\b", core, re.IGNORECASE)
    if any(slot.name == asked for slot in fitting) and (bare or (clausal and not named)):
        return asked, spans[0].text
    offered = {node.name for node in tasks_in_role(view.graph, "proposed")}
    waiting = [slot for slot in fitting if slot.name in offered] or fitting
    if bare and len(waiting) == 1 and (asked or offered):
        return waiting[0].name, spans[0].text
    return None


def _own(slot: SlotSchema) -> frozenset[str]:
    """What tells a slot from others of its kind: 'pickup' of 'pickup date'."""
    return _stems(slot) - content("amount date day time")


def _said(rest: str) -> frozenset[str]:
    """The stems of a clause, with what its verbs mean and its words as one: 'pickup' for 'pick it up'."""
    words = [word.lower() for word in rest.split()]
    joined = {one + other for number, one in enumerate(words) for other in words[number + 1 : number + 3]}
    stems = content(rest)
    meant = [content(noun) for verb, noun in _VERBS if content(verb) <= stems]
    return stems.union(joined, *meant)


def _group(slot: SlotSchema) -> str | None:
    return slot_group(spoken(slot.name))


def _doer(core: str, schema: TaskSchema) -> tuple[str, str] | None:
    """'Carla hosts', 'Dan is hosting it' for the slot 'host'; 'Ben brings the snacks' for 'snacks'."""
    found = re.fullmatch(
        r"(?P<who>[A-Z][\w'-]*(?: [A-Z][\w'-]*)?)(?: is| will be| will|'ll|'s)? (?:(?P<verb>[a-z]+)(?: it| this| that)?"
        r"|(?:brings?|bringing|makes?|making|gets?|getting|does|do|doing|handles?|provides?|takes? care of) (?:the )?(?P<thing>[a-z ]+))",
        core,
    )
    if found is None:
        return None
    meant = content(found["verb"] or found["thing"])
    fitting = [slot for slot in schema.slots if not slot.values and _stems(slot) == meant]
    return (fitting[0].name, found["who"]) if len(fitting) == 1 else None


def _verbed(core: str, schema: TaskSchema) -> tuple[str, str] | None:
    """'It weighs 7 kg' for the slot 'weight'."""
    found = re.fullmatch(r"(?:it|he|she|they|that) (?P<verb>[a-z]{4,}) (?P<value>\S.*)", core, re.IGNORECASE)
    verb = content(found["verb"]) if found else frozenset()
    fitting = [slot for slot in schema.slots if verb and all(_begun(stem, verb) for stem in _stems(slot))]
    return (fitting[0].name, found["value"]) if found and len(fitting) == 1 else None


def _beside(core: str, schema: TaskSchema) -> tuple[str, str] | None:
    """'With Mia', 'at Barber Joe' for the only slot of the kind that is a person, or a place."""
    found = re.fullmatch(
        r"(?:and )?(?P<how>with|at) (?P<value>(?:my |our )?[A-Z][\w'.-]*(?: [A-Z][\w'.-]*)*)", core
    )
    slot = _one(_PEOPLE if found["how"] == "with" else _PLACES, schema) if found else None
    return (slot, found["value"]) if found and slot else None


def _alike(core: str, view: View, schema: TaskSchema, root: str | None) -> tuple[str, str] | None:
    """A number with the noun that a value of the task has: '5 kilos' where it is 'about 3 kilos'."""
    found = re.fullmatch(
        r"(?:make it |it'?s )?(?P<value>(?:about |around )?\d[\d.,]* (?P<noun>[a-z]+))", core
    )
    if found is None or root is None or root not in view.graph:
        return None
    fitting = [
        slot
        for slot, nodes in held_slots(view.graph, root, schema).items()
        for node in nodes
        if node.active
        and re.fullmatch(rf"(?:\w+ )?[\d.,]+ {found['noun']}s?", node.value or "", re.IGNORECASE)
    ]
    return (fitting[0], found["value"]) if len(fitting) == 1 else None


def _again(core: str, view: View, schema: TaskSchema, root: str | None) -> tuple[str, str] | None:
    """The last value put shorter, where a date or the like is asked for: 'my daughter Lina' and then 'Lina'."""
    asked = next((slot for slot in schema.slots if slot.name == asked_slot(view.question, view)), None)
    if root is None or asked is None or _group(asked) not in _TYPED_GROUPS or values.spot(core):
        return None
    for slot, nodes in held_slots(view.graph, root, schema).items():
        for node in nodes:
            if (
                node.active
                and node.turn == view.turn - 1
                and node.value
                and content(core) < content(node.value)
            ):
                return slot, core
    return None


def _fresh(core: str, schema: TaskSchema, clause: Clause) -> tuple[str, str] | None:
    """A thing alone after the request for it: 'rent a tool' and then 'a sander' for the slot 'tool'."""
    found = re.fullmatch(r"(?:an?|some|the) (?P<thing>[\w' -]{2,40})", clause.text.strip(" .!"))
    if found is None or values.spot(core):
        return None
    slot = _object(schema)
    return (slot, found["thing"]) if slot else None


def _object(schema: TaskSchema) -> str | None:
    """The slot for the thing that a kind is about: 'tool' of 'rent a tool', 'book' of 'book club'."""
    own = content(f"{schema.name} {schema.description}")
    found = [slot.name for slot in schema.slots if not slot.values and _stems(slot) <= own and slot.required]
    return found[0] if len(found) == 1 else None


def finished(clause: Clause, title: str) -> list[Step]:
    """The end of the task that is talked of: 'all done', or its own verb: 'sent!' for 'send a parcel'."""
    core = clause.core.strip(" .!")
    verb = title.lower().partition(" ")[0]
    past = {_PAST.get(verb, ""), verb + "ed", verb + "d", verb + verb[-1:] + "ed"} - {""}
    did = _DID.fullmatch(core)
    if clause.question or not (_DONE.fullmatch(core) or (did and did["verb"].lower() in past)):
        return []
    return [Step(text=clause.text, act="done", intent="update", target=title)]


# ---- answers in the user's own words ---------------------------------------------------------------


_THANKS = re.compile(
    r"(?:thanks?(?: you)?|thx|cheers|bye|hello|hi|hey|ok(?:ay)?|great|cool|fine|hmm+)(?: so much| a lot| then| there)?\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"{_SPEAKS.pattern}(?:(?:is|are|am|was|were|will|would|want|wants|live|lives|go|goes|going|be|stay|stays|like|need|prefer|to|a|the|staying|living) ?)*"
    r"(?:(?:at|in|is|to|by|with|from|for|on|called|named) )(?P<value>\S.*)",
    re.IGNORECASE,
)


_REQUEST = re.compile(
    r"(?:[Pp]lease )?(?:[Bb]ook|[Rr]eserve|[Oo]rder|[Bb]uy|[Ff]ind|[Rr]ent|[Ss]chedule|[Pp]lan|[Aa]rrange|[Oo]rgani[sz]e|[Gg]et|[Cc]all"
    r"|[Ss]end|[Rr]emind|[Mm]ake|[Ss]et up|[Ss]earch|[Ll]ook for) (?:for )?(?:me |us )?(?:an?|the|my|our|some|another) [a-z]"
)


_ENDED = re.compile(
    r"(?:the|my|our|this|that|it)\b.*\b(?:is|are|was|were|has been|have been) (?:all |now |already )?"
    r"(?:done|finished|completed?|over|booked|made|sorted|settled|arranged|cancell?ed)$",
    re.IGNORECASE,
)


def is_about_else(text: str, slot: str) -> bool:
    """Whether words begin a request, or tell of somebody or something else than a slot asks for."""
    if _REQUEST.match(text) or _ENDED.match(text):
        return True
    of = tells_of(text)
    if of is None or slot_group(spoken(slot)) in ("participant", "assignee"):
        return False
    return not content(of) & content(spoken(slot))


def answer_in(text: str, slot: str) -> str:
    """The value for a slot in an answer of the user's own words; '' where it is about something else.

    A title is taken as it stands; of anything else, the words that only a sentence needs are left out.
    """
    if content(spoken(slot)) & content(" ".join(_TITLED)):
        return text
    if _THANKS.fullmatch(text) or re.match(r"[A-Z][\w'-]* [a-z]+s (?:the|a|an|my|our|it)\b", text):
        return ""
    if _SPEAKS.match(text) and not re.match(r"\S+ [A-Z]", text):
        found = _SENTENCE.fullmatch(text)
        return answer_in(found["value"], slot) if found else ""
    text = re.sub(
        r",? (?:of course|i (?:think|guess|suppose)|obviously|naturally|as always)$",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"^(?:for|to|with|at|in|by|from|on) (?=(?:my|our|the|his|her) |[A-Z\d])", "", text)
    return re.sub(r"^(?:[Aa]n?|[Ss]ome) (?=[a-z])", "", text)


_LEADS = word_set(
    """actually also alright and but hello hey hi just maybe no nope oh ok okay please probably so sorry sure
    thanks then um well yeah yes"""
)


def with_head(core: str, text: str) -> str:
    """An answer with the capital words that lead in elsewhere but are part of a name here: 'Great Wall'."""
    head = text[: text.find(core)].strip() if core in text else ""
    named = re.fullmatch(r"[A-Z]\w*(?: [A-Z]\w*)*", head) and core[:1].isupper()
    return f"{head} {core}" if named and head.lower() not in _LEADS else core


# ---- a request with values -------------------------------------------------------------------------


def fitted(step: Step, schema: TaskSchema) -> Step:
    """A task with its general details as its kind's slots: the place as the salon, 'with Mia' as the stylist."""
    taken = {detail.slot for detail in step.details}
    details: list[Detail] = []
    items: list[Detail] = []
    about = _object(schema) if len(step.items) == 1 else None
    for detail in (*step.details, *step.items):
        name = about if about and detail.slot == "item" else _of_kind(detail.slot, schema, taken)
        made = detail.model_copy(update={"slot": name})
        taken.add(name)
        (items if detail in step.items and name == detail.slot else details).append(made)
    title, *more = re.split(r",\s+", step.title or "")
    for piece in more:
        said = re.sub(r"\s*(?:this time|please|instead)$", "", piece, flags=re.IGNORECASE)
        if found := _choice(said, schema, "") or _flag(said, schema):
            details.append(Detail(slot=found[0], value=found[1]))
        else:
            title = f"{title}, {piece}"
    receiver, address = _one(_RECEIVERS, schema), _one(("address",), schema)
    sent = re.search(r" to (?P<who>(?:my |our )?[^\W\d][\w' -]{1,40}?)(?:, (?P<where>.*\d.*))?$", title)
    if sent and receiver and receiver not in taken and (address or not sent["where"]):
        details.append(Detail(slot=receiver, value=sent["who"]))
        details += [Detail(slot=address, value=sent["where"])] if address and sent["where"] else []
        title = title[: sent.start()]
    target = title if step.target == step.title else step.target
    return step.model_copy(
        update={"details": tuple(details), "items": tuple(items), "title": title, "target": target}
    )


def in_kind(step: Step, schema: TaskSchema) -> Step:
    """A setting of a general slot as that of its kind: the party size as the number of seats."""
    details = tuple(one.model_copy(update={"slot": _meant(one, schema)}) for one in step.details)
    slot = _of_kind(step.slot, schema, ()) if step.slot else step.slot
    if (slot, details) == (step.slot, step.details) or step.task is not None:
        return step
    general = ("", step.slot, spoken(step.slot or ""))
    target = spoken(slot) if slot != step.slot and slot and step.target in general else step.target
    return step.model_copy(update={"slot": slot, "target": target, "details": details})


def _meant(detail: Detail, schema: TaskSchema) -> str:
    """The slot of a kind that a detail is for: 'three people' counts whoever takes part."""
    counted = detail.slot == "count" and detail.value.lower().rpartition(" ")[2] in _SEATS
    return (
        _of_kind("party_size" if counted else detail.slot, schema, ()) if detail.task is None else detail.slot
    )


def _of_kind(name: str, schema: TaskSchema, taken: Iterable[str]) -> str:
    """The slot of a kind that a general one stands for; the general one where there is none, or several."""
    if any(slot.name == name for slot in schema.slots):
        return name
    found = _one(_GENERAL.get(name, frozenset()), schema)
    return found if found and found not in taken else name


def _one(nouns: Iterable[str], schema: TaskSchema) -> str | None:
    """The only slot of a schema whose name ends in one of these nouns, with or without 'name'."""
    found = [
        slot.name
        for slot in schema.slots
        if not slot.values and spoken(slot.name).lower().removesuffix(" name").rpartition(" ")[2] in nouns
    ]
    return found[0] if len(found) == 1 else None

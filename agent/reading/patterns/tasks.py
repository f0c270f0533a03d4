"""Speech acts that bring something new: tasks, members, goals with their steps.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskloom.agent.language import clauses, values
from taskloom.agent.language import patterns as re
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    NAME,
    are_people,
    details_of,
    has_verb,
    is_container,
    list_like,
    list_only,
    list_words,
    member_slot,
    names_event,
    noun_phrase_of,
    slot_value,
    step_of,
)
from taskloom.agent.language.words import DO, MOODS, slot_group
from taskloom.agent.turn.steps import Detail, Step

from .people import known_people

if TYPE_CHECKING:
    from .rules import Reader


def read_add(reader: Reader, clause: Clause) -> list[Step]:
    """Items join a container, people join an event."""
    core = clause.core
    head = r"(?:add|put on|put in|put|include|throw in|stick|pop|append|insert|register|note down|jot down|write down|list|place|toss|count|sign up|bring in|loop in|onboard)"
    if found := re.fullmatch(
        r"(?:(?:start|create|open|begin|make|set up) )?(?:a |an |another )?new (?P<kind>project|list|task|event|plan|goal|folder|group|playlist|campaign|tracker) (?:called|named|titled|for|:)\s*(?P<x>.+)",
        core,
        re.IGNORECASE,
    ):
        return [Step(text=clause.text, act="task", intent="new", title=found["x"], target=found["x"])]
    if found := re.fullmatch(
        r"(?:add|create|make|note|open|log) (?:a |an |another |one more )?(?:new )?(?:task|todo|to-do|item|step|reminder|ticket|entry|subtask|point|line)(?: to do| called| named| to|:| for| that says)?[:\s-]+(?P<x>.+)",
        core,
        re.IGNORECASE,
    ):
        return [Step(text=clause.text, act="task", intent="new", title=found["x"], target=found["x"])]
    if (
        found := re.fullmatch(
            r"(?:add|put|note|enter|pencil in|block|include|write down|put in|make)(?: down| in)? (?P<x>(?:a|an|the|my) .+)",
            core,
            re.IGNORECASE,
        )
    ) and len(values.spot(found["x"])) >= 1:
        if (
            not re.search(r"\b(?:to|on|in|into) (?:the|my|our) \w+$", found["x"])
            and not (list_like(found["x"]) and len(values.spot(found["x"])) < 2)
            and details_of(found["x"])[1]
        ):
            return as_tasks(reader, clause, re.sub(r"^(?:a|an|the|my)\s+", "", found["x"]))
    if found := re.fullmatch(
        rf"{head} (?P<x>.+?) (?:to|on|in|into|onto|for|at) (?P<within>(?:the |my |our |this |that |your |a |it$|it\b)[\w' -]*)(?: (?:list|please|instead))?",
        core,
        re.IGNORECASE,
    ):
        within = noun_phrase_of(found["within"])
        if (
            core.lower().startswith("put ")
            and slot_group(within)
            and not reader.known(within)
            and not is_container(within)
        ):
            return []
        if (
            not (is_container(within) or reader.known(within) or names_event(within) or within == "")
            and not core.lower().startswith("add")
            and not list_like(found["x"])
        ):
            return []
        inner = details_of(found["x"]) if values.spot(found["x"]) and not list_like(found["x"]) else None
        if inner and inner[1] and names_event(inner[0]):
            return [
                Step(
                    text=clause.text,
                    act="task",
                    intent="new",
                    title=inner[0],
                    details=inner[1],
                    items=inner[2],
                    target=inner[0],
                    within=within,
                )
            ]
        return step_of(
            clause,
            "add",
            intent=None,
            target=within,
            within=within,
            items=reader.items(found["x"], within if not are_people(found["x"]) else within + " participant"),
        )
    if found := re.fullmatch(
        rf"(?:{head}|invite) (?P<x>[^:]+?)(?: (?:in|on|to (?:it|that|this|the list)|too|as well|on it))?",
        core,
        re.IGNORECASE,
    ):
        x = found["x"]
        if re.match(r"(?:that|if|whether|up|down|on|off|back|it)\b", x, re.IGNORECASE) and not re.match(
            r"it$", x
        ):
            return []
        slot = (
            "guest"
            if core.lower().startswith("invite")
            else member_slot(x, person=are_people(x))
            if are_people(x)
            else "item"
        )
        target = ""
        if pair := re.fullmatch(r"(?P<a>.+?) (?:to|for) (?P<b>(?:the |my |our )?[\w' -]+)", x):
            if reader.known(noun_phrase_of(pair["b"])) or names_event(pair["b"]) or is_container(pair["b"]):
                x, target = pair["a"], noun_phrase_of(pair["b"])
        text = re.sub(r"\s+with (?:a |an )?(?=[a-z])", " with ", x)
        if re.fullmatch(r"(?:him|her|them)", x, re.IGNORECASE):
            return step_of(
                clause, "add", intent=None, target=target, items=(Detail(slot=slot, value=x),), within=target
            )
        return step_of(
            clause,
            "add",
            intent=None,
            target=target,
            items=tuple(Detail(slot=slot, value=word) for word in list_words(text)),
            within=target,
        )
    person = rf"(?:{NAME}|my \w+(?: \w+)?)(?:(?:,| and|, and) (?:{NAME}|my \w+))*"
    if found := re.fullmatch(
        rf"(?P<x>{person}|he|she|they)(?: is| are|'s|'re| will be| will|'ll)? (?:also )?(?:joins?|joining|coming(?: along)?|come|attends?|attending|be there|be coming|tagging along|in|invited|on board|participating|coming with us)(?: (?:us|the \w+|along|in|with us|it))?(?: (?:too|as well|also|after all|now))?",
        core,
    ):
        joined = re.search(r"join\w* (?:the )(\w+)", core)
        people = [re.sub(r"'s$", "", word) for word in list_words(found["x"])]
        return step_of(
            clause,
            "add",
            intent=None,
            target=joined[1] if joined else "",
            items=tuple(Detail(slot="participant", value=word) for word in people),
        )
    if found := re.fullmatch(
        r"(?:she|he|they|it) (?:also )?(?:needs?|wants?|requires?|will need) (?!to\b)(?P<x>.+)",
        core,
        re.IGNORECASE,
    ):
        return wanted(reader, clause, found["x"])
    if found := re.fullmatch(
        r"(?:i|we)(?:'d| would|'ll| will)? (?:also )?(?:like|love|want|need|take|have|require|be needing|fancy|could use)(?: also| some)? (?!to\b)(?P<x>.+?)(?:,? (?:too|as well|also|please))?",
        core,
        re.IGNORECASE,
    ):
        return wanted(reader, clause, found["x"])
    return []


def wanted(reader: Reader, clause: Clause, x: str) -> list[Step]:
    """'I need milk, eggs and a playlist', 'we want a room with a balcony'."""
    if clause.correction and not list_like(x):
        return step_of(clause, "set", target="", value=x, old="last")
    if found := re.fullmatch(
        r"(?P<x>.+?) (?:for|at|in|on) (?P<within>(?:the |my |our )[\w' -]+)", x, re.IGNORECASE
    ):
        if reader.known(noun_phrase_of(found["within"])) or names_event(found["within"]):
            if not values.kind_of(noun_phrase_of(found["within"])):
                return step_of(
                    clause,
                    "add",
                    intent=None,
                    target=found["within"],
                    within=found["within"],
                    items=reader.items(found["x"]),
                )
    if found := re.fullmatch(r"(?P<x>[\w' -]+?) (?:to be|to go) (?P<value>.+)", x, re.IGNORECASE):
        return step_of(clause, "set", target=found["x"], value=found["value"])
    bare, details, items = details_of(x)
    if details or items:
        return [
            Step(
                text=clause.text,
                act="task",
                intent="new",
                title=bare,
                details=details,
                items=items,
                target=bare,
            )
        ]
    return step_of(clause, "add", intent=None, target="", items=reader.items(x))


def read_purpose(reader: Reader, clause: Clause) -> list[Step]:
    """'To make soup, wash and chop celery', 'for the curry, chop onions and ginger', 'for the salad I need A and B'."""
    core = clause.core
    found = re.fullmatch(
        r"(?:to|in order to) (?P<goal>(?!be\b|correct\b|begin\b|start with\b|clarify\b|confirm\b|sum\b|repeat\b|the\b|me\b|a\b|my\b|our\b)[a-z]+(?: (?:up|out|off|over|together))? [^,]{2,60}?),\s*(?:i |we |you )?(?:need to |have to |must |should |first |will |need |want )?(?P<body>.+)",
        core,
        re.IGNORECASE,
    )
    if not found:
        found = re.fullmatch(
            r"for (?P<goal>(?:the |my |our |a |an )?[\w' -]+?)(?:,\s*(?:i |we |you )?(?:need to |have to |must |should |first |will |need |use |want |get |buy |take |'ll need )?|:\s*|,?\s+(?:i|we|you)(?:'ll| will)? (?:need|use|want|have to get|must get|have|require|get|take|should get|buy|serve|make|cook|bring|book|order|invite|play)\s+(?:to )?|\s+(?=use\b|chop\b|peel\b|cut\b|wash\b|buy\b|get\b)(?:use )?)(?P<body>.+)",
            core,
            re.IGNORECASE,
        )
        if not found:
            found = re.fullmatch(
                r"(?P<goal>(?:the |my |our |a |an )[\w' -]+?|[A-Z]?[\w-]+:?) (?:needs?|requires?|takes?|uses?|contains?|has|have|consists? of|includes?|will need|calls? for|is made (?:of|with|from)|are made (?:of|with|from)|comes? with|gets?)\s+(?P<body>.+)",
                core,
                re.IGNORECASE,
            )
            if (
                found
                and re.search(r"\b(?:has|have|gets?|takes?)\s*$", core[: found.start("body")])
                and len(list_words(found["body"])) < 2
            ):
                found = None
            if found and (
                re.fullmatch(
                    r"(?:i|we|you|they|he|she|it|who|there|someone|that)", found["goal"], re.IGNORECASE
                )
                or re.match(r"(?:to\b|a (?:lot|while)|\d+ (?:minutes|hours))", found["body"])
            ):
                found = None
    if not found:
        return []
    goal, body = noun_phrase_of(found["goal"]), found["body"].strip()
    if (
        slot_group(goal)
        or values.kind_of(goal)
        or re.fullmatch(r"(?:now|example|instance|me|us|everyone|sure|that|this|it)", goal, re.IGNORECASE)
    ):
        return []
    pieces: list[str] = []
    for piece in clauses.split(body):
        piece = re.sub(r"^(?:and|then|also)\s+", "", piece.strip(" ,."))
        pieces.append(piece)
    items: list[Detail] = []
    for piece in pieces:
        if has_verb(piece) and not list_only(piece):
            verbs = re.match(
                rf"((?:(?:{'|'.join(sorted(DO, key=len, reverse=True))})(?:,\s*|\s+and\s+|\s*&\s*|,\s*and\s+)?)+)\s+(.+)",
                piece,
                re.IGNORECASE,
            )
            objects = list_words(verbs[2]) if verbs else [piece]
            items += [
                Detail(slot="step", value=f"{verbs[1].strip()} {thing}" if verbs else thing)
                for thing in objects
            ]
        else:
            items += [
                Detail(slot="item", value=word)
                for word in list_words(re.sub(r"^(?:use|need|get|buy|take|have)\s+", "", piece))
            ]
    return [
        Step(
            text=clause.text, act="task", intent="new", title=goal, target=goal, items=tuple(items), slot=None
        )
    ]


def read_do(reader: Reader, clause: Clause) -> list[Step]:
    """An imperative that starts something to do."""
    core = clause.core
    first = re.match(r"[\w-]+", core.lower())
    if not first:
        return []
    verb = first[0]
    gerund = re.match(
        r"(?:i'?m|i am|we'?re|we are|i'?ve been|we'?ve been) (?:also |now |currently |still )?(?:planning|organi[sz]ing|arranging|preparing|putting together|setting up|having|hosting|throwing|getting|going|redecorating|renovating|redoing|writing|building|moving|learning|training|working on|looking for|applying|launching|doing|making|buying|repainting|starting|running|taking|hoping|trying|fixing|travell?ing|flying|driving|cooking|baking|celebrating|opening|reading|shopping|packing|selling|naming|creating|designing|developing|remodell?ing|decorating|cleaning|filling|registering|recording|producing|shooting|booking|thinking of)\b(?P<rest>.*)",
        core,
        re.IGNORECASE,
    )
    if gerund:
        if core.split()[1].lower() in MOODS and not gerund["rest"]:
            return []
        return [
            as_task(
                reader,
                clause,
                re.sub(
                    r"^(?:i'?m|i am|we'?re|we are|i'?ve been|we'?ve been) (?:also |now |currently |still )?(?:going to |hoping to |trying to )?",
                    "",
                    core,
                    flags=re.IGNORECASE,
                ),
            )
        ]
    have = re.match(
        r"(?:i|we)(?:'ve| have|'ve got| have got|'s)? (?:have|got|has)?\s*(?P<x>(?:a|an|my|our|the|two|three|some)\s.+)",
        core,
        re.IGNORECASE,
    )
    if have and (re.match(r"(?:i|we)(?:'ve| have)(?: got)?\b", core, re.IGNORECASE)):
        return [as_task(reader, clause, have["x"])]
    if found := re.match(
        r"there(?:'s| is| will be|'ll be| are) (?:also )?(?P<x>(?:a|an|some|two|three|another) .+)",
        core,
        re.IGNORECASE,
    ):
        if values.spot(core) or details_of(found["x"])[1] or names_event(found["x"]):
            return [as_task(reader, clause, found["x"])]
    person = re.match(
        rf"(?P<p>{NAME}) (?:has to|needs to|should|must|will|wants to|is going to|is supposed to) (?P<x>.+)",
        core,
    )
    if (
        person
        and person["p"].lower() in known_people(reader)
        and re.match(
            r"(?:go|leave|be|catch|teach|work|attend|pick|rush|head|travel|fly|depart|finish|miss|join|have|take)\b",
            person["x"],
        )
    ):
        return [reader.chat(clause)]
    if person and person["p"] not in ("I", "We", "It", "The", "They", "He", "She", "You", "That", "This"):
        bare, details, items = details_of(person["x"])
        return [
            Step(
                text=clause.text,
                act="task",
                intent="new",
                title=bare,
                target=bare,
                items=items,
                details=(*details, Detail(slot="assignee", value=person["p"])),
            )
        ]
    third = re.match(
        rf"(?P<p>{NAME}) (?:also )?(?P<v>sells|drives|serves|mans|checks|watches|cuts|fixes|washes|mows|waters|walks|feeds|hosts|cleans|greets|gives|speaks|performs|DJs|films|directs|writes|books|makes|prints|brings|cooks|buys|organi[sz]es|prepares|designs|drives|sends|calls|bakes|cleans|plays|paints|reviews|orders|sets up|picks up|decorates|hosts|tests|codes|builds|records|edits|sings|carries|pays|plans|collects|does|handles|runs|leads|covers) (?P<x>.+)",
        core,
    )
    busy = re.match(
        rf"(?P<p>{NAME}) (?:teaches|works|leaves|flies|arrives|travels|sleeps|studies|lectures|operates|trains|swims|plays|has (?:a|an|another|to)\b)",
        core,
    )
    if busy and busy["p"].lower() in known_people(reader):
        return [reader.chat(clause)]
    if third and third["p"] not in ("It", "The", "He", "She", "That", "This", "What", "Who"):
        title = (
            third["x"]
            if third["v"] in ("does", "handles", "runs", "leads", "covers")
            else f"{third['v']} {third['x']}"
        )
        bare, details, items = details_of(title)
        return [
            Step(
                text=clause.text,
                act="task",
                intent="new",
                title=noun_phrase_of(bare),
                target=noun_phrase_of(third["x"]),
                items=items,
                details=(*details, Detail(slot="assignee", value=third["p"])),
            )
        ]
    if verb not in DO and not clause.request:
        return []
    if verb not in DO:
        reader.guessed = True
    if clause.question and not clause.request:
        return []
    if (
        verb in ("have", "need", "want", "give", "keep", "put", "stay", "do", "use", "include")
        and not clause.request
        and verb not in ("have", "use", "do", "give", "put", "include")
    ):
        return []
    if (
        re.fullmatch(
            r"(?:go|go on|continue|start|begin|get started|get going|proceed|help|submit|do it|do that|work on it)",
            core,
            re.IGNORECASE,
        )
        and verb != "submit"
    ):
        return [reader.chat(clause)]
    return as_tasks(reader, clause, core)


def as_tasks(reader: Reader, clause: Clause, core: str) -> list[Step]:
    """One task, or one for each thing in a list: 'buy apples and pears'."""
    core = re.sub(
        r"\s+(?:in|on|to|into) (?:my|the|our) (?:calendar|diary|schedule|agenda)\b",
        "",
        core,
        flags=re.IGNORECASE,
    )
    core = re.sub(
        r"^(?:a |the )?(?:remind me to|remember to|help (?:me|us)(?: to)?|need to|have to|want to|try to)\s+",
        "",
        core,
        flags=re.IGNORECASE,
    )
    found = re.fullmatch(
        r"(?P<verb>buy|get|order|pack|bring|purchase|pick up|need|grab|prepare|make|cook|bake|plant|read|include|rent|reserve|book|invite|call|visit|have|use|chop|peel|draft|design|ask|see|watch)\s+(?P<x>.+)",
        core,
        re.IGNORECASE,
    )
    if (
        found
        and all(span.kind in ("count", "duration", "amount") for span in values.spot(found["x"]))
        and not re.search(r"\b(?:with|for|from|about|to|at|in|on)\b", re.sub(r"\([^)]*\)", "", found["x"]))
    ):
        words = list_words(re.sub(r":\s*(.+)$", r" (\1)", found["x"]))
        if len(words) > 1:
            verb = found["verb"].lower()
            if verb in (
                "buy",
                "get",
                "pack",
                "bring",
                "purchase",
                "pick up",
                "need",
                "grab",
                "plant",
                "read",
                "include",
                "have",
                "use",
                "order",
            ):
                whole = {"pick up": "pick up"}.get(verb, verb)
                return [
                    Step(
                        text=clause.text,
                        act="add",
                        intent="new",
                        target="",
                        title=f"things to {whole}",
                        slot="things",
                        items=tuple(Detail(slot="item", value=word) for word in words),
                    )
                ]
            return [
                Step(
                    text=clause.text,
                    act="add",
                    intent="new",
                    target="",
                    title=found["verb"],
                    slot="list",
                    items=tuple(
                        Detail(
                            slot="item",
                            value=f"{verb} {word}"
                            if verb
                            in (
                                "call",
                                "visit",
                                "book",
                                "draft",
                                "design",
                                "make",
                                "cook",
                                "bake",
                                "chop",
                                "peel",
                                "reserve",
                                "rent",
                                "ask",
                                "see",
                                "watch",
                            )
                            else word,
                        )
                        for word in words
                    ),
                )
            ]
    halves = re.split(r",?\s+and\s+(?=(?:a|an|the|my|our)\s)", core)
    if len(halves) > 1 and all(values.spot(half) for half in halves):
        return [
            as_task(reader, clause, half if number == 0 else re.sub(r"^(?:a|an|the|my|our)\s+", "", half))
            for number, half in enumerate(halves)
        ]
    return [as_task(reader, clause, core)]


def as_task(reader: Reader, clause: Clause, core: str) -> Step:
    """One task with its details, its members, and what it is for."""
    within = ""
    if found := re.fullmatch(
        r"(?P<x>.+?) (?:for|to|in|on|at) (?P<within>(?:the|my|our) [\w' -]+)", core, re.IGNORECASE
    ):
        target = noun_phrase_of(found["within"])
        if reader.known(target) and not values.kind_of(target) and not slot_group(target):
            within = target
    core = re.sub(
        r",?\s+(?:based on|from|using|according to|out of|with)\s+(?:the |my |all the )?(?:information|details|facts|data|what|things|stuff|notes|input)\b.*$",
        "",
        core,
        flags=re.IGNORECASE,
    )
    core = re.sub(
        r",\s*(?:i|we)(?:'ll| will|'m going to) (?:give|provide|tell|send|share|list|dictate|name)\b.*$",
        "",
        core,
        flags=re.IGNORECASE,
    )
    bare, details, items = details_of(core)
    members: tuple[Detail, ...] = ()
    if found := re.fullmatch(
        r"(?P<x>.+?)(?::|,? with| including| consisting of| incl\.?)\s+(?P<list>(?:an? |the |some )?[^:]+)",
        bare,
        re.IGNORECASE,
    ):
        words = list_words(found["list"])
        if len(words) > 1 or re.search(r":\s", bare):
            bare, members = (
                found["x"],
                tuple(
                    Detail(
                        slot=member_slot("step" if any(has_verb(w) for w in words) else found["x"]),
                        value=word,
                    )
                    for word in words
                ),
            )
    re.match(
        r"(?:plan|organi[sz]e|schedule|arrange|prepare|set up|throw|host|put together|create|start|plan for|planning|organi[sz]ing|arranging|preparing|putting together|setting up|having|hosting|throwing|fill (?:out|in)|make|book|have|help me with|do|build|working on|getting)\s+(?:for\s+)?(?P<x>.+)",
        bare,
        re.IGNORECASE,
    )
    if re.fullmatch(
        r"(?:i'?d |we'?d )?(?:like to )?(?:go|fly|travel|drive|going|flying|travell?ing|driving|depart|leave|leaving|head|heading)(?: away| out| off| there)?",
        bare,
        re.IGNORECASE,
    ):
        bare = "trip"
    return Step(
        text=clause.text,
        act="task",
        intent="new",
        title=bare,
        target=bare,
        details=details,
        items=(*items, *members),
        within=within,
    )


def read_noun_phrase(reader: Reader, clause: Clause) -> list[Step]:
    """A noun phrase on its own: a list for the container in focus, or a new task with its details."""
    core = clause.core
    if re.fullmatch(
        r"(?:the |that |this )?(?:first|second|last|other|latter|former)?\s*one", core, re.IGNORECASE
    ):
        return [reader.chat(clause)]
    words = list_words(core)
    spans = values.spot(core)
    if (
        clause.addition
        and reader.number == 1
        and (last := last_act(reader))
        and all(reader.known(word) for word in words)
    ):
        return step_of(
            clause, last, target="", items=tuple(Detail(slot="item", value=word) for word in words)
        )
    if found := re.fullmatch(
        r"(?:the same|same)(?: thing)? (?:for|with|goes for) (?P<x>.+)", core, re.IGNORECASE
    ):
        return step_of(clause, "set", target=found["x"], old="same", value=None, intent=None)
    if found := re.fullmatch(
        r"(?P<x>(?:the |my |our )[\w' -]+?) in (?P<value>\w+)(?:,? (?:please|not .+))*", core, re.IGNORECASE
    ):
        if reader.known(noun_phrase_of(found["x"])):
            old = re.search(r"\bnot (\w+)", core)
            return step_of(
                clause, "set", target=found["x"], value=found["value"], old=old[1] if old else None
            )
    if (
        (len(words) > 1 or (clause.addition and reader.view.focus))
        and not spans
        and not re.search(r"\b(?:with|from|near|at|to|about)\b", core)
        and reader.view.graph.active
        and not names_event(core)
    ):
        kind = "participant" if are_people(core) else "item"
        items = tuple(Detail(slot=kind, value=word) for word in words)
        return step_of(clause, "add", intent=None, target="", items=items)
    if (
        len(words) > 1
        and not spans
        and not names_event(core)
        and not reader.view.graph.active
        and not re.search(r"\b(?:with|from|near|at|to|about)\b", core)
    ):
        return step_of(
            clause, "add", intent="new", target="", title="list", slot="list", items=reader.items(core)
        )
    if pairs := reader.pairs(core):
        rest = [word for word in words if not slot_value(word)]
        made = [
            step
            for pair in pairs
            for step in step_of(
                clause,
                "set",
                target=pair.slot.replace("_", " "),
                slot=pair.slot,
                value=pair.value,
                intent=None,
            )
        ]
        return [
            *made,
            *(
                step_of(
                    clause,
                    "add",
                    intent=None,
                    target="",
                    items=tuple(Detail(slot="item", value=word) for word in rest),
                )
                if rest
                else []
            ),
        ]
    _bare, details, items = details_of(core)
    if details or items or names_event(core) or is_container(core):
        return [as_task(reader, clause, core)]
    if len(core.split()) <= 6 and reader.view.graph.active and (clause.addition or clause.correction):
        return step_of(
            clause,
            "add",
            intent=None,
            target="",
            items=tuple(Detail(slot="item", value=word) for word in words),
        )
    if len(words) > 1:
        return step_of(clause, "add", intent=None, target="", items=reader.items(core))
    if len(core.split()) <= 5 and (reader.view.question is not None or reader.known(core)):
        return step_of(clause, "set", target="", value=core, old="last", intent=None)
    reader.guessed = True
    if len(core.split()) >= 2 and not re.search(r"[.!]$", clause.text):
        return [Step(text=clause.text, act="unsure", intent="check", value=core)]
    return [reader.chat(clause)]


def last_act(reader: Reader) -> str | None:
    """What the turn before did, where it can be done again to something else."""
    nodes = [node for node in reader.view.graph.values() if node.op != "stale"]
    last = max(nodes, key=lambda node: node.turn, default=None)
    if last is None or last.turn != reader.view.turn - 1:
        return None
    return {"remove": "remove", "complete": "done", "inactivate": "hold", "restore": "resume"}.get(last.op)

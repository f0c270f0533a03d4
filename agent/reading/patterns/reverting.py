"""Speech acts that take back or exchange: undo, go back, correct, replace, instead.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskloom.agent.language import clauses, values
from taskloom.agent.language import patterns as re
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    IT,
    NAME,
    covers,
    noun_phrase_of,
    slot_name,
    step_of,
    typed_details,
)
from taskloom.agent.language.smalltalk import clause_act
from taskloom.agent.language.words import slot_group
from taskloom.agent.turn.steps import Detail, Step

from .people import known_people
from .states import removal

if TYPE_CHECKING:
    from .rules import Reader


def read_undo(reader: Reader, clause: Clause) -> list[Step]:
    """'Undo that', 'never mind', 'scratch that', 'redo'."""
    core = clause.core
    if (
        reader.steps
        and reader.steps[-1].act in ("remove", "hold")
        and re.fullmatch(r"(?:cancel|forget|scratch|drop|remove) (?:it|that|this)", core, re.IGNORECASE)
    ):
        return [reader.chat(clause)]
    if found := re.fullmatch(r"never ?mind (?:about )?(?:the |my |our )(.+)", core, re.IGNORECASE):
        if reader.known(found[1]) and not re.search(r"\bchange\b", found[1]):
            return removal(reader, clause, found[1], "")
    if re.fullmatch(
        r"(?:please )?redo(?: (?:it|that|the last (?:one|change)))?|undo (?:the|that|my) undo|(?:bring|put) (?:it|that change) back in",
        core,
        re.IGNORECASE,
    ):
        return step_of(clause, "redo")
    thing = r"(?:it|that|this|the (?:last|previous|latest) (?:one|change|thing|step|update|edit|request|message)|that change|this change|that last (?:one|change|bit|part)|my (?:last|previous) (?:message|change|request)|what i (?:just )?said|the change|last change|the last bit)"
    if re.fullmatch(rf"undo(?: {thing})?|(?:revert|reverse|take back|ignore|scratch|forget|disregard|roll back|cancel) {thing}|take that back|"
                    rf"never ?mind(?: {thing})?|forget (?:about )?(?:it|that)(?: change)?|strike that|revert|scratch that|leave it as it was|as you were|on second thoughts?,? no|forget i said (?:that|anything)", core, re.IGNORECASE):  # fmt: skip
        return [Step(text=clause.text, act="undo", intent="update")]
    if found := re.fullmatch(
        r"(?:undo|revert|reverse) (?:that |the |my )?(?:last |latest |previous )?(?:change|update|edit) (?:to|of|in|on|for) (.+)",
        core,
        re.IGNORECASE,
    ):
        return step_of(clause, "back", target=found[1])
    if found := re.fullmatch(r"undo (?:the )?(.+?)(?: change| update)?", core, re.IGNORECASE):
        return step_of(clause, "back", target=found[1])
    return []


def read_back(reader: Reader, clause: Clause) -> list[Step]:
    """'Go back to Seattle as originally planned', 'restore the first date', 'revert the budget'."""
    core, whole = clause.core, clause.text
    original = bool(
        re.search(
            r"\b(?:originally|original|first|initial|initially|at first|very first|in the first place)\b",
            whole,
            re.IGNORECASE,
        )
    )
    to = "original" if original else "previous"
    if found := re.fullmatch(
        r"(?:the )?(?:very )?(?P<q>first|original|old|previous|initial|earlier) (?P<x>[\w ]+?) (?:was|is|were) (?:right|correct|fine|good|better|best|ok|okay|nicer|it)(?: .*)?",
        core,
        re.IGNORECASE,
    ):
        return step_of(
            clause,
            "back",
            target="" if found["x"] in ("one", "version") else found["x"],
            old="original" if found["q"].lower() in ("first", "original", "initial") else "previous",
        )
    if found := re.fullmatch(
        r"(?P<x>.+?) (?:was|were) (?:right|correct|fine|good|better|ok|okay) (?:the first time|before|originally|at first|initially|as it was|all along|the way it was|in the first place)(?: .*)?",
        core,
        re.IGNORECASE,
    ):
        return step_of(
            clause,
            "back",
            target=found["x"],
            old="original" if re.search(r"first|original|initial", core) else "previous",
        )
    planned = re.search(
        r",?\s*(?:just )?(?:as|like|the way) (?:we |i |it was |was )?(?:(?:had )?(?:originally|initially|first|previously) ?(?:planned|said|agreed|discussed|set|wanted|intended|had it)?|at the (?:start|beginning|outset)|in the beginning|at first|planned|before|it was(?: before)?|we had it|i said before|said|i had it)(?: originally| at first| before| it)?$",
        core,
        re.IGNORECASE,
    )
    if planned:
        rest = core[: planned.start()].strip(" ,")
        rest = re.sub(
            r"^(?:set |put |change )?(?:it )?(?:go(?:ing)? back to|back to|stick (?:to|with)|(?:collect|meet|pick up|deliver|send|ship) (?:it )?(?:in|at|from|to)|do|keep|make it|let'?s do|use|return to|revert to|leave it at|go with|go for|have)\s*",
            "",
            rest,
            flags=re.IGNORECASE,
        )
        rest = noun_phrase_of(re.sub(r"\s+again$", "", rest))
        if re.fullmatch(
            r"(?:put |set |change |turn )?(?:everything|it all|all of it)(?: back)?", rest, re.IGNORECASE
        ):
            return [Step(text=clause.text, act="undo", intent="update", everyone=True)]
        if found := re.fullmatch(r"(?:change |set |put |make )?(.+?) (?:back )?to (.+)", rest, re.IGNORECASE):
            return step_of(clause, "back", target=found[1], value=found[2], old="original")
        return step_of(clause, "back", target="", value=rest or None, old="original")
    patterns = (
        r"(?:go|going|switch|change|change it|revert|revert it|return|flip|roll|move|move it|put it|set it|swap|swap it|turn it|bring it|let'?s go|take it)\s+back\s+to\s+(?P<value>.+)",
        r"(?:revert|return|reset|restore it|roll it back|restore)\s+to\s+(?P<value>.+)",
        r"(?:so |then |ok |and )?back to (?P<value>.+)",
        r"(?:put|set|change|move|switch|turn|bring|revert|roll|get|return|make|have) (?P<target>.+?) back to (?P<value>.+)",
        r"(?:revert|restore|roll back|reset|undo|put back|bring back|reinstate|use|keep|take|go with|stick with|let'?s keep) (?:the |my |our )?(?P<target>(?:original|first|previous|old|initial|earlier|former|prior|very first)\b.*)",
        r"revert (?P<target>.+?)(?: change)?",
        r"roll back (?P<target>.+)",
        r"(?P<target>.+?) should (?:be|go) back to (?P<value>.+)",
        r"(?:i|we) (?:want|'d like|would like|need) (?P<target>.+?) back(?: again)?",
        r"(?P<name>\w+) wants (?P<target>.+?) back(?: again)?",
        r"never ?mind,? (?:go )?back to (?P<value>.+)",
    )
    for pattern in patterns:
        if found := re.fullmatch(pattern, core, re.IGNORECASE):
            groups = found.groupdict()
            target, value = groups.get("target") or "", groups.get("value") or ""
            value = noun_phrase_of(value)
            if owned := re.fullmatch(
                r"(?:the )?(?P<slot>[\w ]+?) (?:that )?(?:i|we) (?:had|said|picked|chose|wanted|planned|started with|gave)(?: at)? ?(?:first|originally|before|initially|the (?:start|beginning))?",
                value,
                re.IGNORECASE,
            ):
                first = re.search(r"first|original|initial|start|beginning", value, re.IGNORECASE)
                return step_of(
                    clause, "back", target=owned["slot"], value=None, old="original" if first else "previous"
                )
            target = noun_phrase_of(target)
            if owned := re.fullmatch(
                r"(?:very )?(?P<q>original|previous|old|first|initial|earlier|former|last) (?P<slot>[\w ]+?) (?:of|for) (?:the |my |our )?(?P<x>.+)",
                value,
                re.IGNORECASE,
            ):
                to = "original" if owned["q"].lower() in ("original", "first", "initial") else to
                return step_of(clause, "back", target=f"{owned['slot']} of {owned['x']}", value=None, old=to)
            if re.fullmatch(
                r"(?:what|how|the way) (?:it|that|they|we|i) (?:was|were|had|said|planned|started with|wanted)(?: it)?(?: before| originally| at (?:first|the (?:very )?(?:start|beginning))| in the beginning)?|(?:the )?(?:original|previous|old|first|normal|before|initial|earlier|former)(?: \w+)?|one|how it was",
                value,
                re.IGNORECASE,
            ):
                qualifier = re.search(
                    r"(original|previous|old|first|initial|earlier|former|start|beginning)",
                    value,
                    re.IGNORECASE,
                )
                to = (
                    "original"
                    if qualifier
                    and qualifier[1].lower() in ("original", "first", "initial", "start", "beginning")
                    else to
                )
                noun = re.sub(
                    r"^(?:the )?(?:very )?(?:original|previous|old|first|normal|initial|earlier|former|what it was|how it was)\s*(?:one|plan|before|value)?\b",
                    "",
                    value,
                    flags=re.IGNORECASE,
                ).strip()
                noun = "" if re.match(r"(?:what|how|the way|one)\b", noun) else noun
                return step_of(clause, "back", target=target or noun, value=None, old=to)
            qualified = re.match(
                r"(?:very )?(original|first|previous|old|initial|earlier|former|prior)\s+(.*)",
                target,
                re.IGNORECASE,
            )
            if qualified:
                to = (
                    "original"
                    if qualified[1].lower() in ("original", "first", "initial") or to == "original"
                    else "previous"
                )
                target = "" if qualified[2].lower() in ("one", "plan", "version") else qualified[2]
            return step_of(clause, "back", target=target, value=value or None, old=to)
    return []


def read_replacement(reader: Reader, clause: Clause) -> list[Step]:
    """'Replace A with B', 'use B instead of A everywhere', 'B takes A's place', 'swap A and B'."""
    core = clause.core
    if found := re.fullmatch(
        rf"(?:[Tt]he )?(?P<new>{NAME}) (?:takes?|will take|is taking|can take|fills|should take|steps into|comes in|comes|goes in|will come in|steps in|fills in) (?:in )?(?:his|her|their|(?P<old>{NAME})'s) (?:place|spot|seat|role|job|shift)(?: .*)?",
        core,
    ):
        old = found["old"] or reader.missing or next(iter(reader.mentioned), "")
        if old:
            return [
                Step(
                    text=clause.text,
                    act="replace",
                    intent="update",
                    old=old,
                    value=found["new"],
                    everywhere=True,
                )
            ]
    if found := re.fullmatch(
        r"no (?P<old>[\w' -]+?),? (?:do|have|use|get|let'?s do|let'?s have|take|make it|we'?ll have) (?P<new>.+?) instead",
        core,
        re.IGNORECASE,
    ):
        if reader.known(found["old"]):
            return step_of(clause, "replace", old=found["old"], value=found["new"], everywhere=True)
    if found := re.fullmatch(
        r"no more (?P<old>[\w' -]+?),? (?:only|just|but) (?P<new>.+)", core, re.IGNORECASE
    ):
        if reader.known(found["old"]):
            return step_of(clause, "replace", old=found["old"], value=found["new"], everywhere=True)
    scope = re.search(
        r",?\s*\b(everywhere|in (?:all|every|both|each)(?: of)?(?: the| my| our| those| these)?(?: \w+)?|for (?:all|both|everything|every \w+)|throughout|across the board|wherever it (?:appears|says so)|all over|in everything|wherever (?:it|they|that)(?:'s| is| are|'re| was)? (?:used|needed|mentioned|listed|in)|anywhere (?:it|they)(?:'s| is| are|'re)? (?:used|needed))\b",
        core,
        re.IGNORECASE,
    )
    everywhere = (
        scope is not None
        or bool(re.match(r"(?:let'?s )?all use\b|let'?s all\b", clause.core, re.IGNORECASE))
        or bool(re.search(r"\blet'?s all\b|\bfor everything\b", clause.text, re.IGNORECASE))
    )
    if scope:
        core = (core[: scope.start()] + core[scope.end() :]).strip(" ,")
    core = re.sub(r"\s+(?:please|pls)$", "", core)
    core = (
        re.sub(
            r"\s*[,;.(-]\s*(?:he|she|they|because|since|as|so|my|it'?s|i'm|we're|but (?!only|just|rather)|leave|the (?!\w+ for)|(?:all )?(?:the )?rest|everything else)\b(?!\s+with)[^,]*$",
            "",
            core,
        )
        if not re.match(r"not\b", core)
        else core
    )
    if found := re.fullmatch(
        rf"(?i:let|have|ask|get) (?P<p>{NAME}) (?:to )?(?:do|handle|take|run|lead|cover|take care of|take over) (?P<x>.+?) (?:instead of|in place of|rather than) (?P<q>{NAME})",
        core,
    ):
        return step_of(clause, "assign", target=found["x"], value=found["p"], slot="assignee", old=found["q"])
    within = ""
    only = re.search(
        r",?\s*(?:but )?(?:only|just)?\s*\b(?:in|for|from|on)\s+(?:the |my |our )?([\w' -]+)$",
        core,
        re.IGNORECASE,
    )
    inner = re.match(
        r"(?:in|for|on) (?:the |my |our )?([\w' -]+?),?\s+((?:use|swap|replace|substitute|exchange|put|take|change|switch)\b.+)",
        core,
        re.IGNORECASE,
    )
    if inner:
        within, core = inner[1], inner[2]
    patterns = (
        r"(?:replace|exchange|substitute|swap out|swap|trade|switch out|switch) (?P<old>.+?) (?:with|by) (?P<new>.+)",
        r"(?:swap out|swap|exchange|trade|switch out|change out|switch|ditch|drop|lose) (?P<old>.+?) for (?P<new>.+)",
        r"substitute (?P<new>.+?) for (?P<old>.+)",
        r"(?:use|do|take|have|make|get|order|book|buy|pick|choose|put|put in|add|go with|let'?s do|try|i(?:'d| would) (?:rather|prefer)|we(?:'d| would) (?:rather|prefer)|let|ask|invite|bring|want|prefer|stay|rather|serve|send|hire|plant|pack|include|wear|play|read|cook|bake|call) (?P<new>.+?),? (?:instead of|in place of|rather than|in lieu of) (?P<old>.+)",
        r"(?:(?:let'?s|let us|we|i|we'?ll|i'?ll|(?:we|i) (?:will|could|should|would rather)) )?(?:go|fly|travel|drive|head|sail|move|come|meet) (?:to|in|at) (?P<new>.+?),? (?:instead of|in place of|rather than) (?P<old>.+)",
        r"(?P<new>[\w'\" .-]+?),? (?:instead of|in place of|rather than) (?P<old>.+)",
        r"(?:instead of|in place of|rather than) (?P<old>.+?),? (?:use|do|take|have|make it|make|get|order|book|buy|let'?s do|let'?s use|let'?s have|let'?s go with|go with|i'd like|we want|put|add|try|pick|choose|serve|want|ask|invite|call|plant)?\s*(?P<new>.+)",
        r"(?:it'?s |it is |make it |that'?s |should be )?not (?P<old>.+?),? but (?:rather )?(?P<new>.+)",
        r"(?:wherever|everywhere|anywhere) (?:it says|you see|there'?s|there is|we have|it mentions) (?P<old>.+?),? (?:make it|put|use|write|it should be|change it to|should be) (?P<new>.+)",
        r"(?P<new>"
        + NAME
        + r"|\w+ ?\w*) (?:will |should |can |is going to |to )?(?:take|takes|taking)s? (?P<old>"
        + NAME
        + r")'s (?:place|spot|seat)",
        r"(?P<new>"
        + NAME
        + r") (?:will |should |is going to )?(?:replace|replaces|step in for|steps in for|fill in for|fills in for|stand in for|sub for|subs for|cover for|covers for|speak in place of|go instead of|come instead of) (?P<old>.+)",
        r"(?P<old>" + NAME + r") is (?:replaced|being replaced) (?:by|with) (?P<new>.+)",
        r"(?:take|pull|move) (?P<old>.+?) (?:out|off)(?: of (?:it|there|the list))? and (?:put|add|bring) (?P<new>.+?) (?:in|on)(?: instead)?",
        r"(?:drop|remove|take out|take off|lose|skip|cut|ditch|delete|kill|pull) (?P<old>.+?)(?: (?:from|off) (?:the )?(?:list|plan|menu|cart))? and (?:put in|add|use|bring in|have|do|get|take|put|make it|go with|include) (?P<new>.+?) instead",
        r"(?:use|put|write|make it|do|have|go with|take) (?P<new>.+?),? not (?P<old>.+)",
    )
    for pattern in patterns:
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        old, new = found["old"], found["new"]
        if only and not within and old.endswith(only[0]):
            old, within = old[: -len(only[0])], only[1]
        elif only and not within and new.endswith(only[0]) and reader.known(only[1]):
            new, within = new[: -len(only[0])], only[1]
        new = re.sub(r",?\s+(?:but\s+)?only$", "", new)
        old = re.sub(r"\s+as (?:(?:a|the|our|my) )?\w+$", "", old)
        new = re.sub(
            rf"^{NAME} (?:brings|makes|takes|does|cooks|bakes|plays|sings|wants|gets|buys|orders|has|uses|reads) (?=\w)",
            "",
            new,
        )
        old, new = noun_phrase_of(old), noun_phrase_of(new)
        if re.match(r"(?:use|take|put|get|have|do)\b", new):
            new = new.split(" ", 1)[1]
        if not new or (clause.question and not clause.request):
            return []
        if (not old or re.fullmatch(IT + r"|him|her", old, re.IGNORECASE)) and reader.missing:
            old, everywhere = reader.missing, True
        if len(old.split()) > 6 or len(new.split()) > 8:
            return []
        return [
            Step(
                text=clause.text,
                act="replace",
                intent="update",
                old=old,
                value=new,
                within=noun_phrase_of(within),
                everywhere=everywhere or not within,
            )
        ]
    if found := re.fullmatch(r"(?P<slot>[\w' -]+?): swap it for (?P<new>.+)", core, re.IGNORECASE):
        return step_of(clause, "set", target=found["slot"], value=found["new"])
    if found := re.fullmatch(
        r"(?:swap|exchange|trade|switch|replace|change) (?:it|that|this|him|her|them|that one)(?: out)? (?:for|with|by) (?P<new>.+)",
        core,
        re.IGNORECASE,
    ):
        if reader.missing and reader.known(reader.missing):
            return step_of(
                clause,
                "replace",
                old=reader.missing,
                value=re.sub(r"\s+(?:in (?:both|all)(?: of them)?|everywhere)$", "", found["new"]),
                everywhere=True,
            )
        return step_of(clause, "replace", old="", value=found["new"], target=clause.hint)
    if (
        (
            found := re.fullmatch(
                r"(?:swap|switch|exchange|trade) (?P<a>.+?) and (?P<b>.+?)(?: around| over)?",
                core,
                re.IGNORECASE,
            )
        )
        and reader.known(noun_phrase_of(found["a"]))
        and reader.known(noun_phrase_of(found["b"]))
    ):
        return step_of(
            clause, "replace", old=found["a"], value=found["b"], items=(Detail(slot="swap", value="both"),)
        )
    if found := re.match(
        r"(.+?) and (.+?) (?:want to |should |will )?(?:swap|switch|trade|change|swapped|switched|traded)(?: (?:places|roles|tasks|seats|slots|shifts|jobs)| their .*| with each other)",
        core,
    ):
        return step_of(
            clause, "replace", old=found[1], value=found[2], items=(Detail(slot="swap", value="both"),)
        )
    return []


def read_missing(reader: Reader, clause: Clause) -> list[Step]:
    """'There's no celery at home', 'we're out of leeks', 'Sam can't eat ricotta': what 'instead' will mean."""
    core = clause.core
    if found := re.fullmatch(
        rf"(?P<x>{NAME})(?: is|'s| has been|'s been) (?:ill|sick|away|busy|out|on (?:holiday|vacation|leave)|unavailable|not available|off sick|off|fully booked|booked|stuck|retired|injured|double[- ]booked)(?: .*)?|(?P<y>{NAME}) (?:can'?t|cannot|won'?t|can not|isn'?t able to|won'?t be able to) (?:do|make) (?:it|that)(?: .*)?|(?:[Tt]he )?(?P<z>{NAME})(?: has|'s)? (?:retired|withdraws?|withdrew|pulls? out|pulled out|quit|left|moved out|moved away|resigned|dropped out|got sick|fell ill|called in sick)(?: .*)?",
        core,
    ):
        person = found["x"] or found["y"] or found["z"]
        if not (found["z"] and re.search(r"dropped out", core)):
            reader.missing = re.sub(r"'s$", "", person)
            return [reader.chat(clause)]
    for pattern in (
        r"(?:there'?s|there is|there are|we have|i have|we'?ve got|they have|they had|the (?:store|shop) (?:has|had)) (?:no|not any|no more) (?P<x>.+?)(?: (?:left|in the|at|at all|any|anywhere|here|available|today|in stock)\b.*)?",
        r"(?!i\b|we\b)(?:.+? )(?:has|have|had|carries|sells|stocks) (?:no|no more|not any) (?P<x>.+)",
        r"(?P<x>(?!we\b|i\b|they\b|you\b).+?) (?:has|have) (?:gone (?:off|bad|missing|sour|up)|run out|expired|sold out|spoiled|died|broken)(?: .*)?",
        r"(?P<x>.+?) (?:is|are) (?:wrong|incorrect|a mistake|not right|a typo)",
        r"(?:we|i|they|the store|the shop)(?:'re|'m| are| is| am| ran| have run|'ve run)?(?: run)? (?:all )?out of (?P<x>.+)",
        r"(?P<x>.+?) (?:is|are|'s|'re) (?:sold out|corrupted|corrupt|lost|ruined|damaged|useless|contaminated|mouldy|moldy|spoilt|stale|expired|dead|out of stock|not available|unavailable|fully booked|booked out|gone|closed|taken|too expensive|too pricey|too dear|not in stock|missing|no longer available|out of season|out|rotten|spoiled|discontinued|full|double[- ]booked|broken|overbooked|closed for \w+)(?: .*)?",
        r"(?:\w+ )+?(?:can'?t|cannot|doesn'?t|don'?t|won'?t) (?:eat|drink|have|find|get|afford|use|stand|like|buy|source) (?:any |the )?(?P<x>.+)",
        r"(?:\w+ )+?(?:got into|ate|chewed|ruined|damaged|broke|spoiled|destroyed|stole) (?:all )?(?P<x>(?:the|my|our) .+)",
        r"(?:\w+ )+?(?:is|are|'s|'m) allergic to (?P<x>.+)",
        r"(?P<x>.+?) (?:isn'?t|aren'?t) (?:available|in stock|an option|possible|there|working)(?: .*)?",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if found:
            if "allergic" in pattern and not reader.known(noun_phrase_of(found["x"])):
                continue
            words = found["x"].split()
            if (
                len(words) > 1
                and re.fullmatch(r"\w+(?:ed|en)|in time|here", words[-1])
                and not reader.known(noun_phrase_of(found["x"]))
            ):
                reader.missing = noun_phrase_of(" ".join(words[:-1]))
                return [reader.chat(clause)]
            thing = noun_phrase_of(
                re.sub(r"\s+(?:at all|anywhere|at the moment|right now|left|any ?more)$", "", found["x"])
            )
            reader.missing = thing if reader.known(thing) else thing or reader.missing or thing
            return [reader.chat(clause)]
    return []


def read_instead(reader: Reader, clause: Clause) -> list[Step]:
    """'Let's (all) use mushrooms instead' after something turned out not to be had."""
    core = clause.core
    instead = re.search(r"\binstead\b", clause.text, re.IGNORECASE) or (
        reader.missing
        and re.match(
            r"(?:(?:we|i)(?:'ll| will)? )?(?:use|take|go with|ask|do|get|let'?s|try|make it|have)\b",
            core,
            re.IGNORECASE,
        )
    )
    if not instead:
        return []
    body = re.sub(
        r",?\s*\binstead\b(?: of (?:it|that|them|this|him|her))?", "", core, flags=re.IGNORECASE
    ).strip(" ,")
    bool(
        re.search(
            r"\b(?:everywhere|in (?:all|both|every)\b.*|for (?:all|both|everything)|throughout)\b",
            body,
            re.IGNORECASE,
        )
    ) or bool(re.search(r"\blet'?s all\b", clause.text, re.IGNORECASE))
    body = re.sub(
        r",?\s*\b(?:everywhere|across the board|all over|in (?:all|both|every)\b.*|for (?:all|both|everything)(?: of (?:them|it))?|throughout)\b",
        "",
        body,
        flags=re.IGNORECASE,
    ).strip(" ,")
    body = re.sub(
        r"^(?:we|i)(?:'ll| will|'d)?\s+(?=(?:use|take|go with|get|buy|do|have)\b)",
        "",
        body,
        flags=re.IGNORECASE,
    )
    found = re.fullmatch(r"(?:all )?(?:use|take|do|have|get|go with|go for|make it|make that|make|buy|order|book|ask|try|put|pick|choose|want|prefer|invite|bring|let'?s do|let'?s go with|i'd like|i'd rather have|cook|bake|serve|add|it'?s|plant|hire|call|visit|read|play|wear|see|include|pack|switch to|change to|change it to|move it to|have it)\s+(?P<new>.+)", body, re.IGNORECASE) or re.fullmatch(r"(?P<new>.+)", body)  # fmt: skip
    if not found:
        return []
    new = noun_phrase_of(found["new"])
    if re.match(
        r"(?:remove|drop|delete|keep|cancel|move|change|add|take|put|set|make|hold|skip|let|assign|book|go)\b",
        new,
        re.IGNORECASE,
    ) and new == noun_phrase_of(body):
        return []
    if re.match(
        r"(?:remove|drop|delete|keep|cancel|take off|take out|skip|leave (?:out|off)|get rid of|scratch|lose)\b",
        body,
        re.IGNORECASE,
    ):
        return []
    if re.fullmatch(r"(?:at )?\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\.?)?", new, re.IGNORECASE):
        return step_of(
            clause,
            "set",
            target="",
            value=new,
            details=typed_details(new) or (Detail(slot="number", value=new),),
        )
    if (values.spot(new) and covers(values.spot(new), new)) or (not values.spot(new) and typed_details(new)):
        return step_of(clause, "set", target="", value=new, details=typed_details(new))
    old = reader.missing if reader.missing and reader.known(reader.missing) else ""
    if (
        not old and reader.steps and reader.steps[-1].act == "remove" and reader.steps[-1].target
    ):  # 'scratch the manure, compost instead'
        gone = reader.steps.pop()
        return [
            Step(
                text=clause.text,
                act="replace",
                intent="update",
                old=gone.target,
                value=new,
                within=gone.within,
                everywhere=True,
            )
        ]
    if not old and values.spot(new):
        return []
    if pair := re.fullmatch(r"(.+?) (?:for|in|at|from) (?:the |my )?(\w+(?: \w+)?)", new):
        if reader.known(pair[2]) and slot_group(pair[2]):
            return step_of(clause, "set", target=pair[2], slot=slot_name(pair[2]), value=pair[1])
    if old:
        return [Step(text=clause.text, act="replace", intent="update", old=old, value=new, everywhere=True)]
    if pair := re.fullmatch(r"((?:the )?[\w ]+?) (?:to|as|is|should be) (.+)", new):
        del pair
        return []
    return [Step(text=clause.text, act="replace", intent="update", old="", value=new, target=clause.hint)]


def read_correct(reader: Reader, clause: Clause) -> list[Step]:
    """'Sorry, I meant Tuesday', 'oops, it's 9 PM', 'no wait, to Julia', 'not Meyer but Maier', 'wrong one'."""
    core = clause.core
    if found := re.fullmatch(
        r"(?P<a>.+?),?\s+(?:i mean|i meant|er,? no,?|no wait,?|no,|or rather|sorry,?|uh,? no,?|wait,? no,?|make that|correction,?|no sorry,?)\s+(?P<b>.+)",
        core,
        re.IGNORECASE,
    ):
        a, b = found["a"], found["b"]
        if clauses.starts_clause(b) and clauses.starts_clause(a):
            return [
                *reader.clause_steps(clauses.clause(a, hint=clause.hint)),
                *reader.clause_steps(clauses.clause(b, hint=clause.hint)),
            ]
        spans_a, spans_b = values.spot(a), values.spot(b)
        if spans_b and covers(spans_b, b) and any(span.kind == spans_b[0].kind for span in spans_a):
            wrong = next(span for span in spans_a if span.kind == spans_b[0].kind)
            fixed = a[: wrong.start] + b + a[wrong.end :]
            return reader.clause_steps(clause.with_core(fixed))
        words_b = noun_phrase_of(b)
        tail = re.search(r"((?:the |a |an )?[\w'-]+(?: [A-Z][\w'-]+)*)$", a)
        if tail and len(words_b.split()) <= 4 and not clauses.starts_clause(b):
            article = re.match(r"(?:the|a|an)\s", b)
            return reader.clause_steps(
                clause.with_core(
                    a[: tail.start()]
                    + (
                        b
                        if article or not re.match(r"(?:the|a|an)\s", tail[1])
                        else tail[1].split()[0] + " " + b
                    )
                )
            )
        return reader.clause_steps(clause.with_core(b))
    if not clause.correction:
        return []
    if re.match(
        r"(?:the|my|our|his|her|their|it|that)\s+.*\b(?:to|is|are|was|were|should|will|happened|starts?|takes)\b",
        core,
        re.IGNORECASE,
    ) and not re.match(r"(?:it|that) (?:is|was|should be|has to be)\b", core, re.IGNORECASE):
        return []
    if (person := re.match(rf"({NAME}) \w+s\b", core)) and person[1].lower() in known_people(reader):
        return [reader.chat(clause)]
    explicit = re.search(
        r"\b(?:sorry|oops|whoops|no wait|no, wait|i mean|i meant|correction|typo|misspoke|mistake|my bad|wrong|changed my mind)\b",
        clause.text,
        re.IGNORECASE,
    )
    meant = re.search(
        r"\b(?:i mean|i meant|i should have said|it should (?:be|read|say)|it has to be|it'?s actually|should have been|that should be|rather)\s+(?P<b>.+)$",
        clause.text.rstrip(".! "),
        re.IGNORECASE,
    )
    body = meant["b"] if meant and len(meant["b"].split()) < 8 else core
    body = re.sub(
        r"^(?:it'?s|it is|that'?s|that is|it should be|should be|make (?:it|that)|it has to be|to be|it was|was)\s+",
        "",
        body,
        flags=re.IGNORECASE,
    )
    if found := re.fullmatch(r"(?:the one |one )?(?:with|for|in|on|at) (.+)", body, re.IGNORECASE):
        if reader.view.question is not None:
            return []
    old = None
    if swap := reader.old_new(body):
        old, body = swap
    if found := re.fullmatch(
        r"(?:the |my )?(?P<t>[\w ]+?) (?:is|was|should be|should move to|goes to|moves to) (?P<b>.+)", body
    ):
        return []
    if clause_act(body) or clauses.starts_clause(body) or len(body.split()) > 7:
        return []
    if re.search(
        r"\b(?:got|has|have|is|are|was|were|can|can't|will|won't|would|does|did|thinks?|wants?|likes?|loves?)\b",
        body,
        re.IGNORECASE,
    ):
        return []
    if not explicit and not values.spot(body) and not re.match(r"(?:to|at|on|in|from|for|with)\b", body):
        return []
    body = (
        re.sub(r"^(?:to|at|on|in|from|for|with)\s+(?=\S)", "", body, flags=re.IGNORECASE)
        if not values.spot(body)
        else body
    )
    if not body:
        return []
    spans = values.spot(body) or values.spot("at " + body)
    return step_of(
        clause,
        "set",
        target="",
        value=body,
        old=old or "last",
        details=typed_details(body) if not spans or covers(values.spot(body), body) else (),
    )

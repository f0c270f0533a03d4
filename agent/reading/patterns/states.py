"""Speech acts that change where a task stands: hold, resume, done, again, remove, later and more.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    IT,
    TIMES,
    UNIT,
    is_container,
    list_words,
    noun_phrase_of,
    step_of,
    typed_details,
)
from taskloom.agent.language.words import REMOVE
from taskloom.agent.plan.finder import tool_results
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Detail, Step

if TYPE_CHECKING:
    from .rules import Reader


_ANEW = r"(?:again|once more|once again|one more time|anew|afresh|over again|a second time)"
_REDO = (
    rf"(?P<verb>look|search|check|find|fetch|get|get me|find me|calculate|compute|work|figure|run|do|make|book|order|call|try|ask)(?: up| out| for)?(?: (?P<x>.+?))??(?: up| out)? {_ANEW}",
    r"(?P<verb>refresh|redo|re-?do|re-?run|re-?check|re-?calculate|re-?compute|re-?fetch|re-?search|retry|repeat|update)(?: (?P<x>.+))?",
)
_ASKING = r"^(?:(?:ok(?:ay)?|so|and|but|yes|no|well|(?:can|could|would|will) you|i(?: would|'d) like you to|i want you to|let'?s|just) )+"
_NEEDS_A_NAME = ("do", "make", "get", "redo", "re-do", "repeat", "update", "call", "ask")  # else another act


def read_again(reader: Reader, clause: Clause) -> list[Step]:
    """'Look the flights up again', 'find a hotel once more', 'refresh the total': what a tool gave, once more."""
    words = wanted_again(clause.text, reader.view)
    return [] if words is None else step_of(clause, "again", target=words)


def wanted_again(text: str, view: View) -> str | None:
    """The words for the results of tools that are to be had once more; None where none are asked for."""
    text = re.sub(r"\b(?:please|pls|for me|then|now)\b|[.!?,]", " ", text, flags=re.IGNORECASE)
    core = re.sub(_ASKING, "", " ".join(text.split()), flags=re.IGNORECASE)
    for pattern in _REDO if tool_results(view.graph, "", view.focus) else ():
        if found := re.fullmatch(pattern, core, re.IGNORECASE):
            words = noun_phrase_of(found["x"] or "")
            words = re.sub(r"^(?:for|up|out) (?:the |a )?|\s+(?:search|look-?up|results?)$", "", words)
            meant = tool_results(view.graph, words, view.focus)
            stale = any(node.stale_since is not None for node in meant)
            if meant and (words or stale or found["verb"].lower() not in _NEEDS_A_NAME):
                return words
    return None


def read_hold(reader: Reader, clause: Clause) -> list[Step]:
    """'Put the painting on hold', 'pause it until June'."""
    core = clause.core
    patterns = (
        r"(?:put|place|keep|set|leave) (?P<x>.+?) (?:on hold|on ice|on pause|on the back ?burner|aside|to one side)(?: .*)?",
        r"(?:let'?s )?(?:pause|suspend|shelve|park|freeze|halt|table|defer|mothball|hold off on|hold off with|hold)(?: with| on)? (?P<x>.+?)(?: (?:for now|for the time being|until .*|till .*|for a (?:while|bit|moment)|temporarily|at the moment|for \d.*))?",
        r"(?P<x>.+?) (?:is|are|goes|go|should go|should be|will be) (?:on hold|paused|suspended|on pause|on ice)(?: .*)?",
    )
    for pattern in patterns:
        if found := re.fullmatch(pattern, core, re.IGNORECASE):
            x = re.sub(
                r"\s+(?:for now|for the time being|until .*|till .*|temporarily|right now|at the moment)$",
                "",
                found["x"],
                flags=re.IGNORECASE,
            )
            if re.match(
                r"(?:a|the|my) (?:meeting|call|party|event|session)\b.*\b(?:on|at)\b", x
            ) and core.lower().startswith("hold"):
                continue
            if core.lower().startswith(("table for", "park near", "hold a ")):
                continue
            return step_of(clause, "hold", target=x)
    return []


def read_resume(reader: Reader, clause: Clause) -> list[Step]:
    """'Resume the painting', 'put Noah back', 'keep the charger after all'."""
    core = clause.core
    back = r"(?:put|bring|add|get|take|want|have|include|invite|re-?add|need)"
    patterns = (
        r"(?:resume|unpause|un-pause|reactivate|reinstate|re-?open|restart|continue|continue with|re-?add|reenable|re-?instate|revive|unfreeze|un-?cancel|resurrect|restore) (?P<x>.+)",
        rf"{back} (?P<x>.+?) back(?: (?:in|on|into|onto|to|again|please|up)\b.*)?",
        rf"{back} back (?:in |on )?(?P<x>.+)",
        r"(?:take|bring|get|pull) (?P<x>.+?) off (?:hold|pause|ice)(?: .*)?",
        r"(?:pick|picking|pick up|picking up|i'?m picking|start|starting) (?P<x>.+?) (?:back )?up again(?: .*)?",
        r"(?:pick|take) (?:back )?up (?P<x>.+?) again",
        r"(?P<x>.+?) (?:is|are|'s|can be) back (?:on|in)(?: .*)?",
        r"(?P<x>.+?) (?:is|are|can|will be|'s) (?:coming|joining|come|invited|join)(?: us)? after all(?:,.*)?",
        r"(?:we|i) (?:do |still )?(?:need|want|take|have) (?P<x>.+?) after all",
        r"(?:keep|leave(?! out\b| off\b)|retain|stick with|hold on to|hang on to) (?P<x>.+?)(?: (?:in|on)(?: (?:there|it|the list|the plan))?)?",
        r"(?:don'?t|do not|please don'?t) (?:remove|delete|drop|cancel|take out|take off|cut|lose|skip|touch|change|move|forget) (?P<x>.+)",
        r"(?P<x>.+?) (?:stays?|remains?|should stay|should remain|can stay)(?: (?:in|on|put|where it is|as it is|there|the same)\b.*)?",
        r"let'?s (?:do|have|include) (?P<x>.+?) after all",
        r"(?P<x>.+?) (?:can|will|is able to|could) (?:make it|come|attend|join|do it|be there)(?: us)? after all",
        r"go on with (?P<x>.+)",
    )
    if (
        re.fullmatch(
            r"(?:restore|go back to|bring back|use|keep) (?:it|that|that one|this)", core, re.IGNORECASE
        )
        and reader.steps
        and reader.steps[-1].act == "back"
    ):
        return [reader.chat(clause)]
    if (
        re.fullmatch(r"(?:add|put|bring|take|invite) (?:him|her|them|it) back(?: .*)?", core, re.IGNORECASE)
        and reader.steps
        and reader.steps[-1].act == "resume"
    ):
        return [reader.chat(clause)]
    for number, pattern in enumerate(patterns):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        x = re.sub(r",?\s+after all$", "", found["x"])
        if number == 9 and re.match(
            r"leave\b.*\b(?:out|off)\b|leave (?:on|at|from|for|by|to|in)\b", core, re.IGNORECASE
        ):
            return []
        if (
            re.fullmatch(r"him|her|them|it", x, re.IGNORECASE)
            and reader.steps
            and reader.steps[-1].act in ("resume", "add")
        ):
            return [reader.chat(clause)]
        if number in (9, 11) and re.search(r"\b(?:earlier|later|sooner)\b", core):
            return []
        if (
            number == 11
            and (
                kept := re.fullmatch(
                    r".+? (?:stays?|remains?|should stay|should remain) (?:on|at|in) (.+)",
                    core,
                    re.IGNORECASE,
                )
            )
            and values.spot(kept[1])
            and reader.known(x)
        ):
            return step_of(clause, "set", target=x, value=kept[1], details=typed_details(kept[1]))
        if number in (9, 11) and values.spot(x) and not reader.known(x):
            return [reader.chat(clause)]
        if number == 9 and re.match(r"(?:track|going|in mind|it|that|me|an eye|looking)\b", x, re.IGNORECASE):
            return [reader.chat(clause)] if re.match(r"(?:it|that)\b", x) else []
        if (
            number == 0
            and core.lower().startswith("restore the ")
            and re.search(r"\b(?:first|original|previous|old)\b", core)
        ):
            return []
        if number in (9, 11) and not reader.known(x):
            continue
        if number == 9 and re.fullmatch(r"(?:it|that|this|everything|things) .*", x):
            return [reader.chat(clause)]
        if re.fullmatch(IT, x, re.IGNORECASE) and number in (9, 10):
            return [reader.chat(clause)]
        items = list_words(x)
        return step_of(
            clause,
            "resume",
            target=x if len(items) < 2 else "",
            items=tuple(Detail(slot="item", value=item) for item in items) if len(items) > 1 else (),
        )
    return []


def read_done(reader: Reader, clause: Clause) -> list[Step]:
    """'Mark the rent as paid', 'I have booked the venue', 'the pool is clean, that one is done'."""
    core = clause.core
    finished = (r"done|finished|complete|completed|booked|sorted|paid|sent|taken care of|handled|ready|in|fixed|settled|shipped|delivered|over|submitted|signed|"
                r"bought|ordered|packed|cleaned|clean|washed|written|mowed|fed|closed|merged|deployed|released|tested|approved|confirmed|arranged|reserved|painted|built|installed|"
                r"checked off|printed|scanned|uploaded|published|posted|mailed|picked up|collected|returned|repaired|planted|watered|called|cooked|baked|chopped|all set|out of the way|ticked off|"
                r"complete now|live|launched|hung|assembled|set up|cut|sewn|recorded|edited|filed|passed|plastered|sanded|varnished|dry|wrapped(?: up)?|unpacked|moved|vacuumed|ironed|swept")  # fmt: skip
    patterns = (
        rf"(?:mark|check|tick|log|count|record|flag) (?P<x>.+?) (?:as )?(?:{finished}|off)(?:,? .*)?",
        r"(?:set|put|move) (?P<x>.+?) (?:as|to) (?:done|complete|completed|finished)",
        r"(?:check|tick|cross) off (?P<x>.+)",
        r"(?:(?:i|we)(?:'m|'re| am| are)|i'?m|we'?re)? ?(?:already |now |finally )?(?:done|finished|through) (?:with )?(?P<x>.+)",
        rf"(?:the |my |our )?(?P<x>.+?) (?:is|are|was|were|has been|have been|'s|got|gets|'re|'s been)(?: all| now| already| finally| both)* (?:{finished})(?:,? (?:now|already|and .*|last night|this morning|yesterday|today|too|by the way|so .*|that one'?s done|done|yay|finally|woohoo|hooray|phew|wow|great))*",
        r"(?:i|we)(?:'ve| have|'d| had)? (?:just |already |finally |now )*(?:finished|completed|booked|paid|sent|bought|ordered|called|cleaned|washed|submitted|signed|packed|painted|written|wrote|made|fixed|shipped|delivered|did|done|reserved|arranged|picked up|collected|returned|watered|planted|mowed|fed|built|installed|printed|scanned|posted|mailed|emailed|e-mailed|hired|cooked|baked|chopped|read|rented|confirmed|handled|taken care of|took care of|set up|filed|uploaded|published|renewed|got|gotten|vacuumed|ironed|swept|plastered|sanded|varnished|unpacked|assembled|recorded|edited|closed|merged|tested|deployed|released|sewn|cut|glued|ticked off|visited|invited|contacted|emptied|sorted|donated)(?: up| off| with)? (?P<x>.+)",
        rf"(?P<x>[\w' -]+?)[:,]? (?:{finished})(?:!|$)",
        r"(?:finn?ished|completed|done with|booked|paid|sent|bought) (?P<x>.+)",
        rf"(?P<x>[A-Z]?[\w ]+?)'s (?:{finished})(?:,? .*)?",
        rf"(?P<x>both|all of (?:it|them)|everything|that one|it|that) (?:is |are )?(?:{finished})",
    )
    for number, pattern in enumerate(patterns):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        x = re.sub(
            r"\s+(?:last night|this morning|yesterday|today|already|now|just now|earlier|a minute ago|this afternoon|as (?:done|finished|complete))$",
            "",
            found["x"],
            flags=re.IGNORECASE,
        )
        if re.match(r"(?:no|not|n't)\b", x) or re.search(r"\b(?:not|n't|isn't|aren't|wasn't)\b", core):
            continue
        if number in (6, 8) and not reader.known(x) and not re.fullmatch(IT, x, re.IGNORECASE):
            continue
        if (
            number == 4
            and re.fullmatch(r".*\b(?:in|over|out|clean|ready|closed|cut|dry)", core, re.IGNORECASE)
            and not reader.known(x)
        ):
            continue
        if (
            number == 4
            and re.search(r"\b(?:in|over|on|at) (?:the |a )?\w+", core[found.end("x") :], re.IGNORECASE)
            and not re.search(r"\bdone\b|\bfinished\b", core)
        ):
            continue
        if (
            number == 5
            and not reader.known(x)
            and re.search(r"\b(?:made|did|got|read|cut|set up|hired)\b", core)
            and not re.fullmatch(IT, x, re.IGNORECASE)
        ):
            continue
        if re.fullmatch(r"(?:i|we|you|he|she|they|who|what)", x, re.IGNORECASE):
            continue
        if re.fullmatch(r"both(?: of them)?", x, re.IGNORECASE):
            return step_of(clause, "done", target="", everyone=True)
        if re.search(r"\bfor\b|\bto\b", x) and number == 0 and core.lower().startswith("set "):
            continue
        items = list_words(x)
        if len(items) > 1 and all(reader.known(item) for item in items):
            return step_of(
                clause, "done", target="", items=tuple(Detail(slot="item", value=item) for item in items)
            )
        return step_of(clause, "done", target=x)
    return []


def read_shift(reader: Reader, clause: Clause) -> list[Step]:
    """Relative changes: 'a day later', 'push it back an hour', 'one more guest', 'double the budget'."""
    core = clause.core
    amount = rf"(?:by )?(?P<n>{TIMES}(?: and a half)?(?: more)?) ?(?:a )?(?P<u>{UNIT})(?: and a half)?"
    verb = r"(?:move|push|shift|bring|pull|delay|postpone|make|start|set|put|have|leave|reschedule|schedule|it'?s been (?:moved|pushed|postponed|delayed)|it'?s|is|be|deliver|do|get|let'?s|go|arrive|depart|hold|come|meet|take|run|was moved|got moved|been moved|has been moved|extend|shorten|begin)"
    later = r"(?:later|back|out|forward|after|further|on|longer|behind)"
    earlier = r"(?:earlier|sooner|ahead|up|before|forward|in advance|shorter)"
    for pattern in (
        rf"(?:{verb}\s+)?(?P<x>.*?)\s*(?:delivered |moved |pushed |shifted |to |start |been )*{amount} (?P<dir>{later}|{earlier})(?: (?:please|than (?:planned|that|before)|instead|(?:would|will|might|is|works?|suits?) .*))?(?: for (?P<for>.+))?",
        rf"(?P<v>push|move|bring|pull|shift|put|postpone|delay|slip|extend|lengthen|shorten|prolong|advance)\s+(?P<x>.*?)\s*(?P<dir>back|forward|out|up|ahead|off|down)?\s*(?:by )(?P<n>{TIMES}(?: and a half)?) ?(?P<u>{UNIT})(?: and a half)?",
        rf"(?P<v>push|move|bring|pull|shift|put|delay|postpone|advance)\s+(?P<x>.*?)\s*(?P<dir>back|forward|out|up|ahead|off)\s+(?P<n>{TIMES}) ?(?P<u>{UNIT})(?: and a half)?",
        rf"(?P<x>.+?) (?:has been|have been|was|were|got|'s been|is|gets|'s) (?:moved|pushed|delayed|postponed|shifted|brought forward|extended)(?: (?P<dir>back|forward|out|up|ahead|later))? (?:by )?(?P<n>{TIMES}) (?P<u>{UNIT})(?: (?P<dir2>later|earlier|back|forward))?",
        rf"(?:stay|add|make it|extend (?:it|the trip|the stay) by|one)? ?(?P<n>an extra|one extra|an additional|one more|{TIMES} (?:more|extra|additional)) (?P<u>night|day|week|hour)s?",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        groups = found.groupdict()
        direction = (groups.get("dir2") or groups.get("dir") or "").lower()
        v = (groups.get("v") or core.split()[0]).lower()
        sign = 1
        if (
            direction in ("earlier", "sooner", "ahead", "up", "before", "in advance", "shorter")
            or (
                (direction == "forward" and v in ("bring", "pull", "brought"))
                or v == "advance"
                or "brought forward" in core
            )
            or v == "shorten"
        ):
            sign = -1
        if direction == "forward" and v in ("move", "put"):
            sign = -1
        x = (groups.get("x") or groups.get("for") or "").strip()
        x = re.sub(
            r"^(?:it(?:'s| is| has)?(?: been)?|to be|be|been|start|starting|that|this|them|leave|meet|have|the whole thing)\b\s*",
            "",
            x,
            flags=re.IGNORECASE,
        )
        x = re.sub(r"\s+(?:has|have|is|was|to|by|been|got|gets|starts?|be)$", "", x, flags=re.IGNORECASE)
        text = re.sub(r"\bmore\b|\bextra\b|\badditional\b", "", f"{groups['n']} {groups['u']}")
        if "and a half" in core:
            text += " and a half"
        slot = (
            "duration"
            if re.search(
                r"\b(?:more|extra|additional|longer|shorter|extend|lengthen|shorten|prolong)\b",
                core,
                re.IGNORECASE,
            )
            and direction not in ("later", "earlier")
            else None
        )
        return step_of(clause, "shift", target=x, value=("-" if sign < 0 else "+") + text.strip(), slot=slot)
    number = rf"(?:{'|'.join(values.NUMBER_WORDS)}|\d+(?:\.\d+)? ?(?:%|percent)|\d[\d.,]*k?|another|an extra|an additional)"
    money = r"(?:[$€£]\s?\d[\d,.]*k?|\d[\d,.]*\s?(?:dollars|euros?|pounds|bucks|€|\$|usd|eur)?)"
    if found := re.fullmatch(
        rf"(?:raise|increase|up|bump up|bump|lift|boost|extend|lower|reduce|decrease|cut|drop|shrink|trim|expand|grow) (?P<x>.+?) by (?P<n>{money}|{number}|\d+ ?(?:%|percent))(?P<rest> .*)?",
        core,
        re.IGNORECASE,
    ):
        mark = (
            "-" if re.match(r"(?:lower|reduce|decrease|cut|drop|shrink|trim)", core, re.IGNORECASE) else "+"
        )
        return step_of(clause, "shift", target=found["x"], value=mark + found["n"])
    if found := re.fullmatch(
        rf"(?P<v>add|put|take|knock|shave|subtract) (?P<n>{money}) (?:more )?(?P<dir>to|on|off|from|on top of) (?P<x>.+)",
        core,
        re.IGNORECASE,
    ):
        return step_of(
            clause,
            "shift",
            target=found["x"],
            value=("-" if found["dir"].lower() in ("off", "from") else "+") + found["n"],
        )
    if (
        found := re.fullmatch(r"(?P<v>double|triple|quadruple|halve) (?P<x>.+)", core, re.IGNORECASE)
        or re.fullmatch(r"(?P<v>cut) (?P<x>.+?) (?:in|by) half", core, re.IGNORECASE)
        or re.fullmatch(r"(?P<v>half|twice|double) (?P<x>.+)", core, re.IGNORECASE)
        or re.fullmatch(
            r"(?:make )?(?P<x>it|that|.+?) (?P<v>double|twice as (?:much|many)|half as (?:much|many)|half that)",
            core,
            re.IGNORECASE,
        )
    ):
        factor = {
            "double": "2",
            "triple": "3",
            "quadruple": "4",
            "halve": "0.5",
            "cut": "0.5",
            "half": "0.5",
            "twice": "2",
        }[found["v"].lower().split()[0]]
        x = re.sub(r"^(?:the )?(?:number|amount|quantity|count) of\s+", "", found["x"], flags=re.IGNORECASE)
        x = re.sub(r"\s+money$", "", x)
        return step_of(clause, "shift", target=x, value="*" + factor)
    if found := re.fullmatch(
        rf"(?:(?:make|add|book|order|get|need|have|there (?:is|are|will be)|we need|i need|we(?:'ll| will) be|it'?s|let'?s have|we have|bring|invite|buy|include|reserve) )?(?:that |it )?(?P<n>{number}) (?P<dir>more|fewer|less|extra|additional|further)(?: (?P<x>.+?))?(?:\s(?:is|are|will be|has|have)? ?(?:coming|joining|attending|needed|please|confirmed|signed up|cancelled|dropped out)\b.*)?(?:,.*)?",
        core,
        re.IGNORECASE,
    ):
        n = re.sub(r"^(?:another|an extra|an additional)$", "one", found["n"], flags=re.IGNORECASE)
        mark = "-" if found["dir"].lower() in ("fewer", "less") else "+"
        x = re.sub(r",.*$", "", found["x"] or "")
        if x and not (re.fullmatch(r"[\w' -]+", x)):
            return []
        return step_of(clause, "shift", target=x, value=mark + n, slot="count")
    if found := re.fullmatch(
        rf"(?P<n>{number}) (?P<x>[\w' ]+?) (?P<dir>more|fewer|less)(?:,? .*)?", core, re.IGNORECASE
    ):
        mark = "-" if found["dir"].lower() in ("fewer", "less") else "+"
        return step_of(clause, "shift", target=found["x"], value=mark + found["n"], slot="count")
    if found := re.fullmatch(
        r"another (?P<x>.+)|(?:add |get |order |book )(?:another|one more|an extra|an additional) (?P<x2>.+)",
        core,
        re.IGNORECASE,
    ):
        x = found["x"] or found["x2"]
        return step_of(clause, "shift", target=x, value="+one", slot="count")
    return []


def read_remove(reader: Reader, clause: Clause) -> list[Step]:
    """'Drop the corn', 'we don't need the stage any more', 'Carl is no longer invited'."""
    core = clause.core
    tail = r"(?:\s+(?:from|off|out of|in|on) (?P<within>(?:the |my |our |it|there|that|this)?[\w' -]*))?"
    off = re.fullmatch(
        r"(?:take|cross|strike|scratch|leave|get|kick|pull|cut|keep|toss|throw) (?P<x>.+?) (?:off|out)(?:\s+(?:of|from)?\s*(?P<within>[\w' -]+))?",
        core,
        re.IGNORECASE,
    )
    if (
        off
        and not re.match(r"(?:off|out)\b", off["x"])
        and not re.fullmatch(r"(?:a (?:day|week|loan|while)|time)", off["x"], re.IGNORECASE)
    ):
        within = noun_phrase_of(off["within"] or "")
        if within.lower().startswith("hold"):
            return []
        return removal(reader, clause, off["x"], "" if within in ("list", "there", "it") else within)
    if found := re.fullmatch(rf"(?:{REMOVE})\s+(?P<x>.+?)" + tail, core, re.IGNORECASE):
        x, within = found["x"], noun_phrase_of(found["within"] or "")
        whole = re.sub(rf"^(?:{REMOVE})\s+", "", core, flags=re.IGNORECASE)
        if within and reader.known(whole) and not reader.known(within):
            x, within = whole, ""
        if re.match(r"(?:in half|by|to|short|down|back|it (?:to|down|back)|off)\b", x) and not noun_phrase_of(
            x
        ):
            return []
        if (
            re.match(
                r"(?:drop|pull|cut|clear|kill|dump|forget|strike|lose|cancel|skip)\b", core, re.IGNORECASE
            )
            and re.search(r"\b(?:at|to|into)\s+(?:the|my)\s", x)
            and not reader.known(x)
        ):
            return []
        if within and not reader.known(within) and not is_container(within) and within not in ("it", "there"):
            x, within = (
                f"{x} {core[found.start('within') - 5 :].strip()}"
                if reader.known(core[found.start("x") :])
                else x,
                within,
            )
        return removal(reader, clause, x, within)
    for pattern in (
        r"(?:we|i)(?: really| actually)? (?:don'?t|do not|no longer|won'?t|will not|wouldn'?t) (?:really |actually |even )?(?:need|want|require|have to have|be needing|be doing|do|be having) (?:to )?(?P<x>.+?)(?: (?:any ?more|any longer|after all|at all|now|either))?",
        r"(?:we|i)(?:'m| am|'re| are) (?:not|no longer) (?:going to (?:do |have |need |bring |get |buy )?|\w+ing (?!to\b)|doing |having |bringing |buying |getting |taking |making |gonna (?:do |have |need )?)(?P<x>.+?)(?: (?:any ?more|after all))?",
        r"(?P<x>.+?) (?:is|are|'s) (?:no longer (?:needed|necessary|coming|invited|required|attending|joining|part of it|in|relevant|part of the plan|on the (?:list|team|panel))|not (?:needed|coming|invited|necessary|required|attending|joining|relevant)(?: any ?more| after all)?|off(?: the (?:list|table|menu|team|plan))?|cancell?ed|out|called off|scrapped|dropped|dropping out|not happening|history|gone from the list|toast)(?:,? .*)?",
        r"(?P<x>.+?) (?:isn'?t|aren'?t) (?:needed|coming|invited|necessary|required|attending|joining|happening|going to (?:come|make it|join))(?: any ?more| after all| now)?(?:,? .*)?",
        r"(?P<x>.+?) (?:can go|has to go|must go|should go|needs to go|has been cancelled|was cancelled|got cancelled|dropped out|bailed|backed out|has dropped out|has cancelled|cancelled|canceled|pulled out)(?:,? .*)?",
        r"(?P<x>.+?) (?:won'?t|can'?t|cannot|will not) (?:come|attend|join|be (?:coming|there|joining|attending)|take part|participate)(?: (?:any ?more|after all|us))?(?:,? .*)?",
        r"(?:please )?(?:without|minus|hold|no more|nix|never ?mind(?: about)?|forget about) (?P<x>.+?)(?: please)?",
        r"no (?P<x>[\w' -]+?)(?: please| for (?:me|us|now)| any ?more| after all| then|,.*)?",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        x = noun_phrase_of(found["x"])
        if not x and "ing" in pattern and re.search(r"\bnot \w+ing\b", core):
            continue
        if pattern.startswith(("no ", "(?:please")) and not reader.known(x):
            continue
        if re.match(r"(?:i|we|you|they|he|she|there|what|who|time)$", x, re.IGNORECASE) or (
            not x
            and not re.match(r"(?:it|that|this|he|she|they|him|her)\b", found["x"].strip(), re.IGNORECASE)
        ):
            continue
        if re.match(
            r"(?:to|be|know|think|believe|mind|care|idea|problem|worries|rush|sure|wait)\b", x, re.IGNORECASE
        ):
            continue
        if (
            re.search(
                r"\b(?:at|on|before|then|by|early|until|from|after|today|now)\b(?! all)",
                core[found.end("x") :],
            )
            and "coming" not in core
        ):
            continue
        if not reader.known(x) and not re.match(r"(?:he|she|they|it|that)\b", found["x"], re.IGNORECASE):
            continue
        return removal(reader, clause, x, "")
    return []


def removal(reader: Reader, clause: Clause, x: str, within: str) -> list[Step]:
    """The step for what is to go: one thing, several, or everything."""
    x = re.sub(r"^(?:out|off|away|doing|having|getting|buying|with)\s+(?=\w)", "", x.strip())
    x = re.sub(r",\s*(?:i|we|it|he|she|they|that|because|since|as|please|my|the)\b.*$", "", x)
    x = re.sub(r"\s+(?:entirely|completely|altogether|for good|please|too|as well|again|instead)$", "", x)
    whole = re.fullmatch(r"(?:the )?(?:whole|entire) (.+)", x)
    if whole:
        x = whole[1]
    if re.fullmatch(
        r"(?:everything|all of (?:it|them)|it all|all|the whole thing|all (?:the )?(?:items|tasks|guests))",
        x,
        re.IGNORECASE,
    ):
        return step_of(clause, "remove", target="", everyone=True, within=within)
    if (
        x
        and not reader.known(x)
        and any(step.act == "task" and step.intent == "new" for step in reader.steps)
        and re.match(r"(?:cancel|drop|cut|pull|clear|skip|lose)\b", clause.core, re.IGNORECASE)
    ):
        return [reader.new_task(clause)]
    if (
        re.fullmatch(r"it|that|him|her|them|they|he|she|this|", x, re.IGNORECASE)
        and reader.steps
        and reader.steps[-1].act == "remove"
    ):
        return [reader.chat(clause)]
    if (
        re.fullmatch(r"it|that|him|her|them|", x, re.IGNORECASE)
        and reader.missing
        and reader.known(reader.missing)
    ):
        return step_of(clause, "remove", target=reader.missing, within=within)
    if (
        re.fullmatch(r"him|her|them|he|she", x, re.IGNORECASE)
        and reader.steps
        and reader.steps[-1].act == "remove"
    ):
        return [reader.chat(clause)]
    items = list_words(x)
    if len(items) > 1 and not reader.known(x):
        shared_head = items[-1].split()
        if len(items[0].split()) == 1 and len(shared_head) > 1 and not reader.known(items[0]):
            items = [
                f"{item} {shared_head[-1]}" if len(item.split()) == 1 and not reader.known(item) else item
                for item in items[:-1]
            ] + [items[-1]]
        return step_of(
            clause,
            "remove",
            target="",
            items=tuple(Detail(slot="item", value=item) for item in items),
            within=within,
        )
    return step_of(clause, "remove", target=x, within=within)

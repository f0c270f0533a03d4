"""Speech acts that shape a task: split, merge, keep only, order and need, share.

Each reader takes the reader of the utterance and a clause, and gives steps, or nothing where the clause is
not its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    NAME,
    SLOT_OF_KIND,
    done_phrase,
    has_verb,
    list_words,
    matcher,
    noun_phrase_of,
    step_of,
)
from taskloom.agent.language.words import slot_group
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.turn.steps import Detail, Step, StepPart

from .states import removal

if TYPE_CHECKING:
    from .rules import Reader


def read_split(reader: Reader, clause: Clause) -> list[Step]:
    """'Split it into two parts: Bob from 2 to 2:45, the rest at 4'."""
    found = re.search(
        r"\b(?:split|divide|break|separate)\b\s*(?P<target>.*?)(?:\s*\b(?:in|into|up into|up in|up)\b\s*(?:two|three|four|2|3|4|a couple of|separate|several)?\s*(?:separate\s+)?(?:parts?|sessions?|meetings?|groups?|slots?|halves|blocks?|calls?|shifts?|events?|appointments?|visits?|rounds?|rehearsals?|classes|tables|tours|teams|batches|trips|interviews|\w+s)?)?\s*(?:[:;,-]|\bso\b|\bwith\b|\bwhere\b|$)\s*(?P<parts>.*)$",
        clause.text.rstrip(".! "),
        re.IGNORECASE,
    )
    if not found:
        found = re.fullmatch(
            r"(?P<target>)(?:.*?[,.]\s*)?(?:so |let'?s |please |just )*(?:make|do|have|hold|run|turn)\s+(?:it |that |this )?(?:into |in )?(?:two|three|2|3|separate)(?: separate| different)?\s+\w+\s*(?::|,|-)\s*(?P<parts>.+)",
            clause.text.rstrip(".! "),
            re.IGNORECASE,
        )
        if found and len(parts_of(found["parts"])) < 2:
            found = None
    if not found or clause.question:
        return []
    target = re.sub(r"\s+(?:up|by .*|between .*|among .*)$", "", found["target"].strip())
    shares = [
        re.fullmatch(
            rf"(?P<p>{NAME}|I) (?:gets?|takes?|does|do|has|handles?|will do|will take) (?P<x>.+)",
            piece.strip(" ,"),
        )
        for piece in re.split(
            rf",\s*(?:and )?(?={NAME} (?:gets?|takes?|does|has|handles?|will))|;\s*|\s+and (?={NAME} (?:gets?|takes?|does|has|handles?|will))",
            found["parts"],
        )
    ]
    if shares and all(shares):
        made: list[Step] = []
        for share in shares:
            if share:
                rest = re.fullmatch(r"(?:the )?(?:rest|others|remaining \w+)", share["x"])
                made += [
                    one
                    for item in ([""] if rest else list_words(share["x"]))
                    for one in step_of(
                        clause, "assign", target=item, value=share["p"], slot="assignee", everyone=bool(rest)
                    )
                ]
        return made
    parts = parts_of(found["parts"])
    if reader.mentioned:
        parts = tuple(
            part.model_copy(update={"members": tuple(reader.mentioned), "title": " and ".join(reader.mentioned)})
            if any(re.fullmatch(r"(?:those two|the two|they|them|both|those|these two|the two of them)", member, re.IGNORECASE) for member in part.members) else part
            for part in parts
        )  # fmt: skip
    if len(parts) < 2:
        if by := re.search(
            r"\b(?:by|between|among|for)\s+(.+)$", found["target"] + " " + found["parts"], re.IGNORECASE
        ):
            people = list_words(by[1])
            parts = (
                tuple(StepPart(title=person, members=(person,)) for person in people)
                if len(people) > 1
                else ()
            )
    if len(parts) < 2:
        return []
    return step_of(clause, "split", target=target, parts=parts)


def parts_of(text: str) -> tuple[StepPart, ...]:
    """'Bob from 2 to 2:45, the rest at 4' as two parts with their members and values."""
    spans = values.spot(text)
    if not spans:
        return ()
    made: list[StepPart] = []
    start = 0
    groups: list[tuple[str, list[Detail]]] = []
    for span in spans:
        lead = text[start : span.start]
        detail = Detail(slot=SLOT_OF_KIND.get(span.kind, span.kind), value=span.text)
        words = re.sub(
            r"\b(?:at|from|on|for|to|in|is|gets?|takes?|goes|go|comes?|come|do|does|one|between|starting|around|can|will|should|be|then|the other|another|a|an)\b",
            " ",
            lead,
        )
        words = " ".join(re.sub(r"[,;:.-]", " ", re.sub(r"^\s*(?:,|;|and\b)+\s*", "", words)).split())
        names_in = [
            w
            for w in list_words(
                re.sub(
                    r"\b(?:at|from|on|for|is|gets?|takes?|go(?:es)?|comes?|will|should|be|starting)\b\s*$",
                    "",
                    lead.strip(" ,;:-"),
                ).strip(" ,;:-")
            )
            if w
        ]
        if groups and not words:
            groups[-1][1].append(detail)
        else:
            groups.append((lead, [detail]))
            made.append(part_of(names_in))
        start = span.end
    return tuple(
        part.model_copy(update={"details": tuple(details)})
        for part, (_, details) in zip(made, groups, strict=True)
    )


def part_of(words: list[str]) -> StepPart:
    """One part of a split from the words before its values."""
    cleaned = [
        re.sub(
            r"^(?:one |another |a )?(?:with|for|session for|part for)\s+|\s+(?:at|from|on|for|is|gets|comes|will|goes)$",
            "",
            word,
            flags=re.IGNORECASE,
        ).strip()
        for word in words
    ]
    rest = any(
        re.fullmatch(
            r"(?:the )?(?:rest|others?|remaining(?: \w+)?|everyone else|everybody else|other \w+|rest of (?:us|them|the \w+)|all the others|all others)",
            w,
            re.IGNORECASE,
        )
        for w in cleaned
    )
    members = tuple(
        w
        for w in cleaned
        if w
        and not re.fullmatch(
            r"(?:the )?(?:rest|others?|remaining(?: \w+)?|everyone else|everybody else|other \w+|rest of .*|all the others|all others|one|first|second)",
            w,
            re.IGNORECASE,
        )
    )
    return StepPart(title=" and ".join(members) or "the rest", members=members, rest=rest)


def read_merge(reader: Reader, clause: Clause) -> list[Step]:
    """'Make it a single 3 PM meeting with everyone', 'put them back together', 'forget the split'."""
    core = clause.core
    if not any(node.active for node in tasks_in_role(reader.view.graph, "part")):
        return []
    if not re.search(
        r"\b(?:single|one|1)\b(?! (?:of|more|person|hour|day|week|at|from|with|for)\b)|\b(?:merge|recombine|rejoin|unify|reunite|un-?split)\b|"
        r"\b(?:combine|join|put|bring|keep|have|get) (?:it|them|the|both|everything|everyone|everybody|all)\b.*\b(?:together|back)\b|"
        r"\bback to (?:one|a single|just one)\b|\b(?:all|everyone|everybody|both) together\b|\btogether (?:again|after all)\b|"
        r"\b(?:forget|undo|cancel|drop|scrap|reverse|lose|no)\b.*\bsplit", core, re.IGNORECASE):  # fmt: skip
        return []
    if clause.question and not clause.request:
        return []
    details = tuple(
        Detail(slot=SLOT_OF_KIND.get(span.kind, span.kind), value=span.text) for span in values.spot(core)
    )
    return step_of(
        clause,
        "merge",
        target="",
        details=details,
        everyone=bool(re.search(r"\beveryone|everybody|all\b", core)),
    )


def read_only(reader: Reader, clause: Clause) -> list[Step]:
    """'Reset it to just A and B', 'only keep A', 'remove everything except A'."""
    core = clause.core
    core = re.sub(r",?\s+(?:and )?(?:nothing|nobody|no one) else$", "", core, flags=re.IGNORECASE)
    core = re.sub(
        r"^((?:i|we) (?:want|need|'d like)) (just|only) (.+?)(?: in (?:there|it))?$",
        r"only want \3",
        core,
        flags=re.IGNORECASE,
    )
    for pattern in (
        r"(?:reset|reduce|limit|restrict|narrow|cut|trim|strip|pare|bring|boil|set|change|shrink|get) (?P<target>.*?)\s?(?:down |back )?to (?:just |only |nothing but |exactly )(?:have |include |the two: )?(?P<items>.+)",
        r"(?:reset|reduce|limit|restrict|narrow|trim|strip|pare) (?P<target>.*?)\s?(?:down |back )?to (?P<items>.+)",
        r"(?:just|only) (?:keep|leave|have|include|want|need|take|do) (?P<items>.+?)(?: (?:on|in) (?P<target>.+))?",
        r"(?:i|we) (?:just|only) (?:want|need) (?!to\b)(?P<items>.+?)(?: (?:on|in) (?P<target>.+))?",
        r"(?:keep|leave|include|have|take|do|with) (?:just|only|nothing but) (?P<items>.+?)(?: (?:on|in) (?P<target>.+))?",
        r"(?:remove|delete|drop|clear|take off|take out|cancel|cut|skip|lose|get rid of|scrap|forget|scratch|toss) (?:everything|all(?: of (?:it|them))?|everyone|everybody|anything|all the others|the others|all items|every \w+|all \w+)(?: else)?(?: (?:from|in|on|off) (?P<target>[\w' -]+?))? (?:except|but|apart from|other than|besides|aside from|save)(?: for)? (?P<items>.+)",
        r"(?:nothing but|just|only) (?P<items>.+)",
        r"(?P<target>[\w' -]+?) (?:should|must|can|will|shall) (?:now )?(?:just |only |exactly )*(?:be|contain|have|include|hold|consist of) (?:just |only |exactly |nothing but )+(?P<items>.+)",
        r"(?P<target>[\w' -]+?) should now be (?P<items>.+,.+)",
        r"(?:clear|empty|wipe|reset|scrap|erase|redo) (?P<target>[\w' -]+?)(?: and|,)? (?:then )?(?:start (?:over|again|fresh|anew)|begin again|restart|put|use|make it|add|have)(?: with| just| only)* (?P<items>.+)",
        r"(?:remove|drop|take off|delete|cancel|get rid of) (?P<gone>the (?:rest|others)|all the (?:rest|others)|everything else|all others)(?: (?:from|off) (?P<target>.+))?",
        r"(?P<items>.+?) (?:only|and nothing else|and that'?s it|and no(?:thing|body) else|and that'?s all)",
        r"everything (?:except|but) (?P<items>.+?) (?:should |can )?(?:go|goes|be removed|can go)",
        r"(?:everyone|everybody|everything|all)(?: of (?:them|us))? (?:except|but|apart from|besides)(?: for)? (?P<out>.+?) (?:stays?|remains?|is (?:in|on)|keeps?|comes?|can stay|should stay)\b.*",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        groups = found.groupdict()
        if groups.get("out"):
            return removal(reader, clause, groups["out"], "")
        if groups.get("gone"):
            kept = [step.target for step in reader.steps if step.act in ("resume", "only")]
            if not kept:
                return []
            return step_of(
                clause,
                "only",
                target=groups.get("target") or "",
                items=tuple(Detail(slot="item", value=item) for item in kept),
            )
        items = list_words(groups.get("items") or "")
        bare = pattern.startswith((r"(?:nothing", r"(?P<items>"))
        reset = pattern.startswith(("(?:reset|reduce|limit|restrict|narrow|trim", r"(?P<target>"))
        if reset and values.kind_of(groups.get("items") or "") and len(items) < 2:
            return []
        if bare and not (items and all(reader.known(item) for item in items)):
            return []
        if bare and len(core.split()) > 12:
            return []
        if not items:
            return []
        if values.spot(core) and len(items) == 1 and not reader.known(items[0]):
            return []
        return step_of(
            clause,
            "only",
            target=groups.get("target") or clause.hint,
            items=tuple(Detail(slot="item", value=item) for item in items),
        )
    return []


def read_before_after(reader: Reader, clause: Clause) -> list[Step]:
    """Order and need: 'before X, do Y', 'first A then B', 'X can't start until Y', 'X needs Y first'."""
    core = clause.core
    if re.match(
        r"(?:move|change|push|pull|switch|set|make|keep|shift|put)\b", core, re.IGNORECASE
    ) or re.search(r"\bafter all\b", core):
        return []
    if re.match(  # what is to be found out, not what comes first
        r"(?:ask|find out|figure out|work out|check|see|look up|tell|let \w+ know|remind)\b(?!.*\b(?:before|after|once|first|until)\b).*\bwhen\b",
        core,
        re.IGNORECASE,
    ):
        return []
    m = matcher(core)
    if found := m(
        r"(?:first(?: of all)?|start by|to start),? (?P<a>.+?)[,;]?\s+(?:and\s+)?(?:then|and after that|after that|afterwards|and then|followed by|next)[,]?\s+(?P<b>.+)"
    ):
        return chain(
            clause,
            [found["a"], *re.split(r",?\s+(?:and )?(?:then|after that|finally|and finally)\s+", found["b"])],
        )
    if found := m(
        r"(?P<a>(?!first\b).+?)[,;]\s*(?:and\s+)?(?:then|and after that|after that|and then|afterwards)[,]?\s+(?P<b>.+)"
    ):
        if (has_verb(found["a"]) or "first" in core) and has_verb(
            re.sub(r"^(?:i|we) (?:have to|need to|can|will|must) ", "", found["b"])
        ):
            return chain(
                clause,
                [
                    found["a"],
                    *re.split(r",\s+(?:and )?(?:then|after that|finally|and finally)\s+", found["b"]),
                ],
            )
    if found := m(r"(?P<a>.+?) and (?:then|after that|afterwards) (?P<b>.+)"):
        if has_verb(found["a"]) and has_verb(found["b"]):
            return chain(clause, [found["a"], found["b"]])
    if found := m(
        r"to (?P<goal>.+?),? (?:i|we) (?:first )?(?:have to|need to|must) (?:first )?(?P<a>.+?)(?:,? (?:and )?then (?P<b>.+))?"
    ):
        if "first" in core or found["b"]:
            return [*chain(clause, [part for part in (found["a"], found["b"], found["goal"]) if part])]
    need = (
        r"(?:we|i|you|he|she|they) (?:can'?t|cannot|can not|couldn'?t|shouldn'?t|mustn'?t|can only|must not) (?:start |begin |do |go ahead with |start with )?(?P<x>.+?) (?:until|till|unless|before|after|once|without) (?P<y>.+)",
        r"before (?:we |i |you )?(?:can |start |starting |begin |do |doing )*(?P<x>.+?),? (?P<y>(?:we|i|you|the|my|our|someone|"
        + NAME
        + r")\b.+? (?:has|have|needs?|must|should|gotta|got|'ve got) (?:to )?.+)",
        r"before (?:we |i |you )?(?:can )?(?P<x>[^,]+?), (?P<y>.+)",
        r"(?P<y>.+?) (?:has|have|needs?|must|should) to (?:be (?:done|finished|complete|completed|ready|in|over|booked|sent|signed|approved|in place|dry|settled|there)) (?:first )?before (?:we |i |you )?(?:can )?(?P<x>.+)",
        r"(?P<x>.+?) (?:can'?t|cannot|can not|couldn'?t|won'?t|shouldn'?t|mustn'?t|can only|may only|must not) (?:be |go |start|begin|happen|go ahead|go out|ship|proceed|launch|be done|be started|take place|come|leave)?\s*.*?(?:until|till|unless|before|after|once|without|only after|as long as) (?P<y>.+)",
        r"(?:only )?(?P<x>.+?) (?:only )?(?:after|once|as soon as|when) (?P<y>.+?(?: (?:is|are|has|have) (?:been )?(?:done|finished|in|complete|completed|ready|delivered|approved|signed|passed|dry|over|booked|paid|confirmed))?)",
        r"(?P<x>.+?) (?:depends?|relies|rely|hinges?|is dependent|are dependent|rests?|is contingent|is conditional) (?:up)?on (?P<y>.+)",
        r"(?P<x>.+?) (?:has to|have to|must|needs? to|should|will have to) (?:wait|come|happen|be done|go|start|follow)s? (?:for|until|till|after|once) (?P<y>.+)",
        r"(?P<x>.+?) (?:is|are) (?:blocked|held up|gated) (?:by|on|until) (?P<y>.+)",
        r"(?P<x>.+?) (?:waits?|is waiting|are waiting) (?:for|on) (?P<y>.+)",
        r"(?P<x>.+?) comes? (?:only )?after (?P<y>.+)",
        r"(?P<y>.+?) (?:has to|have to|must|needs? to|should|comes?|goes?|gets done|is|be done) (?:come|happen|be done|be finished|go|be|be in|be ready)?\s*(?:first\s+)?(?:before|prior to|ahead of) (?:we |i |you )?(?:can )?(?P<x>.+)",
        r"(?P<x>.+?) needs? (?P<y>.+?) (?:first|beforehand|before that|done first|to be done(?: first)?|to be finished(?: first)?|to be ready|finished first|in place first)",
        r"(?P<x>.+?) requires? (?P<y>.+)",
        r"(?P<y>.+?) (?:is|are) (?:a )?(?:prerequisite|required|needed|precondition|necessary) (?:for|of) (?P<x>.+)",
        r"once (?P<y>.+?)(?: is| are| has been| have been)?(?: done| finished| in| complete| ready| approved| over| booked)?,\s+(?:we can |i can |we |i )?(?P<x>.+)",
        r"after (?P<y>[^,]+), (?P<x>.+)",
        r"(?P<y>.+?) before (?P<x>[\w' ]+ing [\w' ]+|.+)",
        r"(?:do|make|have) (?P<x>.+?) (?:depend|wait) (?:on|for) (?P<y>.+)",
    )
    if re.search(
        r"\b(?:before|after)\s+(?:\d|noon|lunch|dinner|work|that$)", core, re.IGNORECASE
    ) and not re.match(r"before that", core, re.IGNORECASE):
        return []
    if found := m(r"(?:before|prior to) that,? (?:i |we )?(?:need to |have to |must |should )?(?P<y>.+)"):
        return step_of(clause, "need", target="", items=(Detail(slot="task", value=done_phrase(found["y"])),))
    if found := m(
        r"(?P<x>.+?) (?:doesn'?t|don'?t|no longer|does not) (?:needs?|depends? on|requires?|have to wait for|rely on|relies on) (?P<y>.+)"
    ):
        if (
            reader.known(found["y"])
            and reader.known(found["x"])
            and not re.fullmatch(r"(?:we|i|you)", found["x"], re.IGNORECASE)
        ):
            return step_of(
                clause,
                "unneed",
                target=found["x"],
                items=(Detail(slot="task", value=noun_phrase_of(found["y"])),),
            )
        return []
    if found := m(r"(?:unlink|decouple|disconnect) (?P<x>.+?) (?:from|and) (?P<y>.+)"):
        return step_of(
            clause,
            "unneed",
            target=found["x"],
            items=(Detail(slot="task", value=noun_phrase_of(found["y"])),),
        )
    for pattern in need:
        found = m(pattern)
        if not found:
            continue
        x, y = done_phrase(found["x"]), found["y"]
        if re.fullmatch(r"(?:i|we|you|he|she|it|they|that|let'?s)", x, re.IGNORECASE) or not y.strip():
            continue
        if values.kind_of(y) in ("date", "time") or values.kind_of(x) in ("date", "time"):
            return []
        if "requires?" in pattern and not reader.known(x) and len(x.split()) > 6:
            continue
        if "(?:only )?(?:after|once" in pattern and not (reader.known(x) or has_verb(x) or reader.known(y)):
            continue
        if pattern.startswith("(?P<y>.+?) before (?P<x>") and not (
            (has_verb(y) or reader.known(y))
            and (has_verb(x) or reader.known(x) or x.strip().partition(" ")[0].endswith("ing"))
        ):
            continue
        if pattern.startswith(("after ", "once ")) and not (reader.known(y) or has_verb(x)):
            continue
        words = (
            list_words(y)
            if pattern.startswith((r"(?P<x>.+?) needs?", r"(?P<x>.+?) requires?"))
            else [done_phrase(y)]
        )
        return step_of(
            clause,
            "need",
            target=x,
            items=tuple(Detail(slot="task", value=done_phrase(word)) for word in words),
        )
    return []


def chain(clause: Clause, pieces: list[str]) -> list[Step]:
    """Things to do in order, each resting on the one before."""
    cleaned = [
        re.sub(
            r"^(?:i|we)\s+(?:have to|need to|must|can|will|should|'ll)?\s*",
            "",
            piece.strip(" .,;"),
            flags=re.IGNORECASE,
        )
        for piece in pieces
    ]
    return [Step(text=clause.text, act="need", intent="new", target=later, items=(Detail(slot="task", value=earlier),), everywhere=False, old="chain")
            for earlier, later in itertools.pairwise(cleaned)]  # fmt: skip


def read_both_need(reader: Reader, clause: Clause) -> list[Step]:
    """'Both the workshop and the fair need the projector', 'use the van for the sofa as well', 'reuse the same venue for Y'."""
    core, also = (
        clause.core,
        clause.addition
        or bool(re.search(r"\b(?:also|too|as well|same|again)\b", clause.text, re.IGNORECASE)),
    )
    m = matcher(core)
    if found := m(
        r"both (?P<x>.+?) and (?P<y>.+?) (?:need|use|require|share|depend on|rely on|want) (?P<thing>.+)"
    ):
        return [
            Step(
                text=clause.text,
                act="share",
                intent="update",
                target=noun_phrase_of(x),
                items=(Detail(slot="item", value=noun_phrase_of(found["thing"])),),
            )
            for x in (found["x"], found["y"])
        ]
    if (
        found := m(
            r"(?P<thing>.+?) (?:is|are|gets|will be) (?:needed|used|required|shared) (?:for|in|by|between) both (?P<x>.+?) and (?P<y>.+)"
        )
        or m(r"(?:use|share|take) (?P<thing>.+?) (?:for|in|between|with) both (?P<x>.+?) and (?P<y>.+)")
        or m(r"(?:share) (?P<thing>.+?) between (?P<x>.+?) and (?P<y>.+)")
    ):
        return [
            Step(
                text=clause.text,
                act="share",
                intent="update",
                target=noun_phrase_of(x),
                items=(Detail(slot="item", value=noun_phrase_of(found["thing"])),),
            )
            for x in (found["x"], found["y"])
        ]
    patterns = (
        r"(?:reuse|re-use) (?:the same |same |the )?(?P<thing>.+?) (?:for|in|at|on|with) (?P<x>.+)",
        r"(?:use|take|have|book|hire|keep|go with|put|get|ask|wear|bring|play|order|invite|include|need) (?:the )?(?:very )?same (?P<thing>.+?) (?:for|in|at|on|as for|with|into) (?P<x>.+)",
        r"(?:the )?same (?P<thing>.+?) (?:for|in|at|on|applies to|goes for|as for) (?P<x>.+)",
        r"(?P<x>.+?) (?:uses?|needs?|gets?|takes?|has|have|shares?|should use|will use|can use) the same (?P<thing>[\w' -]+?)(?: as (?P<y>.+))?",
        r"(?:can |we can |i can )?(?:also |again )?(?:use|put|add|include|need|take|want|have|throw|reuse|apply|mix|sprinkle|pour|plant|place|set|sew|glue|fit|install|bring|play|serve|stir|blend|work) (?P<thing>.+?)(?: also)? (?:for|in|into|on|to|with|inside) (?P<x>.+)",
        r"(?P<x>.+?) (?:also |too )(?:needs?|uses?|requires?|gets?|wants?|takes?|includes?|contains?) (?P<thing>.+)",
        r"(?P<x>.+?) (?:needs?|uses?|requires?|gets?|takes?) (?P<thing>.+)",
        r"(?P<thing>.+?) (?:also )?(?:goes|go|is used|are used|is needed|are needed|belongs|should go|(?:should|can|could|will|has to|have to|must) (?:also )?be used) (?:also )?(?:in|into|for|to|on|with) (?P<x>.+)",
    )
    if not also and not m(patterns[0]):
        return []
    for number, pattern in enumerate(patterns):
        found = m(pattern)
        if not found:
            continue
        thing, x = found["thing"], found["x"]
        thing = noun_phrase_of(re.sub(r"^(?:also|again|some of)\s+", "", thing))
        if number >= 4 and not reader.known(thing):
            continue
        x = re.sub(r",?\s*(?:please )?link it to both$", "", x)
        x = noun_phrase_of(re.sub(r"\s+(?:too|as well|also)$", "", x))
        if not thing or not x or (number >= 4 and not thing_of(reader, x)):
            continue
        return [
            Step(
                text=clause.text,
                act="share",
                intent="update",
                target=x,
                items=tuple(
                    Detail(slot="item", value=word)
                    for word in (list_words(thing) if number >= 4 else [thing])
                ),
            )
        ]
    return []


def thing_of(reader: Reader, words: str) -> bool:
    """Whether words name a task in the plan, not a slot."""
    return reader.known(words) and slot_group(words) is None

"""Questions in English: which kind, what about, and what they suppose. Pure text."""

from __future__ import annotations

import re

from .interpreter import Asked, Step

_TELL = (
    r"(?:tell|show|list|read|repeat|remind|summari[sz]e|recap|sum up|give|check|double-check|double check|name|explain|"
    r"generate|confirm|display|print out|let me know|let me see|walk|run|go over|see|say|know|recite|describe|review|verify|look)"
)
_HISTORY = r"(?:originally|before|previously|initially|at first|in the first place|at the start|in the beginning|the old|old|former|previous|original|first)"
_PLAN_WORDS = r"(?:plan|summary|overview|recap|status|picture|itinerary|rundown|everything|details|info|information|data|state|setup)"


def is_question(core: str, question: bool) -> bool:
    """Whether a clause asks, by its mark, its first word, or an imperative of telling."""
    lowered = core.lower()
    if re.match(r"(?:what|when|where|who|whom|whose|why|which|how come|how many|how much|how long|how)\b", lowered):
        return not re.match(r"(?:when|where|which|who|how|what)\b[^?]*,", lowered) or question or not re.match(
            r"(?:when|where) ", lowered
        )
    if re.match(
        r"(?:is|are|was|were|isn'?t|aren'?t|wasn'?t|weren'?t|did|do (?:i|we|you|they)|does|didn'?t|don'?t (?:i|we|you)|doesn'?t|have (?:i|we|you)|"
        r"haven'?t|has|hasn'?t|had|hadn'?t|am i|any (?:idea|chance))\b",
        lowered,
    ):
        return True
    if re.match(
        r"(?:tell me|show me|show(?: us)?|list|remind me (?:what|when|where|who|which|how|why|of|about|again)|remind me$|"
        r"summari[sz]e|recap|sum up|repeat|read (?:me |back |it |the |my |that |out )|let me (?:see|know|have)|give me|(?:quick|full|short|brief|final)? ?"
        r"(?:recap|summary|overview|rundown|status)|generate (?:a|the|my|me) (?:complete |full |final )?\w*\s?\w*(?:plan|summary|overview|list|itinerary)|"
        r"double[- ]?check|go over|walk me|confirm (?:what|that|the|my|all)|review (?:what|my|the|all)|"
        r"print (?:out )?(?:the|my) (?:whole |full |current )?(?:list|plan|summary)|so,? where are we|status\b|run me through|check (?:if|whether|that|what|when|who|where|again)|"
        r"name (?:all|every|the)|which\b|anything (?:else|left|still|open))",
        lowered,
    ):
        return not re.match(r"(?:list|show) \w+ as\b", lowered)
    if re.search(r"(?:, (?:right|correct|yes|no|ok)|(?:isn'?t|wasn'?t|aren'?t|weren'?t|doesn'?t|didn'?t|don'?t|hasn'?t|won'?t) "
                 r"(?:it|that|he|she|they|there|we|i)|am i right|is that right|is that correct|or is it|or not)$", lowered):  # fmt: skip
        return True
    if re.match(r"i (?:think|thought|believe|believed|bet|could have sworn|was sure|remember|recall|'m pretty sure|am (?:pretty )?sure|assume|assumed)\b", lowered):
        return bool(
            re.search(r"\b(?:never|was|were|wasn'?t|weren'?t|had|said|had said|did|didn'?t|used to|originally|always)\b", lowered)
            or re.match(r"i (?:thought|could have sworn|was sure|remember|recall|assumed|believed)\b", lowered)
        )
    return question


def read_question(core: str, *, previous: str = "") -> Step:
    """A question as a step: its kind, the words it is about, and what it supposes.

    Args:
        core: the clause without lead-in and closing mark.
        previous: the question before it, for "and the hotel?".
    """
    text = core
    lowered = core.lower().strip()
    lowered = re.sub(r"^(?:do you (?:know|remember|recall)|any idea|tell me(?: again)?|remind me(?: again)?,?|can you tell me|"
                     r"let me know|i wonder|you know|could you remind me|say|just tell me|tell me only|only)\s+"
                     r"(?=(?:what|when|where|who|which|how|why|if|whether|is|was|did|the|my|only)\b)", "", lowered)  # fmt: skip
    lowered = re.sub(r"^remind me,?\s*", "", lowered) or lowered
    lowered = re.sub(r"[,\s]+(?:again|please|pls|exactly|so far|at the moment|right now|currently|now|then|anyway|nothing else|by the way)$", "", lowered)
    lowered = re.sub(r"^so,?\s+", "", lowered)

    def step(kind: str, target: str = "", **more: object) -> Step:
        act = more.pop("act", None)
        return Step(
            text=text, act="ask", intent="check", target=_about(target, core), within=_about(str(more.pop("within", "")), core),
            asked=Asked(kind=kind, value=_cased(more.get("value"), core), act=act, denied=bool(more.get("denied"))),
        )  # fmt: skip  # type: ignore[arg-type]

    m = re.match
    # ---- why, next, left -------------------------------------------------------------------
    if found := re.match(r"(?:why|how come|what for|for what reason|what'?s the reason)\b(.*)", lowered):
        return step("why", found[1])
    if re.search(r"what(?:'s| is| comes| do i do| should i do| do we do| to do| should we do| can i do)?\s*(?:the )?(?:next|now$|first$|"
                 r"next step|first step)|what now|next (?:step|up|task)|where (?:do|should) (?:i|we) (?:start|begin)|"
                 r"(?:can|should|could) (?:i|we) (?:start|begin|work on|tackle|do) ?(?:with|on)?(?: next| first| now| right now)?$|"
                 r"what (?:can|should) (?:i|we) (?:start|begin|tackle)", lowered) and not re.search(r"when|where is|who", lowered):  # fmt: skip
        return step("next")
    if re.search(r"\b(?:what|which|anything|all|only|just|everything)\b.*\b(?:finished|completed|been done|already done|is done|are done|did i (?:finish|complete|do)|have i done|already (?:finished|completed))\b", lowered):
        return step("status", "", value="done")
    if re.search(r"what(?:'s| is| are|'re)? (?:still )?(?:left|remaining|outstanding|missing|open|pending|unfinished|to be done|still)|"
                 r"what remains|what else (?:is|do|needs|must|should)|\b(?:still|yet) (?:have to|need to|to do|open|needs? to|missing|to be)|"
                 r"(?:are|is) (?:still |there )?(?:any\w* )?(?:left|open|outstanding)|anything (?:else|left|still|open|missing)|"
                 r"what haven'?t|what (?:do|must|should) (?:i|we) still|left to (?:do|pack|buy|book|get|finish)|still (?:to do|on my plate|open|due|undone|pending)|"
                 r"(?:is|are) there (?:anything|something) (?:else|left|still)|which (?:ones|tasks|items|of them).*(?:left|open|remain)", lowered) and not re.match(  # fmt: skip
        r"(?:is|was|are|isn'?t|aren'?t|wasn'?t|weren'?t|were) (?!there\b|anything\b|any\b|the only)", lowered):
        where = re.search(r"\b(?:for|in|on|with) (?:the |my |our )?([\w' -]+)$", lowered)
        return step("left", where[1] if where and where[1] not in ("it", "my plate", "my list", "this") else "")
    # ---- dependencies ----------------------------------------------------------------------
    for pattern, kind in (
        (r"what(?: all| else)? (?:depends|relies|hinges|rests|is waiting|waits) (?:on|for) (.+)", "dependents"),
        (r"(?:what|which|who)\b.*?\b(?:affected|impacted|blocked|held up) (?:by|if) (.+?)(?: (?:is|changes|slips|moves|gets)\b.*)?$", "dependents"),
        (r"if (.+?) (?:is|are|gets?|slips?|changes?|moves?|fails?|runs?)\b.*\bwhat (?:does|would|will|else)\b.*(?:affect|happen|change|impact|depend).*", "dependents"),
        (r"what (?:does|would|will|do) (.+?) (?:affect|block|impact|hold up)\b.*", "dependents"),
        (r"(?:what|which)\s?(?:\w+)? (?:uses?|needs?|requires?|contains?|includes?|have|has) (.+)", "dependents"),
        (r"what (?:do|does|did) (.+?) (?:need|require|depend on|rely on|wait for|rest on|take|involve)\b.*", "needs"),
        (r"what(?:'s| is| are) (.+?) (?:waiting (?:for|on)|blocked by|depending on|dependent on|held up by)\b.*", "needs"),
        (r"what (?:has|have|needs?|must|should|do i (?:have|need)|do we (?:have|need)|comes?|is needed|is required|gets done) ?(?:to )?(?:happen|be done|come|be finished|do|be ready|be)? ?(?:first )?(?:before|for|prior to) (.+)", "needs"),
        (r"what (?:do|must) (?:i|we) (?:need|require|have to do|finish|do) (?:for|before) (.+)", "needs"),
        (r"what(?:'s| is) (?:needed|required) (?:for|before) (.+)", "needs"),
        (r"what are the (?:prerequisites|requirements|dependencies) (?:of|for) (.+)", "needs"),
        (r"what needs to (?:happen|be done|be finished)(?: first)? before (.+)", "needs"),
    ):
        if found := re.match(pattern, lowered):
            return step(kind, re.sub(r"^(?:i|we) can (?:start |begin )?", "", found[1]))
    # ---- was it ever, did I say ------------------------------------------------------------
    if found := m(r"(?:did|have|had|didn'?t|haven'?t|hadn'?t) (?:i|we|you) (?:ever |already |actually |really |not |at some point )*(?:say|said|mention|mentioned|ask|asked|tell|told|want|wanted|plan|planned|request|requested|talk|talked|have|had|decide|decided|consider|considered|order|ordered|include|included|use|used|pick|picked|choose|chosen|put|book|booked|need|needed|add|added|remove|removed|drop|dropped|cancel|cancelled|invite|invited|change|changed|set|agree|agreed|give|gave|given|specify|specified|assign|assigned|list|listed|replace|replaced|swap|swapped|take|taken|delete|deleted|move|moved|get|got)\b(.*)", lowered):  # fmt: skip
        rest = found[1]
        verb = re.search(r"\b(say|said|mention\w*|ask\w*|tell|told|want\w*|plan\w*|request\w*|remove\w*|drop\w*|cancel\w*|delete\w*|add\w*|invite\w*|change\w*|move\w*|replace\w*|swap\w*|take\w*)\b", lowered[: found.start(1)])
        act = _act_in((verb[1] if verb else "") + " " + rest)
        negative = bool(re.match(r"(?:didn|haven|hadn)'?t", lowered))
        rest = re.sub(r"^(?: you)?(?: to| that| about| on| anything about| something about| us| (?:we|i|you) (?:should|want|wanted|would))*\s+", " ", rest)
        entity, within = _entity_and_container(rest)
        ever = "ever" in lowered or not negative
        return step("ever" if ever else "claim", entity, value=entity, within=within, act=act)
    if found := m(r"(?:was|were|is|are|has|have|had|did) (.*?)\s*\b(?:ever|at any point|at some point|at one point|in there|on (?:there|it))\b\s*(.*)", lowered):
        entity, within = _ever(found[1], found[2])
        return step("ever", entity, value=entity, within=within, act=_act_in(found[2]) if re.match(r"did", lowered) else None)
    if found := m(r"(?:at any point|at some point),? (?:was|were|did) (.*)", lowered):
        entity, within = _entity_and_container(found[1])
        return step("ever", entity, value=entity, within=within)
    if found := m(r"(?:was|were) (.+?) (?:on|in|part of|among) (.+?)(?: before| originally| at first| earlier| initially| once)?$", lowered):
        return step("ever", found[1], value=found[1], within=found[2])
    # ---- doubts and claims -----------------------------------------------------------------
    if found := m(r"i (?:think|thought|believe|believed|bet|could have sworn|was sure|remember|recall|'m pretty sure|am (?:pretty )?sure|assume|assumed)(?: that)? (.+)", lowered):
        claim = re.sub(r"[.;,]?\s*(?:can|could|would|will|please|check|right).*\b(?:check|look|verify|confirm)\b.*$", "", found[1])
        denied = bool(re.search(r"\b(?:never|not|n't|no)\b|n't\b", claim))
        entity, within = _claimed(claim)
        return step("claim", claim, value=entity, within=within, denied=denied)
    if found := m(r"(?:isn'?t|wasn'?t|weren'?t|aren'?t|didn'?t|doesn'?t|don'?t|hasn'?t|haven'?t|won'?t|hadn'?t) (.+)", lowered):
        if lowered.startswith(("isn", "aren")) and re.search(r"\b(?:done|finished|complete|completed|open|cancelled|canceled|on hold|booked|ready)$", found[1]):
            state = re.search(r"\b(open|done|finished|complete|completed|on hold|cancelled|canceled)$", found[1])
            return step("status", value=_STATE.get(state[1]) if state else None, target=re.sub(r"\s*(?:already|still|yet)?\s*(?:\bdone|finished|complete|completed|open|cancelled|canceled|on hold|booked|ready)$", "", found[1]))
        past = lowered.startswith(("wasn", "weren", "didn", "hadn")) and re.search(r"\b(?:before|originally|at first|once|initially|earlier|from the start)\b", lowered)
        return step("ever" if past else "claim", found[1], value=_claimed(found[1])[0], within=_claimed(found[1])[1])
    if found := m(r"(.+?),? (?:right|correct|yes|isn'?t (?:it|that|he|she)|wasn'?t (?:it|he|she)|aren'?t (?:they|we)|weren'?t (?:they|we)|doesn'?t (?:it|he|she)|didn'?t (?:i|we|it|he|she|they)|don'?t (?:we|i|they)|hasn'?t (?:it|he|she)|am i right|is that right|is that correct|no)$", lowered):  # fmt: skip
        return step("claim", found[1], value=_claimed(found[1])[0], within=_claimed(found[1])[1])
    # ---- status ----------------------------------------------------------------------------
    if found := m(r"(?:is|are|was|were|has|have|did) (?:the |my |our |all (?:the )?)?(.+?) (?:been )?(?:already |still |yet )*(?:done|finished|complete|completed|booked|paid|sent|mowed|cleaned|ready|open|cancelled|canceled|on hold|"
                  r"paused|on|pending|active|planned|happening|in the plan|ordered|confirmed|packed|bought|shipped|submitted|sorted)(?: already| yet| now)?$", lowered):  # fmt: skip
        state = re.search(r"\b(open|done|finished|complete|completed|on hold|paused|cancelled|canceled|active|on)\b[^a-z]*$", lowered)
        return step("status", found[1], value=_STATE.get(state[1]) if state else None)
    # ---- before ----------------------------------------------------------------------------
    if m(r"(?:what|which|who|when|where|how)\b", lowered) and re.search(
        rf"\b{_HISTORY}\b|\bused to\b|\bbefore\b", lowered) and not re.search(r"\b(?:do|should|must|start|begin|needs?|has to|have to) .*\bfirst\b|come first|goes first|what comes", lowered):  # fmt: skip
        topic = re.sub(rf"\b(?:very|{_HISTORY}|used to|before|that|was|were|did|is|are|again|have|had|be|i moved it|i changed it|we changed it|the change|on there|there|to)\b(?:\s+i (?:moved|changed) it.*)?", " ", re.sub(r"^(?:what|which|who|when|where|how many|how much|how)\b(?: time| day| date)?", lambda x: x[0] if " " in x[0] else " ", lowered))
        topic = re.sub(r"\b(?:what|which|when|where|who|how)\b", " ", topic)
        wh = re.match(r"(?:what time|what day|what date|which day|which date|when|where|who|how many|how much)", lowered)
        return step("before", f"{_WH_SLOT.get(wh[0], '') if wh else ''} {topic}")
    # ---- count -----------------------------------------------------------------------------
    if found := m(r"how many (.+)", lowered):
        return step("count", re.sub(r"\b(?:are|is|do|does|did|will|would|we|i|have|there|need|order|ordered|of|them|coming|going|on|in|now|be|be coming|can|should)\b", " ", found[1]) if len(found[1].split()) > 1 else found[1])
    # ---- summary and list ------------------------------------------------------------------
    if re.search(rf"\b(?:summar\w*|recap|overview|rundown|complete plan|full plan|whole plan|entire plan|final plan|the plan|catering plan|"
                 r"where (?:do|are) we(?: stand)?|where (?:do|are) things|status(?: update)?|everything you (?:know|have)|(?:repeat|read back|confirm|go over|review|recite|show|tell|give|check) (?:me )?(?:all |back )?(?:of )?(?:my|the|all my|all the|our)?\s?(?:information|info|details|data|answers|entries|form|application|registration|booking|order details|profile)|"
                 rf"what do (?:we|you|i) have(?: so far| now| down)?$|complete (?:trip |travel |wedding |party |event )?plan|(?:how|what) does the (?:plan|schedule|trip|order|whole thing|agenda|form|application) look|(?:plan|itinerary|schedule) look|how are (?:we|things)|what(?:'s| is) the (?:plan|status|state|situation|setup)|all (?:the|my|our) (?:details|information|info)|what have (?:i|we) (?:got|told|given|planned|decided|entered)|(?:in|as) (?:a )?{_PLAN_WORDS}$)", lowered) and not re.search(r"^(?:when|who)\b", lowered):  # fmt: skip
        topic = re.search(r"\b(?:of|for|with|about|on|regarding) (?:the |my |our |this )?([\w' -]+?)(?: so far| now| please)?$", lowered) or re.search(
            r"(?:summari[sz]e|recap|complete|full|whole|entire|final) (?:the |my |our )?([\w' -]+?)(?: plan)?$", lowered) or re.search(r"\bthe ([\w' -]+) plan\b", lowered) or re.search(r"does (?:the |my |our )?([\w' -]+?) (?:plan )?look", lowered)
        words = topic[1] if topic else ""
        return step("summary", "" if re.search(r"\b(?:me|everything|all|you|it|far)\b", words) else words)
    if found := m(r"(?:which|what) (\w+s|people)\b(?: \w+)?? (?:do|are|have|did|am|will) (?:we|i|they|there|coming|left|in|on)\b.*", lowered):
        if found[1] not in ("times", "is"):
            where = re.search(r"\b(?:in|on|for|of) (?:the |my |our )?([\w' -]+)$", lowered)
            return step("list", found[1], within=where[1] if where else "")
    for pattern in (
        r"(?:list|show|show me|name|give me|read|read me|read back|print|tell me|what are|what're|what were|which are|repeat|display|let me see|read out|see|list me|list all|what other|who are|recite|remind me of|go over)\s+(.+)",
        r"(?:what|who|which \w+|what \w+)(?:'s| is| are|'re| all is| goes| went| do i have| do we have| have i got| have we got|s| belongs| would be| will be| should be)?(?: still| currently| now| all)* (?:in|on|into|inside|part of|included in|coming to|coming|invited to|invited|attending|going|playing|joining|travelling|traveling|there|supposed to be (?:in|on))\b\s*(.*)",
        r"(?:what|which)(?: \w+)? (?:do|does|did|am|are|have|can) (?:i|we|the) .*\b(?:need|buy|buying|pack|packing|bring|get|planting|have)\b (?:for|in|on)\s+(.+)",
        r"what (?:am i|are we|do i|do we) (?:planting|buying|packing|bringing|getting|ordering|making|cooking|serving|bring|pack|buy|order)\b\s*(.*)",
    ):  # fmt: skip
        if found := m(pattern, lowered):
            topic = found[1]
            listed = bool(m(r"(?:list|name|show|give me|read|print|repeat|display)\b", lowered)) or bool(
                re.search(r"\b(?:all|every|list|items|ingredients|guests|participants|tasks|members|contents|steps|options|songs|stops|topics|players)\b", lowered)
            )
            if pattern.startswith("(?:list") and not listed and not m(r"who are", lowered):
                if not re.search(r"s$", topic.split(" of ")[0].split(" for ")[0].split()[-1] if topic.split() else ""):
                    continue
            if re.search(r"\b(?:finished|done|completed)\b", topic):
                return step("status", "", value="done")
            if re.search(r"\b(?:open|still|left|remaining|outstanding|to do$)\b", topic):
                return step("left")
            where = re.search(r"\b(?:of|in|on|for|from|used in|that go into)\s+(?:the |my |our |this )?([\w' -]+)$", topic)
            topic = re.sub(r"\b(?:me|all|every|everything|back|to me|of|my|the|our|that(?:'s| is)?|are|is|full|complete|whole|current|again|entire|out|used|what|who|which|i have|we have|do i|do we|have|now)\b", " ", topic)
            return step("list", topic, within=where[1] if where else "")
    # ---- yes/no about what is --------------------------------------------------------------
    if found := m(r"(?:is|are|does|do|has|have|am|was|were|did|so it'?s|so)\s+(.+)", lowered):
        entity, within = _claimed(found[1])
        return step("claim", found[1], value=entity, within=within)
    # ---- what is ---------------------------------------------------------------------------
    if found := m(r"(how (?:much|long|far|often)|what (?:time|day|date|colou?r|size|kind|type)|which (?:day|date|time|room|city|hotel|place)|when(?:'s| is)?|where(?:'s| is)?|who(?:'s| is|m)?|at what time|until when|since when|whose|what(?:'s| is| are| was| were|'re)?|which)\b\s*(.*)", lowered):  # fmt: skip
        wh, rest = re.sub(r"'s| is| are| was| were|'re", "", found[1]), found[2]
        rest = re.sub(r"\b(?:did|do|does|is|are|was|were|will|would|have|has|had|we|i|you|it|again|say|pick|choose|name|called|set|decide|decided|down|as|have down|agree on|on for|please|now|the current|current|be|to|exactly|going)\b", " ", rest)
        return step("value", f"{_WH_SLOT.get(wh, wh if ' ' in wh and wh.split()[0] in ('what', 'which') else '')} {rest}".replace("which ", " ").replace("what ", " "))
    if found := m(r"(?:and |what about |how about |and what about )?(.+)", lowered):
        if previous:
            before = read_question(previous)
            if before.asked:
                return before.model_copy(update={
                    "text": text, "target": _about(_merge_topic(before, found[1]), core), "within": "" if before.asked.kind != "list" else _about(found[1], core),
                    "asked": before.asked.model_copy(update={"value": None if before.asked.value is None else _cased(found[1], core)}),
                })  # fmt: skip
        return step("value", found[1])
    return step("value", lowered)


_STATE = {"open": "is open", "done": "is done", "finished": "is done", "complete": "is done", "completed": "is done", "on hold": "is inactive",
          "paused": "is inactive", "cancelled": "is removed", "canceled": "is removed", "active": "is open", "on": "is active"}  # fmt: skip
_WH_SLOT = {
    "when": "when", "until when": "until", "since when": "since", "where": "where", "who": "who", "whom": "who", "whose": "who",
    "what time": "time", "at what time": "time", "what day": "date", "what date": "date", "which day": "date",
    "which date": "date", "which time": "time", "how long": "duration", "how much": "amount", "how many": "",
}  # fmt: skip


def _merge_topic(before: Step, words: str) -> str:
    """The topic of an elliptic question: the asked slot of the one before, about something else."""
    wh = next((word for word in ("when", "where", "who", "time", "date") if word in before.target.split()), "")
    words = re.sub(r"^(?:and|at|on|in|for|what about|how about)\s+", "", words)
    if re.search(r",\s*(?:until when|when|where|who|how many|what time)$", words):
        words, _, asked = words.rpartition(",")
        wh = _WH_SLOT.get(asked.strip(), asked.strip())
    return f"{wh} {words}".strip()


def _ever(left: str, right: str) -> tuple[str, str]:
    left = re.sub(r"^(?:there|it|that)$", "", left.strip()).strip()
    left = re.sub(r"^there\s+", "", left)
    right = right.strip()
    if not left:
        return _entity_and_container(right)
    right = re.sub(r"^(?:part of|on|in|among|going to be|supposed to be|planned for|set to|planned to be|have|had|include|contain|need|use|used (?:for|in)|use|be|meant to be|called|at)\s+", lambda match: "\x01" if re.match(r"(?:have|had|include|contain|need|use )", match[0]) else "", right)
    if right.startswith("\x01"):  # "did the pancakes ever have blueberries"
        return right[1:], left
    if not right or re.fullmatch(r"(?:on (?:there|the list|it)|in there|there|on|in|included|mentioned|invited|planned|a thing|in the plan|on the list)", right):
        return left, ""
    if re.match(r"(?:the |my |our )?(?:\w+ )?(?:list|plan|cart|order|menu|team|panel|schedule|agenda|programme|program|lineup)\b", right):
        return left, right if len(right.split()) > 2 else ""
    return right, left


def _entity_and_container(rest: str) -> tuple[str, str]:
    """'remove celery from the dumplings' gives ('celery', 'the dumplings')."""
    rest = re.sub(r"^\s*(?:to |that |about |anything about |you to |on )*(?:(?:remove|delete|drop|take off|take out|take|add|put|have|having|include|change|move|switch|use|invite|cancel|replace|swap|set|removing|adding|dropping|using|leave|bring|get|buy|make)\b\s*)?(?:off |out )?", "", rest.strip())
    found = re.match(r"(.+?)\s+(?:from|in|into|to|on|of|for|with|off|at)\s+(.+)", rest)
    if found:
        within = re.sub(r"\s*(?:at (?:some|any) point|before|originally|earlier|at all|once)$", "", found[2])
        return found[1], within
    return re.sub(r"\s*(?:at (?:some|any) point|before|originally|earlier|at all|anywhere|once|as well|too)$", "", rest), ""


def _claimed(claim: str) -> tuple[str, str]:
    """What a claim supposes and in what: 'celery was never part of the soup' gives ('celery', 'the soup')."""
    claim = re.sub(r"\b(?:still|already|actually|really|just|now|currently|supposed to be|meant to be|going to be|originally|initially|before)\b", " ", claim)
    claim = " ".join(claim.split())
    for pattern in (
        r"(.+?) (?:was|were|is|are|has been|had been)?\s?(?:n't|not|never)? ?(?:ever )?(?:part of|in|on|among|included in|an? (?:ingredient|item|part) (?:of|in)|invited to|coming to|going to|used in|used for) (.+)",
        r"(?:we|i|they|you) (?:never |did not |didn't )?(?:put|had|added|used|included|have|invited|said|wanted|planned|ordered|asked for|mentioned|ask for|said to use|talked about)\s(.+?)(?: (?:in|on|to|for|at) (.+))?$",
    ):  # fmt: skip
        if found := re.match(pattern, claim):
            return re.sub(r"\b(?:was|were|is|are|never|not)\b", "", found[1]).strip(), (found[2] or "").strip()
    if found := re.match(r"(.+?)\s(?:was|were|is|are|be)(?:n't)?\s+(?:never\s+|not\s+)?(.+)", claim):
        return found[2], found[1]
    return claim, ""


def _act_in(text: str) -> str | None:
    for pattern, act in (
        (r"\b(?:remov\w*|delet\w*|drop\w*|tak\w+ (?:off|out)|take\w? .* (?:off|out)|cancel\w*|leave out|get rid)\b", "remove"),
        (r"\b(?:replac\w*|swap\w*|substitut\w*|exchang\w*)\b", "replace"),
        (r"\b(?:add\w*|includ\w*|invit\w*|put)\b", "add"),
        (r"\b(?:chang\w*|mov\w*|switch\w*|updat\w*|reschedul\w*)\b", "update"),
        (r"\b(?:finish\w*|complet\w*)\b", "complete"),
    ):
        if re.search(pattern, text):
            return act
    return None


def _about(words: str, core: str) -> str:
    words = re.sub(r"[?.,!]", " ", words)
    words = re.sub(r"^\s*(?:the|my|our|your|a|an|any|for|in|on|of|about|to|at)\s+", "", " ".join(words.split()))
    return _cased(words, core) or ""


def _cased(words: object, core: str) -> str | None:
    """Words as they stood in the clause, with their capitals."""
    if not isinstance(words, str):
        return None
    words = re.sub(r"^(?:the|my|our|a|an|any|that|it'?s|it is)\s+", "", " ".join(words.strip(" ?.,!").split()))
    at = core.lower().find(words.lower())
    return core[at : at + len(words)] if at >= 0 and words else words

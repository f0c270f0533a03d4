"""What is talk and not task: small talk, what-ifs, reports, the past. Pure text."""

from __future__ import annotations

from . import patterns as re
from .clauses import Clause
from .words import CHAT, REMOVE

YES = re.compile(
    r"(?:yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|indeed|absolutely|definitely|of course|please do|do it|do that|go ahead|"
    r"go for it|sounds good|that'?s right|that works|works for me|fine|perfect|confirmed?|affirmative|why not|yes please|let'?s do that|let'?s do it|all good|looks good|"
    r"keep (?:these|those|them|it|that|everything|all)(?= *$| *[,.!]| please))\b",
    re.IGNORECASE,
)


NO = re.compile(
    r"(?:no|nope|nah|not really|no thanks|no thank you|don'?t|never mind|nevermind|rather not|better not)\b",
    re.IGNORECASE,
)


HYPOTHETICAL = re.compile(
    r"^(?:what if|what would|suppose|supposing|imagine|hypothetically|just hypothetically|in theory|theoretically|maybe|perhaps|i wish|"
    r"it would(?: have)?|it might|i might|we might|might|if (?:we|i|it|they|only)\b|would it be|i(?:'m| am) not sure|not sure|i don'?t know|"
    r"i(?:'ll| will) think|let me think|i(?:'m| am| was| keep|'ve been)? (?:still )?(?:think(?:ing)?|wonder(?:ing)?|consider(?:ing)?|debat\w+) (?:about|of|if|whether)|"
    r"i haven'?t decided|we haven'?t decided|haven'?t decided|undecided|i could|we could|possibly|could be|not decided|who knows|"
    r"leave it as it is|leave (?:it|everything|that) (?:as|like)|let'?s wait|i wonder|wondering|i keep|we(?:'ll| will) see|let'?s see|in case)\b",
    re.IGNORECASE,
)  # fmt: skip


REPORTED = re.compile(
    r"\b(?:says?|said|texted|wrote|writes|told|asked|mail|email|message|sign|note|reads|sticker|poster|song|quote|means?)\b",
    re.IGNORECASE,
)


def clause_act(core: str) -> bool:
    """Whether a clause opens with a wording that changes something."""
    return bool(
        re.match(rf"(?:{REMOVE}|set|change|move|switch|swap|replace|rename|revert|undo|restore|resume|pause|mark|tick|assign|reset|split|"
                 r"merge|reuse|push|bump|postpone|substitute|exchange|raise|lower|increase|double|halve|keep|put|make (?:it|that|this|the)|hold|"
                 r"go back|never ?mind|add|invite|bring|actually|let'?s|hand|use|un-?pause|reinstate|reactivate|suspend|take)\b", core, re.IGNORECASE)
    )  # fmt: skip


def is_chat(clause: Clause) -> bool:
    """Whether a clause is small talk, thanks or a greeting."""
    core = re.sub(r"[^\w\s']", " ", clause.core.lower()).strip()
    words = core.split()
    if not words:
        return True
    if all(
        word in CHAT
        or word
        in (
            "you",
            "so",
            "much",
            "a",
            "lot",
            "it",
            "that",
            "is",
            "very",
            "all",
            "the",
            "there",
            "for",
            "help",
            "your",
            "see",
            "one",
            "job",
            "work",
            "to",
            "know",
            "s",
            "that's",
            "you're",
            "then",
        )
        for word in words
    ) and any(word in CHAT for word in words):
        return not (len(words) == 1 and words[0] in ("right", "correct"))
    if re.fullmatch(
        r"(?:please )?(?:double |re)?check(?: it| that| this| again)?|verify(?: it| that)?|(?:have|take) a look|look it up|(?:let'?s )?(?:wait and )?see|change (?:it|that)|update (?:it|that)|do (?:it|that)|(?:go ahead|proceed)",
        core,
    ):
        return True
    if re.match(
        r"(?:such |what )?(?:a |an )?(?:lovely|nice|great|beautiful|awful|terrible|bad|good|horrible|crazy|gorgeous|cold|hot|rainy|sunny)\s+(?:weather|day|morning|evening|weekend|sunset|view|song|match|game)\b",
        core,
    ):
        return True
    if re.match(
        r"(?:i|we) (?:will|can|ll|am going to|m going to) (?:now )?(?:provide|give|tell|send|share|list|dictate|feed|supply|explain)\b",
        core,
    ):
        return True  # 'I will give you the details' brings none yet
    return bool(
        re.match(r"(?:thanks?|thank you|thx|cheers|lol|haha+|hehe|wow|good (?:morning|evening|night|luck|day|job|work|point)|nice (?:one|work|job|to)|well done|see you|"
                 r"talk (?:to you )?(?:later|soon)|brb|bye|have a (?:nice|good|great)|how are you|how'?s it going|how are things with you|what'?s up|tell me a joke|fingers crossed|"
                 r"you'?re (?:great|the best|amazing|awesome|a \w+)|great (?:job|work|stuff)|much appreciated|appreciate|no problem|no worries|long day|coffee break|"
                 r"hope (?:you|it|that)|can'?t wait|i love|i hate|so excited|what a |never mind me|just kidding|nothing(?: else)?$|that'?s (?:all|it|great|nice|cool|good|fine|funny|perfect|everything)|"
                 r"got it|makes sense|good to (?:know|hear)|sounds (?:good|great)|hi there|hello there|hey there|how do you (?:feel|do)|hey,? how are you)\b", core)
    )  # fmt: skip


def is_phrase(core: str) -> bool:
    """A noun phrase with no finite verb in it."""
    if re.match(r"(?:i|we|it|he|she|they|you|there|that|this)\b(?!\s+(?:trip|week))", core, re.IGNORECASE):
        return False
    return not re.search(r"\b(?:is|are|was|were|'s a|has|have|had|does|do|did|can|could|will|would|should|says|said|thinks?|loves?|hates?|arguing|sleeping|"
                         r"feels?|looks?|seems?|smells?|sounds?|keeps? \w+ing|texted|wants?|n't|won't|can't)\b|\w's\s+\w+ing\b", core, re.IGNORECASE)  # fmt: skip


def is_past(core: str) -> bool:
    """Whether a sentence tells what happened, not what is to be."""
    return bool(
        re.search(
            r"\b(?:used to|got|was|were|had|went|saw|came|took|made|said|told|felt|thought|cried|slept|ate|ran|met|loved|liked|watched|visited|last (?:year|week|month|night|time))\b",
            core,
            re.IGNORECASE,
        )
    ) and not re.search(r"\b(?:booked|picked|chose|decided|moved|changed)\b", core)

"""The interpreter without a model: patterns for the speech acts of task talk.

Read top down: `Rules.read` cuts an utterance into clauses; `_clause_steps` tries the speech acts in order, from
the most telling wording to the least; what nothing claims is small talk, a new task, or a question back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from taskloom.memory.operations import is_part, names

from . import clauses, values
from .clauses import Clause
from .finding import is_event, knows
from .interpreter import Detail, Reading, Step, StepPart, View
from .lexicon import CHAT, CONTAINERS, DO, EVENTS, MEMBER_NOUNS, MOODS, REMOVE, STOP, content, singular, slot_group, GROUPS_OF_KIND
from .questions import is_question, read_question

_YES = re.compile(
    r"(?:yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|indeed|absolutely|definitely|of course|please do|do it|do that|go ahead|"
    r"go for it|sounds good|that'?s right|that works|works for me|fine|perfect|confirmed?|affirmative|why not|yes please|let'?s do that|let'?s do it)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"(?:no|nope|nah|not really|no thanks|no thank you|don'?t|never mind|nevermind|rather not|better not)\b", re.IGNORECASE)
_IT = r"(?:it|that|this|them|those|these|that one|this one|the one|everything)"
_HYPOTHETICAL = re.compile(
    r"^(?:what if|what would|suppose|supposing|imagine|hypothetically|just hypothetically|in theory|theoretically|maybe|perhaps|i wish|"
    r"it would(?: have)?|it might|i might|we might|might|if (?:we|i|it|they|only)\b|would it be|i(?:'m| am) not sure|not sure|i don'?t know|"
    r"i(?:'ll| will) think|let me think|i(?:'m| am| was| keep|'ve been)? (?:still )?(?:think(?:ing)?|wonder(?:ing)?|consider(?:ing)?|debat\w+) (?:about|of|if|whether)|"
    r"i haven'?t decided|we haven'?t decided|haven'?t decided|undecided|i could|we could|possibly|could be|not decided|who knows|"
    r"leave it as it is|leave (?:it|everything|that) (?:as|like)|let'?s wait|i wonder|wondering|i keep|we(?:'ll| will) see|let'?s see|in case)\b",
    re.IGNORECASE,
)  # fmt: skip
_REPORTED = re.compile(r"\b(?:says?|said|texted|wrote|writes|told|asked|mail|email|message|sign|note|reads|sticker|poster|song|quote|means?)\b", re.IGNORECASE)
_NAME = r"[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*)*"
_TIMES = r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|half an|a half|\d+)"
_UNIT = r"(?:minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?)"


class Rules:
    """General English task talk without a model. Not sure, it asks; it never guesses a change."""

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; the steps keep its order."""
        masked, quotes = clauses.mask_quotes(clauses.normalise(utterance))
        reader = _Reader(view, quotes)
        for sentence in clauses.sentences(masked):
            reader.sentence(sentence)
        reader.settle()
        steps = tuple(reader.steps) or (Step(text=utterance.strip()[:200], act="chat"),)
        if len(steps) > 1:  # small talk beside something that counts
            steps = tuple(step for step in steps if step.act != "chat") or steps[:1]
            telling = tuple(step for step in steps if step.act != "unsure" or step.proposed)
            steps = telling or steps[:1]
        sure = all(step.act != "unsure" for step in steps) and not reader.guessed
        return Reading(tuple(_unmasked(step, quotes) for step in steps), sure=sure)


def _unmasked(step: Step, quotes: tuple[str, ...]) -> Step:
    """The step with its quoted passages back in every text."""

    def back(value: object) -> object:
        if isinstance(value, str):
            return clauses.unmask(value, quotes)
        if isinstance(value, dict):
            return {key: back(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return tuple(back(one) for one in value)
        return value

    return Step.model_validate(back(step.model_dump())) if quotes else step


class _Reader:
    """Collects the steps of one utterance; remembers what earlier clauses said."""

    def __init__(self, view: View, quotes: tuple[str, ...]) -> None:
        self.view, self.quotes = view, quotes
        self.steps: list[Step] = []
        self.mentioned: list[str] = []  # people that an earlier sentence named
        self.typed: tuple[Detail, ...] = ()  # values that an earlier clause named without setting them
        self.missing = ""  # what an earlier clause said is not to be had: "we're out of leeks"
        self.guessed = False
        self.number = 0

    def sentence(self, sentence: str) -> None:
        self._sentence(sentence)
        people = _known_people(self)
        named = [word for word in re.findall(r"[A-Z][\w'-]+", sentence) if word.lower() in people]
        self.mentioned = named or self.mentioned

    def _sentence(self, sentence: str) -> None:
        hint, body = self._prefix(sentence)
        if hint and (made := self._heading(hint, body, sentence)):
            self.steps += made
            return
        if hint and not slot_group(hint) and not self._known(hint) and not body.endswith("?") and (values.spot(hint) or (_is_event(hint) and not self.view.graph.active)) and clauses.starts_clause(body):
            bare, details, items = details_of(hint)
            if not _is_container(bare) or details:
                self.steps.append(Step(text=sentence, act="task", intent="new", title=bare, target=bare, details=details, items=items))
                hint = ""
        if self._whole(body, hint):
            return
        before = len(self.steps)
        previous = ""
        for piece in clauses.split(body):
            piece = self._gapped(piece, previous)
            previous = piece
            ends = piece == body or body.endswith(piece)
            clause = clauses.clause(piece + ("?" if ends and body.endswith("?") and not piece.endswith("?") else ""), hint=hint,
                                    quotes=self.quotes, first=self.number == 0)  # fmt: skip
            self.number += 1
            if clause.core:
                self.steps += self._clause_steps(clause)
        if hint and not body.endswith("?") and all(step.act in ("chat", "unsure") and not step.proposed for step in self.steps[before:]):
            if value := self._labelled(hint, body):
                self.steps[before:] = [Step(text=sentence, act="set", target=hint, slot=_slot_name(hint), value=value)]

    def _labelled(self, hint: str, body: str) -> str:
        """The value in a sentence under a label: 'address: We have moved to 27 Quay Street'."""
        core = clauses.clause(body).core
        if _is_chat(clauses.clause(body)) or _HYPOTHETICAL.match(core):
            return ""
        group = slot_group(hint)
        fitting = [span.text for span in values.spot(core) if group in ("date", "deadline", "time", "budget", "email", "phone") and GROUPS_OF_KIND.get(span.kind, ()).count(group or "")]
        if fitting:
            return fitting[0]
        if group in ("date", "time", "budget", "email", "phone"):
            return ""
        bare = re.sub(r"^(?:i|we|he|she|they|it)(?:'m| am|'ve| have|'re| are|'s| is|'d| would|'ll| will)?(?: (?:just|now|also|moved|changed|switched|going|like|want|prefer|have|need|live|work|insured))*\s+(?:with|to|at|in|on|from|by|a|an|the)?\s*", "", core, flags=re.IGNORECASE)
        return re.sub(r"\s+(?:now|instead|please)$", "", bare) if len(bare.split()) < 9 else ""

    def settle(self) -> None:
        """Drop what a later clause of the utterance makes void: 'scrap that, go back to 5' is one change."""
        changes = {"back", "set", "replace", "shift", "only", "merge", "split"}
        self.steps = [
            step for number, step in enumerate(self.steps)
            if not (step.act == "undo" and any(later.act in changes for later in self.steps[number + 1 :]))
            and not (step.act == "back" and not step.target and not step.value and any(e.act == "back" for e in self.steps[:number]))
        ]  # fmt: skip

    # ---- prefixes and headings ---------------------------------------------------------------

    def _prefix(self, sentence: str) -> tuple[str, str]:
        """'date: June 10th' gives ('date', 'June 10th')."""
        named = re.match(r"(?:(?:sorry|oops|actually|wait|no)[,!.]?\s+)*(?:(?:a )?(?:typo|mistake|error|correction|slip)(?: (?:in|on|with|for|about|regarding|to))|(?:swap|change|correct|fix|update|replace|switch)) (?:the |my |our )?(?P<slot>[\w' -]{2,40}?)\s*[:,]\s*(?:it'?s |it is |it should be |should be |that'?s |now )*(?P<value>\S.*)$", sentence, re.IGNORECASE)
        if named and (":" in sentence[: named.start("value")] or re.match(r"(?:sorry|oops|typo|mistake|error|correction|a )", sentence, re.IGNORECASE)):
            return named["slot"], named["value"]
        listed = re.match(r"(?:here'?s|here is|here are|these are|this is|the following|things|stuff|what) .*?(?:\b(?:to|i need to|we need to)? ?(?P<verb>pack|buy|get|do|bring|order|invite|cook|prepare|finish)\b)?[^:]*:\s+(?P<body>\S.*)$", sentence, re.IGNORECASE)
        if listed:
            verb = listed["verb"] or ""
            return f"things to {verb}" if verb else "list", listed["body"]
        found = re.match(r"^\s*(?:(?i:and|also|so|then|new|the|my|our|for the|for my|for) )*([A-Za-z][\w'/& -]{0,60}?)\s*(?::(?!\d|//)|\s-\s)\s*(\S.*)$", sentence, re.DOTALL)
        if not found:
            return "", sentence
        name, body = found[1].strip(), found[2].strip()
        if re.match(r"(?:ok|okay|oops|sorry|wait|actually|correction|note|ps|hint|fyi|btw|hmm|one more thing|update|edit|typo|question|good news|"
                    r"bad news|quick question|reminder|remind me|scratch that|no|yes|never ?mind)$", name, re.IGNORECASE):  # fmt: skip
            return "", f"{name}, {body}" if re.match(r"correction|oops|sorry|typo", name, re.IGNORECASE) else body
        if len(name.split()) > 7 or (" - " in sentence and ":" not in sentence and clauses.starts_clause(name) and not self._known(name)):
            return "", sentence
        if re.fullmatch(r"swap|merge|undo|change|move|cancel|remove|delete|add|update|replace|rename|switch|reset|assign|share|hold|resume|done|finished|link", name, re.IGNORECASE):
            return "", body
        if re.fullmatch(r"split|divide", name, re.IGNORECASE):
            return "", f"{name} it: {body}"
        if re.search(r"\b(?:is|are|was|will|should|can|need|needs|swap|says?|said|split|have|put|move|change)\b", name, re.IGNORECASE) or re.match(r"split\b", name, re.IGNORECASE):
            return "", sentence
        return name, body

    def _heading(self, hint: str, body: str, sentence: str) -> list[Step]:
        """'Shopping list: milk, eggs', 'Topics: A; B', 'date: June 10th', 'Flowers: taken care of!'."""
        text = body.rstrip(".! ")
        opened = clauses.clause(body, hint=hint)
        for reader in (_undo, _back):
            if steps := reader(self, opened):
                return self._hinted(steps, opened)
        if opened.correction and re.match(r"(?:sorry|oops|actually|no|wait|whoops|i mean|i meant|correction)\b", text, re.IGNORECASE) and opened.core:
            text = body = opened.core
        if is_question(clauses.clause(body).core, body.endswith("?")) or body.endswith("?"):
            return []
        if re.search(r"\b(?:takes?|in) (?:his|her|their) place\b|\bwithdr[ae]ws?\b|\binstead\b", text):
            return []
        if re.search(r"\b(?:is|are|was|were) (?:wrong|incorrect|sold out|missing|not right|a mistake|gone|out of stock)\b", text, re.IGNORECASE):
            return []
        if re.fullmatch(r"(?:done|finished|complete|completed|taken care of|sorted|booked|paid|sent|check|bought|all set|handled)(?: already| now)?", text, re.IGNORECASE):
            return [Step(text=sentence, act="done", intent="update", target=hint)]
        lead = clauses.clause(body, hint=hint)
        if re.match(r"(?:i|we|it|he|she|they|that|there|i'm|i'd|i'll|we're|it's|they're)\b(?!\s*,)", lead.core, re.IGNORECASE) or (
            clauses.starts_clause(lead.core) and not _has_verb(lead.core) and not _clause_act(lead.core)
        ):
            return []
        if made := self._project(hint, body, text, sentence):
            return made
        if (moved := _shift(self, lead)) and not moved[0].target and values.spot(text) == ():
            return [moved[0].model_copy(update={"text": sentence, "target": hint, "slot": moved[0].slot or _slot_name(hint)})]
        if (moved := _shift(self, lead)) and not moved[0].target:
            return [moved[0].model_copy(update={"text": sentence, "target": hint})]
        if _clause_act(lead.core) or (clauses.starts_clause(lead.core) and _has_verb(lead.core)):
            listed = _is_container(hint) or _is_todo(hint)
            first = re.sub(r"^\w+\s+(?:off\s+|out\s+)?", "", _top_level(text)[0])
            finite = re.match(r"(?:i|we|it|he|she|they|that|there|let'?s)\b", lead.core, re.IGNORECASE) or (
                clauses.starts_clause(lead.core) and not _has_verb(lead.core))
            if not listed or finite or lead.request or (_clause_act(lead.core) and (knows(self.view.graph, first) or not _is_todo(hint) or re.match(r"(?:push|move|change|swap|make)\b", lead.core, re.IGNORECASE))):
                return []
        if _is_person_list(hint) or _is_container(hint) or _is_todo(hint):
            return self._listed(hint, text, sentence)
        words = _list_words(text)
        spans = values.spot(text)
        if found := re.fullmatch(r"(?P<value>[^,;]+), (?:together )?with (?P<who>(?:my|our|his|her|[A-Z]).+)", text):
            people = tuple(Detail(slot="person", value=word) for word in _list_words(found["who"]))
            return [Step(text=sentence, act="set", target=hint, slot=_slot_name(hint), value=found["value"]), Step(text=sentence, act="add", target="", items=people)]
        if len(words) > 1 and not values.kind_of(text) and (len(words) > 2 or hint.lower().endswith("s") or slot_group(hint) == "people") and not (slot_group(hint) and slot_group(hint) != "people"):
            pairs = [re.fullmatch(r"(.+?)\s+([$€£]?\d[\d.,]*\s?(?:k|€|\$|euros?|dollars)?)", word) for word in words]
            if all(pairs):
                return [Step(text=sentence, act="set", target="", within=hint, details=tuple(Detail(slot=p[1], value=p[2]) for p in pairs if p))]
            return self._listed(hint, text, sentence)
        if self._pairs(text) and len(words) > 1:
            return self._listed(hint, text, sentence)
        if re.match(r"new (?:task|project)", sentence, re.IGNORECASE) or hint.lower() in ("task", "project", "goal", "event"):
            return [self._new_task(clauses.clause(body), title=body.rstrip("."))]
        if (len(spans) > 1 or (spans and spans[0].text != text)) and _is_event(hint) and not slot_group(hint):
            return [self._task_of(hint, body, sentence)]
        value = clauses.clause(body).core
        value = re.sub(r"^(?:it'?s|is|it is|make (?:it|that)|that'?s|should be|now)\s+(?:now\s+)?", "", value, flags=re.IGNORECASE)
        extra: list[Step] = []
        if part := re.fullmatch(r"(.*?),?\s+(phone|email|e-mail|number|mobile)\s+(.+)", value, re.IGNORECASE):
            value = part[1]
            extra = [Step(text=sentence, act="set", target=part[2].lower(), slot=part[2].lower(), value=part[3])]
        known = self._old_new(value)
        if known:
            return [Step(text=sentence, act="set", target=hint, slot=_slot_name(hint), value=known[1], old=known[0])]
        return [Step(text=sentence, act="set", target=hint, slot=_slot_name(hint), value=value), *extra]

    def _listed(self, hint: str, text: str, sentence: str) -> list[Step]:
        """A heading with its list: members, and details where a member names a slot."""
        pairs, items = self._pairs(text), self._items(text, hint)
        bare, own, people = details_of(hint)
        if pairs or ((own or people) and not _is_container(hint)):
            return [Step(text=sentence, act="task", intent=None, title=bare, target=bare, items=(*people, *items), details=(*own, *pairs))]
        return [Step(text=sentence, act="add", target=hint, items=items, within=hint)]

    def _project(self, hint: str, body: str, text: str, sentence: str) -> list[Step]:
        """'For the soup: pumpkin, ginger', 'Soup: chop leeks', 'Order a cake: vanilla, for Saturday', 'Quiche: needs eggs'."""
        if slot_group(hint) or _is_container(hint) or _is_todo(hint) or _is_person_list(hint):
            return []
        if self._known(hint) and _has_verb(body):
            return []
        goal = re.match(r"(?:and )?(?:for|to)\b", sentence, re.IGNORECASE)
        verb = _has_verb(hint) and len(hint.split()) > 1
        if verb and not goal and _is_event(hint) and not values.spot(hint):
            bare = re.sub(r"^(?:plan|organi[sz]e|schedule|arrange|prepare|set up|start|make|create|do|new)\s+(?:a |an |the |my |our )?", "", hint, flags=re.IGNORECASE)
            return [Step(text=sentence, act="task", intent="new", title=hint, target=bare, items=self._items(text, hint) if len(_list_words(text)) > 1 else (), details=self._pairs(text) if len(_list_words(text)) > 1 or self._pairs(text) else (Detail(slot="detail", value=text),))]
        if verb and not goal:
            details: list[Detail] = []
            plain: list[str] = []
            if sum(bool(values.spot(piece)) for piece in _top_level(text)) > 1:
                bare, own, items = details_of(hint)
                return [Step(text=sentence, act="task", intent="new", title=bare, target=bare, details=own, items=(*items, *self._items(text, hint)))]
            for piece in _top_level(text):
                _, found, _ = details_of("x " + piece.strip())
                details += found
                if not found:
                    plain.append(piece.strip())
            bare, own, items = details_of(hint)
            if len(plain) == 1:
                details.append(Detail(slot="detail", value=plain[0]))
                plain = []
            return [Step(text=sentence, act="task", intent="new", title=bare, target=bare, details=(*own, *details), items=(*items, *(Detail(slot="item", value=word) for word in plain)))]
        needs = re.match(r"(?:needs?|requires?|uses?|takes?|with)\s+(.+)", text, re.IGNORECASE)
        spanned = values.spot(hint) or re.search(rf"\bfor (?:{'|'.join(values.NUMBER_WORDS)}|\d+)$", hint, re.IGNORECASE)
        acts = _clause_act(clauses.clause(body).core)
        if not (goal or needs or spanned or (_has_verb(body) and not acts and self._no_project())):
            return []
        bare, own, _ = details_of(hint)
        words = needs[1] if needs else text
        steps = _purpose(self, clauses.clause(f"for {bare}, {words}"))
        if not steps:
            return []
        return [steps[0].model_copy(update={"text": sentence, "details": own})]

    def _no_project(self) -> bool:
        """Whether nothing is in the plan yet that a heading could be a detail of."""
        return not any(_is_event(node.title) for node in self.view.graph.parts(None))

    def _old_new(self, value: str) -> tuple[str, str] | None:
        if found := re.fullmatch(r"(?:not |no longer )(.+?),? but (.+)", value, re.IGNORECASE):
            return found[1], found[2]
        if found := re.fullmatch(r"(.+?),? (?:not|instead of|rather than) (.+)", value, re.IGNORECASE):
            return found[2], found[1]
        return None

    def _task_of(self, hint: str, body: str, sentence: str) -> Step:
        clause = clauses.clause(body)
        step = self._new_task(clause, title=hint)
        return step.model_copy(update={"text": sentence, "slot": None})

    # ---- wordings that reach over several clauses ----------------------------------------------

    def _whole(self, body: str, hint: str) -> bool:
        """Sentences that are read whole, because cutting them would lose what belongs together."""
        clause = clauses.clause(body, hint=hint, quotes=self.quotes)
        core = clause.core
        if not core or clause.question or is_question(core, False):
            return False
        whole = len(clauses.split(body)) < 2
        for reader in (_split, _merge, _only, _before_after, _replacement, _both_need):
            if reader is _replacement and not whole and not re.match(r"no .+,.* instead$", core, re.IGNORECASE) and not re.match(r"(?:swap|switch|exchange) (?!.* (?:for|with|by|to) ).+ and ", core, re.IGNORECASE) and not re.search(r"\b(?:swap|switch|trade|change|swapped) (?:places|roles|tasks|seats|slots|shifts|jobs|their)\b", core) and not re.match(r"(?:take|pull|move|drop|remove|cut|ditch|lose|skip)\b.+\band\s+(?:put|add|bring|use|get|have|take|go)\b.+\b(?:in|on|instead)$", core, re.IGNORECASE):
                continue
            if steps := reader(self, clause):
                self.steps += steps
                return True
        return False

    def _gapped(self, piece: str, previous: str) -> str:
        subject = re.match(r"(i'?m|i am|we'?re|we are) \w+ing\b", previous, re.IGNORECASE)
        if subject and re.match(r"\w+ing\s", piece):
            return f"{subject[1]} {piece}"
        return self._verb_carried(piece, previous)

    def _verb_carried(self, piece: str, previous: str) -> str:
        """'... and the place to Hill Lodge' takes the verb of the clause before."""
        verb = re.search(r"\b(change|move|set|switch|bump|raise|lower|push|update|rename|give|assign|hand|make)\b", previous, re.IGNORECASE)
        if verb and re.match(r"(?:the|my|our|its)\s+[\w' -]{2,40}?\s+to\s+\S", piece, re.IGNORECASE):
            return f"{verb[1]} {piece}"
        return piece

    # ---- one clause ----------------------------------------------------------------------------

    def _clause_steps(self, clause: Clause) -> list[Step]:
        core = clause.core
        if season := re.match(r"(?:this|next|on|in|for) (?:spring|summer|autumn|fall|winter|week|weekend|month|year|\w+day),? (?=(?:i|we|let's|i'd|i'm|we're)\b)(.+)$", core, re.IGNORECASE):
            clause = clauses.clause(season[1], hint=clause.hint, quotes=self.quotes, first=clause.first)
            core = clause.core
        if moved := re.match(r"((?:on|in|for|at) [^,]{2,25}), ((?:the|a|an|my|our|we|i) .+)$", core, re.IGNORECASE):
            if not _purpose(self, clause) and not is_question(moved[2], False):
                clause = clause.with_core(f"{moved[2]} {moved[1]}")
                core = clause.core
        if self.view.question is not None and self.number == 1 and (answer := self._answer(clause)):
            return answer
        if re.match(r"(?:generate|put together|write (?:out|up|down)|draw up|produce|create|make|build|prepare|compile|give me|show me|lay out|print)\s+(?:me |us )?(?:the|a|an|my|our)\s+(?:complete|full|final|whole|entire|overall|finished)\b", core, re.IGNORECASE):
            return [self._ask(clause.with_core("give me the complete plan"))]
        if clause.hint and (slot_group(clause.hint) or self._known(clause.hint)) and (used := re.fullmatch(r"(?:use|take|choose|pick|go with|go for|have|put|let'?s use|let'?s take|book us into|book|get) (?P<value>.+)", core, re.IGNORECASE)):
            if not re.search(r"\b(?:instead of|in place of|for|back)\b", core):
                return _step(clause, "set", target=clause.hint, slot=_slot_name(clause.hint), value=used["value"])
        if re.fullmatch(r"(?:so )?(?:please )?(?:change|update|fix|adjust|move) (?:it|that|this)(?: accordingly| please)?", core, re.IGNORECASE) and self.typed:
            return _step(clause, "set", target="", value=", ".join(detail.value for detail in self.typed), details=self.typed)
        if _is_chat(clause):
            return [self._chat(clause)]
        if self.quotes and "Quote" in core and not _clause_act(core) and _REPORTED.search(core) and not clause.question:
            return [self._chat(clause)]
        if _HYPOTHETICAL.match(core) or _HYPOTHETICAL.match(clause.text.lower().removeprefix("by the way, ")) or re.match(r"(?:hmm,? )?(?:in theory|just hypothetically)", clause.text, re.IGNORECASE):
            if found := re.match(r"maybe (?:we )?(?:should )?(.*)", core, re.IGNORECASE):
                del found
            return [self._chat(clause)]
        if re.match(r"(?:should|shall|would|do you think|is it (?:a good idea|ok|better)|what about|how about)\b", core, re.IGNORECASE) and clause.question:
            return self._proposal(clause)
        if not clause.request and is_question(core, clause.question) and not self._requested(clause):
            return [self._ask(clause)]
        if clause.request and is_question(core, False) and not re.match(r"(?:have|has|is|are|was|do|did|does)\b", core, re.IGNORECASE):
            return [self._ask(clause)]
        for reader in _READERS:
            if steps := reader(self, clause):
                return self._hinted(steps, clause)
        return self._rest(clause)

    def _requested(self, clause: Clause) -> bool:
        """A question by its mark only: 'can we do 11 instead?'."""
        return clause.request and not is_question(clause.core, False)

    def _ask(self, clause: Clause) -> Step:
        core = re.sub(r"[.;]\s*(?:can|could) you (?:double-?)?check\b.*$", "", clause.core, flags=re.IGNORECASE)
        previous = ""
        if re.match(r"(?:and|what about|how about)\b", clause.text, re.IGNORECASE) or len(core.split()) <= 4:
            asked = [step.text for step in self.steps if step.act == "ask"] or [
                piece for user, _ in reversed(self.view.exchanges) for piece in clauses.sentences(clauses.normalise(user)) if piece.endswith("?")
            ]  # fmt: skip
            candidate = clauses.clause(asked[0 if not self.steps else -1]) if asked else None
            if candidate and is_question(candidate.core, True):
                previous = candidate.core
        step = read_question(core, previous=previous if not re.match(r"(?:what|when|where|who|why|which|how|is|are|was|did|does)\b", core, re.IGNORECASE) else "")
        if clause.hint and not step.target:
            step = step.model_copy(update={"target": clause.hint})
        if clause.hint and (slot_group(clause.hint) or self._known(clause.hint)) and step.asked and step.asked.kind == "claim":
            step = step.model_copy(update={"slot": _slot_name(clause.hint)})
        return step.model_copy(update={"text": clause.text})

    def _proposal(self, clause: Clause) -> list[Step]:
        """'Should we move it to Saturday?': asked back, with the change as the one choice."""
        core = re.sub(r"^(?:should (?:we|i|there be)|shall (?:we|i)|would|do you think(?: that)?(?: we| i)?(?: should)?|is it (?:a good idea|ok|better)(?: if we| to)?|what about|how about(?: we)?)\s+", "",
                      clause.core, flags=re.IGNORECASE)  # fmt: skip
        if clause.core.lower().startswith(("what about", "how about")) and not values.spot(core):
            return [self._ask(clause)]
        proposed = _Reader(self.view, self.quotes)
        core = re.sub(r"^(?:there )?(?:be )?", "", core)
        better = re.fullmatch(r"(.+?) (?:be|work|suit|fit|do)(?: us| me)?(?: better| ok| okay| fine| well)?(?: than .+)?", core, re.IGNORECASE)
        inner = clauses.clause(better[1] if better else core)
        proposed.steps += proposed._clause_steps(inner)
        if any(step.act in ("chat", "ask", "unsure") for step in proposed.steps) or not proposed.steps:
            return [self._chat(clause)]
        self.guessed = True
        return [Step(text=clause.text, act="unsure", intent="check", value=core, proposed=tuple(proposed.steps))]

    def _answer(self, clause: Clause) -> list[Step]:
        """The utterance as an answer to the open question; nothing where it is about something else."""
        question = self.view.question
        text = clauses.normalise(clause.text).strip()
        core = clause.core or text
        if question is None:
            return []
        if _NO.match(text) and (not re.search(r"[,.;]\s*\S+", text) or not (_clause_act(core) or values.spot(text))):
            return [Step(text=clause.text, act="no", intent="check")]
        if _YES.match(text) and (len(text.split()) <= 4 or (question.choices and len(text.split()) <= 9 and not _clause_act(core))):
            return [Step(text=clause.text, act="yes", intent="update")]
        if question.options:
            ordinal = re.match(r"(?:the )?(?:option )?(first|second|third|last|1|2|3|former|latter)(?: one)?$", core, re.IGNORECASE)
            if ordinal:
                index = {"first": 0, "1": 0, "former": 0, "second": 1, "2": 1, "third": 2, "3": 2}.get(ordinal[1].lower(), len(question.options) - 1)
                if index < len(question.options):
                    return [Step(text=clause.text, act="yes", intent="update", value=question.options[index])]
            words = content(core)
            hits = [option for option in question.options if words and words <= content(option)]
            if len(hits) == 1:
                return [Step(text=clause.text, act="yes", intent="update", value=hits[0])]
            hits = [option for option in question.options if words & (content(option) - _common(question.options))]
            if len(hits) == 1 and len(core.split()) <= 8 and re.match(r"(?:i mean|i meant|the|with|for|on|from|at|one)\b", clause.text, re.IGNORECASE):
                return [Step(text=clause.text, act="yes", intent="update", value=hits[0])]
        slot = question.choices[0] if len(question.choices) == 1 and question.choices[0].kind in ("add", "update") else None
        if slot is not None and getattr(slot, "value", "x") is None and not clause.question and not _clause_act(core) and len(core.split()) <= 8:
            return [Step(text=clause.text, act="yes", intent="new", value=core)]
        return []

    def _chat(self, clause: Clause) -> Step:
        return Step(text=clause.text, act="chat", intent="check")

    def _hinted(self, steps: list[Step], clause: Clause) -> list[Step]:
        if not clause.hint:
            return steps
        made = []
        if len(steps) == 1 and steps[0].act == "task" and not steps[0].items and [d.slot for d in steps[0].details] == ["assignee"]:
            return [Step(text=clause.text, act="set", target=clause.hint, slot=_slot_name(clause.hint), value=steps[0].details[0].value)]
        known = not slot_group(clause.hint) and self._known(clause.hint)
        for step in steps:
            if known and step.act in ("add", "remove", "replace", "only", "hold", "resume", "done", "share") and not step.within and not step.everywhere:
                made.append(step.model_copy(update={"within": clause.hint} | ({"target": clause.hint} if step.act in ("add", "only") and not step.target else {})))
                continue
            if known and step.act in ("set", "shift", "back", "assign") and step.target != clause.hint and not self._known(step.target) and not slot_group(step.target) and (step.details or step.act != "set"):
                made.append(step.model_copy(update={"target": clause.hint, "slot": step.slot if step.act in ("shift", "assign") else None, "old": None if step.old == "move" else step.old}))
                continue
            if step.act in ("set", "back", "shift", "replace") and not step.slot and step.target in ("", clause.hint):
                if self._group(clause.hint):
                    step = step.model_copy(update={"slot": _slot_name(clause.hint), "target": step.target or clause.hint})
                else:
                    step = step.model_copy(update={"target": step.target or clause.hint, "slot": _slot_name(clause.hint)})
            elif step.act == "set" and step.slot and slot_group(clause.hint) is not None and not step.details:
                step = step.model_copy(update={"slot": _slot_name(clause.hint)})
            elif step.act == "task" and step.slot is None:
                step = step.model_copy(update={"slot": _slot_name(clause.hint)})
            made.append(step)
        return made

    def _group(self, hint: str) -> bool:
        return slot_group(hint) is not None

    # ---- what is known ---------------------------------------------------------------------

    def _known(self, words: str) -> bool:
        """Whether the words name something in the plan, now or before."""
        return knows(self.view.graph, words)

    def _items(self, text: str, within: str = "") -> tuple[Detail, ...]:
        """The members of a list; 'channels are A, B' gives channels; what names a slot or is a bare value is left out."""
        slot, items = _member_slot(within), []
        for word in _list_words(text):
            if plural := re.fullmatch(r"(?P<noun>[a-z]\w+s) are (?P<value>\S.*)", word):
                slot, word = singular(_slot_name(plural["noun"])), plural["value"]
            elif _slot_value(word):
                slot = _member_slot(within)
                continue
            elif _value_only(word):
                continue
            items.append(Detail(slot=slot, value=word))
        return tuple(items)

    def _pairs(self, text: str) -> tuple[Detail, ...]:
        """The members of a list that name a slot and its value: 'date 2 August', 'camera: Vik', 'advisor is Prof. Adler'."""
        pairs: list[Detail] = []
        for word in _list_words(text):
            if re.fullmatch(r"[a-z]\w+s are \S.*", word):
                continue
            if pair := _slot_value(word):
                pairs.append(pair)
            elif only := _value_only(word):
                pairs += only
        return tuple(pairs)

    def _rest(self, clause: Clause) -> list[Step]:
        """What no wording claimed: a bare value, a noun phrase, a new task, or talk."""
        core = clause.core
        if _past(core) and not any(content(word) and knows(self.view.graph, word) for word in core.split()[:3]):
            return [self._chat(clause)]
        if steps := _bare_value(self, clause):
            return self._hinted(steps, clause)
        if re.match(r"(?:he|she|they|\w+) (?:can|could|is|are|has|have) (?:only )?", core, re.IGNORECASE) and (spans := values.spot(core)) and re.match(r"(?:he|she|they)\b", core, re.IGNORECASE):
            self.typed = tuple(Detail(slot=_SLOT_OF_KIND.get(span.kind, span.kind), value=span.text) for span in spans)
            return [self._chat(clause)]
        if steps := _statement(self, clause):
            return self._hinted(steps, clause)
        first = re.match(r"([a-z-]+)\s+(?:the|a|an|my|our|his|her|their|some|new|all|two|three|four|\d+)\s+\w", core.lower())
        if first and not clause.question and first[1] not in STOP | MOODS | CHAT and first[1] not in ("what", "such", "quite", "like", "half", "because", "while", "although"):
            return self._hinted(_as_tasks(self, clause, core), clause)
        if _is_phrase(core) and not clause.question:
            return self._hinted(_noun_phrase(self, clause), clause)
        self.guessed = True
        return [self._chat(clause)]

    # ---- new tasks -----------------------------------------------------------------------------

    def _new_task(self, clause: Clause, title: str | None = None) -> Step:
        """A task with its details taken out of its title."""
        core = clause.core
        bare, details, items = details_of(core)
        return Step(
            text=clause.text, act="task", intent="new", title=title or bare or core, details=details, items=items,
            target=title or bare,
        )  # fmt: skip


# ---- details ----------------------------------------------------------------------------------------

_SLOT_OF_KIND = {"date": "date", "time": "time", "amount": "budget", "duration": "duration", "email": "email", "phone": "phone", "percent": "share", "url": "link"}
_PLACE_PREP = re.compile(
    rf"\s+(?:(?P<prep>from|to|at|in|near|around|by|into)\s+)(?P<value>(?:the\s+|our\s+|my\s+)?{_NAME}(?:\s+(?:of|de|la|the)\s+{_NAME})*|\d{{1,5}}\s+{_NAME}|downtown|(?:the\s+)?(?:city cent(?:er|re)|old town|airport|beach|station|office))"
    r"(?=$|[\s,.;])"
)
_WITH = re.compile(rf"[,\s]+(?:with|together with|along with)\s+(?P<value>(?:{_NAME}|me|my \w+)(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(?:{_NAME}|me|my \w+))*)(?=$|[\s,.;])")
_TRAVEL = re.compile(r"\b(?:fly|flying|flight|flights|travel|trip|drive|driving|train|bus|ride|move|moving|go|going|depart|leave|leaving|head|heading|sail|ferry|journey|tour|route|transfer|shuttle|ticket|tickets|ride)\b", re.IGNORECASE)


def details_of(core: str) -> tuple[str, tuple[Detail, ...], tuple[Detail, ...]]:
    """A phrase without its details, the details, and the people it names.

    'Schedule a meeting on Thursday at 2 PM with Ana and Bob' gives 'Schedule a meeting', date and time,
    and two participants.
    """
    details: list[Detail] = []
    items: list[Detail] = []
    text = core
    for found in reversed(list(re.finditer(r"[,;]\s*(?:and\s+)?(?:the\s+|our\s+|my\s+)?(?P<slot>[A-Za-z][\w]*(?: [a-z]+)?)(?::| is)\s+(?P<value>[^,;:]+?)(?=$|[,;])", text))):
        if found["slot"].lower() not in DO and not re.match(r"(?:it|that|he|she|there|which|who)$", found["slot"], re.IGNORECASE):
            details.append(Detail(slot=_slot_name(found["slot"]), value=re.sub(r"^and\s+", "", found["value"])))
            text = text[: found.start()] + text[found.end() :]
    if not _WITH.search(text) and (found := re.search(r"\s+with\s+(?P<value>[a-z]+(?:, [a-z]+)*,? and [a-z]+)(?=$|[,.;]|\s+(?:on|at|in|from|for)\b)", text)):
        members = _list_words(found["value"])
        if all(len(word.split()) == 1 and word not in DO for word in members):
            text = text[: found.start()] + " " + text[found.end() :]
            items += [Detail(slot=_member_slot(core, person=any(re.search(rf"\b{noun}\b", core.lower()) for nouns in MEMBER_NOUNS.values() for noun in nouns.split())), value=word) for word in members]
    while found := _WITH.search(text):
        people = _list_words(found["value"])
        text = text[: found.start()] + " " + text[found.end() :]
        slot = _member_slot(core, person=True)
        items += [Detail(slot=slot, value=person) for person in people]
    for span in reversed(values.spot(text)):
        before = text[: span.start]
        lead = re.search(r"[,\s]*\b(on|at|by|before|from|for|in|until|till|around|about|of|to|under|within|starting|due|over|after|between|is|as|up to|no later than|the|this)\s+$", before, re.IGNORECASE)
        slot = _SLOT_OF_KIND.get(span.kind, "")
        value = span.text
        if span.kind == "count":
            number, _, noun = span.text.rpartition(" ")
            if not (lead and lead[1].lower() in ("for", "of", "to", "with", "up to", "about")):
                continue
            slot, value = noun.lower(), number.lower().removeprefix("a ") if number else value
            if slot in ("people", "person", "persons"):
                slot = "party_size"
        if span.kind == "date" and lead and lead[1].lower() in ("by", "due", "before", "until", "no later than"):
            slot = "deadline"
        if span.kind == "time" and lead and lead[1].lower() in ("by", "before") and not before.rstrip().lower().endswith("free before"):
            slot = "deadline" if not any(d.slot == "deadline" for d in details) else "time"
        if span.kind in ("email", "phone", "url", "percent") or (span.kind == "duration" and not lead and span.start > 0 and re.search(r"(?:a|an|the)\s+$", before)):
            continue
        if span.kind == "duration" and not (lead and lead[1].lower() in ("for", "of")) and span.start > 0:
            continue
        if any(detail.slot == slot for detail in details):
            continue
        start = lead.start() if lead else span.start
        text = text[:start].rstrip(" ,") + " " + text[span.end :].lstrip()
        details.append(Detail(slot=slot, value=value))
    if found := re.search(r"[,\s]+(?:at|in|from)\s+(?:the\s+)?(?P<slot>gate|room|hall|platform|terminal|table|suite|building|studio|lab|booth|seat|court|field|theater|theatre|auditorium)\s+(?P<value>[A-Z0-9][\w-]*)", text, re.IGNORECASE):
        if found["value"][:1].isupper() or found["value"][:1].isdigit():
            text = text[: found.start()] + " " + text[found.end() :]
            details.append(Detail(slot=found["slot"].lower(), value=found["value"]))
    if found := re.search(r"\s+(?:for|as|to)\s+(?:the\s+|a\s+)?(?P<slot>position|role|job|post|part) of (?:an?\s+|the\s+)?(?P<value>[\w -]+)$", text, re.IGNORECASE):
        text = text[: found.start()]
        details.append(Detail(slot=found["slot"].lower(), value=found["value"]))
    if found := re.search(rf"\s+on\s+(?P<value>{_NAME}\s(?:Road|Street|Avenue|Lane|Drive|Square|Boulevard|Way|Place|Bridge|Hill|Row|Court))\b", text):
        text = text[: found.start()] + " " + text[found.end() :]
        details.append(Detail(slot="place", value=found["value"]))
    travel = bool(_TRAVEL.search(core))
    for _ in range(4):
        found = None
        for match in _PLACE_PREP.finditer(" " + text):
            if match.start() > 0:
                found = match
                break
        if not found:
            break
        prep = found["prep"].lower()
        slot = {"from": "start", "to": "destination", "into": "destination"}.get(prep, "place")
        if prep == "in" and travel and not any(d.slot == "destination" for d in details):
            slot = "destination"
        if prep in ("from", "to") and not travel:
            break
        if prep == "by":
            break
        if any(detail.slot == slot for detail in details):
            break
        value = found["value"]
        if prep in ("near", "around"):
            value = f"{prep} {value}"
        if prep == "in" and re.match(_MONTHS, value):
            break
        padded = " " + text
        text = (padded[: found.start()].rstrip(" ,") + " " + padded[found.end() :].lstrip(" ")).strip()
        details.append(Detail(slot=slot, value=value))
    if found := re.search(rf"\bfor\s+((?:{'|'.join(values.NUMBER_WORDS)}|\d+))$", text.strip(), re.IGNORECASE):
        text = text.strip()[: found.start()]
        details.append(Detail(slot="party_size", value=found[1]))
    text = re.sub(r"\s+(?:on|at|by|from|for|in|with|to|and)\s*$", "", " ".join(text.split()).strip(" ,;-"))
    text = re.sub(r"\s+,", ",", text)
    order = {detail.value: core.find(detail.value) for detail in details}
    return text.strip(" ,"), tuple(sorted(details, key=lambda d: order[d.value])), tuple(items)


_MONTHS = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


def _member_slot(words: str, *, person: bool = False) -> str:
    """What to call the members of a container: participant of a meeting, guest of a party, else item."""
    lowered = words.lower()
    for slot, nouns in MEMBER_NOUNS.items():
        if any(re.search(rf"\b{noun}s?\b", lowered) for noun in nouns.split()) and person:
            return slot
    for noun in ("guest", "participant", "topic", "step", "ingredient", "player", "speaker", "stop", "channel", "teacher", "passenger", "feature", "attendee", "bug", "song"):
        if re.search(rf"\b{noun}s?\b", lowered):
            return noun
    return "participant" if person else "item"


def _list_words(text: str) -> list[str]:
    """The members of a list in words: 'two iPhone cases (black and clear) and a charger' gives three."""
    text = re.sub(r"^(?:both|either|all of|namely|e\.g\.|like|such as)\s+", "", text.strip(" .!,:;"), flags=re.IGNORECASE)
    text = re.sub(r"\b(?:as well as|along with|together with|plus|in addition to|and also|and then)\b", ",", text)
    found: list[str] = []
    for piece in _top_level(text):
        piece = re.sub(r"^(?:and|or|also|then|oh|an?|the|some|my|our|any|a few|a bit of|a couple of)\s+", "", piece.strip(" ,;.!"), flags=re.IGNORECASE).strip()
        piece = re.sub(r"^(?:an?|the|some|my|our)\s+", "", piece, flags=re.IGNORECASE)
        piece = re.sub(r"\s+(?:too|as well|also|please|on it|instead)$", "", piece, flags=re.IGNORECASE)
        if not piece:
            continue
        found += _expanded(piece)
    return found


def _expanded(piece: str) -> list[str]:
    """'two iPhone cases (black and clear)' and 'three T-shirts: one white, one grey' as single items."""
    match = re.fullmatch(r"(?:(?P<n>\w+)\s+)?(?P<noun>[\w' -]+?)\s*\((?P<kinds>[^)]+)\)", piece)
    if not match:
        return [piece]
    kinds = [re.sub(r"^(?:one|a|an|the)\s+", "", kind.strip()) for kind in re.split(r",|\band\b|&|/|\bor\b|;", match["kinds"]) if kind.strip()]
    count = values.number_of(match["n"]) if match["n"] and (match["n"].lower() in values.NUMBER_WORDS or match["n"].isdigit()) else None
    if len(kinds) < 2 and count is None:
        return [piece]
    noun = match["noun"] if count is not None else f"{match['n'] or ''} {match['noun']}".strip()
    if count is not None and len(kinds) == 1:
        return [f"{match['n']} {noun} ({kinds[0]})"]
    if all(kind[:1].isupper() for kind in kinds):  # names: 'two references (Dr. Hale and Ms. Okoro)'
        return [f"{singular(noun)} {kind}" for kind in kinds]
    return [f"{kind} {singular(noun)}" if len(kind.split()) < 3 else f"{singular(noun)} ({kind})" for kind in kinds]


def _top_level(text: str) -> list[str]:
    """Cut at commas, semicolons, line breaks and 'and' outside parentheses."""
    pieces, depth, start = [], 0, 0
    for match in re.finditer(r"[()]|,\s*(?:and\s+|or\s+|&\s+)?|;\s*(?:and\s+)?|\s+and\s+|\s*&\s+|\n|\s+\+\s+", text):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
        elif depth <= 0 and not re.match(r",\d", text[match.start() : match.start() + 2]):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


# ---- small helpers -----------------------------------------------------------------------------------


def _common(options: Iterable[str]) -> frozenset[str]:
    sets = [content(option) for option in options]
    return frozenset.intersection(*sets) if sets else frozenset()


def _value_only(word: str) -> tuple[Detail, ...]:
    """The details of a phrase that is nothing but details: 'Sunday 3pm at our place', 'for 12 people'."""
    if not (values.spot(word) or re.match(r"(?:at|on|in|for|near|from|by)\s", word)):
        return ()
    bare, details, items = details_of("x " + word)
    if place := re.fullmatch(r"x,? (?:at|in) (our place|my place|home|the office|the park|our house|my house|the beach)", bare):
        bare, details = "x", (*details, Detail(slot="place", value=place[1]))
    return details if bare.strip() in ("x", "") and not items else ()


def _slot_value(word: str) -> Detail | None:
    """'date 2 August', 'camera: Vik', 'advisor is Prof. Adler', 'budget 450,000' as a slot with its value."""
    found = re.fullmatch(r"(?P<slot>[A-Za-z][\w ]{1,24}?)(?::| is| are| =) (?P<value>\S.*)", word)
    if found and not re.match(r"(?:it|that|this|there|he|she|who|what)$", found["slot"], re.IGNORECASE):
        return Detail(slot=_slot_name(found["slot"]), value=found["value"])
    found = re.fullmatch(r"(?P<slot>[A-Za-z]+) (?P<value>\S.*)", word)
    if found and slot_group(found["slot"]) in ("date", "deadline", "time", "budget", "place") and found["slot"].lower() not in ("at", "where", "when", "room", "spot", "day", "hour", "slot", "rent", "fee", "cost"):
        kind = values.kind_of(found["value"])
        if kind or found["value"][:1].isupper() or found["value"][:1].isdigit():
            return Detail(slot=_slot_name(found["slot"]), value=found["value"])
    return None


def _slot_name(words: str) -> str:
    """A short slot name from the user's words: 'departure date' gives 'departure_date'."""
    words = re.sub(r"^(?:the|my|our|your|a|an|new|current)\s+", "", words.strip().lower())
    return re.sub(r"[^\w]+", "_", re.sub(r"'s?\b", "", words)).strip("_")[:40] or "item"


def _is_container(words: str) -> bool:
    tokens = words.lower().split()
    return bool(tokens) and (tokens[-1] in CONTAINERS or tokens[-1].endswith("list"))


def _is_todo(words: str) -> bool:
    return re.search(r"\b(?:to[- ]?dos?|tasks?|steps|errands|chores|pack|buy|get|order|to do|shopping|bring|backlog)\b", words.lower()) is not None


def _is_person_list(words: str) -> bool:
    return re.search(r"\b(?:guests?|participants?|attendees|invitees|speakers|players|members|teachers|panel|people|team|volunteers)\b", words.lower()) is not None


def _is_event(words: str) -> bool:
    return is_event(words)


def _has_verb(text: str) -> bool:
    first = re.match(r"[\w-]+", text.lower())
    return bool(first) and (first[0] in DO or bool(re.match(rf"(?:{REMOVE})\b", text, re.IGNORECASE)))


def _clause_act(core: str) -> bool:
    """Whether a clause opens with a wording that changes something."""
    return bool(
        re.match(rf"(?:{REMOVE}|set|change|move|switch|swap|replace|rename|revert|undo|restore|resume|pause|mark|tick|assign|reset|split|"
                 r"merge|reuse|push|bump|postpone|substitute|exchange|raise|lower|increase|double|halve|keep|put|make (?:it|that|this|the)|hold|"
                 r"go back|never ?mind|add|invite|bring|actually|let'?s|hand|use|un-?pause|reinstate|reactivate|suspend|take)\b", core, re.IGNORECASE)
    )  # fmt: skip


def _is_chat(clause: Clause) -> bool:
    core = re.sub(r"[^\w\s']", " ", clause.core.lower()).strip()
    words = core.split()
    if not words:
        return True
    if all(word in CHAT or word in ("you", "so", "much", "a", "lot", "it", "that", "is", "very", "all", "the", "there", "for", "help", "your", "see", "one", "job", "work", "to", "know", "s", "that's", "you're", "then") for word in words) and any(word in CHAT for word in words):
        return not (len(words) == 1 and words[0] in ("right", "correct"))
    if re.fullmatch(r"(?:please )?(?:double |re)?check(?: it| that| this| again)?|verify(?: it| that)?|(?:have|take) a look|look it up|(?:let'?s )?(?:wait and )?see|change (?:it|that)|update (?:it|that)|do (?:it|that)|(?:go ahead|proceed)", core):
        return True
    if re.match(r"(?:such |what )?(?:a |an )?(?:lovely|nice|great|beautiful|awful|terrible|bad|good|horrible|crazy|gorgeous|cold|hot|rainy|sunny)\s+(?:weather|day|morning|evening|weekend|sunset|view|song|match|game)\b", core):
        return True
    return bool(
        re.match(r"(?:thanks?|thank you|thx|cheers|lol|haha+|hehe|wow|good (?:morning|evening|night|luck|day|job|work|point)|nice (?:one|work|job|to)|well done|see you|"
                 r"talk (?:to you )?(?:later|soon)|brb|bye|have a (?:nice|good|great)|how are you|how'?s it going|how are things with you|what'?s up|tell me a joke|fingers crossed|"
                 r"you'?re (?:great|the best|amazing|awesome|a \w+)|great (?:job|work|stuff)|much appreciated|appreciate|no problem|no worries|long day|coffee break|"
                 r"hope (?:you|it|that)|can'?t wait|i love|i hate|so excited|what a |never mind me|just kidding|nothing(?: else)?$|that'?s (?:all|it|great|nice|cool|good|fine|funny|perfect|everything)|"
                 r"got it|makes sense|good to (?:know|hear)|sounds (?:good|great)|hi there|hello there|hey there|how do you (?:feel|do)|hey,? how are you)\b", core)
    )  # fmt: skip


def _is_phrase(core: str) -> bool:
    """A noun phrase with no finite verb in it."""
    if re.match(r"(?:i|we|it|he|she|they|you|there|that|this)\b(?!\s+(?:trip|week))", core, re.IGNORECASE):
        return False
    return not re.search(r"\b(?:is|are|was|were|'s a|has|have|had|does|do|did|can|could|will|would|should|says|said|thinks?|loves?|hates?|arguing|sleeping|"
                         r"feels?|looks?|seems?|smells?|sounds?|keeps? \w+ing|texted|wants?|n't|won't|can't)\b|\w's\s+\w+ing\b", core, re.IGNORECASE)  # fmt: skip


# ---- the speech acts ---------------------------------------------------------------------------------
# Each takes the reader and a clause, and gives steps or nothing.


def _step(clause: Clause, act: str, **fields: object) -> list[Step]:
    fields.setdefault("intent", "update")
    for name in ("target", "within", "value", "old"):
        if act == "shift" and name == "value":
            continue
        if isinstance(fields.get(name), str):
            fields[name] = _np(str(fields[name]))
    return [Step(text=clause.text, act=act, **fields)]  # type: ignore[arg-type]


def _np(words: str) -> str:
    """A noun phrase without article and trailing politeness; pronouns give ''."""
    words = words.strip(" .,;:!?-")
    words = re.sub(r"(?:,?\s+(?:please|pls|instead|too|as well|also|then|again|now|after all|anymore|any more|any longer|at all|altogether|completely|entirely|for now|"
                   r"for the time being|until further notice|though|either|already|back|if possible|right away|thanks|actually|yet|itself|for good|from now on))+$", "", words, flags=re.IGNORECASE)  # fmt: skip
    words = re.sub(r"^(?:the whole|the entire|all of the|all the|all my|both the|the|a|an|my|our|your|his|her|their|its|some|any|that|this|those|these)\s+(?=\S)", "", words, flags=re.IGNORECASE)
    return "" if re.fullmatch(_IT, words, re.IGNORECASE) else words


def _undo(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    if reader.steps and reader.steps[-1].act in ("remove", "hold") and re.fullmatch(r"(?:cancel|forget|scratch|drop|remove) (?:it|that|this)", core, re.IGNORECASE):
        return [reader._chat(clause)]
    if found := re.fullmatch(r"never ?mind (?:about )?(?:the |my |our )(.+)", core, re.IGNORECASE):
        if reader._known(found[1]) and not re.search(r"\bchange\b", found[1]):
            return _removal(reader, clause, found[1], "")
    if re.fullmatch(r"(?:please )?redo(?: (?:it|that|the last (?:one|change)))?|undo (?:the|that|my) undo|(?:bring|put) (?:it|that change) back in", core, re.IGNORECASE):
        return _step(clause, "redo")
    thing = r"(?:it|that|this|the (?:last|previous|latest) (?:one|change|thing|step|update|edit|request|message)|that change|this change|that last (?:one|change|bit|part)|my (?:last|previous) (?:message|change|request)|what i (?:just )?said|the change|last change|the last bit)"
    if re.fullmatch(rf"undo(?: {thing})?|(?:revert|reverse|take back|ignore|scratch|forget|disregard|roll back|cancel) {thing}|take that back|"
                    rf"never ?mind(?: {thing})?|forget (?:about )?(?:it|that)(?: change)?|strike that|revert|scratch that|leave it as it was|as you were|on second thoughts?,? no|forget i said (?:that|anything)", core, re.IGNORECASE):  # fmt: skip
        return [Step(text=clause.text, act="undo", intent="update")]
    if found := re.fullmatch(r"(?:undo|revert|reverse) (?:that |the |my )?(?:last |latest |previous )?(?:change|update|edit) (?:to|of|in|on|for) (.+)", core, re.IGNORECASE):
        return _step(clause, "back", target=found[1])
    if found := re.fullmatch(r"undo (?:the )?(.+?)(?: change| update)?", core, re.IGNORECASE):
        return _step(clause, "back", target=found[1])
    return []


def _back(reader: _Reader, clause: Clause) -> list[Step]:
    core, whole = clause.core, clause.text
    original = bool(re.search(r"\b(?:originally|original|first|initial|initially|at first|very first|in the first place)\b", whole, re.IGNORECASE))
    to = "original" if original else "previous"
    if found := re.fullmatch(r"(?:the )?(?:very )?(?P<q>first|original|old|previous|initial|earlier) (?P<x>[\w ]+?) (?:was|is|were) (?:right|correct|fine|good|better|best|ok|okay|nicer|it)(?: .*)?", core, re.IGNORECASE):
        return _step(clause, "back", target="" if found["x"] in ("one", "version") else found["x"], old="original" if found["q"].lower() in ("first", "original", "initial") else "previous")
    if found := re.fullmatch(r"(?P<x>.+?) (?:was|were) (?:right|correct|fine|good|better|ok|okay) (?:the first time|before|originally|at first|initially|as it was|all along|the way it was|in the first place)(?: .*)?", core, re.IGNORECASE):
        return _step(clause, "back", target=found["x"], old="original" if re.search(r"first|original|initial", core) else "previous")
    planned = re.search(r",?\s*(?:just )?(?:as|like|the way) (?:we |i |it was |was )?(?:(?:had )?(?:originally|initially|first|previously) ?(?:planned|said|agreed|discussed|set|wanted|intended|had it)?|at the (?:start|beginning|outset)|in the beginning|at first|planned|before|it was(?: before)?|we had it|i said before|i had it)(?: originally| at first| before| it)?$", core, re.IGNORECASE)
    if planned:
        rest = core[: planned.start()].strip(" ,")
        rest = re.sub(r"^(?:go(?:ing)? back to|back to|stick (?:to|with)|do|keep|make it|let'?s do|use|return to|revert to|leave it at|go with|go for|have)\s*", "", rest, flags=re.IGNORECASE)
        rest = _np(re.sub(r"\s+again$", "", rest))
        if found := re.fullmatch(r"(?:change |set |put |make )?(.+?) (?:back )?to (.+)", rest, re.IGNORECASE):
            return _step(clause, "back", target=found[1], value=found[2], old="original")
        return _step(clause, "back", target="", value=rest or None, old="original")
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
            value = _np(value)
            target = _np(target)
            if re.fullmatch(r"(?:what|how|the way) (?:it|that|they|we|i) (?:was|were|had|said|planned|started with|wanted)(?: it)?(?: before| originally| at (?:first|the (?:very )?(?:start|beginning))| in the beginning)?|(?:the )?(?:original|previous|old|first|normal|before|initial|earlier|former)(?: \w+)?|one|how it was", value, re.IGNORECASE):
                qualifier = re.search(r"(original|previous|old|first|initial|earlier|former|start|beginning)", value, re.IGNORECASE)
                to = "original" if qualifier and qualifier[1].lower() in ("original", "first", "initial", "start", "beginning") else to
                noun = re.sub(r"^(?:the )?(?:very )?(?:original|previous|old|first|normal|initial|earlier|former|what it was|how it was)\s*(?:one|plan|before|value)?\b", "", value, flags=re.IGNORECASE).strip()
                noun = "" if re.match(r"(?:what|how|the way|one)\b", noun) else noun
                return _step(clause, "back", target=target or noun, value=None, old=to)
            qualified = re.match(r"(?:very )?(original|first|previous|old|initial|earlier|former|prior)\s+(.*)", target, re.IGNORECASE)
            if qualified:
                to = "original" if qualified[1].lower() in ("original", "first", "initial") or to == "original" else "previous"
                target = "" if qualified[2].lower() in ("one", "plan", "version") else qualified[2]
            return _step(clause, "back", target=target, value=value or None, old=to)
    return []


def _replacement(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    if found := re.fullmatch(rf"(?:[Tt]he )?(?P<new>{_NAME}) (?:takes?|will take|is taking|can take|fills|should take|steps into|comes in|comes|goes in|will come in|steps in|fills in) (?:in )?(?:his|her|their|(?P<old>{_NAME})'s) (?:place|spot|seat|role|job|shift)(?: .*)?", core):
        old = found["old"] or reader.missing or next(iter(reader.mentioned), "")
        if old:
            return [Step(text=clause.text, act="replace", intent="update", old=old, value=found["new"], everywhere=True)]
    if found := re.fullmatch(r"no (?P<old>[\w' -]+?),? (?:do|have|use|get|let'?s do|let'?s have|take|make it|we'?ll have) (?P<new>.+?) instead", core, re.IGNORECASE):
        if reader._known(found["old"]):
            return _step(clause, "replace", old=found["old"], value=found["new"], everywhere=True)
    if found := re.fullmatch(r"no more (?P<old>[\w' -]+?),? (?:only|just|but) (?P<new>.+)", core, re.IGNORECASE):
        if reader._known(found["old"]):
            return _step(clause, "replace", old=found["old"], value=found["new"], everywhere=True)
    scope = re.search(r",?\s*\b(everywhere|in (?:all|every|both|each)(?: of)?(?: the| my| our| those| these)?(?: \w+)?|for (?:all|both|everything|every \w+)|throughout|across the board|wherever it (?:appears|says so)|all over|in everything|wherever (?:it|they|that)(?:'s| is| are|'re| was)? (?:used|needed|mentioned|listed|in)|anywhere (?:it|they)(?:'s| is| are|'re)? (?:used|needed))\b", core, re.IGNORECASE)
    everywhere = scope is not None or bool(re.match(r"(?:let'?s )?all use\b|let'?s all\b", clause.core, re.IGNORECASE)) or bool(re.search(r"\blet'?s all\b|\bfor everything\b", clause.text, re.IGNORECASE))
    if scope:
        core = (core[: scope.start()] + core[scope.end() :]).strip(" ,")
    core = re.sub(r"\s+(?:please|pls)$", "", core)
    core = re.sub(r"\s*[,;.(-]\s*(?:he|she|they|because|since|as|so|my|it'?s|i'm|we're|but (?!only|just|rather)|leave|the (?!\w+ for)|(?:all )?(?:the )?rest|everything else)\b(?!\s+with)[^,]*$", "", core) if not re.match(r"not\b", core) else core
    if found := re.fullmatch(rf"(?i:let|have|ask|get) (?P<p>{_NAME}) (?:to )?(?:do|handle|take|run|lead|cover|take care of|take over) (?P<x>.+?) (?:instead of|in place of|rather than) (?P<q>{_NAME})", core):
        return _step(clause, "assign", target=found["x"], value=found["p"], slot="assignee", old=found["q"])
    within = ""
    only = re.search(r",?\s*(?:but )?(?:only|just)?\s*\b(?:in|for|from|on)\s+(?:the |my |our )?([\w' -]+)$", core, re.IGNORECASE)
    inner = re.match(r"(?:in|for|on) (?:the |my |our )?([\w' -]+?),?\s+((?:use|swap|replace|substitute|exchange|put|take|change|switch)\b.+)", core, re.IGNORECASE)
    if inner:
        within, core = inner[1], inner[2]
    patterns = (
        r"(?:replace|exchange|substitute|swap out|swap|trade|switch out|switch) (?P<old>.+?) (?:with|by) (?P<new>.+)",
        r"(?:swap out|swap|exchange|trade|switch out|change out|switch|ditch|drop|lose) (?P<old>.+?) for (?P<new>.+)",
        r"substitute (?P<new>.+?) for (?P<old>.+)",
        r"(?:use|do|take|have|make|get|order|book|buy|pick|choose|put|put in|add|go with|let'?s do|try|i(?:'d| would) (?:rather|prefer)|we(?:'d| would) (?:rather|prefer)|let|ask|invite|bring|want|prefer|stay|rather|serve|send|hire|plant|pack|include|wear|play|read|cook|bake|call) (?P<new>.+?),? (?:instead of|in place of|rather than|in lieu of) (?P<old>.+)",
        r"(?P<new>[\w'\" .-]+?),? (?:instead of|in place of|rather than) (?P<old>.+)",
        r"(?:instead of|in place of|rather than) (?P<old>.+?),? (?:use|do|take|have|make it|make|get|order|book|buy|let'?s do|let'?s use|let'?s have|let'?s go with|go with|i'd like|we want|put|add|try|pick|choose|serve|want|ask|invite|call|plant)?\s*(?P<new>.+)",
        r"(?:it'?s |it is |make it |that'?s |should be )?not (?P<old>.+?),? but (?:rather )?(?P<new>.+)",
        r"(?:wherever|everywhere|anywhere) (?:it says|you see|there'?s|there is|we have|it mentions) (?P<old>.+?),? (?:make it|put|use|write|it should be|change it to|should be) (?P<new>.+)",
        r"(?P<new>" + _NAME + r"|\w+ ?\w*) (?:will |should |can |is going to |to )?(?:take|takes|taking)s? (?P<old>" + _NAME + r")'s (?:place|spot|seat)",
        r"(?P<new>" + _NAME + r") (?:will |should |is going to )?(?:replace|replaces|step in for|steps in for|fill in for|fills in for|stand in for|sub for|subs for|cover for|covers for|speak in place of|go instead of|come instead of) (?P<old>.+)",
        r"(?P<old>" + _NAME + r") is (?:replaced|being replaced) (?:by|with) (?P<new>.+)",
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
        elif only and not within and new.endswith(only[0]) and reader._known(only[1]):
            new, within = new[: -len(only[0])], only[1]
        new = re.sub(r",?\s+(?:but\s+)?only$", "", new)
        old = re.sub(r"\s+as (?:(?:a|the|our|my) )?\w+$", "", old)
        new = re.sub(rf"^{_NAME} (?:brings|makes|takes|does|cooks|bakes|plays|sings|wants|gets|buys|orders|has|uses|reads) (?=\w)", "", new)
        old, new = _np(old), _np(new)
        if re.match(r"(?:use|take|put|get|have|do)\b", new):
            new = new.split(" ", 1)[1]
        if not new or clause.question and not clause.request:
            return []
        if (not old or re.fullmatch(_IT + r"|him|her", old, re.IGNORECASE)) and reader.missing:
            old, everywhere = reader.missing, True
        if len(old.split()) > 6 or len(new.split()) > 8:
            return []
        return [Step(text=clause.text, act="replace", intent="update", old=old, value=new, within=_np(within), everywhere=everywhere or not within)]
    if found := re.fullmatch(r"(?P<slot>[\w' -]+?): swap it for (?P<new>.+)", core, re.IGNORECASE):
        return _step(clause, "set", target=found["slot"], value=found["new"])
    if found := re.fullmatch(r"(?:swap|exchange|trade|switch|replace|change) (?:it|that|this|him|her|them|that one)(?: out)? (?:for|with|by) (?P<new>.+)", core, re.IGNORECASE):
        return _step(clause, "replace", old="", value=found["new"], target=clause.hint)
    if (found := re.fullmatch(r"(?:swap|switch|exchange|trade) (?P<a>.+?) and (?P<b>.+?)(?: around| over)?", core, re.IGNORECASE)) and reader._known(_np(found["a"])) and reader._known(_np(found["b"])):
        return _step(clause, "replace", old=found["a"], value=found["b"], items=(Detail(slot="swap", value="both"),))
    if found := re.match(r"(.+?) and (.+?) (?:want to |should |will )?(?:swap|switch|trade|change|swapped|switched|traded)(?: (?:places|roles|tasks|seats|slots|shifts|jobs)| their .*| with each other)", core):
        return _step(clause, "replace", old=found[1], value=found[2], items=(Detail(slot="swap", value="both"),))
    return []


def _missing(reader: _Reader, clause: Clause) -> list[Step]:
    """'There's no celery at home', 'we're out of leeks', 'Sam can't eat ricotta': what 'instead' will mean."""
    core = clause.core
    if found := re.fullmatch(rf"(?P<x>{_NAME})(?: is|'s| has been|'s been) (?:ill|sick|away|busy|out|on (?:holiday|vacation|leave)|unavailable|not available|off sick|off|fully booked|booked|stuck|retired|injured|double[- ]booked)(?: .*)?|(?P<y>{_NAME}) (?:can'?t|cannot|won'?t|can not|isn'?t able to|won'?t be able to) (?:do|make) (?:it|that)(?: .*)?|(?:[Tt]he )?(?P<z>{_NAME})(?: has|'s)? (?:retired|withdraws?|withdrew|pulls? out|pulled out|quit|left|moved out|moved away|resigned|dropped out|got sick|fell ill|called in sick)(?: .*)?", core):
        person = found["x"] or found["y"] or found["z"]
        if not (found["z"] and re.search(r"dropped out", core)):
            reader.missing = re.sub(r"'s$", "", person)
            return [reader._chat(clause)]
    for pattern in (
        r"(?:there'?s|there is|there are|we have|i have|we'?ve got|they have|they had|the (?:store|shop) (?:has|had)) (?:no|not any|no more) (?P<x>.+?)(?: (?:left|in the|at|at all|any|anywhere|here|available|today|in stock)\b.*)?",
        r"(?!i\b|we\b)(?:.+? )(?:has|have|had|carries|sells|stocks) (?:no|no more|not any) (?P<x>.+)",
        r"(?P<x>.+?) (?:has|have) (?:gone (?:off|bad|missing|sour|up)|run out|expired|sold out|spoiled|died|broken)(?: .*)?",
        r"(?P<x>.+?) (?:is|are) (?:wrong|incorrect|a mistake|not right|a typo)",
        r"(?:we|i|they|the store|the shop)(?:'re|'m| are| is| am| ran| have run|'ve run)?(?: run)? (?:all )?out of (?P<x>.+)",
        r"(?P<x>.+?) (?:is|are|'s|'re) (?:sold out|out of stock|not available|unavailable|fully booked|booked out|gone|closed|taken|too expensive|too pricey|too dear|not in stock|missing|no longer available|out of season|out|rotten|spoiled|discontinued|full|double[- ]booked|broken|overbooked|closed for \w+)(?: .*)?",
        r"(?:\w+ )+?(?:can'?t|cannot|doesn'?t|don'?t|won'?t) (?:eat|drink|have|find|get|afford|use|stand|like|buy|source) (?:any |the )?(?P<x>.+)",
        r"(?:\w+ )+?(?:is|are|'s|'m) allergic to (?P<x>.+)",
        r"(?P<x>.+?) (?:isn'?t|aren'?t) (?:available|in stock|an option|possible|there|working)(?: .*)?",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if found:
            thing = _np(re.sub(r"\s+(?:at all|anywhere|at the moment|right now|left|any ?more)$", "", found["x"]))
            reader.missing = thing if reader._known(thing) else reader.missing or thing if not thing else thing
            return [reader._chat(clause)]
    return []


def _instead(reader: _Reader, clause: Clause) -> list[Step]:
    """'Let's (all) use mushrooms instead' after something turned out not to be had."""
    core = clause.core
    instead = re.search(r"\binstead\b", clause.text, re.IGNORECASE) or (reader.missing and re.match(r"(?:(?:we|i)(?:'ll| will)? )?(?:use|take|go with|ask|do|get|let'?s|try|make it|have)\b", core, re.IGNORECASE))
    if not instead:
        return []
    body = re.sub(r",?\s*\binstead\b(?: of (?:it|that|them|this|him|her))?", "", core, flags=re.IGNORECASE).strip(" ,")
    everywhere = bool(re.search(r"\b(?:everywhere|in (?:all|both|every)\b.*|for (?:all|both|everything)|throughout)\b", body, re.IGNORECASE)) or bool(re.search(r"\blet'?s all\b", clause.text, re.IGNORECASE))
    body = re.sub(r",?\s*\b(?:everywhere|in (?:all|both|every)\b.*|for (?:all|both|everything)(?: of (?:them|it))?|throughout)\b", "", body, flags=re.IGNORECASE).strip(" ,")
    body = re.sub(r"^(?:we|i)(?:'ll| will|'d)?\s+(?=(?:use|take|go with|get|buy|do|have)\b)", "", body, flags=re.IGNORECASE)
    found = re.fullmatch(r"(?:all )?(?:use|take|do|have|get|go with|go for|make it|make that|make|buy|order|book|ask|try|put|pick|choose|want|prefer|invite|bring|let'?s do|let'?s go with|i'd like|i'd rather have|cook|bake|serve|add|it'?s|plant|hire|call|visit|read|play|wear|see|include|pack|switch to|change to|change it to|move it to|have it)\s+(?P<new>.+)", body, re.IGNORECASE) or re.fullmatch(r"(?P<new>.+)", body)  # fmt: skip
    if not found:
        return []
    new = _np(found["new"])
    if re.match(r"(?:remove|drop|delete|keep|cancel|move|change|add|take|put|set|make|hold|skip|let|assign|book|go)\b", new, re.IGNORECASE) and new == _np(body):
        return []
    if re.match(r"(?:remove|drop|delete|keep|cancel|take off|take out|skip)\b", body, re.IGNORECASE):
        return []
    if re.fullmatch(r"(?:at )?\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\.?)?", new, re.IGNORECASE):
        return _step(clause, "set", target="", value=new, details=_typed_details(new) or (Detail(slot="number", value=new),))
    if values.spot(new) and _covers(values.spot(new), new):
        return _step(clause, "set", target="", value=new, details=_typed_details(new))
    old = reader.missing if reader.missing and reader._known(reader.missing) else ""
    if not old and reader.steps and reader.steps[-1].act == "remove" and reader.steps[-1].target:  # 'scratch the manure, compost instead'
        gone = reader.steps.pop()
        return [Step(text=clause.text, act="replace", intent="update", old=gone.target, value=new, within=gone.within, everywhere=True)]
    if not old and values.spot(new):
        return []
    if pair := re.fullmatch(r"(.+?) (?:for|in|at|from) (?:the |my )?(\w+(?: \w+)?)", new):
        if reader._known(pair[2]) and slot_group(pair[2]):
            return _step(clause, "set", target=pair[2], slot=_slot_name(pair[2]), value=pair[1])
    if old:
        return [Step(text=clause.text, act="replace", intent="update", old=old, value=new, everywhere=True)]
    if pair := re.fullmatch(r"((?:the )?[\w ]+?) (?:to|as|is|should be) (.+)", new):
        del pair
        return []
    return [Step(text=clause.text, act="replace", intent="update", old="", value=new, target=clause.hint)]


def _split(reader: _Reader, clause: Clause) -> list[Step]:
    """'Split it into two parts: Bob from 2 to 2:45, the rest at 4'."""
    found = re.search(r"\b(?:split|divide|break|separate)\b\s*(?P<target>.*?)(?:\s*\b(?:in|into|up into|up in|up)\b\s*(?:two|three|four|2|3|4|a couple of|separate|several)?\s*(?:separate\s+)?(?:parts?|sessions?|meetings?|groups?|slots?|halves|blocks?|calls?|shifts?|events?|appointments?|visits?|rounds?|rehearsals?|classes|tables|tours|teams|batches|trips|interviews|\w+s)?)?\s*(?:[:;,-]|\bso\b|\bwith\b|\bwhere\b|$)\s*(?P<parts>.*)$", clause.text.rstrip(".! "), re.IGNORECASE)
    if not found:
        found = re.fullmatch(r"(?P<target>)(?:.*?[,.]\s*)?(?:so |let'?s |please |just )*(?:make|do|have|hold|run|turn)\s+(?:it |that |this )?(?:into )?(?:two|three|2|3|separate)(?: separate| different)?\s+\w+\s*(?::|,|-)\s*(?P<parts>.+)", clause.text.rstrip(".! "), re.IGNORECASE)
        if found and len(_parts(found["parts"])) < 2:
            found = None
    if not found or clause.question:
        return []
    target = re.sub(r"\s+(?:up|by .*|between .*|among .*)$", "", found["target"].strip())
    shares = [re.fullmatch(rf"(?P<p>{_NAME}|I) (?:gets?|takes?|does|do|has|handles?|will do|will take) (?P<x>.+)", piece.strip(" ,")) for piece in re.split(rf",\s*(?:and )?(?={_NAME} (?:gets?|takes?|does|has|handles?|will))|;\s*|\s+and (?={_NAME} (?:gets?|takes?|does|has|handles?|will))", found["parts"])]
    if shares and all(shares):
        made: list[Step] = []
        for share in shares:
            if share:
                rest = re.fullmatch(r"(?:the )?(?:rest|others|remaining \w+)", share["x"])
                made += [one for item in ([""] if rest else _list_words(share["x"])) for one in _step(clause, "assign", target=item, value=share["p"], slot="assignee", everyone=bool(rest))]
        return made
    parts = _parts(found["parts"])
    if reader.mentioned:
        parts = tuple(
            part.model_copy(update={"members": tuple(reader.mentioned), "title": " and ".join(reader.mentioned)})
            if any(re.fullmatch(r"(?:those two|the two|they|them|both|those|these two|the two of them)", member, re.IGNORECASE) for member in part.members) else part
            for part in parts
        )  # fmt: skip
    if len(parts) < 2:
        if by := re.search(r"\b(?:by|between|among|for)\s+(.+)$", found["target"] + " " + found["parts"], re.IGNORECASE):
            people = _list_words(by[1])
            parts = tuple(StepPart(title=person, members=(person,)) for person in people) if len(people) > 1 else ()
    if len(parts) < 2:
        return []
    return _step(clause, "split", target=target, parts=parts)


def _parts(text: str) -> tuple[StepPart, ...]:
    """'Bob from 2 to 2:45, the rest at 4' as two parts with their members and values."""
    spans = values.spot(text)
    if not spans:
        return ()
    made: list[StepPart] = []
    start = 0
    groups: list[tuple[str, list[Detail]]] = []
    for span in spans:
        lead = text[start : span.start]
        detail = Detail(slot=_SLOT_OF_KIND.get(span.kind, span.kind), value=span.text)
        words = re.sub(r"\b(?:at|from|on|for|to|in|is|gets?|takes?|goes|go|comes?|come|do|does|one|between|starting|around|can|will|should|be|then|the other|another|a|an)\b", " ", lead)
        words = " ".join(re.sub(r"[,;:.-]", " ", re.sub(r"^\s*(?:,|;|and\b)+\s*", "", words)).split())
        names_in = [w for w in _list_words(re.sub(r"\b(?:at|from|on|for|is|gets?|takes?|go(?:es)?|comes?|will|should|be|starting)\b\s*$", "", lead.strip(" ,;:-")).strip(" ,;:-")) if w]
        if groups and not words:
            groups[-1][1].append(detail)
        else:
            groups.append((lead, [detail]))
            made.append(_part(names_in))
        start = span.end
    return tuple(part.model_copy(update={"details": tuple(details)}) for part, (_, details) in zip(made, groups, strict=True))


def _part(words: list[str]) -> StepPart:
    cleaned = [re.sub(r"^(?:one |another |a )?(?:with|for|session for|part for)\s+|\s+(?:at|from|on|for|is|gets|comes|will|goes)$", "", word, flags=re.IGNORECASE).strip() for word in words]
    rest = any(re.fullmatch(r"(?:the )?(?:rest|others?|remaining(?: \w+)?|everyone else|everybody else|other \w+|rest of (?:us|them|the \w+)|all the others|all others)", w, re.IGNORECASE) for w in cleaned)
    members = tuple(w for w in cleaned if w and not re.fullmatch(r"(?:the )?(?:rest|others?|remaining(?: \w+)?|everyone else|everybody else|other \w+|rest of .*|all the others|all others|one|first|second)", w, re.IGNORECASE))
    return StepPart(title=" and ".join(members) or "the rest", members=members, rest=rest)


def _merge(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    if not any(is_part(node) for node in reader.view.graph.active):
        return []
    if not re.search(
        r"\b(?:single|one|1)\b(?! (?:of|more|person|hour|day|week|at|from|with|for)\b)|\b(?:merge|recombine|rejoin|unify|reunite|un-?split)\b|"
        r"\b(?:combine|join|put|bring|keep|have|get) (?:it|them|the|both|everything|everyone|everybody|all)\b.*\b(?:together|back)\b|"
        r"\bback to (?:one|a single|just one)\b|\b(?:all|everyone|everybody|both) together\b|\btogether (?:again|after all)\b|"
        r"\b(?:forget|undo|cancel|drop|scrap|reverse|lose|no)\b.*\bsplit", core, re.IGNORECASE):  # fmt: skip
        return []
    if clause.question and not clause.request:
        return []
    details = tuple(Detail(slot=_SLOT_OF_KIND.get(span.kind, span.kind), value=span.text) for span in values.spot(core))
    return _step(clause, "merge", target="", details=details, everyone=bool(re.search(r"\beveryone|everybody|all\b", core)))


def _only(reader: _Reader, clause: Clause) -> list[Step]:
    """'Reset it to just A and B', 'only keep A', 'remove everything except A'."""
    core = clause.core
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
            return _removal(reader, clause, groups["out"], "")
        if groups.get("gone"):
            kept = [step.target for step in reader.steps if step.act in ("resume", "only")]
            if not kept:
                return []
            return _step(clause, "only", target=groups.get("target") or "", items=tuple(Detail(slot="item", value=item) for item in kept))
        items = _list_words(groups.get("items") or "")
        bare = pattern.startswith((r"(?:nothing", r"(?P<items>"))
        reset = pattern.startswith(("(?:reset|reduce|limit|restrict|narrow|trim", r"(?P<target>"))
        if reset and values.kind_of(groups.get("items") or "") and len(items) < 2:
            return []
        if bare and not (items and all(reader._known(item) for item in items)):
            return []
        if bare and len(core.split()) > 12:
            return []
        if not items:
            return []
        if values.spot(core) and len(items) == 1 and not reader._known(items[0]):
            return []
        return _step(clause, "only", target=groups.get("target") or clause.hint, items=tuple(Detail(slot="item", value=item) for item in items))
    return []


def _before_after(reader: _Reader, clause: Clause) -> list[Step]:
    """Order and need: 'before X, do Y', 'first A then B', 'X can't start until Y', 'X needs Y first'."""
    core = clause.core
    if re.match(r"(?:move|change|push|pull|switch|set|make|keep|shift|put)\b", core, re.IGNORECASE) or re.search(r"\bafter all\b", core):
        return []
    m = lambda pattern: re.fullmatch(pattern, core, re.IGNORECASE)  # noqa: E731
    if found := m(r"(?:first(?: of all)?|start by|to start),? (?P<a>.+?)[,;]?\s+(?:and\s+)?(?:then|and after that|after that|afterwards|and then|followed by|next)[,]?\s+(?P<b>.+)"):
        return _chain(clause, [found["a"], *re.split(r",?\s+(?:and )?(?:then|after that|finally|and finally)\s+", found["b"])])
    if found := m(r"(?P<a>(?!first\b).+?)[,;]\s*(?:and\s+)?(?:then|and after that|after that|and then|afterwards)[,]?\s+(?P<b>.+)"):
        if (_has_verb(found["a"]) or "first" in core) and _has_verb(re.sub(r"^(?:i|we) (?:have to|need to|can|will|must) ", "", found["b"])):
            return _chain(clause, [found["a"], *re.split(r",\s+(?:and )?(?:then|after that|finally|and finally)\s+", found["b"])])
    if found := m(r"(?P<a>.+?) and (?:then|after that|afterwards) (?P<b>.+)"):
        if _has_verb(found["a"]) and _has_verb(found["b"]):
            return _chain(clause, [found["a"], found["b"]])
    if found := m(r"to (?P<goal>.+?),? (?:i|we) (?:first )?(?:have to|need to|must) (?:first )?(?P<a>.+?)(?:,? (?:and )?then (?P<b>.+))?"):
        if "first" in core or found["b"]:
            return [*_chain(clause, [part for part in (found["a"], found["b"], found["goal"]) if part])]
    need = (
        r"(?:we|i|you|he|she|they) (?:can'?t|cannot|can not|couldn'?t|shouldn'?t|mustn'?t|can only|must not) (?:start |begin |do |go ahead with |start with )?(?P<x>.+?) (?:until|till|unless|before|after|once|without) (?P<y>.+)",
        r"before (?:we |i |you )?(?:can |start |starting |begin |do |doing )*(?P<x>.+?),? (?P<y>(?:we|i|you|the|my|our|someone|" + _NAME + r")\b.+? (?:has|have|needs?|must|should|gotta|got|'ve got) (?:to )?.+)",
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
    if re.search(r"\b(?:before|after)\s+(?:\d|noon|lunch|dinner|work|that$)", core, re.IGNORECASE) and not re.match(r"before that", core, re.IGNORECASE):
        return []
    if found := m(r"(?:before|prior to) that,? (?:i |we )?(?:need to |have to |must |should )?(?P<y>.+)"):
        return _step(clause, "need", target="", items=(Detail(slot="task", value=_done_phrase(found["y"])),))
    if found := m(r"(?P<x>.+?) (?:doesn'?t|don'?t|no longer|does not) (?:needs?|depends? on|requires?|have to wait for|rely on|relies on) (?P<y>.+)"):
        if reader._known(found["y"]) and reader._known(found["x"]) and not re.fullmatch(r"(?:we|i|you)", found["x"], re.IGNORECASE):
            return _step(clause, "unneed", target=found["x"], items=(Detail(slot="task", value=_np(found["y"])),))
        return []
    if found := m(r"(?:unlink|decouple|disconnect) (?P<x>.+?) (?:from|and) (?P<y>.+)"):
        return _step(clause, "unneed", target=found["x"], items=(Detail(slot="task", value=_np(found["y"])),))
    for pattern in need:
        found = m(pattern)
        if not found:
            continue
        x, y = _done_phrase(found["x"]), found["y"]
        if re.fullmatch(r"(?:i|we|you|he|she|it|they|that|let'?s)", x, re.IGNORECASE) or not y.strip():
            continue
        if values.kind_of(y) in ("date", "time") or values.kind_of(x) in ("date", "time"):
            return []
        if "requires?" in pattern and not reader._known(x) and len(x.split()) > 6:
            continue
        if "(?:only )?(?:after|once" in pattern and not (reader._known(x) or _has_verb(x) or reader._known(y)):
            continue
        if pattern.startswith("(?P<y>.+?) before (?P<x>") and not ((_has_verb(y) or reader._known(y)) and (_has_verb(x) or reader._known(x) or x.split()[0].endswith("ing"))):
            continue
        if pattern.startswith(("after ", "once ")) and not (reader._known(y) or _has_verb(x)):
            continue
        words = _list_words(y) if pattern.startswith((r"(?P<x>.+?) needs?", r"(?P<x>.+?) requires?")) else [_done_phrase(y)]
        return _step(clause, "need", target=x, items=tuple(Detail(slot="task", value=_done_phrase(word)) for word in words))
    return []


def _done_phrase(text: str) -> str:
    """A clause as the name of a task: 'the walls are plastered' gives 'walls plastered'."""
    text = re.sub(r"^(?:we|i|you)\s+(?:can\s+|have to\s+|need to\s+|must\s+|should\s+|will\s+|could\s+)?(?:start\s+|begin\s+)?", "", text.strip(" .,;"), flags=re.IGNORECASE)
    text = re.sub(r"\s+(?:is|are|has been|have been|has|have|gets?)\s+(?:all\s+)?(?:done|finished|in|complete|completed|ready|over|approved|there|in place)?\s*(?:first)?$", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s+(?:first|beforehand)$", "", text, flags=re.IGNORECASE)
    return _np(text)


def _chain(clause: Clause, pieces: list[str]) -> list[Step]:
    """Things to do in order, each resting on the one before."""
    cleaned = [re.sub(r"^(?:i|we)\s+(?:have to|need to|must|can|will|should|'ll)?\s*", "", piece.strip(" .,;"), flags=re.IGNORECASE) for piece in pieces]
    return [Step(text=clause.text, act="need", intent="new", target=later, items=(Detail(slot="task", value=earlier),), everywhere=False, old="chain")
            for earlier, later in zip(cleaned, cleaned[1:], strict=False)]  # fmt: skip


def _both_need(reader: _Reader, clause: Clause) -> list[Step]:
    """'Both the workshop and the fair need the projector', 'use the van for the sofa as well', 'reuse the same venue for Y'."""
    core, also = clause.core, clause.addition or bool(re.search(r"\b(?:also|too|as well|same|again)\b", clause.text, re.IGNORECASE))
    m = lambda pattern: re.fullmatch(pattern, core, re.IGNORECASE)  # noqa: E731
    if found := m(r"both (?P<x>.+?) and (?P<y>.+?) (?:need|use|require|share|depend on|rely on|want) (?P<thing>.+)"):
        return [Step(text=clause.text, act="share", intent="update", target=_np(x), items=(Detail(slot="item", value=_np(found["thing"])),)) for x in (found["x"], found["y"])]
    if found := m(r"(?P<thing>.+?) (?:is|are|gets|will be) (?:needed|used|required|shared) (?:for|in|by|between) both (?P<x>.+?) and (?P<y>.+)") or m(r"(?:use|share|take) (?P<thing>.+?) (?:for|in|between|with) both (?P<x>.+?) and (?P<y>.+)") or m(r"(?:share) (?P<thing>.+?) between (?P<x>.+?) and (?P<y>.+)"):
        return [Step(text=clause.text, act="share", intent="update", target=_np(x), items=(Detail(slot="item", value=_np(found["thing"])),)) for x in (found["x"], found["y"])]
    patterns = (
        r"(?:reuse|re-use) (?:the same |same |the )?(?P<thing>.+?) (?:for|in|at|on|with) (?P<x>.+)",
        r"(?:use|take|have|book|hire|keep|go with|put|get|ask|wear|bring|play|order|invite|include|need) (?:the )?(?:very )?same (?P<thing>.+?) (?:for|in|at|on|as for|with|into) (?P<x>.+)",
        r"(?:the )?same (?P<thing>.+?) (?:for|in|at|on|applies to|goes for|as for) (?P<x>.+)",
        r"(?P<x>.+?) (?:uses?|needs?|gets?|takes?|has|have|shares?|should use|will use|can use) the same (?P<thing>[\w' -]+?)(?: as (?P<y>.+))?",
        r"(?:can |we can |i can )?(?:also |again )?(?:use|put|add|include|need|take|want|have|throw|reuse|apply|mix|sprinkle|pour|plant|place|set|sew|glue|fit|install|bring|play|serve|stir|blend|work) (?P<thing>.+?)(?: also)? (?:for|in|into|on|to|with|inside) (?P<x>.+)",
        r"(?P<x>.+?) (?:also |too )(?:needs?|uses?|requires?|gets?|wants?|takes?|includes?|contains?) (?P<thing>.+)",
        r"(?P<x>.+?) (?:needs?|uses?|requires?|gets?|takes?) (?P<thing>.+)",
        r"(?P<thing>.+?) (?:also )?(?:goes|go|is used|are used|is needed|are needed|belongs|should go) (?:also )?(?:in|into|for|to|on|with) (?P<x>.+)",
    )
    if not also and not m(patterns[0]):
        return []
    for number, pattern in enumerate(patterns):
        found = m(pattern)
        if not found:
            continue
        thing, x = found["thing"], found["x"]
        thing = _np(re.sub(r"^(?:also|again|some of)\s+", "", thing))
        if number >= 4 and not reader._known(thing):
            continue
        x = re.sub(r",?\s*(?:please )?link it to both$", "", x)
        x = _np(re.sub(r"\s+(?:too|as well|also)$", "", x))
        if not thing or not x or (number >= 4 and not _thing_of(reader, x)):
            continue
        return [Step(text=clause.text, act="share", intent="update", target=x, items=tuple(Detail(slot="item", value=word) for word in (_list_words(thing) if number >= 4 else [thing])))]
    return []


def _thing_of(reader: _Reader, words: str) -> bool:
    return reader._known(words) and slot_group(words) is None


def _hold(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    patterns = (
        r"(?:put|place|keep|set|leave) (?P<x>.+?) (?:on hold|on ice|on pause|on the back ?burner|aside|to one side)(?: .*)?",
        r"(?:let'?s )?(?:pause|suspend|shelve|park|freeze|halt|table|defer|mothball|hold off on|hold off with|hold)(?: with| on)? (?P<x>.+?)(?: (?:for now|for the time being|until .*|till .*|for a (?:while|bit|moment)|temporarily|at the moment|for \d.*))?",
        r"(?P<x>.+?) (?:is|are|goes|go|should go|should be|will be) (?:on hold|paused|suspended|on pause|on ice)(?: .*)?",
    )
    for pattern in patterns:
        if found := re.fullmatch(pattern, core, re.IGNORECASE):
            x = re.sub(r"\s+(?:for now|for the time being|until .*|till .*|temporarily|right now|at the moment)$", "", found["x"], flags=re.IGNORECASE)
            if re.match(r"(?:a|the|my) (?:meeting|call|party|event|session)\b.*\b(?:on|at)\b", x) and core.lower().startswith("hold"):
                continue
            if core.lower().startswith(("table for", "park near", "hold a ")):
                continue
            return _step(clause, "hold", target=x)
    return []


def _resume(reader: _Reader, clause: Clause) -> list[Step]:
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
    if re.fullmatch(r"(?:restore|go back to|bring back|use|keep) (?:it|that|that one|this)", core, re.IGNORECASE) and reader.steps and reader.steps[-1].act == "back":
        return [reader._chat(clause)]
    if re.fullmatch(r"(?:add|put|bring|take|invite) (?:him|her|them|it) back(?: .*)?", core, re.IGNORECASE) and reader.steps and reader.steps[-1].act == "resume":
        return [reader._chat(clause)]
    for number, pattern in enumerate(patterns):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        x = re.sub(r",?\s+after all$", "", found["x"])
        if number == 9 and re.match(r"leave\b.*\b(?:out|off)\b|leave (?:on|at|from|for|by|to|in)\b", core, re.IGNORECASE):
            return []
        if re.fullmatch(r"him|her|them|it", x, re.IGNORECASE) and reader.steps and reader.steps[-1].act in ("resume", "add"):
            return [reader._chat(clause)]
        if number in (9, 11) and re.search(r"\b(?:earlier|later|sooner)\b", core):
            return []
        if number == 11 and (kept := re.fullmatch(r".+? (?:stays?|remains?|should stay|should remain) (?:on|at|in) (.+)", core, re.IGNORECASE)) and values.spot(kept[1]) and reader._known(x):
            return _step(clause, "set", target=x, value=kept[1], details=_typed_details(kept[1]))
        if number in (9, 11) and values.spot(x) and not reader._known(x):
            return [reader._chat(clause)]
        if number == 9 and re.match(r"(?:track|going|in mind|it|that|me|an eye|looking)\b", x, re.IGNORECASE):
            return [reader._chat(clause)] if re.match(r"(?:it|that)\b", x) else []
        if number == 0 and core.lower().startswith("restore the ") and re.search(r"\b(?:first|original|previous|old)\b", core):
            return []
        if number in (9, 11) and not reader._known(x):
            continue
        if number == 9 and re.fullmatch(r"(?:it|that|this|everything|things) .*", x):
            return [reader._chat(clause)]
        if re.fullmatch(_IT, x, re.IGNORECASE) and number in (9, 10):
            return [reader._chat(clause)]
        items = _list_words(x)
        return _step(clause, "resume", target=x if len(items) < 2 else "", items=tuple(Detail(slot="item", value=item) for item in items) if len(items) > 1 else ())
    return []


def _done(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    finished = (r"done|finished|complete|completed|booked|sorted|paid|sent|taken care of|handled|ready|in|fixed|settled|shipped|delivered|over|submitted|signed|"
                r"bought|ordered|packed|cleaned|clean|washed|written|mowed|fed|closed|merged|deployed|released|tested|approved|confirmed|arranged|reserved|painted|built|installed|"
                r"checked off|printed|scanned|uploaded|published|posted|mailed|picked up|collected|returned|repaired|planted|watered|called|cooked|baked|chopped|all set|out of the way|ticked off|"
                r"complete now|live|launched|hung|assembled|set up|cut|sewn|recorded|edited|filed|passed|plastered|sanded|varnished|dry|wrapped(?: up)?|unpacked|moved|vacuumed|ironed|swept")  # fmt: skip
    patterns = (
        rf"(?:mark|check|tick|set|log|count|record|flag) (?P<x>.+?) (?:as )?(?:{finished}|off)(?: .*)?",
        r"(?:check|tick|cross) off (?P<x>.+)",
        r"(?:(?:i|we)(?:'m|'re| am| are)|i'?m|we'?re)? ?(?:already |now |finally )?(?:done|finished|through) (?:with )?(?P<x>.+)",
        rf"(?:the |my |our )?(?P<x>.+?) (?:is|are|was|were|has been|have been|'s|got|gets|'re|'s been)(?: all| now| already| finally| both)* (?:{finished})(?:,? (?:now|already|and .*|last night|this morning|yesterday|today|too|by the way|so .*|that one'?s done|done|yay|finally|woohoo|hooray|phew|\w+))*",
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
        x = re.sub(r"\s+(?:last night|this morning|yesterday|today|already|now|just now|earlier|a minute ago|this afternoon|as (?:done|finished|complete))$", "", found["x"], flags=re.IGNORECASE)
        if re.match(r"(?:no|not|n't)\b", x) or re.search(r"\b(?:not|n't|isn't|aren't|wasn't)\b", core):
            continue
        if number in (5, 7) and not reader._known(x) and not re.fullmatch(_IT, x, re.IGNORECASE):
            continue
        if number == 3 and re.fullmatch(r".*\b(?:in|over|out|clean|ready|closed|cut|dry)", core, re.IGNORECASE) and not reader._known(x):
            continue
        if number == 3 and re.search(r"\b(?:in|over|on|at) (?:the |a )?\w+", core[found.end("x") :], re.IGNORECASE) and not re.search(r"\bdone\b|\bfinished\b", core):
            continue
        if number == 4 and not reader._known(x) and re.search(r"\b(?:made|did|got|read|cut|set up|hired)\b", core) and not re.fullmatch(_IT, x, re.IGNORECASE):
            continue
        if re.fullmatch(r"(?:i|we|you|he|she|they|who|what)", x, re.IGNORECASE):
            continue
        if re.fullmatch(r"both(?: of them)?", x, re.IGNORECASE):
            return _step(clause, "done", target="", everyone=True)
        if re.search(r"\bfor\b|\bto\b", x) and number == 0 and core.lower().startswith("set "):
            continue
        items = _list_words(x)
        if len(items) > 1 and all(reader._known(item) for item in items):
            return _step(clause, "done", target="", items=tuple(Detail(slot="item", value=item) for item in items))
        return _step(clause, "done", target=x)
    return []


def _assign(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    pair = rf"(?:{_NAME}|me)(?:(?:,| and|, and) {_NAME})* (?:to|on) [\w' -]+?"
    if found := re.fullmatch(rf"(?i:assign|put) (?P<pairs>{pair}(?:(?:,| and|, and) (?:the rest(?: \([^)]*\))?|the others|{_NAME}(?: and {_NAME})*) (?:to|on) [\w' -]+?)+)", core):
        steps: list[Step] = []
        for person, x in re.findall(rf"(the rest \([^)]*\)|the rest|the others|{_NAME}(?: and {_NAME})*) (?:to|on) ([\w' -]+?)(?=,|$| and (?:the rest|the others|[A-Z]))", found["pairs"]):
            named = re.search(r"\(([^)]*)\)", person)
            steps += _step(clause, "assign", target=x, value=named[1] if named else person, slot="assignee")
        if len(steps) > 1:
            return steps
    if found := re.fullmatch(rf"(?P<q>{_NAME}) (?:has )?(?:handed|gave|passed|given|transferred) (?:over )?(?P<x>.+?) (?:over |on )?to (?P<p>{_NAME})", core):
        held = [node for node in reader.view.graph.active if names(found["q"], node.title) or names(found["q"], node.value)]
        if held:
            return [Step(text=clause.text, act="replace", intent="update", old=found["q"], value=found["p"], everywhere=True)]
        return _step(clause, "assign", target=re.sub(r"^(?:his|her|their)\s+", "", found["x"]), value=found["p"], slot="assignee", old=found["q"])
    if found := re.fullmatch(rf"(?i:give|hand over|hand|move|pass|transfer|assign|reassign) (?:all|everything|(?=his |her |their ))(?: of)?\s?(?:(?:his|her|their|(?P<q>{_NAME})'s) (?:stuff|things|tasks|work|chores|jobs|duties|items|part|share|responsibilities))? (?:over )?to (?P<p>{_NAME})", core):
        gone = found["q"] or reader.missing or next(iter(reader.mentioned), "")
        if gone:
            return [Step(text=clause.text, act="replace", intent="update", old=gone, value=found["p"], everywhere=True)]
    if found := re.fullmatch(rf"(?i:give|hand over|hand|pass|transfer|assign|reassign) (?P<q>{_NAME})'s \w+(?: \w+)? (?:over )?to (?P<p>{_NAME})", core):
        if reader._known(found["q"]):
            return [Step(text=clause.text, act="replace", intent="update", old=found["q"], value=found["p"], everywhere=True)]
    who = rf"(?P<p>{_NAME}|me|everyone|him|her|them)"
    known = _known_people(reader)
    if known:
        who = rf"(?P<p>{_NAME}|{'|'.join(map(re.escape, known))}|me|everyone|him|her|them)"
    patterns = (
        rf"(?:re-?assign|assign|give|hand over|hand|delegate|pass|transfer|move|allocate|leave) (?P<x>.+?) (?:over )?to {who}",
        rf"(?:re-?assign|assign|put) {who} (?:to|on|in charge of|down for|at) (?P<x>.+)",
        rf"(?:let|have|get|ask|make) {who} (?:to )?(?P<x>(?:do|handle|take care of|take over|take|run|lead|organi[sz]e|write|book|bring|make|cook|buy|be responsible for|be in charge of|look after|manage|prepare|cover|drive|print|design|review|order|pick up|call|sort|host|set up|paint|deal with)\b.+)",
        rf"{who} (?:is|will be|should be|are|'s|to be|'ll be) (?:responsible for|in charge of|on|doing|handling|taking care of|taking|leading|the owner of|assigned to|covering|running|looking after|managing|bringing|making|organi[sz]ing|the lead for|on duty for) (?P<x>.+)",
        rf"{who} (?:will|should|can|shall|is going to|'ll|must|has to|needs to|would|wants to) (?:take over|take care of|take|handle|do|run|lead|cover|look after|manage|own|be in charge of|be responsible for|deal with|get) (?P<x>.+?)(?: from (?P<q>{_NAME}))?",
        rf"{who} (?:takes over|takes care of|takes|handles|does|runs|leads|covers|looks after|manages|owns|drives|gets|keeps) (?P<x>.+?)(?: from (?P<q>{_NAME}))?",
        rf"(?P<x>.+?) (?:goes|go|is|are) (?:now )?(?:over )?(?:to|for|with|handled by|done by|led by|assigned to|run by|up to) {who}",
        rf"(?P<x>.+?) (?:is|are) {who}'s (?:job|task|responsibility|thing|turn|baby)(?:, not .*)?",
    )
    for number, pattern in enumerate(patterns):
        found = re.fullmatch(pattern, core)
        if not found:
            found = re.fullmatch(pattern, core, re.IGNORECASE)
            if not found or not (found["p"][:1].isupper() or found["p"].lower() in known or found["p"].lower() in ("me", "everyone", "him", "her", "them")):
                continue
        x, person = found["x"], found["p"]
        if re.match(r"(?:the|it|that|we|i|you|they|this|these|there|he|she|let|don|who|what)\b", person, re.IGNORECASE):
            continue
        if number == 5 and re.search(r"\b(?:takes|gets|keeps) (?:place|off|\d)", core):
            continue
        if number == 6 and not reader._known(x):
            continue
        if values.kind_of(person) or re.match(r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b", person):
            continue
        if re.fullmatch(r"(?:give|move|leave|pass|transfer)", core.split()[0], re.IGNORECASE) and number == 0 and not (reader._known(x) or _np(x) == "" or person in known):
            if core.lower().startswith("move"):
                continue
        if number == 0 and core.lower().startswith("move") and not _is_person(reader, person):
            continue
        x = re.sub(r"^(?:do|handle|take care of|take over|take|run|lead|manage|cover|look after|be responsible for|be in charge of|deal with)\s+", "", x)
        rest = re.fullmatch(r"(?:the )?(?:rest|others|other ones|remaining (?:ones|tasks|items)|everything else|all the rest)(?: .*)?", x, re.IGNORECASE)
        if rest:
            return _step(clause, "assign", target="", value=person, everyone=True, slot="assignee")
        items = _list_words(x)
        if len(items) > 1 and all(reader._known(item) for item in items):
            return [step for item in items for step in _step(clause, "assign", target=item, value=person, slot="assignee")]
        return _step(clause, "assign", target=x, value=person, slot="assignee", old=found.groupdict().get("q"))
    return []


def _known_people(reader: _Reader) -> list[str]:
    """Lower-case names of members in the plan, for people who do not type capitals."""
    found = []
    for node in reader.view.graph.active:
        if re.match(r"(?:participant|guest|assignee|attendee|speaker|player)", node.name):
            found.append((node.value or node.title).lower())
    return found[:50]


def _is_person(reader: _Reader, word: str) -> bool:
    return word.lower() in _known_people(reader) or any(
        node.name.startswith("assignee") and names(word, node.value) for node in reader.view.graph.values()
    )


def _shift(reader: _Reader, clause: Clause) -> list[Step]:
    """Relative changes: 'a day later', 'push it back an hour', 'one more guest', 'double the budget'."""
    core = clause.core
    amount = rf"(?:by )?(?P<n>{_TIMES}(?: and a half)?(?: more)?) ?(?:a )?(?P<u>{_UNIT})(?: and a half)?"
    verb = r"(?:move|push|shift|bring|pull|delay|postpone|make|start|set|put|have|leave|reschedule|schedule|it'?s been (?:moved|pushed|postponed|delayed)|it'?s|is|be|deliver|do|get|let'?s|go|arrive|depart|hold|come|meet|take|run|was moved|got moved|been moved|has been moved|extend|shorten|begin)"
    later = r"(?:later|back|out|forward|after|further|on|longer|behind)"
    earlier = r"(?:earlier|sooner|ahead|up|before|forward|in advance|shorter)"
    for pattern in (
        rf"(?:{verb}\s+)?(?P<x>.*?)\s*(?:delivered |moved |pushed |shifted |to |start |been )*{amount} (?P<dir>{later}|{earlier})(?: (?:please|than (?:planned|that|before)|instead|(?:would|will|might|is|works?|suits?) .*))?(?: for (?P<for>.+))?",
        rf"(?P<v>push|move|bring|pull|shift|put|postpone|delay|slip|extend|lengthen|shorten|prolong|advance)\s+(?P<x>.*?)\s*(?P<dir>back|forward|out|up|ahead|off|down)?\s*(?:by )(?P<n>{_TIMES}(?: and a half)?) ?(?P<u>{_UNIT})(?: and a half)?",
        rf"(?P<v>push|move|bring|pull|shift|put|delay|postpone|advance)\s+(?P<x>.*?)\s*(?P<dir>back|forward|out|up|ahead|off)\s+(?P<n>{_TIMES}) ?(?P<u>{_UNIT})(?: and a half)?",
        rf"(?P<x>.+?) (?:has been|have been|was|were|got|'s been|is|gets|'s) (?:moved|pushed|delayed|postponed|shifted|brought forward|extended)(?: (?P<dir>back|forward|out|up|ahead|later))? (?:by )?(?P<n>{_TIMES}) (?P<u>{_UNIT})(?: (?P<dir2>later|earlier|back|forward))?",
        rf"(?:stay|add|make it|extend (?:it|the trip|the stay) by|one)? ?(?P<n>an extra|one extra|an additional|one more|{_TIMES} (?:more|extra|additional)) (?P<u>night|day|week|hour)s?",
    ):
        found = re.fullmatch(pattern, core, re.IGNORECASE)
        if not found:
            continue
        groups = found.groupdict()
        direction = (groups.get("dir2") or groups.get("dir") or "").lower()
        v = (groups.get("v") or core.split()[0]).lower()
        sign = 1
        if direction in ("earlier", "sooner", "ahead", "up", "before", "in advance", "shorter") or (direction == "forward" and v in ("bring", "pull", "brought") or v == "advance" or "brought forward" in core) or v == "shorten":
            sign = -1
        if direction == "forward" and v in ("move", "put"):
            sign = -1
        x = (groups.get("x") or groups.get("for") or "").strip()
        x = re.sub(r"^(?:it(?:'s| is| has)?(?: been)?|to be|be|been|start|starting|that|this|them|leave|meet|have|the whole thing)\b\s*", "", x, flags=re.IGNORECASE)
        x = re.sub(r"\s+(?:has|have|is|was|to|by|been|got|gets|starts?|be)$", "", x, flags=re.IGNORECASE)
        text = re.sub(r"\bmore\b|\bextra\b|\badditional\b", "", f"{groups['n']} {groups['u']}")
        if "and a half" in core:
            text += " and a half"
        slot = "duration" if re.search(r"\b(?:more|extra|additional|longer|shorter|extend|lengthen|shorten|prolong)\b", core, re.IGNORECASE) and direction not in ("later", "earlier") else None
        return _step(clause, "shift", target=x, value=("-" if sign < 0 else "+") + text.strip(), slot=slot)
    number = rf"(?:{'|'.join(values.NUMBER_WORDS)}|\d+(?:\.\d+)? ?(?:%|percent)|\d[\d.,]*k?|another|an extra|an additional)"
    money = r"(?:[$€£]\s?\d[\d,.]*k?|\d[\d,.]*\s?(?:dollars|euros?|pounds|bucks|€|\$|usd|eur)?)"
    if found := re.fullmatch(rf"(?:raise|increase|up|bump up|bump|lift|boost|extend|lower|reduce|decrease|cut|drop|shrink|trim|expand|grow) (?P<x>.+?) by (?P<n>{money}|{number}|\d+ ?(?:%|percent))(?P<rest> .*)?", core, re.IGNORECASE):
        sign = "-" if re.match(r"(?:lower|reduce|decrease|cut|drop|shrink|trim)", core, re.IGNORECASE) else "+"
        return _step(clause, "shift", target=found["x"], value=sign + found["n"])
    if found := re.fullmatch(rf"(?P<v>add|put|take|knock|shave|subtract) (?P<n>{money}) (?:more )?(?P<dir>to|on|off|from|on top of) (?P<x>.+)", core, re.IGNORECASE):
        return _step(clause, "shift", target=found["x"], value=("-" if found["dir"].lower() in ("off", "from") else "+") + found["n"])
    if found := re.fullmatch(r"(?P<v>double|triple|quadruple|halve) (?P<x>.+)", core, re.IGNORECASE) or re.fullmatch(r"(?P<v>cut) (?P<x>.+?) (?:in|by) half", core, re.IGNORECASE) or re.fullmatch(r"(?P<v>half|twice|double) (?P<x>.+)", core, re.IGNORECASE) or re.fullmatch(r"(?:make )?(?P<x>it|that|.+?) (?P<v>double|twice as (?:much|many)|half as (?:much|many)|half that)", core, re.IGNORECASE):
        factor = {"double": "2", "triple": "3", "quadruple": "4", "halve": "0.5", "cut": "0.5", "half": "0.5", "twice": "2"}[found["v"].lower().split()[0]]
        x = re.sub(r"^(?:the )?(?:number|amount|quantity|count) of\s+", "", found["x"], flags=re.IGNORECASE)
        x = re.sub(r"\s+money$", "", x)
        return _step(clause, "shift", target=x, value="*" + factor)
    if found := re.fullmatch(rf"(?:(?:make|add|book|order|get|need|have|there (?:is|are|will be)|we need|i need|we(?:'ll| will) be|it'?s|let'?s have|we have|bring|invite|buy|include|reserve) )?(?:that |it )?(?P<n>{number}) (?P<dir>more|fewer|less|extra|additional|further)(?: (?P<x>.+?))?(?:\s(?:is|are|will be|has|have)? ?(?:coming|joining|attending|needed|please|confirmed|signed up|cancelled|dropped out)\b.*)?(?:,.*)?", core, re.IGNORECASE):
        n = re.sub(r"^(?:another|an extra|an additional)$", "one", found["n"], flags=re.IGNORECASE)
        sign = "-" if found["dir"].lower() in ("fewer", "less") else "+"
        x = re.sub(r",.*$", "", found["x"] or "")
        if x and not (re.fullmatch(r"[\w' -]+", x)):
            return []
        return _step(clause, "shift", target=x, value=sign + n, slot="count")
    if found := re.fullmatch(rf"(?P<n>{number}) (?P<x>[\w' ]+?) (?P<dir>more|fewer|less)(?:,? .*)?", core, re.IGNORECASE):
        sign = "-" if found["dir"].lower() in ("fewer", "less") else "+"
        return _step(clause, "shift", target=found["x"], value=sign + found["n"], slot="count")
    if found := re.fullmatch(r"another (?P<x>.+)|(?:add |get |order |book )(?:another|one more|an extra|an additional) (?P<x2>.+)", core, re.IGNORECASE):
        x = found["x"] or found["x2"]
        return _step(clause, "shift", target=x, value="+one", slot="count")
    return []


def _remove(reader: _Reader, clause: Clause) -> list[Step]:
    core = clause.core
    tail = r"(?:\s+(?:from|off|out of|in|on) (?P<within>(?:the |my |our |it|there|that|this)?[\w' -]*))?"
    off = re.fullmatch(r"(?:take|cross|strike|scratch|leave|get|kick|pull|cut|keep|toss|throw) (?P<x>.+?) (?:off|out)(?:\s+(?:of|from)?\s*(?P<within>[\w' -]+))?", core, re.IGNORECASE)
    if off and not re.match(r"(?:off|out)\b", off["x"]) and not re.fullmatch(r"(?:a (?:day|week|loan|while)|time)", off["x"], re.IGNORECASE):
        within = _np(off["within"] or "")
        if within.lower().startswith("hold"):
            return []
        return _removal(reader, clause, off["x"], "" if within in ("list", "there", "it") else within)
    if found := re.fullmatch(rf"(?:{REMOVE})\s+(?P<x>.+?)" + tail, core, re.IGNORECASE):
        x, within = found["x"], _np(found["within"] or "")
        whole = re.sub(rf"^(?:{REMOVE})\s+", "", core, flags=re.IGNORECASE)
        if within and reader._known(whole) and not reader._known(within):
            x, within = whole, ""
        if re.match(r"(?:in half|by|to|short|down|back|it (?:to|down|back)|off)\b", x) and not _np(x):
            return []
        if re.match(r"(?:drop|pull|cut|clear|kill|dump|forget|strike|lose|cancel|skip)\b", core, re.IGNORECASE) and re.search(r"\b(?:at|to|into)\s+(?:the|my)\s", x) and not reader._known(x):
            return []
        if within and not reader._known(within) and not _is_container(within) and within not in ("it", "there"):
            x, within = f"{x} {core[found.start('within') - 5 : ].strip()}" if reader._known(core[found.start("x") :]) else x, within
        return _removal(reader, clause, x, within)
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
        x = _np(found["x"])
        if not x and "ing" in pattern and re.search(r"\bnot \w+ing\b", core):
            continue
        if pattern.startswith(("no ", "(?:please")) and not reader._known(x):
            continue
        if re.match(r"(?:i|we|you|they|he|she|there|what|who|time)$", x, re.IGNORECASE) or not x and not re.match(r"(?:it|that|this|he|she|they|him|her)\b", found["x"].strip(), re.IGNORECASE):
            continue
        if re.match(r"(?:to|be|know|think|believe|mind|care|idea|problem|worries|rush|sure|wait)\b", x, re.IGNORECASE):
            continue
        if re.search(r"\b(?:at|on|before|then|by|early|until|from|after|today|now)\b(?! all)", core[found.end("x") :]) and "coming" not in core:
            continue
        if not reader._known(x) and not re.match(r"(?:he|she|they|it|that)\b", found["x"], re.IGNORECASE):
            continue
        return _removal(reader, clause, x, "")
    return []


def _removal(reader: _Reader, clause: Clause, x: str, within: str) -> list[Step]:
    x = re.sub(r"^(?:out|off|away|doing|having|getting|buying|with)\s+(?=\w)", "", x.strip())
    x = re.sub(r",\s*(?:i|we|it|he|she|they|that|because|since|as|please|my|the)\b.*$", "", x)
    x = re.sub(r"\s+(?:entirely|completely|altogether|for good|please|too|as well|again|instead)$", "", x)
    whole = re.fullmatch(r"(?:the )?(?:whole|entire) (.+)", x)
    if whole:
        x = whole[1]
    if re.fullmatch(r"(?:everything|all of (?:it|them)|it all|all|the whole thing|all (?:the )?(?:items|tasks|guests))", x, re.IGNORECASE):
        return _step(clause, "remove", target="", everyone=True, within=within)
    if x and not reader._known(x) and any(step.act == "task" and step.intent == "new" for step in reader.steps) and re.match(r"(?:cancel|drop|cut|pull|clear|skip|lose)\b", clause.core, re.IGNORECASE):
        return [reader._new_task(clause)]
    if re.fullmatch(r"it|that|him|her|them|they|he|she|this|", x, re.IGNORECASE) and reader.steps and reader.steps[-1].act == "remove":
        return [reader._chat(clause)]
    if re.fullmatch(r"it|that|him|her|them|", x, re.IGNORECASE) and reader.missing and reader._known(reader.missing):
        return _step(clause, "remove", target=reader.missing, within=within)
    if re.fullmatch(r"him|her|them|he|she", x, re.IGNORECASE) and reader.steps and reader.steps[-1].act == "remove":
        return [reader._chat(clause)]
    items = _list_words(x)
    if len(items) > 1 and not reader._known(x):
        shared_head = items[-1].split()
        if len(items[0].split()) == 1 and len(shared_head) > 1 and not reader._known(items[0]):
            items = [f"{item} {shared_head[-1]}" if len(item.split()) == 1 and not reader._known(item) else item for item in items[:-1]] + [items[-1]]
        return _step(clause, "remove", target="", items=tuple(Detail(slot="item", value=item) for item in items), within=within)
    return _step(clause, "remove", target=x, within=within)


def _set(reader: _Reader, clause: Clause) -> list[Step]:
    """Every common way to give a slot its value."""
    core = clause.core
    if found := re.fullmatch(r"(?:rename|retitle) (?P<x>.+?) (?:to|as|into)? ?(?P<value>[A-Z\"'].*|(?<=to ).+)", core, re.IGNORECASE):
        return _step(clause, "set", target=re.sub(r"\s+(?:to|as|into)$", "", found["x"]), value=re.sub(r"^(?:to|as|into)\s+", "", found["value"]), old="title")
    core = re.sub(r",?\s+(?:because|since|as (?:the|my|i|we|it)|so that|due to|thanks to|now that)\b.*$", "", core, flags=re.IGNORECASE)
    if found := re.fullmatch(r"(?:we|it|they)(?:'re| are|'s| is)(?: now)? (?:at|up to|down to|now at) (?P<n>\d+)(?: (?P<noun>\w+))?(?: now)?", core, re.IGNORECASE):
        if not (reader.view.graph and any(node.name == "time" and node.turn >= reader.view.turn - 1 for node in reader.view.graph.active)):
            return _step(clause, "set", target="", value=found["n"], details=(Detail(slot="count", value=f"{found['n']} {found['noun'] or 'people'}"),))
    m = lambda pattern: re.fullmatch(pattern, core, re.IGNORECASE)  # noqa: E731
    for pattern in (
        r"(?P<target>.+?) (?:should|must|has to|needs to|ought to|can|shall|will) (?:be )?(?:moved?|go|changed?|pushed|switched|rescheduled|shifted) (?:to|on|at|for) (?P<value>.+)",
        r"(?P<target>(?!i\b|we\b)[\w' -]+?) (?:slips?|slipped|moves|shifts|shifted|jumps|goes|changes|changed|moved) (?:up |down |back |out )?to (?P<value>.+)",
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
        if pattern.startswith("(?:do|have|try") and not _covers(values.spot(found["value"]) or (), found["value"]):
            continue
        groups = found.groupdict()
        target, value = groups.get("target") or "", groups["value"]
        if steps := _setting(reader, clause, target, value, pattern):
            if re.match(r"(?:move|relocate|shift|push|bring|reschedule|postpone|pull)\b", core, re.IGNORECASE) and steps[0].act == "set" and steps[0].old is None:
                steps = [steps[0].model_copy(update={"old": "move"}), *steps[1:]]
            return steps
    return _is_statement(reader, clause, core)


def _setting(reader: _Reader, clause: Clause, target: str, value: str, pattern: str) -> list[Step]:
    target, raw = _np(target), value
    value = re.sub(r"\s+(?:please|instead|then|now|for everyone|for everybody|for all(?: of us)?|if possible)$", "", value.strip(" .,!"), flags=re.IGNORECASE)
    value = re.sub(r"^(?:be|use|have|now|rather|instead|exactly|more like)\s+", "", value, flags=re.IGNORECASE)
    old = None
    if swap := reader._old_new(value):
        old, value = swap
    if pair := re.fullmatch(r"(?P<target>.+?) from (?P<old>.+)", target):
        if reader._known(pair["old"]):
            target, old = pair["target"], pair["old"]
    if pair := re.fullmatch(r"from (.+?) to (.+)", value, re.IGNORECASE):
        if reader._known(pair[1]):
            old, value = pair[1], pair[2]
    if pattern.startswith((r"(?:let'?s |we'?ll", r"(?:i|we)(?:'d| would)? (?:prefer")) and not target:
        if pair := re.fullmatch(r"(.+?) (?:than|over|rather than|instead of) (.+)", value):
            return _step(clause, "replace", old=re.sub(r"^(?:near|in|at|on) ", "", pair[2]), value=re.sub(r"^(?:stay |go |do |have |take )?(?:near |in |at |on )?", "", pair[1]), everywhere=True)
    if pattern.startswith(r"(?:make|set) (?P<target>(?:the|my|our)") and re.match(r"(?:sure|list|plan|reservation|call)\b", value):
        return []
    if pattern.startswith(r"(?:use|take|put|put down") and re.match(r"(?:care|a look|note|time|place|into account)\b", value):
        return []
    if pattern.startswith(r"(?:use|take|put|put down") and not (slot_group(target) or reader._known(target)):
        return []
    if len(value.split()) > 20:
        return []
    spans = values.spot(value, loose=True)
    if len({span.kind for span in spans}) < len(spans):
        return []
    details = _typed_details(value)
    if not details and re.fullmatch(r"\d{1,2}(?::\d\d)?(?:\s*,?\s*(?:sharp))?", value) and re.match(r"(?:move|push|shift|reschedule|make|change|let'?s do|do|bring)", clause.core, re.IGNORECASE):
        details = (Detail(slot="number", value=value),)
    if len(spans) > 1 or (spans and _covers(spans, value)):
        return _step(clause, "set", target=target, value=value, details=details, old=old)
    return _step(clause, "set", target=target, value=value if not raw.startswith('"') else raw, old=old, details=details if not target else ())


def _typed_details(value: str) -> tuple[Detail, ...]:
    return tuple(Detail(slot=_SLOT_OF_KIND.get(span.kind, span.kind), value=span.text) for span in values.spot(" at " + value if re.fullmatch(r"\d{1,2}(?::\d\d)?", value) else value))


def _covers(spans: tuple[values.Span, ...], text: str) -> bool:
    """Whether the typed values make up the text but for prepositions."""
    rest = text
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    return not re.sub(r"\b(?:on|at|from|to|by|for|in|and|the|around|about|until|sharp|a|an|of|this|next|then|per|person|max|total)\b|[\s,.;-]", "", rest, flags=re.IGNORECASE)


def _is_statement(reader: _Reader, clause: Clause, core: str) -> list[Step]:
    """'The date is June 10th', 'my name should be John', 'it's 9 PM', 'the host will be Nadia'."""
    if found := re.fullmatch(rf"(?P<who>{_NAME}(?:(?:, and|,| and) {_NAME})+) (?:are|will be) (?:the |our |my )?(?P<role>[a-z][\w ]*s)", core):
        role = found["role"]
        return _step(clause, "add", intent=None, target=role, within=role, items=tuple(Detail(slot=singular(_slot_name(role)), value=person) for person in _list_words(found["who"])))
    core = re.sub(r"^(it|that|this|he|she|(?:the|my|our|his|her) [\w -]{2,30}?|[A-Za-z]+)'s (?=\S)", lambda m: f"{m[1]} is " if not re.search(r"\b(?:is|are|was|will|should|has)\b", core[m.end():]) and not _has_verb(core) and (m[1].lower() in ("it", "that", "this", "he", "she") or values.spot(core[m.end():]) or slot_group(_np(m[1]))) else m[0], core, flags=re.IGNORECASE)
    found = re.fullmatch(
        r"(?P<target>(?:the |my |our |his |her |their |its |your |a |this )?[\w'/&. -]{1,45}?)\s*(?:,\s*)?(?:\b(?:is|are|was|will be|should be|shall be|has to be|have to be|must be|ought to be|needs? to be|can be|would be|becomes?|remains?|is going to be|equals?|costs?|is called|are called|is named|goes by|starts? at|starts? on|begins? at|begins? on|ends? at|ends? on|lasts|takes place (?:on|at|in)|happens (?:on|at|in)|'ll be)\b|=)\s+"
        r"(?:now |then |actually |currently |probably not |instead |supposed to be |going to be |called |named |set to |set for |planned for |scheduled for |due (?:on|by|at)? ?|at |on |in )*(?P<value>.+)",
        core, re.IGNORECASE,
    )  # fmt: skip
    if not found:
        return []
    target, value = found["target"].strip(), found["value"].strip()
    if re.search(r"\b(?:not|never|n't)\b", target) or re.match(r"(?:there|who|what|that'?s why|here)\b", target, re.IGNORECASE):
        return []
    if re.match(r"(?:not (?!sure)|n't )", value):
        if pair := re.fullmatch(r"not (.+?)[,;]? (?:but|it'?s|rather) (.+)", value, re.IGNORECASE):
            return _step(clause, "set", target=_np(target), value=pair[2], old=pair[1])
        return []
    pronoun = re.fullmatch(r"(?:it|that|this|they|he|she)", target, re.IGNORECASE)
    if re.match(r"(?:i|we|you)$", target, re.IGNORECASE):
        return []
    if re.match(r"(?:a bit|so|very|too|really|quite|pretty|kind of|such a?|just a|a nightmare|crazy|great|nice|funny|lovely|amazing|weird|annoying|raining|snowing|sunny|cold|hot|beautiful|good|bad|fine|ok|okay|busy|ill|sick|allergic|tired|free|only free|late|sleeping|arguing|a good|a great|hard|easy|difficult|tough|boring|exhausting|stressful|scary|expensive stuff|overrated|fun|gorgeous|wonderful|driving|getting|coming along)\b", value, re.IGNORECASE):
        return [reader._chat(clause)]
    if re.match(r"\w+ing\b", value) and not values.spot(value) and not pronoun and value.split()[0].lower() not in ("parking", "catering", "wedding", "painting", "training", "building", "onboarding", "evening", "morning", "pricing", "hiring", "hiking", "camping", "swimming", "spring", "string"):
        return []
    group = slot_group(_np(target))
    spans = values.spot(value)
    value = re.sub(r"\s+(?:now|instead|then|please|by the way|from now on)$", "", value, flags=re.IGNORECASE)
    old = None
    if swap := reader._old_new(value):
        old, value = swap
    if pronoun:
        if not spans and not reader._known(value) and not old and not clause.correction:
            if not re.match(r"(?:a|an|the)\s|[A-Z]", value):
                return []
            if not reader.view.focus:
                return []
        if not spans and not clause.correction and not old and not re.match(r"[A-Z]", value):
            return []
        return _step(clause, "set", target="", value=value, old=old, details=_typed_details(value) if spans and _covers(spans, value) else ())
    name = _np(target)
    if spans and not group and (reader._known(name) or _is_event(name)):
        bare, details, items = details_of(f"{name} {core[found.start('value') :] if not re.match(r'(?:on|at|in)', value) else value}")
        del bare
        prepped = re.search(r"\b(?:is|are|will be|starts?|begins?|takes place|happens)\s+((?:on|at|in|from|for|by)\s+.+)$", core, re.IGNORECASE)
        if prepped:
            _, details, items = details_of(f"{name} {prepped[1]}")
        if details and (_covers(spans, value) or len(details) > 1 or items):
            if _covers(spans, value) and len(spans) == 1:
                details = _typed_details(value)
            return _step(clause, "set", target=name, value=value, details=details, items=items, old=old)
    if reader._known(name) and not group and re.fullmatch(r"(?:all |already |now )?(?:\w{3,}ed|\w{3,}en|laid|cut|dug|hung|sown|grown|made|built|bought|sent|paid|sewn|done|up|in place)", value):
        return _step(clause, "done", target=name)
    if not group and not spans and not re.match(r"(?:[A-Z\"'$€£\d]|a\s|an\s|the\s)", value) and not reader._known(name) and len(name.split()) > 3:
        return []
    if len(value.split()) > 15:
        return []
    located = re.search(r"\b(?:is|are|was|will be|takes place|happens)\s+(?:in|at)\s+(?P<v>[A-Z].*|the\s.+)$", core)
    if located and not group and not spans:
        return _step(clause, "set", target=name, value=value, details=(Detail(slot="place", value=value),), old=old)
    if slot_group(name) == "assignee" or re.fullmatch(r"responsible for .*", value):
        return []
    if found2 := re.fullmatch(r"(?P<slot>[\w ]+?) of (?:the |my |our )?(?P<x>[\w' -]+)", name):
        if slot_group(found2["slot"]) or reader._known(found2["x"]):
            return _step(clause, "set", target=name, slot=_slot_name(found2["slot"]), within=found2["x"], value=value, old=old)
    if found2 := re.fullmatch(r"(?P<x>[\w -]+?)(?:'s|s') (?P<slot>[\w ]+)", name):
        return _step(clause, "set", target=name, slot=_slot_name(found2["slot"]), within=found2["x"], value=value, old=old)
    return _step(clause, "set", target=name, slot=_slot_name(name), value=value, old=old,
                 details=_typed_details(value) if spans and _covers(spans, value) and not group else ())  # fmt: skip


def _correct(reader: _Reader, clause: Clause) -> list[Step]:
    """'Sorry, I meant Tuesday', 'oops, it's 9 PM', 'no wait, to Julia', 'not Meyer but Maier', 'wrong one'."""
    core = clause.core
    if found := re.fullmatch(r"(?P<a>.+?),?\s+(?:i mean|i meant|er,? no,?|no wait,?|no,|or rather|sorry,?|uh,? no,?|wait,? no,?|make that|correction,?|no sorry,?)\s+(?P<b>.+)", core, re.IGNORECASE):
        a, b = found["a"], found["b"]
        if clauses.starts_clause(b) and clauses.starts_clause(a):
            return [*reader._clause_steps(clauses.clause(a, hint=clause.hint)), *reader._clause_steps(clauses.clause(b, hint=clause.hint))]
        spans_a, spans_b = values.spot(a), values.spot(b)
        if spans_b and _covers(spans_b, b) and any(span.kind == spans_b[0].kind for span in spans_a):
            wrong = next(span for span in spans_a if span.kind == spans_b[0].kind)
            fixed = a[: wrong.start] + b + a[wrong.end :]
            return reader._clause_steps(clause.with_core(fixed))
        words_b = _np(b)
        tail = re.search(r"((?:the |a |an )?[\w'-]+(?: [A-Z][\w'-]+)*)$", a)
        if tail and len(words_b.split()) <= 4 and not clauses.starts_clause(b):
            article = re.match(r"(?:the|a|an)\s", b)
            return reader._clause_steps(clause.with_core(a[: tail.start()] + (b if article or not re.match(r"(?:the|a|an)\s", tail[1]) else tail[1].split()[0] + " " + b)))
        return reader._clause_steps(clause.with_core(b))
    if not clause.correction:
        return []
    if re.match(r"(?:the|my|our|his|her|their|it|that)\s+.*\b(?:to|is|are|was|were|should|will|happened|starts?|takes)\b", core, re.IGNORECASE) and not re.match(r"(?:it|that) (?:is|was|should be|has to be)\b", core, re.IGNORECASE):
        return []
    explicit = re.search(r"\b(?:sorry|oops|whoops|no wait|no, wait|i mean|i meant|correction|typo|misspoke|mistake|my bad|wrong)\b", clause.text, re.IGNORECASE)
    meant = re.search(r"\b(?:i mean|i meant|i should have said|it should (?:be|read|say)|it has to be|it'?s actually|should have been|that should be|rather)\s+(?P<b>.+)$", clause.text.rstrip(".! "), re.IGNORECASE)
    body = meant["b"] if meant and len(meant["b"].split()) < 8 else core
    body = re.sub(r"^(?:it'?s|it is|that'?s|that is|it should be|should be|make (?:it|that)|it has to be|to be|it was|was)\s+", "", body, flags=re.IGNORECASE)
    if found := re.fullmatch(r"(?:the one |one )?(?:with|for|in|on|at) (.+)", body, re.IGNORECASE):
        if reader.view.question is not None:
            return []
    old = None
    if swap := reader._old_new(body):
        old, body = swap
    if found := re.fullmatch(r"(?:the |my )?(?P<t>[\w ]+?) (?:is|was|should be|should move to|goes to|moves to) (?P<b>.+)", body):
        return []
    if _clause_act(body) or clauses.starts_clause(body) or len(body.split()) > 7:
        return []
    if re.search(r"\b(?:got|has|have|is|are|was|were|can|can't|will|won't|would|does|did|thinks?|wants?|likes?|loves?)\b", body, re.IGNORECASE):
        return []
    if not explicit and not values.spot(body) and not re.match(r"(?:to|at|on|in|from|for|with)\b", body):
        return []
    body = re.sub(r"^(?:to|at|on|in|from|for|with)\s+(?=\S)", "", body, flags=re.IGNORECASE) if not values.spot(body) else body
    if not body:
        return []
    spans = values.spot(body) or values.spot("at " + body)
    return _step(clause, "set", target="", value=body, old=old or "last", details=_typed_details(body) if spans and _covers(values.spot(body), body) else ())


def _add(reader: _Reader, clause: Clause) -> list[Step]:
    """Items join a container, people join an event."""
    core = clause.core
    head = r"(?:add|put on|put in|put|include|throw in|stick|pop|append|insert|register|note down|jot down|write down|list|place|toss|count|sign up|bring in|loop in|onboard)"
    if found := re.fullmatch(r"(?:(?:start|create|open|begin|make|set up) )?(?:a |an |another )?new (?P<kind>project|list|task|event|plan|goal|folder|group|playlist|campaign|tracker) (?:called|named|titled|for|:)\s*(?P<x>.+)", core, re.IGNORECASE):
        return [Step(text=clause.text, act="task", intent="new", title=found["x"], target=found["x"])]
    if found := re.fullmatch(r"(?:add|create|make|note|open|log) (?:a |an |another |one more )?(?:new )?(?:task|todo|to-do|item|step|reminder|ticket|entry|subtask|point|line)(?: to do| called| named| to|:| for| that says)?[:\s-]+(?P<x>.+)", core, re.IGNORECASE):
        return [Step(text=clause.text, act="task", intent="new", title=found["x"], target=found["x"])]
    if (found := re.fullmatch(r"(?:add|put|note|enter|pencil in|block|include|write down|put in|make)(?: down| in)? (?P<x>(?:a|an|the|my) .+)", core, re.IGNORECASE)) and len(values.spot(found["x"])) >= 1:
        if not re.search(r"\b(?:to|on|in|into) (?:the|my|our) \w+$", found["x"]) and not (_list_like(found["x"]) and len(values.spot(found["x"])) < 2) and details_of(found["x"])[1]:
            return _as_tasks(reader, clause, re.sub(r"^(?:a|an|the|my)\s+", "", found["x"]))
    if found := re.fullmatch(rf"{head} (?P<x>.+?) (?:to|on|in|into|onto|for|at) (?P<within>(?:the |my |our |this |that |your |a |it$|it\b)[\w' -]*)(?: (?:list|please|instead))?", core, re.IGNORECASE):
        within = _np(found["within"])
        if core.lower().startswith("put ") and slot_group(within) and not reader._known(within) and not _is_container(within):
            return []
        if not (_is_container(within) or reader._known(within) or _is_event(within) or within == "") and not core.lower().startswith("add") and not _list_like(found["x"]):
            return []
        inner = details_of(found["x"]) if values.spot(found["x"]) and not _list_like(found["x"]) else None
        if inner and inner[1] and _is_event(inner[0]):
            return [Step(text=clause.text, act="task", intent="new", title=inner[0], details=inner[1], items=inner[2], target=inner[0], within=within)]
        return _step(clause, "add", intent=None, target=within, within=within, items=reader._items(found["x"], within if not _people(found["x"]) else within + " participant"))
    if found := re.fullmatch(rf"(?:{head}|invite) (?P<x>[^:]+?)(?: (?:in|on|to (?:it|that|this|the list)|too|as well|on it))?", core, re.IGNORECASE):
        x = found["x"]
        if re.match(r"(?:that|if|whether|up|down|on|off|back|it)\b", x, re.IGNORECASE) and not re.match(r"it$", x):
            return []
        slot = "guest" if core.lower().startswith("invite") else _member_slot(x, person=_people(x)) if _people(x) else "item"
        target = ""
        if pair := re.fullmatch(r"(?P<a>.+?) (?:to|for) (?P<b>(?:the |my |our )?[\w' -]+)", x):
            if reader._known(_np(pair["b"])) or _is_event(pair["b"]) or _is_container(pair["b"]):
                x, target = pair["a"], _np(pair["b"])
        text = re.sub(r"\s+with (?:a |an )?(?=[a-z])", " with ", x)
        if re.fullmatch(r"(?:him|her|them)", x, re.IGNORECASE):
            return _step(clause, "add", intent=None, target=target, items=(Detail(slot=slot, value=x),), within=target)
        return _step(clause, "add", intent=None, target=target, items=tuple(Detail(slot=slot, value=word) for word in _list_words(text)), within=target)
    person = rf"(?:{_NAME}|my \w+(?: \w+)?)(?:(?:,| and|, and) (?:{_NAME}|my \w+))*"
    if found := re.fullmatch(rf"(?P<x>{person}|he|she|they)(?: is| are|'s|'re| will be| will|'ll)? (?:also )?(?:joins?|joining|coming(?: along)?|come|attends?|attending|be there|be coming|tagging along|in|invited|on board|participating|coming with us)(?: (?:us|the \w+|along|in|with us|it))?(?: (?:too|as well|also|after all|now))?", core):
        within = re.search(r"join\w* (?:the )(\w+)", core)
        people = [re.sub(r"'s$", "", word) for word in _list_words(found["x"])]
        return _step(clause, "add", intent=None, target=within[1] if within else "", items=tuple(Detail(slot="participant", value=word) for word in people))
    if found := re.fullmatch(r"(?:she|he|they|it) (?:also )?(?:needs?|wants?|requires?|will need) (?!to\b)(?P<x>.+)", core, re.IGNORECASE):
        return _wanted(reader, clause, found["x"])
    if found := re.fullmatch(r"(?:i|we)(?:'d| would|'ll| will)? (?:also )?(?:like|love|want|need|take|have|require|be needing|fancy|could use)(?: also| some)? (?!to\b)(?P<x>.+?)(?:,? (?:too|as well|also|please))?", core, re.IGNORECASE):
        return _wanted(reader, clause, found["x"])
    return []


def _list_like(text: str) -> bool:
    return len(_list_words(text)) > 1


def _people(text: str) -> bool:
    """Whether every member of a list looks like a name."""
    words = _list_words(text)
    return bool(words) and all(re.fullmatch(rf"{_NAME}|my \w+(?: \w+)?", word) for word in words)


def _wanted(reader: _Reader, clause: Clause, x: str) -> list[Step]:
    """'I need milk, eggs and a playlist', 'we want a room with a balcony'."""
    if clause.correction and not _list_like(x):
        return _step(clause, "set", target="", value=x, old="last")
    if found := re.fullmatch(r"(?P<x>.+?) (?:for|at|in|on) (?P<within>(?:the |my |our )[\w' -]+)", x, re.IGNORECASE):
        if reader._known(_np(found["within"])) or _is_event(found["within"]):
            if not values.kind_of(_np(found["within"])):
                return _step(clause, "add", intent=None, target=found["within"], within=found["within"], items=reader._items(found["x"]))
    if found := re.fullmatch(r"(?P<x>[\w' -]+?) (?:to be|to go) (?P<value>.+)", x, re.IGNORECASE):
        return _step(clause, "set", target=found["x"], value=found["value"])
    bare, details, items = details_of(x)
    if details or items:
        return [Step(text=clause.text, act="task", intent="new", title=bare, details=details, items=items, target=bare)]
    return _step(clause, "add", intent=None, target="", items=reader._items(x))


def _purpose(reader: _Reader, clause: Clause) -> list[Step]:
    """'To make soup, wash and chop celery', 'for the curry, chop onions and ginger', 'for the salad I need A and B'."""
    core = clause.core
    found = re.fullmatch(r"(?:to|in order to) (?P<goal>(?:make|cook|bake|build|prepare|do|create|set up|get|finish|fix|sew|knit|plan|organi[sz]e|clean|paint|brew|host|write|assemble|craft|launch|ship|release|run|grow|plant|install|record|print|repair|restore|mix|assemble|throw)\b[^,]+?),\s*(?:i |we |you )?(?:need to |have to |must |should |first |will |need |want )?(?P<body>.+)", core, re.IGNORECASE)
    if not found:
        found = re.fullmatch(r"for (?P<goal>(?:the |my |our |a |an )?[\w' -]+?)(?:,\s*(?:i |we |you )?(?:need to |have to |must |should |first |will |need |use |want |get |buy |take |'ll need )?|:\s*|,?\s+(?:i|we|you)(?:'ll| will)? (?:need|use|want|have to get|must get|have|require|get|take|should get|buy|serve|make|cook|bring|book|order|invite|play)\s+(?:to )?|\s+(?=use\b|chop\b|peel\b|cut\b|wash\b|buy\b|get\b)(?:use )?)(?P<body>.+)", core, re.IGNORECASE)
        if not found:
            found = re.fullmatch(r"(?P<goal>(?:the |my |our |a |an )[\w' -]+?|[A-Z]?[\w-]+:?) (?:needs?|requires?|takes?|uses?|contains?|has|have|consists? of|includes?|will need|calls? for|is made (?:of|with|from)|are made (?:of|with|from)|comes? with|gets?)\s+(?P<body>.+)", core, re.IGNORECASE)
            if found and re.search(r"\b(?:has|have|gets?|takes?)\s*$", core[: found.start("body")]) and len(_list_words(found["body"])) < 2:
                found = None
            if found and (re.fullmatch(r"(?:i|we|you|they|he|she|it|who|there|someone|that)", found["goal"], re.IGNORECASE) or re.match(r"(?:to\b|a (?:lot|while)|\d+ (?:minutes|hours))", found["body"])):
                found = None
    if not found:
        return []
    goal, body = _np(found["goal"]), found["body"].strip()
    if slot_group(goal) or values.kind_of(goal) or re.fullmatch(r"(?:now|example|instance|me|us|everyone|sure|that|this|it)", goal, re.IGNORECASE):
        return []
    pieces: list[str] = []
    for piece in clauses.split(body):
        piece = re.sub(r"^(?:and|then|also)\s+", "", piece.strip(" ,."))
        pieces.append(piece)
    items: list[Detail] = []
    for piece in pieces:
        if _has_verb(piece) and not _list_only(piece):
            verbs = re.match(rf"((?:(?:{'|'.join(sorted(DO, key=len, reverse=True))})(?:,\s*|\s+and\s+|\s*&\s*|,\s*and\s+)?)+)\s+(.+)", piece, re.IGNORECASE)
            objects = _list_words(verbs[2]) if verbs else [piece]
            items += [Detail(slot="step", value=f"{verbs[1].strip()} {thing}" if verbs else thing) for thing in objects]
        else:
            items += [Detail(slot="item", value=word) for word in _list_words(re.sub(r"^(?:use|need|get|buy|take|have)\s+", "", piece))]
    return [Step(text=clause.text, act="task", intent="new", title=goal, target=goal, items=tuple(items), slot=None)]


def _list_only(piece: str) -> bool:
    return not re.match(r"\w+\s+\w", piece)


_FRAMES: tuple[tuple[str, str], ...] = (
    (r"(?:depart|departing|leave|leaving|fly out|flying|fly|start|starting|go|going|travel|travelling|traveling|set off|come|coming)\b.*?\bfrom\s+(?P<value>.+?)", "start"),
    (r"(?:go|going|fly|flying|travel|travelling|traveling|drive|driving|head|heading|move|moving)\b.*?\bto\s+(?P<value>.+?)", "destination"),
    (r"(?:leave|leaving|depart|departing|go|going|start|starting|travel|fly|move in|arrive|arriving|set off)\b.*?\bon\s+(?P<value>.+?)", "date"),
    (r"(?:stay|staying|be staying|sleep)\s+(?:at|in)\s+(?P<value>.+?)", "hotel"),
    (r"(?:stay|staying)\s+(?:for\s+)?(?P<value>.+?)", "duration"),
    (r"(?:spend|pay|have)\s+(?:at most |up to |around |about |only |max(?:imum)? )?(?P<value>[$€£\d].*)", "budget"),
    (r"(?:live|living|reside)\s+(?:at|in|on)\s+(?P<value>.+?)", "address"),
    (r"(?:work|working)\s+(?:at|for)\s+(?P<value>.+?)", "employer"),
    (r"(?:was|were) born\s+(?:on|in)?\s*(?P<value>.+?)", "date_of_birth"),
)


def _schedule(reader: _Reader, clause: Clause) -> list[Step]:
    """'Do the latter on Sunday', 'have the call at 5': a known task gets its day or time."""
    found = re.fullmatch(r"(?:do|have|hold|schedule|plan|put|place|start|make|keep) (?P<x>(?:the |my |our |that |this ).+?) (?P<rest>(?:on|at|for|to|in) .+)", clause.core, re.IGNORECASE)
    if not found:
        return []
    spans = values.spot(found["rest"])
    x = _np(found["x"])
    if spans and _covers(spans, found["rest"]) and (reader._known(x) or re.fullmatch(r"(?:former|latter|first|second|last)(?: one)?", x)):
        return _step(clause, "set", target=x, value=found["rest"], details=_typed_details(found["rest"]))
    return []


def _frames(reader: _Reader, clause: Clause) -> list[Step]:
    """'I will depart from Chicago', 'I want to leave on June 10th', 'I'm John', 'you can reach me at ...'."""
    core = clause.core
    body = re.sub(r"^(?:i|we)(?:'m| am|'re| are|'ll| will|'d| would)?(?: be| also| now| actually| like to| love to| want to| need to)*\s+", "", core, flags=re.IGNORECASE)
    personal = body != core or clause.request
    if found := re.fullmatch(r"(?:i'?m|i am|this is|it'?s|they call me|people call me|call me)\s+(?P<value>[A-Z][\w'.-]+(?:\s+[A-Z][\w'.-]+)*)(?: speaking| here)?", core):
        if not re.match(r"(?:I|OK|Yes|No)\b", found["value"]) and not values.kind_of(found["value"]) and core.lower().startswith(("i", "call", "they", "people", "this is")):
            return _step(clause, "set", target="name", slot="name", value=found["value"], intent=None)
    if found := re.fullmatch(r"(?:you can )?(?:reach|contact|email|e-mail|mail|call|text|write)\s+(?:me|us)\s+(?:at|on|under|via)\s+(?P<value>\S.*)", core, re.IGNORECASE):
        kind = values.kind_of(found["value"])
        if kind in ("email", "phone"):
            return _step(clause, "set", target=kind, slot=kind, value=found["value"], intent=None)
    if not personal:
        return []
    spans = values.spot(body)
    if found := re.fullmatch(r"(?:i'?m|i am)\s+(?P<n>\d{1,3})(?: years old)?(?:,? actually)?(?:,? not (?P<old>\d+))?(?:,? actually)?", core, re.IGNORECASE):
        if found["old"] and reader._known(found["old"]):
            return _step(clause, "replace", old=found["old"], value=found["n"], everywhere=True)
        return _step(clause, "set", target="age", slot="age", value=found["n"], intent=None)
    if found := re.fullmatch(r"(?:have|got|bring)\s+(?P<value>\d+ \w+|\w+ years?) of (?P<slot>[\w ]+)", body, re.IGNORECASE):
        return _step(clause, "set", target=found["slot"], slot=_slot_name(found["slot"]), value=found["value"], intent=None)
    if found := re.fullmatch(r"(?:also )?(?P<verb>speak|know|play|own|drive|study|studied|hold|teach|collect|do)\s+(?P<x>[A-Z].*)", body):
        return _step(clause, "add", intent=None, target="", items=tuple(Detail(slot=found["verb"], value=word) for word in _list_words(found["x"])))
    if re.search(r"\bfrom\s+[A-Z]", body) and re.search(r"\bto\s+[A-Z]", body):
        return []
    _, told, people = details_of(body)
    if len(told) + len(people) > 1:
        return []
    for pattern, slot in _FRAMES:
        found = re.fullmatch(pattern, body, re.IGNORECASE)
        if not found:
            continue
        value = found["value"].strip(" .,")
        if slot in ("date",) and values.kind_of(value) != "date":
            continue
        if slot == "duration" and values.kind_of(value) != "duration":
            continue
        if slot == "budget" and values.kind_of(value) not in ("amount", "count"):
            continue
        if slot in ("start", "destination", "hotel", "address"):
            if not re.match(r"(?:the )?(?:[A-Z\d]|a |an |downtown)", value) or len(spans) > (1 if slot == "address" else 0) or re.search(r"\b(?:from|to)\b", value):
                continue
        return _step(clause, "set", target=slot, slot=slot, value=value, intent=None)
    return []


def _do(reader: _Reader, clause: Clause) -> list[Step]:
    """An imperative that starts something to do."""
    core = clause.core
    first = re.match(r"[\w-]+", core.lower())
    if not first:
        return []
    verb = first[0]
    gerund = re.match(r"(?:i'?m|i am|we'?re|we are|i'?ve been|we'?ve been) (?:also |now |currently |still )?(?:planning|organi[sz]ing|arranging|preparing|putting together|setting up|having|hosting|throwing|getting|going|redecorating|renovating|redoing|writing|building|moving|learning|training|working on|looking for|applying|launching|doing|making|buying|repainting|starting|running|taking|hoping|trying|fixing|travell?ing|flying|driving|cooking|baking|celebrating|opening|reading|shopping|packing|selling|naming|creating|designing|developing|remodell?ing|decorating|cleaning|filling|registering|recording|producing|shooting|booking|thinking of)\b(?P<rest>.*)", core, re.IGNORECASE)
    if gerund:
        if core.split()[1].lower() in MOODS and not gerund["rest"]:
            return []
        return [_as_task(reader, clause, re.sub(r"^(?:i'?m|i am|we'?re|we are|i'?ve been|we'?ve been) (?:also |now |currently |still )?(?:going to |hoping to |trying to )?", "", core, flags=re.IGNORECASE))]
    have = re.match(r"(?:i|we)(?:'ve| have|'ve got| have got|'s)? (?:have|got|has)?\s*(?P<x>(?:a|an|my|our|the|two|three|some)\s.+)", core, re.IGNORECASE)
    if have and (re.match(r"(?:i|we)(?:'ve| have)(?: got)?\b", core, re.IGNORECASE)):
        return [_as_task(reader, clause, have["x"])]
    if found := re.match(r"there(?:'s| is| will be|'ll be| are) (?:also )?(?P<x>(?:a|an|some|two|three|another) .+)", core, re.IGNORECASE):
        if values.spot(core) or details_of(found["x"])[1] or _is_event(found["x"]):
            return [_as_task(reader, clause, found["x"])]
    person = re.match(rf"(?P<p>{_NAME}) (?:has to|needs to|should|must|will|wants to|is going to|is supposed to) (?P<x>.+)", core)
    if person and person["p"].lower() in _known_people(reader) and re.match(r"(?:go|leave|be|catch|teach|work|attend|pick|rush|head|travel|fly|depart|finish|miss|join|have|take)\b", person["x"]):
        return [reader._chat(clause)]
    if person and person["p"] not in ("I", "We", "It", "The", "They", "He", "She", "You", "That", "This"):
        bare, details, items = details_of(person["x"])
        return [Step(text=clause.text, act="task", intent="new", title=bare, target=bare, items=items, details=(*details, Detail(slot="assignee", value=person["p"])))]
    third = re.match(rf"(?P<p>{_NAME}) (?:also )?(?P<v>sells|drives|serves|mans|checks|watches|cuts|fixes|washes|mows|waters|walks|feeds|hosts|cleans|greets|gives|speaks|performs|DJs|films|directs|writes|books|makes|prints|brings|cooks|buys|organi[sz]es|prepares|designs|drives|sends|calls|bakes|cleans|plays|paints|reviews|orders|sets up|picks up|decorates|hosts|tests|codes|builds|records|edits|sings|carries|pays|plans|collects|does|handles|runs|leads|covers) (?P<x>.+)", core)
    busy = re.match(rf"(?P<p>{_NAME}) (?:teaches|works|leaves|flies|arrives|travels|sleeps|studies|lectures|operates|trains|swims|plays|has (?:a|an|another|to)\b)", core)
    if busy and busy["p"].lower() in _known_people(reader):
        return [reader._chat(clause)]
    if third and third["p"] not in ("It", "The", "He", "She", "That", "This", "What", "Who"):
        title = third["x"] if third["v"] in ("does", "handles", "runs", "leads", "covers") else f"{third['v']} {third['x']}"
        bare, details, items = details_of(title)
        return [Step(text=clause.text, act="task", intent="new", title=_np(bare), target=_np(third["x"]), items=items, details=(*details, Detail(slot="assignee", value=third["p"])))]
    if verb not in DO and not clause.request:
        return []
    if clause.question and not clause.request:
        return []
    if verb in ("have", "need", "want", "give", "keep", "put", "stay", "do", "use", "include") and not clause.request and verb not in ("have", "use", "do", "give", "put", "include"):
        return []
    if re.fullmatch(r"(?:go|go on|continue|start|begin|get started|get going|proceed|help|submit|do it|do that|work on it)", core, re.IGNORECASE) and verb != "submit":
        return [reader._chat(clause)]
    return _as_tasks(reader, clause, core)


def _as_tasks(reader: _Reader, clause: Clause, core: str) -> list[Step]:
    """One task, or one for each thing in a list: 'buy apples and pears'."""
    core = re.sub(r"\s+(?:in|on|to|into) (?:my|the|our) (?:calendar|diary|schedule|agenda)\b", "", core, flags=re.IGNORECASE)
    core = re.sub(r"^(?:a |the )?(?:remind me to|remember to|help (?:me|us)(?: to)?|need to|have to|want to|try to)\s+", "", core, flags=re.IGNORECASE)
    found = re.fullmatch(r"(?P<verb>buy|get|order|pack|bring|purchase|pick up|need|grab|prepare|make|cook|bake|plant|read|include|rent|reserve|book|invite|call|visit|have|use|chop|peel|draft|design|ask|see|watch)\s+(?P<x>.+)", core, re.IGNORECASE)
    if found and all(span.kind in ("count", "duration", "amount") for span in values.spot(found["x"])) and not re.search(r"\b(?:with|for|from|about|to|at|in|on)\b", re.sub(r"\([^)]*\)", "", found["x"])):
        words = _list_words(re.sub(r":\s*(.+)$", r" (\1)", found["x"]))
        if len(words) > 1:
            verb = found["verb"].lower()
            if verb in ("buy", "get", "pack", "bring", "purchase", "pick up", "need", "grab", "plant", "read", "include", "have", "use", "order"):
                whole = {"pick up": "pick up"}.get(verb, verb)
                return [Step(text=clause.text, act="add", intent="new", target="", title=f"things to {whole}", slot="things", items=tuple(Detail(slot="item", value=word) for word in words))]
            return [Step(text=clause.text, act="add", intent="new", target="", title=found["verb"], slot="list", items=tuple(Detail(slot="item", value=f"{verb} {word}" if verb in ("call", "visit", "book", "draft", "design", "make", "cook", "bake", "chop", "peel", "reserve", "rent", "ask", "see", "watch") else word) for word in words))]
    halves = re.split(r",?\s+and\s+(?=(?:a|an|the|my|our)\s)", core)
    if len(halves) > 1 and all(values.spot(half) for half in halves):
        return [_as_task(reader, clause, half if number == 0 else re.sub(r"^(?:a|an|the|my|our)\s+", "", half)) for number, half in enumerate(halves)]
    return [_as_task(reader, clause, core)]


def _as_task(reader: _Reader, clause: Clause, core: str) -> Step:
    within = ""
    if found := re.fullmatch(r"(?P<x>.+?) (?:for|to|in|on|at) (?P<within>(?:the|my|our) [\w' -]+)", core, re.IGNORECASE):
        target = _np(found["within"])
        if reader._known(target) and not values.kind_of(target) and not slot_group(target):
            within = target
    core = re.sub(r",?\s+(?:based on|from|using|according to|out of|with)\s+(?:the |my |all the )?(?:information|details|facts|data|what|things|stuff|notes|input)\b.*$", "", core, flags=re.IGNORECASE)
    core = re.sub(r",\s*(?:i|we)(?:'ll| will|'m going to) (?:give|provide|tell|send|share|list|dictate|name)\b.*$", "", core, flags=re.IGNORECASE)
    bare, details, items = details_of(core)
    members: tuple[Detail, ...] = ()
    if found := re.fullmatch(r"(?P<x>.+?)(?::|,? with| including| consisting of| incl\.?)\s+(?P<list>(?:an? |the |some )?[^:]+)", bare, re.IGNORECASE):
        words = _list_words(found["list"])
        if len(words) > 1 or re.search(r":\s", bare):
            bare, members = found["x"], tuple(Detail(slot=_member_slot("step" if any(_has_verb(w) for w in words) else found["x"]), value=word) for word in words)
    verb = re.match(r"(?:plan|organi[sz]e|schedule|arrange|prepare|set up|throw|host|put together|create|start|plan for|planning|organi[sz]ing|arranging|preparing|putting together|setting up|having|hosting|throwing|fill (?:out|in)|make|book|have|help me with|do|build|working on|getting)\s+(?:for\s+)?(?P<x>.+)", bare, re.IGNORECASE)
    if re.fullmatch(r"(?:i'?d |we'?d )?(?:like to )?(?:go|fly|travel|drive|going|flying|travell?ing|driving|depart|leave|leaving|head|heading)(?: away| out| off| there)?", bare, re.IGNORECASE):
        bare = "trip"
    return Step(text=clause.text, act="task", intent="new", title=bare, target=bare, details=details, items=(*items, *members), within=within)


def _bare_value(reader: _Reader, clause: Clause) -> list[Step]:
    """'at 1 PM', 'Friday', 'jonas@example.com', 'for four people': a value on its own."""
    core = clause.core
    spans = values.spot(core)
    if spans and _covers(spans, core):
        return _step(clause, "set", target="", value=core, details=tuple(Detail(slot=_SLOT_OF_KIND.get(s.kind, s.kind), value=s.text) for s in spans), intent=None)
    if re.match(r"(?:at|on|for|in|near|from)\b", core, re.IGNORECASE) and len(core.split()) <= 12:
        _, details, items = details_of("x " + core)
        if details or items:
            return _step(clause, "set", target="", value=core, details=details, items=items, intent=None)
    return []


def _past(core: str) -> bool:
    """Whether a sentence tells what happened, not what is to be."""
    return bool(re.search(r"\b(?:used to|got|was|were|had|went|saw|came|took|made|said|told|felt|thought|cried|slept|ate|ran|met|loved|liked|watched|visited|last (?:year|week|month|night|time))\b", core, re.IGNORECASE)) and not re.search(r"\b(?:booked|picked|chose|decided|moved|changed)\b", core)


def _statement(reader: _Reader, clause: Clause) -> list[Step]:
    """A sentence about the plan: 'my flight leaves on March 3 at gate B12', 'we picked Blue Spoon as the caterer'."""
    core = clause.core
    if _past(core):
        return []
    if found := re.fullmatch(r"(?:we|i)(?:'ve| have)? (?:picked|chose|chosen|booked|selected|hired|named|decided on|settled on|went with|got|took|reserved) (?P<value>.+?) (?:as|for) (?P<target>(?:the |our |my ).+)", core, re.IGNORECASE):
        return _step(clause, "set", target=found["target"], value=found["value"], slot=_slot_name(_np(found["target"])), intent=None)
    if found := re.fullmatch(r"(?P<target>(?:the |my |our )[\w' -]+?|[A-Z][\w' -]+?) (?:leaves?|departs?|lands?|arrives?|starts?|begins?|ends?|takes place|took place|happened|happens?|comes?|opens?|closes?|runs?|goes|is|are|reads?|lasts|costs?|falls|meets?|reads|flies|plays?|gives?|sells?)\s+(?P<rest>.+)", core):
        _, details, items = details_of(f"{found['target']} {found['rest']}")
        target = _np(found["target"])
        spans = values.spot(found["rest"])
        if details or items:
            bare = _np(details_of(core)[0])
            rest = bare[len(target) :] if bare.lower().startswith(target.lower()) else ""
            extra = re.sub(r"^\s*\w+s?\b\s*", "", rest).strip()
            title = bare if content(extra) else target
            return [Step(text=clause.text, act="task", intent=None, title=title, target=target, details=details, items=items)]
        if spans and _covers(spans, found["rest"]):
            return _step(clause, "set", target=target, slot=_slot_name(target), value=found["rest"], intent=None)
        if not reader._known(target) and re.search(r"[A-Z\d]", found["rest"]) and not re.search(r"\b(?:not|n't|very|so|too)\b", core):
            return [Step(text=clause.text, act="task", intent="new", title=_np(core), target=target)]
        if reader._known(target) or re.match(r"(?:the|my|our)\s", found["target"], re.IGNORECASE):
            return []
    if found := re.fullmatch(r"(?:i|we)(?:'ll| will| can|'re going to) \w+ (?:it|them|that|those) (?P<rest>(?:at|in|from|on|with|by)\s.+)", core, re.IGNORECASE):
        _, details, items = details_of("x " + found["rest"])
        if details or items:
            return _step(clause, "set", target="", value=found["rest"], details=details, items=items, intent=None)
    if values.spot(core) and re.match(r"(?:i|we|it|the|my|our)\b", core, re.IGNORECASE) and not re.match(r"(?:i|we)(?:'m| am|'re| are)? (?:was|were|had|went|saw|think|hope|guess|feel|love|hate|like|tired|met)\b", core, re.IGNORECASE):
        bare, details, items = details_of(core)
        if re.match(r"(?:it|they|that)\b", core, re.IGNORECASE):
            return _step(clause, "set", target="", value=core, details=details, items=items, intent=None) if details else []
        return [Step(text=clause.text, act="task", intent=None, title=re.sub(r"^(?:i|we)(?:'m| am|'re| are|'ll| will)?\s+(?:be )?", "", bare), target=bare, details=details, items=items)]
    return []


def _noun_phrase(reader: _Reader, clause: Clause) -> list[Step]:
    """A noun phrase on its own: a list for the container in focus, or a new task with its details."""
    core = clause.core
    if re.fullmatch(r"(?:the |that |this )?(?:first|second|last|other|latter|former)?\s*one", core, re.IGNORECASE):
        return [reader._chat(clause)]
    words = _list_words(core)
    spans = values.spot(core)
    if clause.addition and reader.number == 1 and (last := _last_act(reader)) and all(reader._known(word) for word in words):
        return _step(clause, last, target="", items=tuple(Detail(slot="item", value=word) for word in words))
    if found := re.fullmatch(r"(?:the same|same)(?: thing)? (?:for|with|goes for) (?P<x>.+)", core, re.IGNORECASE):
        return _step(clause, "set", target=found["x"], old="same", value=None, intent=None)
    if found := re.fullmatch(r"(?P<x>(?:the |my |our )[\w' -]+?) in (?P<value>\w+)(?:,? (?:please|not .+))*", core, re.IGNORECASE):
        if reader._known(_np(found["x"])):
            old = re.search(r"\bnot (\w+)", core)
            return _step(clause, "set", target=found["x"], value=found["value"], old=old[1] if old else None)
    if (len(words) > 1 or (clause.addition and reader.view.focus)) and not spans and not re.search(r"\b(?:with|from|near|at|to|about)\b", core) and reader.view.graph.active and not _is_event(core):
        return _step(clause, "add", intent=None, target="", items=tuple(Detail(slot="item" if not _people(core) else "participant", value=word) for word in words))
    if len(words) > 1 and not spans and not _is_event(core) and not reader.view.graph.active and not re.search(r"\b(?:with|from|near|at|to|about)\b", core):
        return _step(clause, "add", intent="new", target="", title="list", slot="list", items=reader._items(core))
    if pairs := reader._pairs(core):
        rest = [word for word in words if not _slot_value(word)]
        made = [step for pair in pairs for step in _step(clause, "set", target=pair.slot.replace("_", " "), slot=pair.slot, value=pair.value, intent=None)]
        return [*made, *(_step(clause, "add", intent=None, target="", items=tuple(Detail(slot="item", value=word) for word in rest)) if rest else [])]
    bare, details, items = details_of(core)
    if details or items or _is_event(core) or _is_container(core):
        return [_as_task(reader, clause, core)]
    if len(core.split()) <= 6 and reader.view.graph.active and (clause.addition or clause.correction):
        return _step(clause, "add", intent=None, target="", items=tuple(Detail(slot="item", value=word) for word in words))
    if len(words) > 1:
        return _step(clause, "add", intent=None, target="", items=reader._items(core))
    if len(core.split()) <= 5 and (reader.view.question is not None or reader._known(core)):
        return _step(clause, "set", target="", value=core, old="last", intent=None)
    reader.guessed = True
    if len(core.split()) >= 2 and not re.search(r"[.!]$", clause.text):
        return [Step(text=clause.text, act="unsure", intent="check", value=core)]
    return [reader._chat(clause)]


def _last_act(reader: _Reader) -> str | None:
    """What the turn before did, where it can be done again to something else."""
    nodes = [node for node in reader.view.graph.values() if node.op != "stale"]
    last = max(nodes, key=lambda node: node.turn, default=None)
    if last is None or last.turn != reader.view.turn - 1:
        return None
    return {"remove": "remove", "complete": "done", "inactivate": "hold", "restore": "resume"}.get(last.op)


_READERS: tuple[Callable[[_Reader, Clause], list[Step]], ...] = (
    _undo, _correct, _only, _back, _missing, _replacement, _instead, _hold, _resume, _both_need, _done, _shift,
    _before_after, _remove, _assign, _schedule, _set, _purpose, _add, _frames, _do,
)  # fmt: skip

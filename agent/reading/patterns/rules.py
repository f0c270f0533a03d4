"""The interpreter without a model: patterns for the speech acts of task talk.

Read top down: `Rules.read` cuts an utterance into clauses; `clause_steps` tries the speech acts in order, from
the most telling wording to the least; what nothing claims is small talk, a new task, or a question back.
"""

from __future__ import annotations

from collections.abc import Callable

from taskloom.agent.language import clauses, values
from taskloom.agent.language import patterns as re
from taskloom.agent.language.clauses import Clause
from taskloom.agent.language.phrases import (
    NAME,
    SLOT_OF_KIND,
    common_stems,
    details_of,
    has_verb,
    is_container,
    is_person_list,
    is_todo,
    list_words,
    member_slot,
    names_event,
    noun_phrase_of,
    slot_name,
    slot_value,
    step_of,
    top_level,
    typed_details,
    value_only,
)
from taskloom.agent.language.smalltalk import (
    HYPOTHETICAL,
    NO,
    REPORTED,
    YES,
    clause_act,
    is_chat,
    is_past,
    is_phrase,
)
from taskloom.agent.language.statements import tells_of
from taskloom.agent.language.wording import base as base_of
from taskloom.agent.language.wording import spoken
from taskloom.agent.language.words import CHAT, GROUPS_OF_KIND, MOODS, STOP, content, singular, slot_group
from taskloom.agent.plan.finder import Finder
from taskloom.agent.plan.kinds import asked_key, kind_named
from taskloom.agent.plan.roles import is_known, tasks_in_role
from taskloom.agent.turn.calls import is_rerun_offer
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Add, Update

from .named import DECLINED, named_slots, named_task, talked_of
from .people import known_people, read_assign
from .questions import is_question, read_question
from .reverting import read_back, read_correct, read_instead, read_missing, read_replacement, read_undo
from .shaping import read_before_after, read_both_need, read_merge, read_only, read_split
from .states import read_again, read_done, read_hold, read_remove, read_resume, read_shift
from .tasks import as_tasks, read_add, read_do, read_noun_phrase, read_purpose
from .told import answer_in, asked_slot, finished, fitted, in_kind, is_about_else, told_slots, with_head
from .values import read_bare_value, read_frames, read_of, read_schedule, read_set, read_statement

_LONGEST = 2_500  # characters; patterns take time that grows faster than the text


class Rules:
    """General English task talk without a model. Not sure, it asks; it never guesses a change."""

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; the steps keep its order."""
        if len(utterance) > _LONGEST or any(len(word) > 120 for word in utterance.split() if "/" not in word):
            unread = Step(
                text=utterance[:200], act="unsure", intent="check", value=utterance.strip()[:60] + "…"
            )
            return Reading((unread,), sure=False)
        masked, quotes = clauses.mask_quotes(clauses.normalise(utterance))
        reader = Reader(view, quotes)
        for sentence in clauses.sentences(masked):
            reader.sentence(sentence)
        reader.settle()
        reader.fit()
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


def _plain(answer: re.Pattern[str], clause: Clause) -> bool:
    """Whether a clause is a yes or a no and little else."""
    return bool(answer.match(clauses.normalise(clause.text))) and len(clause.text.split()) <= 4


_ABOUT_SOMEONE = re.compile(  # what somebody is like is no part of a plan
    r"(?:(?:[Mm]y|[Oo]ur) (?:\w+ )?(?:wife|husband|partner|sister|brother|mother|father|mum|mom|dad|son|daughter|friend|boss|colleague"
    r"|cousin|aunt|uncle|neighbou?r|grandmother|grandfather)(?: [A-Z]\w+)?|(?!The|This|That|It|My|Our|Who|What|There|He|She|They|We|You)[A-Z][a-z]+) "
    r"(?:(?:only|also|always|never|still|really|now) )?(?:lives|works|studies|loves|likes|hates|dislikes|speaks|is (?:allergic|vegetarian|vegan|afraid|fond))\b"
)


def asks(core: str, mark: bool) -> bool:
    """Whether a clause asks; 'do it in two rounds' does not."""
    return is_question(core, mark) and (
        mark or not re.match(r"(?:do|have|has) (?:it|that|this|the \w+ (?:on|in|at))\b", core, re.IGNORECASE)
    )


_LABELLED = re.compile(
    r"(?:use|take|show|pick|choose|go with|go for|play|watch|serve|book|visit|get|have|do|meet (?:at|in)|collect (?:it )?(?:in|at|from)|"
    r"deliver (?:it )?to|ship (?:it )?to|send (?:it )?to)\s+(?P<value>(?:the\s|[A-Z]).*)",
    re.IGNORECASE,
)
_OWN_CLAUSE = re.compile(  # what follows a value has a subject of its own: "..., and I'll bring it back on Monday"
    r"(?P<head>.+?)(?:,\s*(?:and\s+|but\s+)?|\s+(?:and|but)\s+)(?P<tail>(?:i|we|he|she|they)(?:'\w+|\s+(?:will|want|need|would|have|can|am|are|is))\s.+)$",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:does|doesn't|would|wouldn't|says?|said|did|didn't|isn't|aren't|seems?|suits?|thinks?)\b",
    re.IGNORECASE,
)


class Reader:
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
        """Read one sentence, and note whom it names."""
        self._sentence(sentence)
        people = known_people(self)
        named = [word for word in re.findall(r"[A-Z][\w'-]+", sentence) if word.lower() in people]
        self.mentioned = named or self.mentioned

    def _sentence(self, sentence: str) -> None:
        if self.number == 0 and self.view.question is None and (offer := self._offer(sentence)):
            rest, answers = offer
            if rest:
                self._sentence(rest)
            self.steps += answers
            return
        if parted := _OWN_CLAUSE.match(sentence) if self.view.schemas else None:
            if named_slots(parted["head"], self.view, self.steps):
                for piece in parted.groups():
                    self._sentence(piece)
                return
        if named := named_slots(sentence, self.view, self.steps) or named_task(sentence, self.view):
            self.number += 1
            self.steps += named
            return
        if steps := read_again(self, clauses.clause(sentence, quotes=self.quotes)):
            self.number += 1
            self.steps += steps
            return
        hint, body = self._prefix(sentence)
        if hint and self.number == 0 and self._open_slot() and not self._labels(hint):
            self.number += 1
            if answer := self._answer(clauses.clause(sentence, quotes=self.quotes)):
                self.steps += answer
                return
            self.number -= 1
        if hint and (made := self._heading(hint, body, sentence)):
            self.steps += made
            return
        if (
            hint
            and not slot_group(hint)
            and not self.known(hint)
            and not body.endswith("?")
            and (values.spot(hint) or (names_event(hint) and not self.view.graph.active))
            and clauses.starts_clause(body)
        ):
            bare, details, items = details_of(hint)
            if not is_container(bare) or details:
                self.steps.append(
                    Step(
                        text=sentence,
                        act="task",
                        intent="new",
                        title=bare,
                        target=bare,
                        details=details,
                        items=items,
                    )
                )
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
                self.steps += self.clause_steps(clause)
        if (
            hint
            and not body.endswith("?")
            and all(step.act in ("chat", "unsure") and not step.proposed for step in self.steps[before:])
        ):
            if value := self._labelled(hint, body):
                self.steps[before:] = [
                    Step(text=sentence, act="set", target=hint, slot=slot_name(hint), value=value)
                ]

    def _offer(self, sentence: str) -> tuple[str, list[Step]] | None:
        """A partial answer to proposed values: what else it says, and the answer; None for anything else.

        'yes, but three nights', 'no, make it Friday', 'all except the budget', 'only the hotel'.
        """
        names = {
            word
            for node in tasks_in_role(self.view.graph, "proposed")
            for word in content(f"{node.title} {base_of(node.slot)} {node.value or ''}")
        }
        if not names:
            return None
        yes, no = (Step(text=sentence, act=act, intent="update") for act in ("yes", "no"))
        lead = re.match(
            rf"(?:(?P<yes>{YES.pattern})|(?P<no>{NO.pattern}))[\s,.;!-]*(?P<rest>.*)$",
            sentence,
            re.IGNORECASE,
        )
        rest = lead["rest"] if lead else sentence
        if re.fullmatch(
            r"(?:(?:all |that'?s )?(?:good|fine|great|right|ok(?:ay)?)[\s,.;!-]*)?(?:and )?(?:keep|leave|take) (?:the rest|everything(?: else)?|all (?:the )?(?:others?|rest)|them(?: all)?|these|those)(?: as (?:it is|they are|is))?[.!]?",
            rest,
            re.IGNORECASE,
        ) or re.fullmatch(r"(?:all|both|every one) of (?:them|these|those|it)[.!]?", rest, re.IGNORECASE):
            return "", [yes]
        both = r"(?:all|everything|the rest|them all|keep all|keep everything|keep them|these)?(?: of (?:them|it|these))?"
        if other := re.fullmatch(
            rf"(?:but\s+)?{both}\s*,?\s*(?:but|except(?: for)?|apart from|other than) (?P<x>(?:the |my |our )?[\w' -]+?)(?:\s*[,:-]\s*(?:that'?s|which is|it'?s|make (?:it|that)|now|that should be|it should be)?|\s+(?:is|are|should be))\s+(?P<v>\S.*?)(?: now)?[.!]?",
            rest,
            re.IGNORECASE,
        ):
            if content(other["x"]) and content(other["x"]) <= names and not (lead and lead["no"]):
                return f"make {other['x']} {other['v']}", [yes]
        if left := re.fullmatch(
            rf"(?:but\s+)?{both}\s*,?\s*(?:but|except(?: for)?|apart from|other than|without|drop|skip|leave out|not|but not) (?P<x>[\w' -]+?)[.!]?",
            rest,
            re.IGNORECASE,
        ):
            if content(left["x"]) and content(left["x"]) <= names and not (lead and lead["no"]):
                return "", [no.model_copy(update={"target": left["x"]}), yes]
        if wrong := re.fullmatch(
            r"(?:but\s+)?not (?P<x>(?:the|my|our) [\w' -]+?)(?:, [^:]*)?: (?P<v>\S.*)", rest, re.IGNORECASE
        ):
            if content(wrong["x"]) and content(wrong["x"]) <= names:
                return f"make {wrong['x']} {wrong['v']}", []
        if only := re.fullmatch(
            r"(?:but\s+)?(?:only|just|keep only|keep just) (?P<x>[\w' -]+?)[.!]?", rest, re.IGNORECASE
        ):
            if content(only["x"]) and content(only["x"]) <= names:
                return "", [yes.model_copy(update={"target": only["x"]}), no]
        if lead and (
            more := re.sub(r"^(?:but|except|though|only|just)\b[\s,]*", "", rest, flags=re.IGNORECASE)
        ):
            if re.fullmatch(
                r"(?:please|thanks?|thank you|great|perfect|fine|that'?s (?:fine|right|it|all))?[\s.!]*",
                more,
                re.IGNORECASE,
            ):
                return None
            if values.spot(more) or clause_act(more) or more != rest or self._tells(more):
                return more, [] if lead["no"] else [yes]
        return None

    def _tells(self, words: str) -> bool:
        """Whether words give a slot of the kind that is talked of its value."""
        found = talked_of(self.view) if self.view.schemas else None
        return bool(found and told_slots(clauses.clause(words), self.view, found[1], found[0]))

    def _labelled(self, hint: str, body: str) -> str:
        """The value in a sentence under a label: 'address: We have moved to 27 Quay Street'."""
        core = clauses.clause(body).core
        if is_chat(clauses.clause(body)) or HYPOTHETICAL.match(core):
            return ""
        group = slot_group(hint)
        fitting = [
            span.text
            for span in values.spot(core)
            if group in ("date", "deadline", "time", "budget", "email", "phone")
            and GROUPS_OF_KIND.get(span.kind, ()).count(group or "")
        ]
        if fitting:
            return fitting[0]
        if group in ("date", "time", "budget", "email", "phone"):
            return ""
        bare = re.sub(
            r"^(?:i|we|he|she|they|it)(?:'m| am|'ve| have|'re| are|'s| is|'d| would|'ll| will)?(?: (?:just|now|also|moved|changed|switched|going|like|want|prefer|have|need|live|work|insured))*\s+(?:with|to|at|in|on|from|by|a|an|the)?\s*",
            "",
            core,
            flags=re.IGNORECASE,
        )
        return re.sub(r"\s+(?:now|instead|please)$", "", bare) if len(bare.split()) < 9 else ""

    def settle(self) -> None:
        """Drop what a later clause of the utterance makes void: 'scrap that, go back to 5' is one change."""
        changes = {"back", "set", "replace", "shift", "only", "merge", "split"}
        self.steps = [
            step for number, step in enumerate(self.steps)
            if not (step.act == "undo" and any(later.act in changes for later in self.steps[number + 1 :]))
            and not (step.act == "back" and not step.target and not step.value and any(e.act == "back" for e in self.steps[:number]))
        ]  # fmt: skip
        self.steps = [
            Step(text=step.text, act="unsure", intent="check", value=step.text.strip())
            if step.act == "task" and step.title and _FINITE.search(step.title) else step
            for step in self.steps
        ]  # fmt: skip

    def fit(self) -> None:
        """Put what a request for a task of a kind says into the slots of the kind."""
        for number, step in enumerate(self.steps if self.view.schemas else ()):
            if step.act == "task" and step.title and (kind := kind_named(step.title, self.view.schemas)):
                self.steps[number] = fitted(step, kind)
            elif step.act == "set" and (about := talked_of(self.view, self.steps[:number])):
                self.steps[number] = in_kind(step, about[1])

    # ---- prefixes and headings ---------------------------------------------------------------

    def _prefix(self, sentence: str) -> tuple[str, str]:
        """'date: June 10th' gives ('date', 'June 10th')."""
        named = re.match(
            r"(?:(?:sorry|oops|actually|wait|no)[,!.]?\s+)*(?:(?:a )?(?:typo|mistake|error|correction|slip)(?: (?:in|on|with|for|about|regarding|to))|(?:swap|change|correct|fix|update|replace|switch)) (?:the |my |our )?(?P<slot>[\w' -]{2,40}?)\s*(?:(?<!\d)[:,]|[:,](?!\d))\s*(?:it'?s |it is |it should be |should be |that'?s |now )*(?P<value>\S.*)$",
            sentence,
            re.IGNORECASE,
        )
        if named and (
            ":" in sentence[: named.start("value")]
            or re.match(r"(?:sorry|oops|typo|mistake|error|correction|a )", sentence, re.IGNORECASE)
        ):
            return named["slot"], named["value"]
        listed = re.match(
            r"(?:here'?s|here is|here are|these are|this is|the following|things|stuff|what) .*?(?:\b(?:to|i need to|we need to)? ?(?P<verb>pack|buy|get|do|bring|order|invite|cook|prepare|finish)\b)?[^:]*:\s+(?P<body>\S.*)$",
            sentence,
            re.IGNORECASE,
        )
        if listed:
            verb = listed["verb"] or ""
            return f"things to {verb}" if verb else "list", listed["body"]
        found = re.match(
            r"^\s*(?:(?i:and|also|so|then|new|the|my|our|for the|for my|for) )*([A-Za-z][\w'/& -]{0,60}?)\s*(?::(?!\d|//)|\s-\s)\s*(\S.*)$",
            sentence,
            re.DOTALL,
        )
        if not found:
            return "", sentence
        name, body = found[1].strip(), found[2].strip()
        if re.match(r"(?:ok|okay|oops|sorry|wait|actually|correction|note|ps|hint|fyi|btw|hmm|one more thing|update|edit|typo|question|good news|"
                    r"bad news|quick question|reminder|remind me|scratch that|no|yes|never ?mind)$", name, re.IGNORECASE):  # fmt: skip
            return "", f"{name}, {body}" if re.match(
                r"correction|oops|sorry|typo", name, re.IGNORECASE
            ) else body
        if asks(clauses.clause(name).core, False):
            return "", name + "."
        if len(name.split()) > 7 or (
            " - " in sentence
            and not re.search(r":\s", sentence)
            and clauses.starts_clause(name)
            and not self.known(name)
        ):
            return "", sentence
        if re.fullmatch(
            r"swap|merge|undo|change|move|cancel|remove|delete|add|update|replace|rename|switch|reset|assign|share|hold|resume|done|finished|link",
            name,
            re.IGNORECASE,
        ):
            return "", body
        if re.fullmatch(r"split|divide", name, re.IGNORECASE):
            return "", f"{name} it: {body}"
        if re.search(
            r"\b(?:is|are|was|will|should|can|need|needs|swap|says?|said|split|have|put|move|change)\b",
            name,
            re.IGNORECASE,
        ) or re.match(r"split\b", name, re.IGNORECASE):
            return "", sentence
        return name, body

    def _heading(self, hint: str, body: str, sentence: str) -> list[Step]:
        """'Shopping list: milk, eggs', 'Topics: A; B', 'date: June 10th', 'Flowers: taken care of!'."""
        text = body.rstrip(".! ")
        opened = clauses.clause(body, hint=hint)
        if used := _LABELLED.fullmatch(opened.core):
            if not body.endswith("?") and not re.search(
                r"\b(?:instead of|in place of|rather than|back|again|after all|as (?:i|we)|with|on|for)\b",
                opened.core,
            ):
                return [
                    Step(
                        text=sentence,
                        act="set",
                        target=hint,
                        slot=slot_name(hint),
                        value=noun_phrase_of(used["value"]),
                    )
                ]
        for reader in (read_undo, read_back):
            if steps := reader(self, opened):
                return self.hinted(steps, opened)
        if (
            opened.correction
            and re.match(
                r"(?:sorry|oops|actually|no|wait|whoops|i mean|i meant|correction)\b", text, re.IGNORECASE
            )
            and opened.core
        ):
            text = body = opened.core
        if asks(clauses.clause(body).core, body.endswith("?")) or body.endswith("?"):
            return []
        if re.search(r"\b(?:takes?|in) (?:his|her|their) place\b|\bwithdr[ae]ws?\b|\binstead\b", text):
            return []
        if re.search(
            r"\b(?:is|are|was|were) (?:wrong|incorrect|sold out|missing|not right|a mistake|gone|out of stock)\b",
            text,
            re.IGNORECASE,
        ):
            return []
        if re.fullmatch(
            r"(?:done|finished|complete|completed|taken care of|sorted|booked|paid|sent|check|bought|all set|handled)(?: already| now)?",
            text,
            re.IGNORECASE,
        ):
            return [Step(text=sentence, act="done", intent="update", target=hint)]
        lead = clauses.clause(body, hint=hint)
        if re.match(
            r"(?:i|we|it|he|she|they|that|there|i'm|i'd|i'll|we're|it's|they're)\b(?!\s*,)",
            lead.core,
            re.IGNORECASE,
        ) or (clauses.starts_clause(lead.core) and not has_verb(lead.core) and not clause_act(lead.core)):
            return []
        if made := self._project(hint, body, text, sentence):
            return made
        if (moved := read_shift(self, lead)) and not moved[0].target and values.spot(text) == ():
            return [
                moved[0].model_copy(
                    update={"text": sentence, "target": hint, "slot": moved[0].slot or slot_name(hint)}
                )
            ]
        if (moved := read_shift(self, lead)) and not moved[0].target:
            return [moved[0].model_copy(update={"text": sentence, "target": hint})]
        if clause_act(lead.core) or (clauses.starts_clause(lead.core) and has_verb(lead.core)):
            listed = is_container(hint) or is_todo(hint)
            first = re.sub(r"^\w+\s+(?:off\s+|out\s+)?", "", top_level(text)[0])
            finite = re.match(r"(?:i|we|it|he|she|they|that|there|let'?s)\b", lead.core, re.IGNORECASE) or (
                clauses.starts_clause(lead.core) and not has_verb(lead.core)
            )
            if (
                not listed
                or finite
                or lead.request
                or (
                    clause_act(lead.core)
                    and (
                        is_known(self.view.graph, first)
                        or not is_todo(hint)
                        or re.match(r"(?:push|move|change|swap|make)\b", lead.core, re.IGNORECASE)
                    )
                )
            ):
                return []
        if is_person_list(hint) or is_container(hint) or is_todo(hint):
            return self.listed(hint, text, sentence)
        words = list_words(text)
        spans = values.spot(text)
        if found := re.fullmatch(
            r"(?P<value>[^,;]+), (?:together )?with (?P<who>(?:my|our|his|her|[A-Z]).+)", text
        ):
            people = tuple(Detail(slot="person", value=word) for word in list_words(found["who"]))
            return [
                Step(text=sentence, act="set", target=hint, slot=slot_name(hint), value=found["value"]),
                Step(text=sentence, act="add", target="", items=people),
            ]
        if (
            len(words) > 1
            and not values.kind_of(text)
            and (len(words) > 2 or hint.lower().endswith("s") or slot_group(hint) == "people")
            and not (slot_group(hint) and slot_group(hint) != "people")
        ):
            pairs = [
                re.fullmatch(r"(.+?)\s+([$€£]?\d[\d.,]*\s?(?:k|€|\$|euros?|dollars)?)", word)
                for word in words
            ]
            if all(pairs):
                return [
                    Step(
                        text=sentence,
                        act="set",
                        target="",
                        within=hint,
                        details=tuple(Detail(slot=p[1], value=p[2]) for p in pairs if p),
                    )
                ]
            return self.listed(hint, text, sentence)
        if self.pairs(text) and len(words) > 1:
            return self.listed(hint, text, sentence)
        if re.match(r"new (?:task|project)", sentence, re.IGNORECASE) or hint.lower() in (
            "task",
            "project",
            "goal",
            "event",
        ):
            return [self.new_task(clauses.clause(body), title=body.rstrip("."))]
        if (
            (len(spans) > 1 or (spans and spans[0].text != text))
            and names_event(hint)
            and not slot_group(hint)
        ):
            return [self._task_of(hint, body, sentence)]
        value = clauses.clause(body).core
        value = re.sub(
            r"^(?:it'?s|is|it is|make (?:it|that)|that'?s|should be|now)\s+(?:now\s+)?",
            "",
            value,
            flags=re.IGNORECASE,
        )
        extra: list[Step] = []
        if part := re.fullmatch(r"(.*?),?\s+(phone|email|e-mail|number|mobile)\s+(.+)", value, re.IGNORECASE):
            value = part[1]
            extra = [
                Step(text=sentence, act="set", target=part[2].lower(), slot=part[2].lower(), value=part[3])
            ]
        known = self.old_new(value)
        if known:
            return [
                Step(
                    text=sentence, act="set", target=hint, slot=slot_name(hint), value=known[1], old=known[0]
                )
            ]
        return [Step(text=sentence, act="set", target=hint, slot=slot_name(hint), value=value), *extra]

    def listed(self, hint: str, text: str, sentence: str) -> list[Step]:
        """A heading with its list: members, and details where a member names a slot."""
        pairs, items = self.pairs(text), self.items(text, hint)
        bare, own, people = details_of(hint)
        if pairs or ((own or people) and not is_container(hint)):
            return [
                Step(
                    text=sentence,
                    act="task",
                    intent=None,
                    title=bare,
                    target=bare,
                    items=(*people, *items),
                    details=(*own, *pairs),
                )
            ]
        return [Step(text=sentence, act="add", target=hint, items=items, within=hint)]

    def _project(self, hint: str, body: str, text: str, sentence: str) -> list[Step]:
        """'For the soup: pumpkin, ginger', 'Soup: chop leeks', 'Order a cake: vanilla, for Saturday', 'Quiche: needs eggs'."""
        if slot_group(hint) or is_container(hint) or is_todo(hint) or is_person_list(hint):
            return []
        if self.known(hint) and has_verb(body):
            return []
        goal = re.match(r"(?:and )?(?:for|to)\b", sentence, re.IGNORECASE)
        verb = has_verb(hint) and len(hint.split()) > 1
        if verb and not goal and names_event(hint) and not values.spot(hint):
            bare = re.sub(
                r"^(?:plan|organi[sz]e|schedule|arrange|prepare|set up|start|make|create|do|new)\s+(?:a |an |the |my |our )?",
                "",
                hint,
                flags=re.IGNORECASE,
            )
            return [
                Step(
                    text=sentence,
                    act="task",
                    intent="new",
                    title=hint,
                    target=bare,
                    items=self.items(text, hint) if len(list_words(text)) > 1 else (),
                    details=self.pairs(text)
                    if len(list_words(text)) > 1 or self.pairs(text)
                    else (Detail(slot="detail", value=text),),
                )
            ]
        if verb and not goal:
            details: list[Detail] = []
            plain: list[str] = []
            if sum(bool(values.spot(piece)) for piece in top_level(text)) > 1:
                bare, own, items = details_of(hint)
                return [
                    Step(
                        text=sentence,
                        act="task",
                        intent="new",
                        title=bare,
                        target=bare,
                        details=own,
                        items=(*items, *self.items(text, hint)),
                    )
                ]
            for piece in top_level(text):
                _, found, _ = details_of("x " + piece.strip())
                details += found
                if not found:
                    plain.append(piece.strip())
            bare, own, items = details_of(hint)
            if len(plain) == 1:
                details.append(Detail(slot="detail", value=plain[0]))
                plain = []
            return [
                Step(
                    text=sentence,
                    act="task",
                    intent="new",
                    title=bare,
                    target=bare,
                    details=(*own, *details),
                    items=(*items, *(Detail(slot="item", value=word) for word in plain)),
                )
            ]
        needs = re.match(r"(?:needs?|requires?|uses?|takes?|with)\s+(.+)", text, re.IGNORECASE)
        spanned = values.spot(hint) or re.search(
            rf"\bfor (?:{'|'.join(values.NUMBER_WORDS)}|\d+)$", hint, re.IGNORECASE
        )
        acts = clause_act(clauses.clause(body).core)
        if not (goal or needs or spanned or (has_verb(body) and not acts and self._no_project())):
            return []
        bare, own, _ = details_of(hint)
        words = needs[1] if needs else text
        steps = read_purpose(self, clauses.clause(f"for {bare}, {words}"))
        if not steps:
            return []
        return [steps[0].model_copy(update={"text": sentence, "details": own})]

    def _no_project(self) -> bool:
        """Whether nothing is in the plan yet that a heading could be a detail of."""
        return not any(names_event(node.title) for node in self.view.graph.parts(None))

    def old_new(self, value: str) -> tuple[str, str] | None:
        """'Not Meyer but Maier', 'Saturday, not Friday' as (old, new)."""
        if found := re.fullmatch(r"(?:not |no longer )(.+?),? but (.+)", value, re.IGNORECASE):
            return found[1], found[2]
        if found := re.fullmatch(r"(.+?),? (?:not|instead of|rather than) (.+)", value, re.IGNORECASE):
            return found[2], found[1]
        return None

    def _task_of(self, hint: str, body: str, sentence: str) -> Step:
        clause = clauses.clause(body)
        step = self.new_task(clause, title=hint)
        return step.model_copy(update={"text": sentence, "slot": None})

    # ---- wordings that reach over several clauses ----------------------------------------------

    def _whole(self, body: str, hint: str) -> bool:
        """Sentences that are read whole, because cutting them would lose what belongs together."""
        clause = clauses.clause(body, hint=hint, quotes=self.quotes)
        core = clause.core
        if not core or clause.question or asks(core, False):
            return False
        whole = len(clauses.split(body)) < 2
        for reader in (
            read_split,
            read_merge,
            read_only,
            read_before_after,
            read_replacement,
            read_both_need,
        ):
            if (
                reader is read_replacement
                and not whole
                and not re.match(r"no .+,.* instead$", core, re.IGNORECASE)
                and not re.match(
                    r"(?:swap|switch|exchange) (?!.* (?:for|with|by|to) ).+ and ", core, re.IGNORECASE
                )
                and not re.search(
                    r"\b(?:swap|switch|trade|change|swapped) (?:places|roles|tasks|seats|slots|shifts|jobs|their)\b",
                    core,
                )
                and not re.match(
                    r"(?:take|pull|move|drop|remove|cut|ditch|lose|skip)\b.+\band\s+(?:put|add|bring|use|get|have|take|go)\b.+\b(?:in|on|instead)$",
                    core,
                    re.IGNORECASE,
                )
            ):
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
        verb = re.search(
            r"\b(change|move|set|switch|bump|raise|lower|push|update|rename|give|assign|hand|make)\b",
            previous,
            re.IGNORECASE,
        )
        if verb and re.match(r"(?:the|my|our|its)\s+[\w' -]{2,40}?\s+to\s+\S", piece, re.IGNORECASE):
            return f"{verb[1]} {piece}"
        return piece

    # ---- one clause ----------------------------------------------------------------------------

    def clause_steps(self, clause: Clause) -> list[Step]:
        """The steps of one clause, by the first reader that knows its wording."""
        if steps := read_again(
            self, clause
        ):  # before 'look' and 'again' are taken for what only leads or closes
            return steps
        core = clause.core
        if season := re.match(
            r"(?:this|next|on|in|for) (?:spring|summer|autumn|fall|winter|week|weekend|month|year|\w+day),? (?=(?:i|we|let's|i'd|i'm|we're)\b)(.+)$",
            core,
            re.IGNORECASE,
        ):
            clause = clauses.clause(season[1], hint=clause.hint, quotes=self.quotes, first=clause.first)
            core = clause.core
        if (
            self.steps
            and self.steps[-1].act == "ask"
            and (
                meant := re.match(
                    r"i (?:mean|meant),? (?:its |the |his |her |their )?(?P<slot>[\w ]+)[.?!]*$",
                    clause.text,
                    re.IGNORECASE,
                )
            )
        ):
            asked = self.steps.pop()
            return [self._ask(clause.with_core(f"what is the {meant['slot']} of the {asked.target}"))]
        if stated := re.fullmatch(
            r"(?:for|in|on) (?P<x>(?:the |my |our )[^,]+), (?P<slot>(?:the|my|our|its) [\w ]+?) (?P<verb>is|are|will be|should be|would be|has to be) (?P<v>.+)",
            core,
            re.IGNORECASE,
        ):
            if self.names_task(stated["x"]):
                clause = clause.with_core(f"{stated['slot']} of {stated['x']} {stated['verb']} {stated['v']}")
                core = clause.core
        if wondering := re.match(
            rf"(?:{NAME} (?:wants|would like|needs|asked|is asking) to know|{NAME} (?:asks|is asking|wonders)|i(?: have|'ve)? (?:forgot|forgotten|forget|can'?t remember|don'?t remember|lost track of))\s+(?P<q>(?:what|when|where|who|which|how|why|if|the|my|our)\b.+)",
            core,
        ):
            return [self._ask(clause.with_core(re.sub(r",? would you mind.*$", "", wondering["q"])))]
        if moved := re.match(
            r"((?:on|in|for|at) [^,]{2,25}), ((?:the|a|an|my|our|we|i) .+)$", core, re.IGNORECASE
        ):
            if not read_purpose(self, clause) and not asks(moved[2], False):
                clause = clause.with_core(f"{moved[2]} {moved[1]}")
                core = clause.core
        if self.view.question is None and any(tasks_in_role(self.view.graph, "proposed")):
            if _plain(YES, clause):
                return [Step(text=clause.text, act="yes", intent="update")]
            if _plain(NO, clause):
                return [Step(text=clause.text, act="no", intent="update")]
        if self._is_beside_the_plan(core):
            return [self.chat(clause)]
        if self.view.schemas and (about := talked_of(self.view, self.steps)):
            if told := told_slots(clause, self.view, about[1], about[0]):
                return told
            if about[0] and (ended := finished(clause, self.view.graph[about[0]].title)):
                return ended
        if self.view.question is not None and self.number == 1 and (answer := self._answer(clause)):
            return answer
        if re.match(
            r"(?:generate|put together|write (?:out|up|down)|draw up|produce|create|make|build|prepare|compile|give me|show me|lay out|print)\s+(?:me |us )?(?:the|a|an|my|our)\s+(?:complete|full|final|whole|entire|overall|finished)\b",
            core,
            re.IGNORECASE,
        ):
            return [self._ask(clause.with_core("give me the complete plan"))]
        if (
            clause.hint
            and (slot_group(clause.hint) or self.known(clause.hint))
            and (
                used := re.fullmatch(
                    r"(?:use|take|choose|pick|go with|go for|have|put|let'?s use|let'?s take|book us into|book|get) (?P<value>.+)",
                    core,
                    re.IGNORECASE,
                )
            )
        ):
            if not re.search(r"\b(?:instead of|in place of|for|back)\b", core):
                return step_of(
                    clause, "set", target=clause.hint, slot=slot_name(clause.hint), value=used["value"]
                )
        if (
            re.fullmatch(
                r"(?:so )?(?:please )?(?:change|update|fix|adjust|move) (?:it|that|this)(?: accordingly| please)?",
                core,
                re.IGNORECASE,
            )
            and self.typed
        ):
            return step_of(
                clause,
                "set",
                target="",
                value=", ".join(detail.value for detail in self.typed),
                details=self.typed,
            )
        if is_chat(clause):
            return [self.chat(clause)]
        if (
            self.quotes
            and "Quote" in core
            and not clause_act(core)
            and REPORTED.search(core)
            and not clause.question
        ):
            return [self.chat(clause)]
        if (
            HYPOTHETICAL.match(core)
            or HYPOTHETICAL.match(clause.text.lower().removeprefix("by the way, "))
            or re.match(r"(?:hmm,? )?(?:in theory|just hypothetically)", clause.text, re.IGNORECASE)
        ):
            if found := re.match(r"maybe (?:we )?(?:should )?(.*)", core, re.IGNORECASE):
                del found
            return [self.chat(clause)]
        if (
            re.match(
                r"(?:should|shall|would|do you think|is it (?:a good idea|ok|better)|what about|how about)\b",
                core,
                re.IGNORECASE,
            )
            and clause.question
        ):
            return self._proposal(clause)
        if not clause.request and asks(core, clause.question) and not self._requested(clause):
            return [self._ask(clause)]
        if (
            clause.request
            and asks(core, False)
            and not re.match(r"(?:have|has|is|are|was|do|did|does)\b", core, re.IGNORECASE)
        ):
            return [self._ask(clause)]
        subject = re.match(
            rf"(?P<p>{NAME})(?:'s)? (?:is|has|had|must|can|can't|could|cannot|needs|leaves|works|wants|prefers|would|may|might|gets|got|finishes|arrives)\b",
            core,
        )
        someone = subject and subject["p"].lower() in known_people(self)
        if not clause.question and (someone or (not clause.hint and _ABOUT_SOMEONE.match(core))):
            for known in (read_missing, read_replacement, read_resume, read_remove, read_assign, read_add):
                if steps := known(self, clause):
                    return self.hinted(steps, clause)
            self.typed = typed_details(core) or self.typed
            return [self.chat(clause)]  # a reason, not a task
        for reader in _READERS:
            if steps := reader(self, clause):
                return self.hinted(steps, clause)
        return self._rest(clause)

    def _requested(self, clause: Clause) -> bool:
        """A question by its mark only: 'can we do 11 instead?'."""
        return clause.request and not asks(clause.core, False)

    def _ask(self, clause: Clause) -> Step:
        clause = clause.with_core(
            re.sub(r"\b(?:taking part|takes part|take part|participating|involved)\b", "coming", clause.core)
        )
        core = re.sub(
            r"[.;]\s*(?:can|could) you (?:double-?)?check\b.*$", "", clause.core, flags=re.IGNORECASE
        )
        previous = ""
        if re.match(r"(?:and|what about|how about)\b", clause.text, re.IGNORECASE) or len(core.split()) <= 4:
            asked = [step.text for step in self.steps if step.act == "ask"] or [
                piece for user, _ in reversed(self.view.exchanges) for piece in clauses.sentences(clauses.normalise(user)) if piece.endswith("?")
            ]  # fmt: skip
            candidate = clauses.clause(asked[0 if not self.steps else -1]) if asked else None
            if candidate and asks(candidate.core, True):
                previous = candidate.core
        step = read_question(
            core,
            previous=previous
            if not re.match(
                r"(?:what|when|where|who|why|which|how|is|are|was|did|does)\b", core, re.IGNORECASE
            )
            else "",
        )
        if clause.hint and not step.target:
            step = step.model_copy(update={"target": clause.hint})
        if (
            clause.hint
            and (slot_group(clause.hint) or self.known(clause.hint))
            and step.asked
            and step.asked.kind == "claim"
        ):
            step = step.model_copy(update={"slot": slot_name(clause.hint)})
        return step.model_copy(update={"text": clause.text})

    def _proposal(self, clause: Clause) -> list[Step]:
        """'Should we move it to Saturday?': asked back, with the change as the one choice."""
        core = re.sub(r"^(?:should (?:we|i|there be)|shall (?:we|i)|would|do you think(?: that)?(?: we| i)?(?: should)?|is it (?:a good idea|ok|better)(?: if we| to)?|what about|how about(?: we)?)\s+", "",
                      clause.core, flags=re.IGNORECASE)  # fmt: skip
        if clause.core.lower().startswith(("what about", "how about")) and not values.spot(core):
            return [self._ask(clause)]
        proposed = Reader(self.view, self.quotes)
        core = re.sub(r"^(?:there )?(?:be )?", "", core)
        better = re.fullmatch(
            r"(.+?) (?:be|work|suit|fit|do)(?: us| me)?(?: better| ok| okay| fine| well)?(?: than .+)?",
            core,
            re.IGNORECASE,
        )
        inner = clauses.clause(better[1] if better else core)
        proposed.steps += proposed.clause_steps(inner)
        if any(step.act in ("chat", "ask", "unsure") for step in proposed.steps) or not proposed.steps:
            return [self.chat(clause)]
        self.guessed = True
        return [
            Step(text=clause.text, act="unsure", intent="check", value=core, proposed=tuple(proposed.steps))
        ]

    def _answer(self, clause: Clause) -> list[Step]:
        """The utterance as an answer to the open question; nothing where it is about something else."""
        question = self.view.question
        text = clauses.normalise(clause.text).strip()
        core = clause.core or text
        if question is None:
            return []
        if set(question.options) == {"yes", "no"} and len(text.split()) <= 4:
            said = re.sub(
                r"(?:it'?s|that'?s|it is|that is|make (?:it|that)|i'?d say)\s+",
                "",
                text,
                count=1,
                flags=re.IGNORECASE,
            )
            for word, pattern in (("yes", YES), ("no", NO)):
                if pattern.match(said):
                    return [Step(text=clause.text, act="yes", intent="update", value=word)]
        if asked_key(question) and DECLINED.fullmatch(text):
            return [Step(text=clause.text, act="no", intent="check")]
        if NO.match(text) and (
            not re.search(r"[,.;]\s*\S+", text) or not (clause_act(core) or values.spot(text))
        ):
            return [Step(text=clause.text, act="no", intent="check")]
        if YES.match(text) and (
            len(text.split()) <= 4 or (question.choices and len(text.split()) <= 9 and not clause_act(core))
        ):
            return [Step(text=clause.text, act="yes", intent="update")]
        if question.options:
            ordinal = re.match(
                r"(?:the )?(?:option )?(first|second|third|last|1|2|3|former|latter)(?: one)?$",
                core,
                re.IGNORECASE,
            )
            if ordinal:
                index = {"first": 0, "1": 0, "former": 0, "second": 1, "2": 1, "third": 2, "3": 2}.get(
                    ordinal[1].lower(), len(question.options) - 1
                )
                if index < len(question.options):
                    return [Step(text=clause.text, act="yes", intent="update", value=question.options[index])]
            words = content(core)
            hits = [option for option in question.options if words and words <= content(option)]
            if len(hits) == 1:
                return [Step(text=clause.text, act="yes", intent="update", value=hits[0])]
            hits = [
                option
                for option in question.options
                if words & (content(option) - common_stems(question.options))
            ]
            if (
                len(hits) == 1
                and len(core.split()) <= 8
                and re.match(r"(?:i mean|i meant|the|with|for|on|from|at|one)\b", clause.text, re.IGNORECASE)
            ):
                return [Step(text=clause.text, act="yes", intent="update", value=hits[0])]
        asked = asked_slot(question, self.view)
        told = not clause.question and not clause_act(core) and not is_about_else(core, asked)
        if self._open_slot() and told and len(core.split()) <= 8:
            core = re.sub(
                r"^(?:it'?s|it is|that'?s|that is|that would be|i'?d say|make it)\s+(?=\S)",
                "",
                core,
                flags=re.IGNORECASE,
            )
            values_told = [step.value for step in read_set(self, clause) if step.act == "set" and step.value]
            if len(values_told) == 1:
                return [Step(text=clause.text, act="yes", intent="new", value=values_told[0])]
            if value := answer_in(with_head(core, text), asked):
                return [Step(text=clause.text, act="yes", intent="new", value=value)]
        if (
            question.options
            and asked_key(question)
            and re.fullmatch(r"(?:the|a|an) (?:\w+ ){0,2}one", core, re.IGNORECASE)
        ):
            return [self.chat(clause)]  # none of the options, and nothing else
        return []

    def _is_beside_the_plan(self, core: str) -> bool:
        """Whether a sentence tells of a thing of the user's that no task or slot is about: 'my choir moved'."""
        of = content(tells_of(core) or "")
        kind = talked_of(self.view, self.steps) if of and self.view.schemas else None
        if kind is None:
            return False
        slots = (f"{spoken(slot.name)} {slot.description}" for slot in kind[1].slots)
        tasks = (f"{spoken(node.name)} {node.title} {node.value or ''}" for node in self.view.graph.active)
        return not any(of & content(words) for words in (*slots, *tasks))

    def _open_slot(self) -> bool:
        """Whether the open question asks for a value in words of the user's own."""
        question = self.view.question
        choices = question.choices if question and not is_rerun_offer(question) else ()
        return len(choices) == 1 and isinstance(choices[0], Add | Update) and choices[0].value is None

    def _labels(self, hint: str) -> bool:
        """Whether words before a colon or a dash name something that values can go to."""
        named = slot_group(hint) is not None or self.known(hint)
        return named or is_container(hint) or is_person_list(hint) or is_todo(hint)

    def chat(self, clause: Clause) -> Step:
        """A clause that asks for nothing."""
        return Step(text=clause.text, act="chat", intent="check")

    def hinted(self, steps: list[Step], clause: Clause) -> list[Step]:
        """Steps in the light of the label before them: 'date: make it Friday'."""
        if not clause.hint:
            return steps
        made = []
        if (
            len(steps) == 1
            and steps[0].act == "task"
            and not steps[0].items
            and [d.slot for d in steps[0].details] == ["assignee"]
        ):
            return [
                Step(
                    text=clause.text,
                    act="set",
                    target=clause.hint,
                    slot=slot_name(clause.hint),
                    value=steps[0].details[0].value,
                )
            ]
        known = not slot_group(clause.hint) and self.known(clause.hint)
        for step in steps:
            if (
                known
                and step.act in ("add", "remove", "replace", "only", "hold", "resume", "done", "share")
                and not step.within
                and not step.everywhere
            ):
                made.append(
                    step.model_copy(
                        update={"within": clause.hint}
                        | ({"target": clause.hint} if step.act in ("add", "only") and not step.target else {})
                    )
                )
                continue
            if (
                known
                and step.act in ("set", "shift", "back", "assign")
                and step.target != clause.hint
                and not self.known(step.target)
                and not slot_group(step.target)
                and (step.details or step.act != "set")
            ):
                made.append(
                    step.model_copy(
                        update={
                            "target": clause.hint,
                            "slot": step.slot if step.act in ("shift", "assign") else None,
                            "old": None if step.old == "move" else step.old,
                        }
                    )
                )
                continue
            if (
                step.act in ("set", "back", "shift", "replace")
                and not step.slot
                and step.target in ("", clause.hint)
            ):
                if self._group(clause.hint):
                    step = step.model_copy(
                        update={"slot": slot_name(clause.hint), "target": step.target or clause.hint}
                    )
                else:
                    step = step.model_copy(
                        update={"target": step.target or clause.hint, "slot": slot_name(clause.hint)}
                    )
            elif (
                step.act == "set" and step.slot and slot_group(clause.hint) is not None and not step.details
            ) or (step.act == "task" and step.slot is None):
                step = step.model_copy(update={"slot": slot_name(clause.hint)})
            made.append(step)
        return made

    def _group(self, hint: str) -> bool:
        return slot_group(hint) is not None

    # ---- what is known ---------------------------------------------------------------------

    def names_task(self, words: str) -> bool:
        """Whether the words name a task in the plan, with what it is part of or holds: 'training in Napier'."""
        return Finder(self.view.graph, self.view.focus).whole(words) is not None

    def known(self, words: str) -> bool:
        """Whether the words name something in the plan, now or before."""
        return is_known(self.view.graph, words)

    def items(self, text: str, within: str = "") -> tuple[Detail, ...]:
        """The members of a list; 'channels are A, B' gives channels; what names a slot or is a bare value is left out."""
        slot, items = member_slot(within), []
        for word in list_words(text):
            if plural := re.fullmatch(r"(?P<noun>[a-z]\w+s) are (?P<value>\S.*)", word):
                slot, word = singular(slot_name(plural["noun"])), plural["value"]
            elif slot_value(word):
                slot = member_slot(within)
                continue
            elif value_only(word):
                continue
            items.append(Detail(slot=slot, value=word))
        return tuple(items)

    def pairs(self, text: str) -> tuple[Detail, ...]:
        """The members of a list that name a slot and its value: 'date 2 August', 'camera: Vik', 'advisor is Prof. Adler'."""
        pairs: list[Detail] = []
        for word in list_words(text):
            if re.fullmatch(r"[a-z]\w+s are \S.*", word):
                continue
            if pair := slot_value(word):
                pairs.append(pair)
            elif only := value_only(word):
                pairs += only
        return tuple(pairs)

    def _rest(self, clause: Clause) -> list[Step]:
        """What no wording claimed: a bare value, a noun phrase, a new task, or talk."""
        core = clause.core
        if is_past(core) and not any(
            content(word) and is_known(self.view.graph, word) for word in core.split()[:3]
        ):
            return [self.chat(clause)]
        if steps := read_bare_value(self, clause):
            return self.hinted(steps, clause)
        if (
            re.match(r"(?:he|she|they|\w+) (?:can|could|is|are|has|have) (?:only )?", core, re.IGNORECASE)
            and (spans := values.spot(core))
            and re.match(r"(?:he|she|they)\b", core, re.IGNORECASE)
        ):
            self.typed = tuple(
                Detail(slot=SLOT_OF_KIND.get(span.kind, span.kind), value=span.text) for span in spans
            )
            return [self.chat(clause)]
        if steps := read_statement(self, clause):
            return self.hinted(steps, clause)
        if (
            self.steps
            and self.steps[-1].act == "ask"
            and is_phrase(core)
            and (not has_verb(core) or len(list_words(core)) > 1)
        ):
            return [self.chat(clause)]  # 'What is the complete plan? Place, day and arbiter.'
        first = re.match(
            r"([a-z-]+)\s+(?:the|a|an|my|our|his|her|their|some|new|all|two|three|four|\d+)\s+\w",
            core.lower(),
        )
        if (
            first
            and not clause.question
            and first[1] not in STOP | MOODS | CHAT
            and first[1] not in ("what", "such", "quite", "like", "half", "because", "while", "although")
        ):
            return self.hinted(as_tasks(self, clause, core), clause)
        if is_phrase(core) and not clause.question:
            return self.hinted(read_noun_phrase(self, clause), clause)
        self.guessed = True
        return [self.chat(clause)]

    # ---- new tasks -----------------------------------------------------------------------------

    def new_task(self, clause: Clause, title: str | None = None) -> Step:
        """A task with its details taken out of its title."""
        core = clause.core
        bare, details, items = details_of(core)
        return Step(
            text=clause.text, act="task", intent="new", title=title or bare or core, details=details, items=items,
            target=title or bare,
        )  # fmt: skip


_READERS: tuple[Callable[[Reader, Clause], list[Step]], ...] = (
    read_undo, read_of, read_correct, read_only, read_back, read_missing, read_replacement, read_instead, read_hold, read_resume, read_both_need, read_done, read_shift,
    read_before_after, read_remove, read_assign, read_schedule, read_set, read_purpose, read_add, read_frames, read_do,
)  # fmt: skip

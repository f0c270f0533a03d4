"""What long-term memory is made of: experiences, facts, intent units and scenes. Frozen data, pure.

The id of a record comes from its origin (thread, turn, kind, and what tells two of one turn apart), so that
writing it twice writes it once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

Kind = Literal["experience", "fact", "unit", "scene"]
KINDS: tuple[Kind, ...] = ("experience", "fact", "unit", "scene")
REPEATED = 200  # steps in which an experience may be put again; a flush that fails repeats a batch of 64


def record_id(thread: str, turn: int, kind: Kind, key: str = "") -> str:
    """The id of a record: 26 letters and digits, the same for the same origin.

    key: what tells records of one kind and turn apart, such as a task's id.
    """
    origin = "\x1f".join((kind, thread, str(turn), key)).encode("utf-8", "surrogatepass")
    return f"{kind[0]}{hashlib.sha256(origin).hexdigest()[:25]}"


def _in_calendar(at: datetime) -> datetime:
    """A time that stays within the calendar in every time zone, and when times are compared."""
    if not _FIRST < at < _LAST:
        raise ValueError(f"must be between the years {_FIRST.year} and {_LAST.year}")
    return at


_FIRST, _LAST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
Moment = Annotated[AwareDatetime, AfterValidator(_in_calendar)]


class _Record(BaseModel):
    """What every record has."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1, max_length=200)
    text: str = Field(description="What is searched and embedded: words, never empty.", min_length=1)
    at: Moment = Field(description="When what it tells took place.")
    thread: str = Field(default="", description="Thread it comes from.")
    turn: int = Field(default=0, ge=0, description="Turn of that thread; 0 where it is of no one turn.")


class Use(BaseModel):
    """One retrieval of an experience: at which step of the user's stream, and how what followed went."""

    model_config = ConfigDict(frozen=True)
    step: int = Field(ge=0)
    utility: float | None = Field(default=None, ge=0, le=1, description="None: not known yet.")
    by: str = Field(default="", description="Id of the experience that it was retrieved for, where known.")


class Older(BaseModel):
    """The retrievals of an experience that are no longer recent, in sum."""

    model_config = ConfigDict(frozen=True)
    until: int = Field(default=0, ge=0, description="The last step among them.")
    known: int = Field(default=0, ge=0, description="How many have a known utility.")
    total: float = Field(default=0, ge=0, description="Sum of these utilities.")


class Experience(_Record):
    """What was said, what it met, what was done, and how it went (Xiong et al. 2025, section 3)."""

    kind: Literal["experience"] = "experience"
    outline: str = Field(default="", description="The tasks that the words met, a line each.")
    execution: tuple[dict[str, Any], ...] = Field(
        default=(), description="What was done: steps as an interpreter gives them, or tool calls."
    )
    by: str = Field(
        default="network",
        description="Who read the words: network, model, or the user, who said it plainly; once also rules.",
    )
    status: Literal["pending", "confirmed", "rejected"] = "pending"
    step: int = Field(default=0, ge=0, description="Its place in the user's stream of experiences.")
    utility: float | None = Field(default=None, ge=0, le=1, description="How it went itself; None: unknown.")
    strict: bool = Field(default=False, description="Its utility is by the user's word, nobody's guess.")
    uses: tuple[Use, ...] = Field(default=(), description="When it was retrieved of late, oldest first.")
    older: Older = Field(default=Older(), description="Its retrievals before those.")
    led_by: tuple[str, ...] = Field(default=(), description="Ids of the experiences retrieved for it.")


class Fact(_Record):
    """One narrative unit grounded in the dialogue; an edge runs to each earlier fact that it rests on.

    text: the sentence. at: when it came into effect.
    """

    kind: Literal["fact"] = "fact"
    people: tuple[str, ...] = Field(default=(), description="Whom it is about; () is the user.")
    subject: str = Field(default="", description="What it is about, e.g. a task's title.")
    slot: str | None = Field(default=None, description="Slot of the subject that it gives a value of.")
    value: str | None = None
    sources: tuple[int, ...] = Field(default=(), description="Turns of the thread that it is grounded in.")
    rests_on: tuple[str, ...] = Field(default=(), description="Ids of earlier facts, transitively reduced.")
    status: Literal["current", "former", "deleted"] = Field(
        default="current", description="former: true once, history now. deleted: a tombstone."
    )
    until: Moment | None = Field(default=None, description="When it ceased to hold.")


class Pair(BaseModel):
    """A slot of a finished task, as a question and its answer (MAP, section on memory units)."""

    model_config = ConfigDict(frozen=True)
    slot: str
    question: str
    answer: str
    title: str = Field(default="", description="What the task that held it was called.")
    within: str = Field(default="", description="Title of the part that it belongs to; '' is the whole.")
    member: bool = Field(default=False, description="A thing in a list: it has a title and no value.")
    said: tuple[str, ...] = Field(default=(), description="The answer in other forms that the user used.")


class IntentUnit(_Record):
    """What a finished task of a session was for, with a question-answer pair for each of its slots.

    text: the intent in words with what belongs to it; the pairs' answers are searched too.
    """

    kind: Literal["unit"] = "unit"
    intent: str = Field(description="Name of the kind of task: a schema's, or the task's own slot.")
    description: str = Field(default="", description="The intent in words.")
    title: str = Field(default="", description="The task's title in its session.")
    pairs: tuple[Pair, ...] = ()
    dropped: tuple[str, ...] = Field(
        default=(), description="Slots that it had, or was offered, and that the user did not want."
    )
    order: int = Field(default=0, ge=0, description="The task's place within its session.")
    status: Literal["open", "done", "dropped"] = Field(
        default="open", description="Of the task: dropped, it left the plan, and the unit is to go too."
    )


class Evidence(BaseModel):
    """What a recording has at some time, in milliseconds from its beginning, and where that is from."""

    model_config = ConfigDict(frozen=True)
    start_ms: int = Field(ge=0)
    end_ms: int = Field(ge=0)
    source: Literal["said", "shown", "seen", "caption"] = Field(
        description="said: spoken. shown: text on the screen. seen: measured. caption: by a model."
    )
    text: str = Field(min_length=1)
    by: str = Field(default="", description="Who said it, or the model of a caption; '' is not known.")


class Scene(_Record):
    """A stretch of a recording, with the evidence for what is in it.

    text: what is said and shown in it. at: when it was recorded. thread: `video:` with the recording's id.
    turn: its place among the scenes of the recording, from 1.
    """

    kind: Literal["scene"] = "scene"
    video: str = Field(description="SHA-256 of the recording, in hex.", pattern=r"^[0-9a-f]{64}$")
    name: str = Field(description="What the recording is called.")
    file: str = Field(default="", description="Where its pictures are, an absolute path; '' has none.")
    start_ms: int = Field(ge=0)
    end_ms: int = Field(ge=0)
    evidence: tuple[Evidence, ...] = Field(default=(), description="In order of time.")
    subjects: tuple[str, ...] = Field(
        default=(), description="What is talked of, that other scenes have too."
    )
    look: int | None = Field(default=None, description="Number of a look that scenes share.")
    rests_on: tuple[str, ...] = Field(
        default=(), description="Ids of earlier scenes with a subject, speaker or look of it, reduced."
    )


class Stream(BaseModel):
    """How far a user's units of work have come: each takes a step, whether or not its record is kept.

    What left no record is known by its id for a while, so that it takes no second step when it is put again.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["stream"] = "stream"
    steps: int = Field(default=0, ge=0, description="Units of work so far.")
    latest: tuple[str, ...] = Field(
        default=(), description="Ids of the experiences of the latest steps, the last of them last."
    )

    def step_of(self, key: str) -> int | None:
        """The step that an experience took; None where it took none, or long ago."""
        back = self.latest[::-1]
        return self.steps - back.index(key) if key in back else None

    def further(self, key: str) -> Stream:
        """The stream with one more step, taken by an experience."""
        return Stream(steps=self.steps + 1, latest=(*self.latest, key)[-REPEATED:])


Record = Annotated[Experience | Fact | IntentUnit | Scene, Field(discriminator="kind")]
Line = Annotated[Experience | Fact | IntentUnit | Scene | Stream, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Experience | Fact | IntentUnit | Scene] = TypeAdapter(Record)
_LINE: TypeAdapter[Experience | Fact | IntentUnit | Scene | Stream] = TypeAdapter(Line)


def read_record(data: str | bytes | Mapping[str, Any]) -> Experience | Fact | IntentUnit | Scene:
    """A record from its JSON, or from plain data.

    Raises:
        pydantic.ValidationError: not a record; the message names the field.
    """
    if isinstance(data, str | bytes):
        return _ADAPTER.validate_json(data)
    return _ADAPTER.validate_python(data)


def read_line(data: str | bytes) -> Experience | Fact | IntentUnit | Scene | Stream:
    """A line of an export: a record, or how far the user's stream had come.

    Raises:
        pydantic.ValidationError: neither; the message names the field.
    """
    return _LINE.validate_json(data)


def searched(record: Experience | Fact | IntentUnit | Scene) -> str:
    """All words of a record that a search for words looks at, one text."""
    if isinstance(record, IntentUnit):
        answers = (form for pair in record.pairs for form in (pair.slot, pair.answer, *pair.said))
        return " ".join((record.text, record.description, *answers))
    if isinstance(record, Fact):
        return " ".join(filter(None, (record.text, record.subject, *record.people)))
    return record.text


def now() -> datetime:
    """The present time in UTC."""
    return datetime.now(UTC)

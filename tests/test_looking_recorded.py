"""Questions on generated clips, with the recorded replies of a reader who saw the prompts and the frames.

`recordings/looking/trial.json` has ten clips of `benchmarks/clips.py`, each with a transcript, and thirty
questions that a script drew from their truth: of each all requests, with what was shown in them and what was
replied. The reader did not know the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from benchmarks import clips
from taskloom.agent.acting.looks import Watched
from taskloom.agent.acting.watching import watch
from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.models.eyes import Eyes
from taskloom.agent.models.openai import chat_model
from taskloom.agent.models.stepwise import StepwiseChooser
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.recordings import Recordings
from taskloom.agent.recall.seeing import digest_of
from taskloom.agent.settings import Settings
from taskloom.tools.video import taken as taking
from tests.openai_server import OpenAIServer, Say
from tests.test_looking import images

TRIAL = json.loads((Path(__file__).parent / "recordings/looking/trial.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def longterm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTerm]:
    """The clips, each remembered by a user of its own."""
    folder = tmp_path_factory.mktemp("trial")
    opened = longterm_of(Settings(home=folder / "home"))
    assert opened is not None
    unread = pytest.MonkeyPatch()
    unread.setattr(taking, "text_reader", lambda: None)  # the trial was recorded without
    for number, clip in enumerate(TRIAL["clips"]):
        file = folder / str(number) / clip["name"]
        file.parent.mkdir()
        clips.write(clips.clip(clip["seed"]), file)
        clips.world.cache_clear()
        file.with_suffix(".srt").write_text("\n".join(clip["transcript"]), encoding="utf-8")
        held = taking.taken(file)
        Recordings(opened, str(number)).add(file.name, digest_of(file), held.lines, held.shots, file=file)
    unread.undo()
    yield opened
    opened.close()


def shown(request: dict[str, Any]) -> Any:
    """What a request shows: of frames the words with them, else the last message."""
    content = request["messages"][1]["content"]
    if isinstance(content, list):
        return [part["text"] for part in content if part["type"] == "text"]
    return request["messages"][-1]["content"]


def asked(longterm: LongTerm, given: dict[str, Any], server: OpenAIServer) -> Watched:
    server.play([Say(json.dumps(one["reply"])) for one in given["requests"]])
    settings = Settings(model="m", openai_api_key=SecretStr("any"), openai_base_url=server.url)
    chat, eyes = chat_model(settings, "m"), Eyes(chat_model(settings, "m"))
    recordings = Recordings(longterm, str(given["clip"]), eyes=eyes)
    names = {one.name: one.end_ms for one in recordings.all()}
    return watch(
        given["question"], recordings, StepwiseChooser(chat), names, patience=chat.patience, eyes=eyes,
        pictured=recordings.pictured(),
    )  # fmt: skip


def is_right(found: Watched, truth: Any) -> bool:
    """Whether an answer holds: by its words, by the times that it cites, or in that there is none."""
    if truth is None:
        return found.text == "" and found.unseen.startswith("Not seen in ")
    if isinstance(truth, str):
        return truth.casefold() in found.text.casefold()
    times = (source.partition("@")[2].split(":") for source in found.sources)
    cited = [60 * int(minutes) + int(seconds) for minutes, seconds in times]
    within = [any(start // 1000 <= at <= end // 1000 for start, end in truth) for at in cited]
    return bool(within) and all(within)


@pytest.mark.slow
def test_a_reader_of_frames_answers_as_recorded(longterm: LongTerm, subtests: pytest.Subtests) -> None:
    requests, pictures = 0, 0
    with OpenAIServer([]) as server:
        for given in TRIAL["questions"]:
            with subtests.test(given["question"]):
                found = asked(longterm, given, server)
                assert [shown(one) for one in server.requests] == [one["shown"] for one in given["requests"]]
                assert (found.text, [*found.sources]) == (given["answer"], given["sources"])
                assert is_right(found, given["truth"])
            requests += len(server.requests)
            pictures += sum(len(images(one)) for one in server.requests if isinstance(shown(one), list))
    assert (len(TRIAL["questions"]), requests, pictures) == (30, 103, 346)

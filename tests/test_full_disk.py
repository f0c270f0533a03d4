"""A disk that is full costs the turn that does not fit, tells so, and nothing that was answered before."""

import sqlite3
from pathlib import Path

import pytest

from taskloom.agent.cli.problems import explain
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom

pytestmark = pytest.mark.attack


def test_what_was_answered_is_kept_and_the_talk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as app:
        connection = app._threads.saver.conn
        app.talk("Plan a trip to Rome")
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        answered: list[int] = []

        def fill() -> None:
            for number in range(100):
                app.talk(f"The note {number} is {'x' * 500}")
                answered.append(number)

        with pytest.raises(sqlite3.Error) as full:
            fill()
        assert "the disk is full: make room" in str(explain(full.value, tmp_path))
        connection.rollback()
        connection.execute("PRAGMA max_page_count = 1000000")
        kept = dict(app.tasks())
        number = app.state().values["turn"].number
        assert number == 1 + len(answered)
        assert app.talk("What is the plan?").number == number + 1
        assert dict(app.tasks()) == kept
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as app:
        assert dict(app.tasks()) == kept

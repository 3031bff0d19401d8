"""How large a comparison may be, and what launching one reads."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from timemachine.accounts.models import Project
from timemachine.recording.models import Session
from timemachine.replay.models import Replay

ARMS = [{"model": "local:extractive-1"}, {"model": "local:extractive-3"}]


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(project: Project) -> Session:
    """Of three asks."""
    return recorded_session(project)


def launched(api: Program, session: Session, **more: Any) -> Any:
    return api.post("/comparisons", {"sessions": [session.key], "arms": ARMS, "reason": "r"} | more)


def test_too_many_replays_are_refused(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.comparison.commands.MOST_REPLAYS", 3)
    answer = launched(api, session, repeats=2)
    assert answer.json()["code"] == "too_many_replays"


def test_more_answers_than_a_comparison_has_are_refused_before_any_row_is_made(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.comparison.commands.MOST_ANSWERS", 11)
    answer = launched(api, session, repeats=2)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_answers")
    assert "12 answers" in answer.json()["message"]
    assert not Replay.objects.exists()
    assert launched(api, session).status_code == 202


def test_a_sessions_actions_are_read_once_however_many_replays_are_launched_of_it(
    api: Program, session: Session
) -> None:
    def read(repeats: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert launched(api, session, repeats=repeats).status_code == 202
        return sum('"retrieval"' in each["sql"] and "tm_action" in each["sql"] for each in queries)

    assert read(1) == read(4) == 1

"""The size limit of a comparison, the reads of a launch, and the cost estimate."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from tests.provider_failures import as_vendors
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay

ARMS = [{"model": "local:extractive-1"}, {"model": "local:extractive-3"}]


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(project: Project) -> Session:
    """A session with three asks."""
    return recorded_session(project)


def launched(api: Program, session: Session, **more: Any) -> Any:
    return api.post("/comparisons", {"sessions": [session.key], "arms": ARMS, "reason": "r"} | more)


def test_too_many_replays_are_refused(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.replay.comparison.commands.MOST_REPLAYS", 3)
    answer = launched(api, session, repeats=2)
    assert answer.json()["code"] == "too_many_replays"


def test_too_many_answers_are_refused_before_any_row_is_created(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.replay.comparison.commands.MOST_ANSWERS", 11)
    answer = launched(api, session, repeats=2)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_answers")
    assert "12 answers" in answer.json()["message"]
    assert not Replay.objects.exists()
    assert launched(api, session).status_code == 202


def test_the_actions_of_a_session_are_read_once_for_any_number_of_replays(
    api: Program, session: Session
) -> None:
    def read(repeats: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert launched(api, session, repeats=repeats).status_code == 202
        return sum('"retrieval"' in each["sql"] and "tm_action" in each["sql"] for each in queries)

    assert read(1) == read(4) == 1


def test_the_cost_is_estimated_per_variant_without_launching(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_vendors(monkeypatch) as stub:
        arms = [{"model": "openai:gpt-4o", "max_tokens": n} for n in (10, 20)] + [{"model": "openai:new-one"}]
        body = {"sessions": [session.key], "arms": arms, "repeats": 2, "noise_floor": True}
        answer = api.post("/comparisons/estimate", body)
        assert answer.status_code == 200, answer.content
        assert stub.calls() == []
    first, second, unknown = answer.json()["estimates"]
    assert (first["arm"], first["name"], first["model"]) == (
        1,
        "openai:gpt-4o · max tokens 10",
        "openai:gpt-4o",
    )
    assert (first["calls"], first["guessed_calls"], first["unknown_cost_calls"]) == (9, 9, 0)
    assert second["cost_usd"] > first["cost_usd"] > 0
    assert (unknown["cost_usd"], unknown["unknown_cost_calls"]) == (0, 9)
    assert not Replay.objects.exists()
    assert api.post("/comparisons/estimate", body | {"arms": arms[:1]}).json()["code"] == "arms_needed"
    reader = program(session.project, "read")
    assert reader.post("/comparisons/estimate", body).json()["code"] == "scope_missing"

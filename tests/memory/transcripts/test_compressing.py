"""Compression of sessions: its effect on transcripts, preview, undo, by age and by the project's rule."""

from datetime import timedelta
from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.builders import tamper
from tests.memory.transcripts.test_transcripts import TURNS, message, read_transcript, record, sequences
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.annotations.significance.models import Compression, CompressionRule
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.tasks import compress_sessions

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db
PATH = "/sessions/story/compression"


def ended(api: Program, key: str, *, days_ago: int = 0) -> Session:
    record(api, key, *(message(*turn) for turn in TURNS))
    assert api.post(f"/sessions/{key}/end").status_code == 200
    if days_ago:
        at = now() - timedelta(days=days_ago)
        tamper("UPDATE tm_session SET ended_at = %s WHERE key = %s", [at.isoformat(), key])
    return Session.objects.get(key=key)


@pytest.fixture
def session(api: Program) -> Session:
    return ended(api, "story")


def importances(api: Program) -> list[float]:
    return [each["importance"] for each in read_transcript(api, "story")["items"]]


def compressed(project: Project) -> set[str]:
    found = Compression.objects.filter(session__project=project)
    return set(found.values_list("session__key", flat=True))


def test_exploratory_turns_lose_importance_and_findings_keep_theirs(api: Program, session: Session) -> None:
    before = importances(api), list(Action.objects.order_by("id").values())
    preview = api.get(PATH).json()
    assert (preview["compressed"], preview["kept"]["turns"], preview["falls"]["turns"]) == (False, 2, 3)
    assert importances(api) == before[0]
    done = api.post(PATH).json()
    assert (done["compressed"], done["through"]) == (True, session.last_sequence)
    assert (done["kept"], done["falls"]) == (preview["kept"], preview["falls"])
    assert importances(api) == [0.30, 0.30, 0.30, 0.97, 0.95]
    assert sequences(read_transcript(api, "story", min_importance=0.5)) == [4, 5]
    listed = api.get("/sessions/story/actions").json()["items"]
    assert (listed[0]["importance"], listed[0]["recorded"]["importance"]) == (0.30, None)
    assert listed[0]["weighed"] == {"by": None, "at": None, "compressed": True}
    assert "recorded" not in listed[3]
    assert list(Action.objects.order_by("id").values()) == before[1]


def test_kept_and_demoted_tokens_add_up_to_all_recorded_ones(api: Program, session: Session) -> None:
    assert session
    recorded, effect = read_transcript(api, "story")["tokens"]["recorded"], api.get(PATH).json()
    assert effect["kept"]["tokens"] + effect["falls"]["tokens"] == recorded


def test_compression_is_undone_completely_and_both_events_are_in_the_history(
    api: Program, session: Session
) -> None:
    assert session
    before = importances(api)
    api.post(PATH)
    api.post(PATH)
    assert api.delete(PATH).json()["compressed"] is False
    assert importances(api) == before
    history = api.get(PATH).json()["history"]
    assert [(each["compressed"], each["by"], each["by_rule"]) for each in history] == [
        (False, "key test", False),
        (True, "key test", False),
    ]
    second = api.delete(PATH)
    assert (second.status_code, second.json()["code"]) == (404, "not_compressed")


def test_a_manual_importance_outweighs_the_compression(api: Program, session: Session) -> None:
    assert session
    api.post(PATH)
    api.patch("/sessions/story/actions/2", {"importance": 0.8})
    api.patch("/sessions/story/actions/3", {"significance": "decision"})
    api.patch("/sessions/story/actions/5", {"significance": "normal"})
    assert importances(api) == [0.30, 0.8, 0.92, 0.97, 0.30]


def test_a_turn_with_a_manual_importance_is_counted_as_kept(api: Program, session: Session) -> None:
    assert session
    api.patch("/sessions/story/actions/2", {"importance": 0.8})
    api.post(PATH)
    effect = api.get(PATH).json()
    assert (effect["kept"]["turns"], effect["falls"]["turns"]) == (3, 2)


def test_a_session_that_grew_after_compression_is_compressed_further(api: Program, session: Session) -> None:
    api.post(PATH)
    tamper("UPDATE tm_session SET status = 'recording', ended_at = NULL WHERE key = %s", ["story"])
    assert api.post("/sessions/story/actions", message("agent", "One more look.")).status_code == 201
    api.post("/sessions/story/end")
    effect = api.get(PATH).json()
    assert (effect["through"], effect["kept"]["turns"], effect["falls"]["turns"]) == (5, 3, 3)
    assert importances(api) == [0.30, 0.30, 0.30, 0.97, 0.95, None]
    second = api.post(PATH).json()
    assert (second["through"], second["falls"]["turns"]) == (6, 4)
    assert len(second["history"]) == 2


def test_a_session_that_is_recording_is_not_compressed(api: Program) -> None:
    record(api, "story", message("agent", "Going on."))
    answer = api.post(PATH)
    assert (answer.status_code, answer.json()["code"]) == (409, "session_records")
    assert not Compression.objects.exists()


def test_sessions_are_compressed_by_age_with_a_preview(api: Program, project: Project) -> None:
    for key, days in (("old", 40), ("older", 90), ("new", 2)):
        ended(api, key, days_ago=days)
    record(api, "open", message("agent", "Going on."))
    body = {"older_than_days": 30}
    assert api.post("/compressions", {**body, "preview": True}).json() == {
        "sessions": 2,
        "compressed": False,
    }
    assert compressed(project) == set()
    assert api.post("/compressions", body).json() == {"sessions": 2, "compressed": True}
    assert compressed(project) == {"old", "older"}
    assert api.post("/compressions", body).json() == {"sessions": 0, "compressed": True}


def test_a_worker_applies_the_rule_of_a_project_but_not_to_undone_sessions(
    api: Program, stranger: Program, project: Project
) -> None:
    for key, days in (("old", 40), ("kept", 40), ("new", 2)):
        ended(api, key, days_ago=days)
    ended(stranger, "theirs", days_ago=40)
    assert api.get("/compressions/rule").json() == {"days": None, "by": None, "at": None}
    api.post("/sessions/kept/compression")
    api.delete("/sessions/kept/compression")
    set_to = api.put("/compressions/rule", {"days": 30}).json()
    assert (set_to["days"], set_to["by"]) == (30, "key test")
    compress_sessions()
    assert compressed(project) == {"old"}
    assert api.get("/sessions/old/compression").json()["history"][0]["by_rule"] is True
    assert Compression.objects.count() == 1
    ended(api, "late", days_ago=50)
    compress_sessions()
    assert compressed(project) == {"old"}, "a rule is looked at once in an hour"
    CompressionRule.objects.update(looked_at=now() - timedelta(hours=2))
    compress_sessions()
    assert compressed(project) == {"old", "late"}
    assert api.put("/compressions/rule", {"days": None}).json()["days"] is None
    assert not CompressionRule.objects.exists()


@pytest.mark.parametrize("days", [0, -1, 3_651, "many", 1.5])
def test_an_invalid_number_of_days_is_refused(api: Program, days: Any) -> None:
    assert api.put("/compressions/rule", {"days": days}).status_code == 422
    assert api.post("/compressions", {"older_than_days": days}).status_code == 422

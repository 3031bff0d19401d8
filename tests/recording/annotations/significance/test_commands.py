"""Changing the significance of steps without changing the recording: the API, timeline filters and transcripts."""

from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.memory.transcripts.test_transcripts import message, read_transcript, record, sequences
from timemachine.core.accounts.models import Project
from timemachine.evidence.models import SealedRecord
from timemachine.evidence.sealing import seals
from timemachine.recording.annotations.significance.models import Compression, SignificanceOverride
from timemachine.recording.annotations.significance.queries import COMPRESSED, IMPORTANCE, UNCOMPRESSED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import DEFAULT_IMPORTANCE, SIGNIFICANCES
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import window

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def session(api: Program) -> Session:
    record(
        api,
        "story",
        message("user", "It fails.", "error"),
        message("agent", "Perhaps the disk."),
        message("agent", "It is the pool.", "hypothesis", importance=0.5),
        message("agent", "Close it.", "solution"),
    )
    return Session.objects.get(key="story")


def weigh(api: Program, sequence: int, **changes: Any) -> Any:
    answer = api.patch(f"/sessions/story/actions/{sequence}", changes)
    assert answer.status_code == 200, answer.content
    return answer.json()


def filtered(session: Session, text: str) -> list[int]:
    found = Action.objects.filter(matching(parse(text)), session=session).order_by("sequence")
    return list(found.values_list("sequence", flat=True))


def test_a_change_takes_effect_and_leaves_the_recording_and_its_seal_unchanged(
    api: Program, session: Session
) -> None:
    seals.seal_session(session.id)
    before = list(Action.objects.order_by("id").values()), list(SealedRecord.objects.values())
    found = weigh(api, 2, significance="decision")
    assert (found["significance"], found["importance"]) == ("decision", 0.92)
    assert found["recorded"] == {"significance": None, "importance": None}
    assert (found["weighed"]["by"], found["weighed"]["compressed"]) == ("key test", False)
    assert api.get("/sessions/story/actions/2").json() == found
    assert (list(Action.objects.order_by("id").values()), list(SealedRecord.objects.values())) == before


def test_the_changed_significance_is_used_in_filters_transcripts_and_pages(
    api: Program, session: Session
) -> None:
    weigh(api, 2, significance="decision")
    weigh(api, 4, significance="normal")
    listed = api.get("/sessions/story/actions", significance="decision").json()["items"]
    assert [each["sequence"] for each in listed] == [2]
    assert api.get("/sessions/story/actions", significance="solution").json()["items"] == []
    assert sequences(read_transcript(api, "story", significance="decision,solution")) == [2]
    assert sequences(read_transcript(api, "story", min_importance=0.9)) == [2]
    assert "[2] agent, decision: Perhaps the disk." in read_transcript(api, "story", **{"as": "text"})
    assert filtered(session, "significance:decision") == [2]
    assert filtered(session, "significance:decision,solution") == [2]
    assert filtered(session, "-significance:decision") == [1, 3, 4]
    assert filtered(session, "importance:>0.9") == [2]
    assert filtered(session, "-importance:>0.9") == [1, 3, 4]
    shown = [place.step.significance for place in window(session, 1).rows]
    assert shown == ["error", "decision", "hypothesis", "normal"]


def test_a_reset_to_the_recorded_value_is_in_the_history(api: Program, session: Session) -> None:
    weigh(api, 3, significance="breakthrough")
    weigh(api, 3, importance=0.1)
    assert weigh(api, 3, significance=None)["importance"] == 0.1
    found = weigh(api, 3, importance=None)
    assert (found["significance"], found["importance"], "recorded" in found) == ("hypothesis", 0.5, False)
    assert not SignificanceOverride.objects.exists()
    history = api.get("/sessions/story/weights").json()["items"]
    assert [(each["significance"], each["importance"]) for each in history] == [
        (None, None),
        (None, 0.1),
        ("breakthrough", 0.1),
        ("breakthrough", None),
    ]
    assert {(each["sequence"], each["by"], each["proposal"]) for each in history} == {(3, "key test", None)}


def test_setting_the_current_value_is_not_a_change(api: Program, session: Session) -> None:
    assert session
    weigh(api, 2, significance="decision")
    weigh(api, 2, significance="decision")
    weigh(api, 2)
    assert len(api.get("/sessions/story/weights").json()["items"]) == 1


def test_the_history_is_paginated(api: Program, session: Session) -> None:
    assert session
    for number in range(5):
        weigh(api, 2, importance=number / 10)
    first = api.get("/sessions/story/weights", limit=3).json()
    rest = api.get("/sessions/story/weights", limit=3, after=first["next"]).json()
    assert [each["importance"] for each in (*first["items"], *rest["items"])] == [0.4, 0.3, 0.2, 0.1, 0.0]


@pytest.mark.parametrize(
    ("sequence", "sent", "status"),
    [
        (2, {"significance": "grand"}, 422),
        (2, {"importance": 1.1}, 422),
        (2, {"importance": -0.1}, 422),
        (2, {"importance": "high"}, 422),
        (2, {"weight": 1}, 422),
        (9, {"significance": "error"}, 404),
    ],
)
def test_an_invalid_change_is_refused_and_changes_nothing(
    api: Program, session: Session, sequence: int, sent: dict[str, Any], status: int
) -> None:
    assert session
    assert api.patch(f"/sessions/story/actions/{sequence}", sent).status_code == status
    assert not SignificanceOverride.objects.exists()


def test_erasing_a_session_erases_its_significance_changes(api: Program, session: Session) -> None:
    assert session
    weigh(api, 2, significance="decision")
    assert api.delete("/sessions/story").status_code == 200
    assert not SignificanceOverride.objects.exists()


def importance(
    override: float | None,
    significance_override: str | None,
    given: float | None,
    significance: str | None,
    *,
    compressed: bool,
) -> float | None:
    """The expected result of `tm_importance`, implemented a second time."""
    now = significance_override or significance
    if override is not None:
        return override
    if compressed and now not in UNCOMPRESSED:
        return min(COMPRESSED, given) if given is not None and significance_override is None else COMPRESSED
    if significance_override is not None:
        return DEFAULT_IMPORTANCE[significance_override]
    return given if given is not None else DEFAULT_IMPORTANCE.get(significance or "")


def test_the_effective_importance_follows_the_vocabulary(api: Program, project: Project) -> None:
    words, numbers = (None, *SIGNIFICANCES), (None, 0.1, 0.99)
    cases = [(a, b, c, d) for a in numbers for b in words for c in numbers for d in words]
    record(
        api,
        "cases",
        *(message("agent", "x", d, **({} if c is None else {"importance": c})) for _, _, c, d in cases),
    )
    session = Session.objects.get(key="cases")
    actions = {action.sequence: action for action in session.actions.all()}
    for place, (a, b, _, _) in enumerate(cases, 1):
        if (a, b) != (None, None):
            SignificanceOverride.objects.create(
                action=actions[place], importance=a, significance=b, by="test"
            )
    for compressed in (False, True):
        if compressed:
            Compression.objects.create(session=session, through=session.last_sequence, by="test")
        found = session.actions.order_by("sequence").annotate(now=IMPORTANCE).values_list("now", flat=True)
        assert list(found) == [importance(*case, compressed=compressed) for case in cases]
        read = [each["importance"] for each in read_transcript(api, "cases")["items"]]
        assert read == list(found)


def proposals(api: Program) -> list[tuple[int, str, str]]:
    found = api.get("/sessions/story/proposals").json()
    return [(each["sequence"], each["rule"], each["significance"]) for each in found["items"]]


def test_proposals_for_unrated_steps_are_accepted_or_declined(api: Program) -> None:
    record(
        api,
        "story",
        {
            "kind": "tool_call",
            "tool": "deploy",
            "call_id": "1",
            "input": "prod",
            "error": {"type": "Pool", "message": "exhausted"},
        },
        message("agent", "We decided to close connections."),
        {"kind": "tool_call", "tool": "deploy", "call_id": "2", "input": "prod"},
        message("agent", "That fixed it.", "solution"),
        message("agent", "The root cause is the pool."),
    )
    assert proposals(api) == [
        (1, "first_error", "error"),
        (2, "decision", "decision"),
        (3, "error_gone", "solution"),
        (5, "root_cause", "breakthrough"),
    ]
    answer = {"sequence": 5, "rule": "root_cause"}
    taken = api.post("/sessions/story/proposals", {**answer, "accept": True}).json()
    assert (taken["significance"], taken["recorded"]["significance"]) == ("breakthrough", None)
    assert api.get("/sessions/story/weights").json()["items"][0]["proposal"] == "root_cause"
    refused = api.post("/sessions/story/proposals", {"sequence": 1, "rule": "first_error", "accept": False})
    assert (refused.status_code, refused.json()["significance"]) == (200, None)
    assert proposals(api) == [(2, "decision", "decision"), (3, "error_gone", "solution")]
    repeated = api.post("/sessions/story/proposals", {**answer, "accept": True})
    assert (repeated.status_code, repeated.json()["code"]) == (404, "proposal_not_found")
    assert repeated.json()["message"].startswith("This suggestion for step 5 has already been accepted by ")
    never = api.post("/sessions/story/proposals", {"sequence": 4, "rule": "decision", "accept": False})
    assert "There is no suggestion for step 4 by the rule 'decision'" in never.json()["message"]


def test_a_tool_result_that_starts_with_error_counts_as_failed(api: Program) -> None:
    record(
        api,
        "story",
        {"kind": "tool_result", "tool": "book", "input": "14A", "output": "Error: no seat"},
        {"kind": "tool_result", "tool": "book", "input": "14A", "output": "booked"},
        {"kind": "tool_result", "tool": "read", "output": "x" * 40_000},
    )
    assert proposals(api) == [(1, "first_error", "error"), (2, "error_gone", "solution")]
    found = api.get("/sessions/story/proposals").json()
    assert (found["read"], found["recorded"], found["next"]) == (3, 3, None)


def test_the_significance_of_a_deleted_turn_cannot_be_changed(api: Program, session: Session) -> None:
    assert session
    assert api.delete_for("/sessions/story/actions/2", {"reason": "asked for"}).status_code in {200, 202}
    answer = api.patch("/sessions/story/actions/2", {"significance": "decision"})
    assert (answer.status_code, answer.json()["code"]) == (409, "turn_deleted")


def test_proposals_for_many_calls_are_computed_in_time(api: Program) -> None:
    made = (
        {
            "kind": "tool_call",
            "tool": f"t{n % 200}",
            "input": n % 7,
            "error": {"type": "X"} if n % 3 else None,
        }
        for n in range(1_000)
    )
    record(api, "story", *made)
    found = api.get("/sessions/story/proposals").json()
    assert found["read"] == 1_000
    assert found["items"][0]["rule"] == "first_error"

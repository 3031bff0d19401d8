"""Patterns over HTTP: lists, details, similarity queries and watch rules."""

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.brokers import received, run
from tests.memory.patterns.recorded import agent_message, failed, read, session_of, user_message
from timemachine.core.accounts.models import Project
from timemachine.jobs.registry import sweep
from timemachine.memory.patterns.models import PatternAlert
from timemachine.memory.tasks import index_steps
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
SHORT = "gift card balance is not enough"
LONG = "not enough balance in payment method gift_card_8190333"
SOLVED = "Take the other card."


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> list[Session]:
    """Two sessions with the same error, which the first one solved, and a question that both asked."""
    project = Project.objects.create(name="Prüfung")
    first = session_of(
        project,
        failed(SHORT),
        agent_message(SOLVED, significance="solution"),
        user_message("How long does it take?"),
        key="a:1",
    )
    second = session_of(project, failed(LONG), failed(SHORT), user_message("How long does it take?"), key="b")
    read(project)
    return [first, second]


@pytest.fixture
def two(recorded: list[Session]) -> list[Session]:
    return [Session.objects.get(pk=each.pk) for each in recorded]


@pytest.fixture
def project(two: list[Session]) -> Project:
    return two[0].project


def only(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    [found] = answer.json()["items"]
    return dict(found)


def test_a_pattern_shows_how_often_it_occurred_and_what_solved_it(api: Program, two: list[Session]) -> None:
    found = only(api.get("/patterns", kind="error"))
    facts = ("text", "sessions", "steps", "solved_sessions")
    assert [found[name] for name in facts] == [f"Error: {SHORT}", 2, 3, 1]
    assert found["trend"]["counts"] == [3]
    solved = found["resolution"]
    assert (solved["session"]["key"], solved["sequence"], solved["solved_by"]) == ("a:1", 1, 2)
    assert (solved["how"], solved["says"]) == ("significant", "step 2 is marked as the solution")
    assert SOLVED in solved["label"]
    complete = api.get(f"/patterns/{found['id']}").json()
    assert [(row["session"]["key"], row["sequences"]) for row in complete["items"]] == [
        ("b", [1, 2]),
        ("a:1", [1]),
    ]
    assert [row["resolution"] is None for row in complete["items"]] == [True, False]
    assert [each["steps"] for each in complete["wordings"]] == [2, 1]


def test_patterns_and_their_sessions_are_paginated(api: Program, two: list[Session]) -> None:
    first = api.get("/patterns", limit=1).json()
    rest = api.get("/patterns", limit=1, after=first["next"]).json()
    assert {first["items"][0]["kind"], rest["items"][0]["kind"]} == {"error", "question"}
    assert (rest["next"], first["not_read"]) == (None, 0)
    path = f"/patterns/{only(api.get('/patterns', kind='error'))['id']}"
    page = api.get(path, limit=1).json()
    after = api.get(path, limit=1, after=page["next"]).json()
    assert [page["items"][0]["session"]["key"], after["items"][0]["session"]["key"]] == ["b", "a:1"]


@pytest.mark.parametrize(
    ("asked_for", "number"),
    [
        ({"q": "GIFT_CARD"}, 1),
        ({"q": "balance", "kind": "question"}, 0),
        ({"q": "\x00"}, 0),
        ({"solved": "yes"}, 1),
        ({"solved": "no"}, 1),
        ({"since": "2026-01-01"}, 2),
        ({"since": "2999-01-01"}, 0),
        ({"min_sessions": 3}, 0),
        ({"min_sessions": 1}, 2),
    ],
)
def test_filters_narrow_the_list(
    api: Program, two: list[Session], asked_for: dict[str, Any], number: int
) -> None:
    assert len(api.get("/patterns", **asked_for).json()["items"]) == number


def test_a_pattern_that_no_longer_matches_after_a_deletion_is_not_listed(
    api: Program, two: list[Session]
) -> None:
    assert len(api.get("/patterns", min_sessions=2).json()["items"]) == 2
    erase_session(two[0])
    assert api.get("/patterns", min_sessions=2).json()["items"] == []
    assert api.get("/patterns", min_sessions=1, solved="yes").json()["items"] == []
    remaining = api.get("/patterns", min_sessions=1).json()["items"]
    assert [each["sessions"] for each in remaining] == [1, 1]


def test_a_page_without_remaining_matches_continues_to_the_next_match(
    api: Program, project: Project, two: list[Session]
) -> None:
    older = [session_of(project, failed("the printer is on fire"), key=key) for key in ("c", "d", "e")]
    newer = [session_of(project, failed("the stapler is empty"), key=key) for key in ("f", "g")]
    read(project)
    erase_session(newer[0])
    erase_session(older[0])
    first = api.get("/patterns", limit=1, kind="error").json()
    assert [(each["text"], each["sessions"]) for each in first["items"]] == [
        ("Error: the printer is on fire", 2)
    ]
    last = api.get("/patterns", limit=1, kind="error", after=first["next"]).json()
    assert [each["text"] for each in last["items"]] == [f"Error: {SHORT}"]
    assert last["next"] is None


@pytest.mark.parametrize(
    "asked_for",
    [
        {"sort": "x"}, {"kind": "x"}, {"solved": "x"}, {"since": "x"}, {"min_sessions": 0}, {"limit": 0}, {"after": "x"},
        {"after": "WyJ4Il0"}, {"similar_to": "b"}, {"similar_to": "b:x"}, {"similar_to": "b:1", "text": "x"},
        {"text": "x", "limit": 3}, {"text": ""}, {"text": " \n"}, {"similar_to": ""}, {"text": "x" * 32_769},
    ],
)  # fmt: skip
def test_an_invalid_query_is_refused(api: Program, two: list[Session], asked_for: dict[str, Any]) -> None:
    assert api.get("/patterns", **asked_for).status_code == 422


def test_a_new_step_matches_a_solved_pattern_before_it_is_indexed(
    api: Program, project: Project, two: list[Session]
) -> None:
    session_of(project, agent_message("hello"), failed(LONG), key="new")
    found = only(api.get("/patterns", similar_to="new:2"))
    assert (found["like"], found["other_sessions"]) == ("same", 2)
    assert found["resolution"]["session"]["key"] == "a:1"
    assert api.get("/patterns", similar_to="new:1").json()["items"] == []
    assert only(api.get("/patterns", similar_to="a:1:1"))["resolution"] is None
    assert api.get("/patterns", similar_to="new:3").status_code == 404
    assert api.get("/patterns", similar_to="nobody:1").status_code == 404


def test_a_text_matches_similar_patterns(api: Program, two: list[Session]) -> None:
    alike = only(api.get("/patterns", text="not enough balance in the payment method gift_card_81"))
    assert (alike["like"], alike["text"]) == ("alike", f"Error: {SHORT}")
    assert only(api.get("/patterns", text="How long does it take?"))["kind"] == "question"
    assert api.get("/patterns", text="How long does it take?", kind="error").json()["items"] == []
    assert api.get("/patterns", text="another matter altogether").json()["items"] == []


def test_the_sweep_enqueues_new_records_for_the_worker(other_project: Project, silent_queue: None) -> None:
    api = program(other_project)
    for _ in range(2):
        session_of(other_project, failed(SHORT))
    assert api.get("/patterns").json()["not_read"] == 2
    sweep()
    assert ("read_patterns", [str(other_project.id)]) in received()
    run(index_steps, other_project.id)
    assert only(api.get("/patterns"))["sessions"] == 2


def test_a_rule_reports_a_pattern_once_per_window(api: Program, project: Project, two: list[Session]) -> None:
    made = api.post("/patterns/rules", {"sessions": 2, "window": "week", "kind": "error"})
    assert made.status_code == 201
    assert api.get("/patterns/rules").json()["items"] == [made.json()]
    at_once = only(api.get("/patterns/alerts"))
    assert (at_once["sessions"], at_once["pattern"]["text"], at_once["seen_at"]) == (
        2,
        f"Error: {SHORT}",
        None,
    )
    session_of(project, failed(SHORT))
    read(project)
    found = only(api.get("/patterns/alerts"))
    assert found == at_once | {"sessions": 3}
    session_of(project, failed(SHORT))
    read(project)
    assert only(api.get("/patterns/alerts")) == found | {"sessions": 4}
    seen = api.post(f"/patterns/alerts/{found['id']}/seen").json()
    assert seen["seen_by"] == "key test"
    assert api.delete(f"/patterns/rules/{made.json()['id']}").json() == {"deleted": made.json()["id"]}
    assert PatternAlert.objects.count() == 0


def test_an_invalid_rule_is_refused(api: Program, project: Project, settings: Settings) -> None:
    for body in (
        {"sessions": 1, "window": "week"},
        {"sessions": 2, "window": "year"},
        {"sessions": 2, "window": "day", "kind": "x"},
        {"sessions": 2, "window": "day", "url": "http://127.0.0.1/x"},
        {"sessions": 2, "window": "day", "url": "ftp://example.org/x"},
        {"sessions": 2},
    ):
        assert api.post("/patterns/rules", body).status_code == 422, body
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    url = {"sessions": 2, "window": "day", "url": "http://127.0.0.1/x"}
    assert program(project, "read", "run").post("/patterns/rules", url).status_code == 403
    assert api.post("/patterns/rules", url).status_code == 201
    assert api.post("/patterns/rules", url).json()["code"] == "rule_exists"
    for sessions in range(2, 21):
        assert api.post("/patterns/rules", {"sessions": sessions, "window": "day"}).status_code == 201
    assert api.post("/patterns/rules", {"sessions": 2, "window": "day"}).json()["code"] == "rule_exists"
    assert api.post("/patterns/rules", {"sessions": 2, "window": "week"}).json()["code"] == "too_many_rules"


def test_a_rule_with_a_webhook_is_deleted_only_by_those_who_may_create_it(
    api: Program, project: Project, settings: Settings
) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    body = {"sessions": 2, "window": "day"}
    notifying = api.post("/patterns/rules", body | {"url": "http://127.0.0.1/x"}).json()["id"]
    quiet = api.post("/patterns/rules", body).json()["id"]
    runner = program(project, "read", "run")
    assert runner.delete(f"/patterns/rules/{notifying}").status_code == 403
    assert runner.delete(f"/patterns/rules/{quiet}").status_code == 200
    assert api.delete(f"/patterns/rules/{notifying}").status_code == 200


def test_nothing_of_another_project_is_found(stranger: Program, api: Program, two: list[Session]) -> None:
    pattern = only(api.get("/patterns", kind="error"))["id"]
    assert stranger.get("/patterns", min_sessions=1).json()["items"] == []
    assert stranger.get("/patterns", text=SHORT).json()["items"] == []
    assert stranger.get(f"/patterns/{pattern}").json()["code"] == "pattern_not_found"
    assert stranger.get("/patterns", similar_to="b:1").status_code == 404

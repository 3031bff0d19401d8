"""A session's replays on its timeline, over HTTP."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.builders import recorded_session, replayed
from tests.web.timelines import get, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.rows import window
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import StepState
from timemachine.replay.runs.worker import work
from timemachine.web.sessions.presenters.replays import outcome_of, row_verdicts, state_mark
from timemachine.web.sessions.views import tail

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="Regression", use_model="local:extractive-1")


@pytest.fixture(scope="module")
def session_once(shared_rows: None) -> Session:
    return recorded_session(Project.objects.create(name="Prüfung"), key="s")


@pytest.fixture
def session(session_once: Session, db: None) -> Session:
    return Session.objects.get(pk=session_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


def data_value(page: str, name: str) -> str:
    found = re.search(rf'data-{name}="([^"]*)"', page)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "waiting"}, "○ waiting"),
        ({"status": "running"}, "◐ running"),
        ({"status": "failed", "verdict": "error"}, "✗ failed"),
        ({"status": "skipped"}, "– skipped"),
        ({"status": "done", "verdict": "identical", "context": "verified"}, "✓ identical"),
        ({"status": "done", "verdict": "identical", "retrieval": "same"}, "✓ identical"),
        ({"status": "done", "verdict": "identical", "retrieval": "changed"}, "✓ identical ≠ passages"),
        (
            {"status": "done", "verdict": "identical", "retrieval": "reordered"},
            "✓ identical ≠ order of passages",
        ),
        ({"status": "done", "verdict": "numbers_differ"}, "≠ numbers differ"),
        ({"status": "done", "verdict": "numbers_differ", "retrieval": "changed"}, "≠ numbers differ"),
        ({"status": "done", "verdict": "error"}, "✗ error"),
        ({"status": "done", "retrieval": "reordered", "context": "verified"}, "≠ reordered"),
        ({"status": "done", "context": "verified"}, "✓ verified"),
        ({"status": "done", "context": "altered"}, "✗ altered"),
        ({"status": "done"}, "✓ done"),
    ],
)
def test_a_state_is_shown_as_a_symbol_and_a_word(state: dict[str, str], expected: str) -> None:
    complete = {"verdict": None, "retrieval": None, "context": None} | state
    assert words(state_mark(StepState(sequence=1, **complete))).strip() == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"status": "waiting"}, "waiting"),
        ({"status": "uncertain"}, "waiting"),
        ({"status": "failed", "verdict": "error"}, "failed"),
        ({"status": "skipped"}, "not-compared"),
        ({"status": "cancelled"}, "not-compared"),
        ({"status": "done"}, "not-compared"),
        ({"status": "done", "verdict": "not_recorded"}, "not-compared"),
        ({"status": "done", "context": "reconstructed"}, "not-compared"),
        ({"status": "done", "verdict": "same_action"}, "same"),
        ({"status": "done", "context": "verified"}, "same"),
        ({"status": "done", "context": "altered"}, "failed"),
        ({"status": "done", "verdict": "reworded", "context": "verified"}, "differs"),
        ({"status": "done", "retrieval": "changed", "context": "verified"}, "differs"),
    ],
)
def test_the_picture_claims_nothing_about_a_step_that_was_not_compared(
    state: dict[str, str], expected: str
) -> None:
    complete = {"verdict": None, "retrieval": None, "context": None} | state
    assert outcome_of(StepState(sequence=1, **complete)) == expected  # type: ignore[arg-type]


def test_a_session_without_replays_mentions_none(operator: Client, session: Session) -> None:
    page = get(operator, "/sessions/s/")
    assert 'class="replays"' not in page
    assert 'class="replayed"' not in page
    assert 'id="tail"' not in page


def test_a_replay_is_listed_and_its_verdicts_are_in_the_rows_if_the_address_names_it(
    operator: Client, session: Session
) -> None:
    replay = replayed(session, AUDIT)
    page = get(operator, "/sessions/s/")
    assert "Replay done: 4 of 4 steps" in words(page)
    assert f'href="?step=1&amp;replay={replay.id}"' in page
    assert 'class="replayed"' not in page
    assert f"/sessions/{session.id}/?replay={replay.id}" in get(operator, f"/replays/{replay.id}/")
    page = get(operator, f"/sessions/s/?replay={replay.id}")
    assert "✓ identical" in words(page)
    assert "replayed up to step 6" in page
    assert f'href="?step=2&amp;replay={replay.id}#s2"' in page
    assert "hide verdicts" in page


def test_an_audit_that_could_verify_nothing_does_not_look_like_a_success(
    operator: Client, session: Session
) -> None:
    replay = replayed(session, ReplayOptions(audit=True, reason="Regression"))
    replay.steps.update(verdict=None, context="not_recorded")
    timeline = get(operator, "/sessions/s/")
    assert "Replay done: 4 of 4 steps, nothing could be verified" in words(timeline)
    assert 'class="status done"' not in timeline
    assert '<span class="status ">done</span>' in get(operator, f"/replays/{replay.id}/")
    assert "context verified 0 of 4 (4 not recorded)" in words(get(operator, "/replays/"))


def test_rows_that_are_loaded_later_have_their_verdicts_too(operator: Client, session: Session) -> None:
    replay = replayed(session, AUDIT)
    assert "identical" in get(operator, f"/sessions/s/?after=1&replay={replay.id}", "li#later")


def test_compact_rows_have_verdicts_except_those_that_group_several_steps(
    operator: Client, session: Session
) -> None:
    replay = replayed(session, AUDIT)
    found = row_verdicts(session, str(replay.id), window(session, 2), {2: "2–3", 4: "×2 · 4–7"})
    assert 2 in found
    assert 4 not in found
    for view in ("compact", "table", "raw"):
        page = get(operator, f"/sessions/s/?view={view}&replay={replay.id}")
        assert "Replay done: 4 of 4 steps" in words(page)
        assert ("✓ verified" in words(page)) is (view == "compact")


@pytest.mark.parametrize("named", ["01a20365-681f-70a4-9aed-8554dc41679b", "x"])
def test_an_unknown_replay_is_reported(operator: Client, session: Session, named: str) -> None:
    assert "This session does not have that replay." in get(operator, f"/sessions/s/?replay={named}")


def test_another_projects_replay_is_not_found(
    operator: Client, session: Session, other_project: Project
) -> None:
    elsewhere = replayed(recorded_session(other_project), AUDIT)
    assert "does not have that replay" in get(operator, f"/sessions/s/?replay={elsewhere.id}")


def test_the_page_of_a_running_replay_polls_and_receives_what_changed(
    operator: Client, session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    replay = launch(session, AUDIT, by="test")
    page = get(operator, f"/sessions/s/?replay={replay.id}")
    assert "Replay queued: 0 of 4 steps" in words(page)
    assert "○ waiting" in words(page)
    query = f"since=7&status=ended&revision={data_value(page, 'revision')}&replay={replay.id}&first=1&last=3"
    with django_assert_num_queries(6):  # as without a replay, and the selected replay, and the newest
        assert operator.get(f"/sessions/s/tail/?{query}").status_code == 204
    work(replay.id, "test")
    news = get(operator, f"/sessions/s/tail/?{query}")
    assert data_value(news, "revision") == ""
    assert data_value(news, "said") == "Replay done: 4 of 4 steps"
    assert set(re.findall(r'data-into="#s(\d+) .replayed"', news)) == {"1", "2"}
    assert "✓ identical" in words(news)
    assert "replayed up to step 6" in news
    assert "<ol>" not in news


def test_at_most_as_many_rows_are_marked_as_a_page_has(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay = launch(session, AUDIT, by="test")
    monkeypatch.setattr(tail, "MOST_MARKS", 1)
    query = f"since=7&status=ended&revision=old&replay={replay.id}&first=1&last=999999999999"
    news = get(operator, f"/sessions/s/tail/?{query}")
    assert re.findall(r'data-into="#s(\d+) .replayed"', news) == ["1", "2"]

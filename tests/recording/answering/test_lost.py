"""Asks whose process died: each becomes a failed step once and leaves nothing behind."""

from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.answering.running_asks import SILENT_FOR, asks_of, record_lost
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.tasks import record_lost_asks
from timemachine.recording.timeline.totals import summary_of

MODEL = "openai:gpt-4o-mini"


@pytest.fixture
def session(project: Project) -> Session:
    return start_session(project, name="s", by="test")


def ask(
    project: Project,
    session: Session | None,
    *,
    silent: timedelta = SILENT_FOR * 2,
    question: str = "How long?",
    model: str | None = None,
) -> AskUnderWay:
    seen = now() - silent
    return AskUnderWay.objects.create(
        project=project, session=session, question=question, model=model, started_at=seen, seen_at=seen
    )


def test_a_lost_ask_becomes_a_failed_step_once(project: Project, session: Session) -> None:
    begun = ask(project, session)
    assert asks_of(project).count() == 0
    assert (record_lost(), record_lost()) == (1, 0)
    recorded = Action.objects.get(session=session)
    assert (recorded.kind, recorded.error_type, recorded.started_at) == ("ask", "ask_lost", begun.started_at)
    assert "may have been billed" in (recorded.error_message or "")
    assert (recorded.model, recorded.output_id) == (None, None)
    assert AskUnderWay.objects.count() == 0


def test_a_running_ask_is_not_touched(project: Project, session: Session) -> None:
    ask(project, session, silent=timedelta(seconds=5))
    assert record_lost() == 0
    assert asks_of(project).count() == 1


def test_a_lost_ask_without_a_session_is_only_removed(project: Project) -> None:
    ask(project, None)
    assert record_lost() == 1
    assert (Action.objects.count(), AskUnderWay.objects.count()) == (0, 0)


def test_a_lost_ask_is_recorded_even_if_its_session_has_ended(project: Project, session: Session) -> None:
    ask(project, session)
    end_session(session.id)
    assert record_lost() == 1
    assert Action.objects.get(session=session).error_type == "ask_lost"


def test_a_lost_ask_counts_as_a_call_of_unknown_price(project: Project, session: Session) -> None:
    ask(project, session, model=MODEL)
    record_lost()
    recorded = Action.objects.get(session=session)
    assert (recorded.model, recorded.cost_usd) == (MODEL, None)
    assert f"the answer of {MODEL}" in (recorded.error_message or "")
    session.refresh_from_db()
    assert (session.unknown_cost_calls, summary_of(session).unknown_cost_calls) == (1, 1)


def test_a_lost_ask_that_cannot_be_recorded_does_not_block_the_others(
    project: Project, session: Session, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MAX_ACTION_BYTES = 200
    ask(project, session, question="x" * 200)
    ask(project, session)
    assert record_lost_asks() == []
    assert [each.error_type for each in Action.objects.filter(session=session)] == ["ask_lost"]
    assert AskUnderWay.objects.count() == 0
    assert "could not be recorded" in caplog.text

"""Asks whose process died: each becomes a failed step, once, and nothing of it stays behind."""

from datetime import timedelta

import pytest

from timemachine.accounts.models import Project
from timemachine.answering.lost import SILENT_FOR, record_lost
from timemachine.answering.models import AskUnderWay
from timemachine.answering.under_way import asks_of
from timemachine.base.clock import now
from timemachine.recording.commands import end_session, start_session
from timemachine.recording.models import Action, Session


@pytest.fixture
def session(project: Project) -> Session:
    return start_session(project, name="s", by="test")


def ask(project: Project, session: Session | None, *, silent: timedelta = SILENT_FOR * 2) -> AskUnderWay:
    seen = now() - silent
    return AskUnderWay.objects.create(
        project=project, session=session, question="How long?", started_at=seen, seen_at=seen
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


def test_an_ask_that_lives_is_left_alone(project: Project, session: Session) -> None:
    ask(project, session, silent=timedelta(seconds=5))
    assert record_lost() == 0
    assert asks_of(project).count() == 1


def test_what_has_nowhere_to_be_recorded_is_only_forgotten(project: Project, session: Session) -> None:
    ask(project, None)
    ask(project, session)
    end_session(session.id)
    assert record_lost() == 2
    assert (Action.objects.count(), AskUnderWay.objects.count()) == (0, 0)

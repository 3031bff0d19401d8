"""Moments as people write them: times as shown on pages, and steps of sessions."""

from datetime import UTC, datetime, timedelta

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.queries import action_of, resolve_moment


@pytest.mark.parametrize("text", ["2001-11-20 19:05", "2001-11-20T19:05", "2001-11-20 19:05:00.000 UTC"])
def test_a_time_as_shown_on_pages_is_accepted(project: Project, text: str) -> None:
    assert resolve_moment(project, text) == datetime(2001, 11, 20, 19, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2001-11-20 25", "2001-11-20 19:77", "2001-11-20T19:5", "yesterday"])
def test_an_invalid_time_is_not_taken_for_a_session(project: Project, text: str) -> None:
    with pytest.raises(InvalidInput, match="Write a time like 2026-11-20 09:00"):
        resolve_moment(project, text)


@pytest.mark.parametrize("text", ["2101-01-01", "2101-01-01 09:00", "2101-01-01T09:00:00Z"])
def test_a_future_moment_is_refused(project: Project, text: str) -> None:
    with pytest.raises(InvalidInput, match="`as_of` is in the future") as refused:
        resolve_moment(project, text)
    assert (refused.value.code, refused.value.facts["field"]) == ("not_a_time", "as_of")


def test_a_clock_may_be_slightly_ahead(project: Project) -> None:
    ahead = now() + timedelta(seconds=30)
    assert resolve_moment(project, ahead.isoformat()) == ahead


def test_a_step_of_a_session_whose_key_is_a_date_is_a_moment(project: Project) -> None:
    session = start_session(project, name="n", key="2001-11-20", by="test")
    append(session.id, [ActionDraft(kind="event", output="x")])
    assert resolve_moment(project, "2001-11-20:1") == action_of(session, 1).recorded_at

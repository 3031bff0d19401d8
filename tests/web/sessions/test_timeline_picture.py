"""The picture above a timeline: over the steps or over time, as the URL says."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from tests.web.timelines import get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db

NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_a_picture_over_time_folds_an_idle_night_and_counts_unknown_costs(
    operator: Client, project: Project
) -> None:
    moments = [NINE, NINE + timedelta(minutes=2), NINE + timedelta(hours=9)]
    recorded(project, [ActionDraft(kind="llm_call", model="m", started_at=at) for at in moments])
    page = get(operator, "/sessions/s/?axis=time&step=2")
    assert "8 h 58 min</text>" in page
    assert "20 Nov 09:00:00</text>" in page
    assert re.search(r'aria-label="Steps 1 to 3, from 2026-11-20 09:00:00[^"]*, 2 gaps without steps', page)
    assert "cost 3 calls of unknown price" in page
    assert 'href="?step=2"' in page  # back to the axis of steps
    assert "axis=time" not in get(operator, "/sessions/s/?step=2").split("Axis of the picture")[0]


def test_without_recorded_times_the_picture_stays_on_steps(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event")] * 3)
    page = get(operator, "/sessions/s/?axis=time")
    assert "No times were recorded, so the picture shows the steps in their order." in words(page)
    assert 'data-axis="steps"' in page


def test_a_hostile_agent_is_escaped_in_the_picture(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="event", agent=name) for name in ("<script>alert(1)", "b")])
    page = get(operator, "/sessions/s/")
    assert "<script>alert" not in page
    assert 'data-lane="&lt;script&gt;alert(1) system"' in page

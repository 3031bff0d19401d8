"""The picture of a shared session: its shown steps over their numbers or over time, and nothing that the link withholds."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.web.timelines import recorded, words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.read_models import pictures
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline import pieces
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import profile_of

pytestmark = pytest.mark.django_db
NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)


def drafts(number: int, agents: tuple[str, ...] = ("scout",)) -> list[ActionDraft]:
    return [
        ActionDraft(
            kind="message",
            agent=agents[n % len(agents)],
            started_at=NINE + timedelta(seconds=n),
            error_message="broken" if n % 100 == 90 else None,
        )
        for n in range(number)
    ]


def visited(project: Project, number: int, terms: Terms) -> tuple[Client, str]:
    _, path = shared(project, recorded(project, drafts(number, ("Kanari-1", "Kanari-2", "scout"))), terms)
    return opened(path)


def test_the_picture_shows_the_steps_of_the_link_over_their_numbers_or_over_time(project: Project) -> None:
    visitor, page = visited(project, 9, Terms(through_sequence=4))
    by_number = visitor.get(f"{page}?step=2").text
    assert re.search(
        'aria-label="Steps 1 to 4, Kanari-1 messages 2, Kanari-2 messages 1, scout messages 1', by_number
    )
    assert 'href="?step=2&amp;axis=time#timeline"' in by_number
    by_time = visitor.get(f"{page}?step=2&axis=time").text
    assert "Steps 1 to 4, from 2026-11-20 09:00:00.000 UTC to 2026-11-20 09:00:03.000 UTC" in by_time
    assert 'href="?step=3&amp;axis=time#s3"' in by_time  # the list stays on this axis
    assert 'name="axis" value="time"' in by_time  # and so does the slider


def test_without_recorded_times_the_picture_stays_on_steps(project: Project) -> None:
    _, path = shared(project, recorded(project, [ActionDraft(kind="event")] * 3))
    visitor, page = opened(path)
    by_time = visitor.get(f"{page}?axis=time").text
    assert "No times were recorded, so the picture shows the steps in their order." in words(by_time)
    assert 'data-axis="steps"' in by_time


@pytest.mark.parametrize(
    "rules", [{"fields": ["agent"]}, {"patterns": [{"name": "bird", "pattern": "Kanari-[0-9]"}]}]
)
def test_agents_that_are_withheld_share_a_lane_without_a_name(
    project: Project, rules: dict[str, object]
) -> None:
    make_profile(project, name="No birds", rules=read_rules(rules), by="test")
    visitor, page = visited(project, 9, Terms(redaction=profile_of(project, "No birds")))
    shown = visitor.get(page).text
    assert "Kanari" not in shown
    pattern = (
        r"withheld: \w+\S+ messages 6, scout messages 3"
        if "patterns" in rules
        else 'aria-label="Steps 1 to 9, messages 9'
    )
    assert re.search(pattern, shown)


def test_a_long_picture_is_drawn_in_complete_hundreds_without_agents(
    project: Project, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for module in (pieces, pictures):
        monkeypatch.setattr(module, "MOST_COUNTED", 200)
    make_profile(project, name="No birds", rules=read_rules({"fields": ["agent"]}), by="test")
    terms = Terms(through_sequence=350, redaction=profile_of(project, "No birds"))
    session = recorded(project, drafts(450, ("Kanari-1", "scout")))
    session.refresh_from_db()
    link, path = shared(project, session, terms)
    visitor, page = opened(path)
    shown = visitor.get(page).text
    assert "Kanari" not in shown
    assert "Steps 1 to 300, messages 300, 3 errors" in shown
    assert "Steps 1–300. A session of this length is drawn in hundreds" in words(shown)
    for axis in ("steps", "time"):
        with django_assert_max_num_queries(2):
            found = Scope(link=link).picture(axis)
        assert found is not None
        assert (found.last, found.number, found.errors) == (300, 300, 3)

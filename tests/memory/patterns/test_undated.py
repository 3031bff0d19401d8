"""Imported steps without times: they count, but not at the time of their import."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.memory.patterns.recorded import failed, patterns, read, session_of
from tests.web.people import browser_of
from tests.web.timelines import get, words
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.memory.patterns.models import PatternAlert
from timemachine.memory.patterns.queries import trends_of
from timemachine.memory.patterns.rules import create_rule
from timemachine.recording.sessions.commands import append, end_imported, start_session
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
BALANCE, LOCKED = "gift card balance is not enough", "the account of this user is locked"
WHEN = datetime(2026, 3, 1, 10, tzinfo=UTC)


def undated(project: Project, *texts: str, key: str) -> Session:
    session = start_session(project, name=key, key=key, by="test", imported_as="tau_bench")
    append(session.id, [failed(each) for each in texts], imported=True)
    return end_imported(session.id, ended=None)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def mixed(project: Project) -> None:
    """`BALANCE` without a time in two sessions and with one in a third, `LOCKED` never with one."""
    undated(project, BALANCE, BALANCE, LOCKED, key="first")
    undated(project, BALANCE, LOCKED, key="second")
    session_of(project, failed(BALANCE, started_at=WHEN), key="third")
    read(project)


@pytest.mark.usefixtures("mixed")
def test_steps_without_times_count_but_at_no_time(project: Project) -> None:
    balance, locked = patterns(project)
    assert (balance.text, balance.steps, balance.undated, balance.first_at, balance.last_at) == (
        f"Error: {BALANCE}", 4, 3, WHEN, WHEN,
    )  # fmt: skip
    assert (locked.text, locked.steps, locked.undated, locked.first_at, locked.last_at) == (
        f"Error: {LOCKED}", 2, 2, None, None,
    )  # fmt: skip
    trends = trends_of([balance, locked])
    assert [each.counts for each in trends.values()] == [(1,)]
    assert not patterns(project, since=(now() - timedelta(days=1)).isoformat())


def test_steps_without_times_raise_no_alert(project: Project) -> None:
    create_rule(project, sessions=2, window="month", by="ada")
    undated(project, BALANCE, key="first")
    undated(project, BALANCE, key="second")
    session_of(project, failed(BALANCE))
    read(project)
    assert not PatternAlert.objects.exists()
    session_of(project, failed(BALANCE))
    read(project)
    assert [each.sessions for each in PatternAlert.objects.all()] == [2]


@pytest.mark.usefixtures("mixed")
def test_the_api_says_how_many_steps_have_no_time_and_lists_them_last(api: Program) -> None:
    first = api.get("/patterns", limit=1).json()
    second = api.get("/patterns", limit=1, after=first["next"]).json()
    found = [*first["items"], *second["items"]]
    assert [(each["steps"], each["undated_steps"], each["first_seen"]) for each in found] == [
        (4, 3, "2026-03-01T10:00:00Z"),
        (2, 2, None),
    ]
    assert (found[1]["last_seen"], found[1]["trend"], second["next"]) == (None, None, None)
    pages: list[Any] = []
    after: str | None = None
    while not pages or after:
        page = api.get(f"/patterns/{found[0]['id']}", limit=1, **({"after": after} if after else {})).json()
        pages += page["items"]
        after = page["next"]
    assert [(each["session"]["key"], each["undated_steps"], each["last_seen"]) for each in pages] == [
        ("third", 0, "2026-03-01T10:00:00Z"),
        ("second", 1, None),
        ("first", 2, None),
    ]


@pytest.mark.usefixtures("mixed")
def test_pages_say_how_many_steps_have_no_time(project: Project) -> None:
    browser = browser_of(project)
    assert "3 without a time" in words(get(browser, "/patterns/"))
    balance, locked = patterns(project)
    assert "4 times in 3 sessions, 3 of them without a time" in words(
        get(browser, f"/patterns/{balance.id}/")
    )
    page = words(get(browser, f"/patterns/{locked.id}/"))
    assert "First not recorded Last not recorded" in page
    assert "Trend" not in page

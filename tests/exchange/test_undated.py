"""A session of a file without times: what was sealed of it stays, and what an earlier release made up is taken away, nothing else."""

import json
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.evidence.sessions import checked, compared_with_its_seal
from timemachine.accounts.models import Project
from timemachine.base.clock import now, parse_time, written
from timemachine.evidence.exporting import write_session
from timemachine.exchange.commands import ImportDone, import_file
from timemachine.recording.commands import append, end_session, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
ABOUT = {"format": "timemachine-session", "version": 1, "key": "k", "name": "n", "through": 1}
TIMES = {"started_at": "2026-11-20T09:00:00Z", "ended_at": "2026-11-20T09:00:01Z"}
STEP = {"sequence": 1, "kind": "event"}


def imported(project: Project, *documents: dict[str, Any]) -> ImportDone:
    return import_file(project, b"\n".join(json.dumps(each).encode() for each in documents), by="test")


def test_what_was_sealed_stays_when_a_later_file_tells_the_times(project: Project, tmp_path: Path) -> None:
    (first,) = imported(project, ABOUT, STEP).sessions
    assert checked(first.session) == []
    again = imported(project, ABOUT | TIMES, STEP)
    session = again.sessions[0].session
    assert (session.is_undated, session.started_at) == (True, first.session.started_at)
    assert written(session.ended_at) == TIMES["ended_at"]
    (note,) = again.report.notes
    assert "'k' was imported before from a file without times: when it began stays not recorded" in note
    assert compared_with_its_seal(session).problems == []
    with (tmp_path / "x.zip").open("wb") as target:
        write_session(target, session)
    assert tm_verify.verify(str(tmp_path / "x.zip")).problems == []


def test_an_import_says_nothing_of_times_where_none_came_later(project: Project) -> None:
    assert imported(project, ABOUT, STEP).report.notes == ()
    assert imported(project, ABOUT, STEP).report.notes == ()
    dated = ABOUT | TIMES | {"key": "dated"}
    assert [imported(project, dated, STEP).report.notes for _ in range(2)] == [(), ()]


def test_the_end_of_a_long_import_is_known_by_its_last_step(project: Project) -> None:
    session = imported(project, ABOUT, STEP).sessions[0].session
    came = session.started_at - timedelta(minutes=3)
    end = now() + timedelta(seconds=1)
    Session.objects.filter(id=session.id).update(
        created_at=came, started_at=came, ended_at=end, is_undated=False
    )
    assert marked(session) == (True, False)


def marked(session: Session) -> tuple[bool, bool]:
    """Whether the migration takes a session for undated, and whether its end is kept."""
    statement = import_module("timemachine.migrations.0080_undated_sessions").MARKED
    with connection.cursor() as cursor:
        cursor.execute(statement)
    session.refresh_from_db()
    return session.is_undated, session.ended_at is not None


@pytest.mark.parametrize(
    ("imported_as", "started", "ended", "step", "expected"),
    [
        ("openai_chat", timedelta(), timedelta(seconds=1), None, (True, False)),
        ("openai_chat", timedelta(), None, None, (True, False)),
        ("timemachine", -timedelta(seconds=1), -timedelta(milliseconds=1), None, (False, True)),
        ("timemachine", timedelta(), timedelta(seconds=1), "2026-11-20T09:00:00Z", (False, True)),
        ("timemachine", timedelta(), timedelta(hours=3), None, (False, True)),
        ("timemachine", -timedelta(hours=1), timedelta(seconds=1), None, (False, True)),
        (None, timedelta(), timedelta(seconds=1), None, (False, True)),
    ],
)
def test_an_end_is_taken_away_only_where_it_was_surely_made_up_at_the_import(
    project: Project,
    imported_as: str | None,
    started: timedelta,
    ended: timedelta | None,
    step: str | None,
    expected: tuple[bool, bool],
) -> None:
    session = start_session(project, name="n", by="test")
    append(session.id, [ActionDraft(kind="event", started_at=parse_time(step) if step else None)])
    end_session(session.id)
    came = now()
    Session.objects.filter(id=session.id).update(
        created_at=came,
        started_at=came + started,
        ended_at=None if ended is None else came + ended,
        imported_as=imported_as,
    )
    session.refresh_from_db()
    assert checked(session) == []
    assert marked(session) == expected
    assert compared_with_its_seal(session).problems == []

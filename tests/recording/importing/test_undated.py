"""Sessions imported without times: what was sealed does not change."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.sessions import checked, compared_with_its_seal
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.evidence.bundles.exporting import write_session
from timemachine.recording.importing.commands import ImportDone, import_file
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
ABOUT = {"format": "timemachine-session", "version": 1, "key": "k", "name": "n", "through": 1}
TIMES = {"started_at": "2026-11-20T09:00:00Z", "ended_at": "2026-11-20T09:00:01Z"}
STEP = {"sequence": 1, "kind": "event"}


def imported(project: Project, *documents: dict[str, Any]) -> ImportDone:
    return import_file(project, b"\n".join(json.dumps(each).encode() for each in documents), by="test")


def test_a_sealed_session_is_unchanged_when_a_later_file_has_times(project: Project, tmp_path: Path) -> None:
    (first,) = imported(project, ABOUT, STEP).sessions
    assert checked(first.session) == []
    second = imported(project, ABOUT | TIMES, STEP)
    session = second.sessions[0].session
    assert (session.is_undated, session.started_at) == (True, first.session.started_at)
    assert written(session.ended_at) == TIMES["ended_at"]
    (note,) = second.report.notes
    assert "'k' was imported before from a file without times: its start time stays unknown" in note
    assert compared_with_its_seal(session).problems == []
    with (tmp_path / "x.zip").open("wb") as target:
        write_session(target, session)
    assert tm_verify.verify(str(tmp_path / "x.zip")).problems == []


def test_an_import_without_later_times_has_no_note_about_them(project: Project) -> None:
    assert imported(project, ABOUT, STEP).report.notes == []
    assert imported(project, ABOUT, STEP).report.notes == []
    dated = ABOUT | TIMES | {"key": "dated"}
    assert [imported(project, dated, STEP).report.notes for _ in range(2)] == [[], []]

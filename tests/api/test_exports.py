"""Exporting a session over HTTP."""

import json

import pytest

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db


def test_a_session_is_exported_and_imported_again(api: Program, project: Project) -> None:
    session = recorded_session(project, key="s1")
    before = api.get("/sessions/s1/actions").json()["items"]
    answer = api.get("/sessions/s1/export")
    data = b"".join(answer.streaming_content)
    assert answer["Content-Disposition"] == 'attachment; filename="s1.jsonl"'
    assert (answer["Content-Type"], answer["Last-Sequence"]) == ("application/x-ndjson", "7")
    assert data.count(b"\n") == 8
    assert json.loads(data.split(b"\n")[0])["through"] == 7
    refused = api.raw("/import", data)
    assert (refused.status_code, refused.json()["code"]) == (409, "key_taken")
    erase_session(session)
    done = api.raw("/import", data)
    assert (done.status_code, done.json()["report"]["lines"]) == (201, 8)
    assert api.get("/sessions/s1/actions").json()["items"] == before


def test_an_export_without_scope_or_from_another_project_or_in_an_unknown_format_is_refused(
    api: Program, project: Project, other_project: Project
) -> None:
    recorded_session(project, key="s1")
    assert program(project, "record").get("/sessions/s1/export").json()["code"] == "scope_missing"
    assert program(other_project).get("/sessions/s1/export").json()["code"] == "session_not_found"
    unknown = api.get("/sessions/s1/export", format="word")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_format")
    assert "timemachine" in unknown.json()["facts"]["known"]

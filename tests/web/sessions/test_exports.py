"""Exporting a session from its page."""

import json
import zipfile
from io import BytesIO

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.recording.importing.exporting import EXPORTS
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(project: Project) -> Client:
    return browser_of(project, VIEWER)


@pytest.fixture
def session(project: Project) -> Session:
    made = start_session(project, by="test", key="run-1", name="A run")
    append(made.id, [ActionDraft(kind="message", role="user", output=f"said {n}") for n in range(3)])
    return made


def downloaded(browser: Client, address: str) -> tuple[bytes, str, str]:
    answer = browser.get(address)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "private, no-store"
    return answer.getvalue(), answer["Content-Disposition"], answer["Last-Sequence"]


def test_a_session_links_to_its_export_page_which_links_to_a_file_per_format(
    viewer: Client, session: Session
) -> None:
    assert f'href="/sessions/{session.id}/export/"' in viewer.get("/sessions/run-1/").content.decode()
    page = viewer.get(f"/sessions/{session.id}/export/").content.decode()
    assert "3 steps" in page
    assert "Still recording" in page
    for way in EXPORTS.values():
        address = f"/sessions/{session.id}/export/{way.name}"
        assert f'href="{address}"' in page
        assert way.title in page
        content, disposition, last = downloaded(viewer, address)
        assert f'filename="run-1{way.ending}"' in disposition
        assert last == "3"
        assert b"said 2" in (content if way.name != "zip" else unzipped(content))


def unzipped(content: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(content)) as file:
        return b"".join(file.read(name) for name in file.namelist())


def test_a_session_without_steps_says_so_and_can_be_exported(viewer: Client, project: Project) -> None:
    start_session(project, by="test", key="empty", name="Nothing yet")
    assert "Nothing is recorded in this session yet" in viewer.get("/sessions/empty/export/").content.decode()
    content, _, last = downloaded(viewer, "/sessions/empty/export/timemachine")
    assert (json.loads(content)["name"], last) == ("Nothing yet", "0")


def test_an_unknown_format_is_refused_with_the_known_ones(viewer: Client, session: Session) -> None:
    answer = viewer.get(f"/sessions/{session.id}/export/docx")
    assert answer.status_code == 422
    assert "timemachine, atif, otlp_json, zip" in answer.content.decode()

"""The forms of a session in a browser: starting, ending and deleting it, and who may do so."""

import json
import re

import pytest
from django.test import Client

from tests.web.handbook import FACTS, NAME
from tests.web.people import browser_of
from tests.web.sessions.workbench import kinds, open_session, work, work_form
from timemachine.core.accounts.models import Project
from timemachine.evidence.models import LogEntry
from timemachine.evidence.sealing import seals
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.sessions.models import Action, Session


@pytest.fixture
def session(project: Project, handbook: Collection) -> Session:
    return open_session(project, handbook)


@pytest.fixture
def admin(project: Project) -> Client:
    return browser_of(project, "admin")


def test_a_session_is_started_and_its_timeline_links_to_the_workbench(
    operator: Client, project: Project, handbook: Collection
) -> None:
    form = operator.get("/sessions/new/", {"collection": handbook.name}).text
    assert f'<option value="{handbook.name}" selected>' in form
    sent = operator.post(
        "/sessions/new/", {"name": "Läufe", "collection": handbook.name, "agent": "Zoë", "key": "k:1"}
    )
    session = Session.objects.get(project=project)
    assert (sent.status_code, sent["Location"]) == (303, f"/sessions/{session.id}/")
    assert (session.name, session.collection, session.agent, session.key) == ("Läufe", handbook, "Zoë", "k:1")
    assert (session.created_by, session.status) == ("operator@example.org", "recording")
    assert f'href="{work(session)}"' in operator.get(sent["Location"]).text


def test_empty_fields_are_not_recorded(operator: Client) -> None:
    operator.post("/sessions/new/", {"name": "bare"})
    session = Session.objects.get()
    assert (session.collection, session.agent) == (None, None)
    assert re.fullmatch(r"sess-[0-9a-f]{8}", session.key)


def test_a_new_collection_is_created_with_the_session(operator: Client, project: Project) -> None:
    operator.post("/sessions/new/", {"name": "first", "new_collection": "Grüße"})
    assert Session.objects.get().collection == Collection.objects.get(project=project, name="Grüße")


@pytest.mark.parametrize(
    ("form", "status", "field", "sentence"),
    [
        ({"name": " "}, 422, "name", "Enter a name for the session."),
        ({"name": "n", "key": "two words"}, 422, "key", "is not valid"),
        ({"name": "n", "key": "fragen"}, 409, "key", "already exists"),
        ({"name": "n", "key": "fragen", "new_collection": "new"}, 409, "key", "already exists"),
        ({"name": "n", "collection": "gone"}, 422, "collection", "This collection no longer exists"),
        ({"name": "n", "new_collection": "a/b"}, 422, "new_collection", "is not a valid collection name"),
        (
            {"name": "n", "collection": NAME, "new_collection": "other"},
            422,
            "new_collection",
            "not both",
        ),
    ],
)
def test_an_invalid_form_shows_the_reason_at_its_field_and_keeps_its_input(
    operator: Client, session: Session, form: dict[str, str], status: int, field: str | None, sentence: str
) -> None:
    page = operator.post("/sessions/new/", form | {"agent": "kept agent"})
    assert page.status_code == status
    assert sentence in page.text
    assert 'value="kept agent"' in page.text
    assert field is None or f"new_session_{field}_error" in page.text
    assert Session.objects.count() == 1
    assert Collection.objects.count() == 1


def test_ending_a_session_redirects_to_its_timeline_and_closes_the_workbench(
    operator: Client, session: Session
) -> None:
    operator.post(work(session), work_form("invoices", do="find"))
    ended = operator.post(f"/sessions/{session.id}/end/")
    assert (ended.status_code, ended["Location"]) == (303, f"/sessions/{session.id}/")
    assert "Session ended with 1 step." in operator.get(ended["Location"]).text
    page = operator.get(work(session)).text
    assert "This session has ended" in page
    assert 'name="text"' not in page
    late = operator.post(work(session), work_form("one more"))
    assert (late.status_code, "has ended" in late.text) == (409, True)
    assert operator.post(f"{work(session)}put/", {"text": "late"}).status_code == 409
    assert Frame.objects.count() == len(FACTS)
    assert kinds(session) == ["find"]
    assert operator.post(f"/sessions/{session.id}/end/").status_code == 303


def test_an_administrator_deletes_a_session_after_entering_its_name(admin: Client, session: Session) -> None:
    admin.post(work(session), work_form("invoices"))
    address = f"/sessions/{session.id}/delete/"
    assert "Fragen 🕰" in admin.get(address).text
    for wrong in ("", "Fragen"):
        page = admin.post(address, {"name": wrong})
        assert page.status_code == 422
        assert 'aria-describedby="delete_name_error"' in page.text
    assert kinds(session) == ["ask", "find"]
    deleted = admin.post(address, {"name": " Fragen 🕰 "})
    assert (deleted.status_code, deleted["Location"]) == (303, "/")
    assert "Session Fragen 🕰 deleted with its 2 steps." in admin.get("/").text
    assert not Session.objects.exists()
    assert not Action.objects.exists()


def test_the_reason_for_a_deletion_must_not_contain_personal_data(
    admin: Client, session: Session, project: Project
) -> None:
    seals.seal_session(session.id)
    address = f"/sessions/{session.id}/delete/"
    refused = admin.post(address, {"name": "fragen", "reason": "jo@example.org asked"})
    assert refused.status_code == 422
    assert 'aria-describedby="delete_reason_helptext delete_reason_error"' in refused.text
    assert "The reason contains e-mail, which must not be stored." in refused.text
    assert admin.post(address, {"name": "fragen", "reason": "its time is over"}).status_code == 303
    log_entry = LogEntry.objects.filter(project=project).latest("index").entry
    assert json.loads(bytes(log_entry))["reason"] == "its time is over"


def test_the_key_confirms_a_deletion_as_well_as_the_name(admin: Client, session: Session) -> None:
    assert admin.post("/sessions/fragen/delete/", {"name": "fragen"}).status_code == 303
    assert not Session.objects.exists()


def test_a_viewer_sees_no_forms_for_recording(viewer: Client, session: Session) -> None:
    page = viewer.get(work(session)).text
    assert 'name="text"' not in page
    assert "End session" not in page


def test_the_form_of_a_session_says_how_a_program_records(operator: Client) -> None:
    page = operator.get("/sessions/new/").text
    assert "with <b>Record</b> on the session" in page
    assert "/api/sessions -H" in page

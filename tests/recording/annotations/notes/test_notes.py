"""Notes over HTTP: pinned to steps, listed in order, deletable by their owners; the recording never changes."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.web.timelines import HOSTILE, example_actions, recorded
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.annotations.notes import commands
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import note_counts, noted_steps, notes_of
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
NOTES = "/sessions/s/notes"


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project, example_actions())


def pinned(api: Program, sequence: int, text: str = "Here it went wrong.") -> dict[str, Any]:
    answer = api.post(NOTES, {"sequence": sequence, "text": text})
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_pinning_a_note_does_not_change_the_recording(api: Program, session: Session) -> None:
    before = list(Action.objects.order_by("id").values()), Session.objects.values().get()
    made = pinned(api, 2)
    assert made["url"].endswith(f"/sessions/{session.id}/notes/{made['id']}/")
    assert (made["sequence"], made["text"], made["created_by"]) == (2, "Here it went wrong.", "key test")
    assert api.get(NOTES).json() == {"items": [made], "next": None}
    assert api.get("/sessions/s/summary").json()["notes"] == 1
    assert (list(Action.objects.order_by("id").values()), Session.objects.values().get()) == before


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "\x00", "\ud800\uffff", "\u202eabc", " a\r\n b ", "é" * LONGEST_TEXT, "\x00" * LONGEST_TEXT],
)
def test_any_text_is_returned_unchanged(api: Program, session: Session, text: str) -> None:
    assert session
    assert pinned(api, 1, text)["text"] == text
    assert api.get(NOTES).json()["items"][0]["text"] == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "A note needs some text"),
        (" \n\t", "A note needs some text"),
        ("x" * (LONGEST_TEXT + 1), "has 2,001 characters; the maximum is 2,000"),
    ],
)
def test_an_invalid_note_text_is_refused_with_its_field(
    api: Program, session: Session, text: str, words: str
) -> None:
    assert session
    answer = api.post(NOTES, {"sequence": 1, "text": text})
    assert (answer.status_code, answer.json()["facts"]["field"]) == (422, "text")
    assert words in answer.json()["message"]
    assert Note.objects.count() == 0


@pytest.mark.parametrize("sequence", [6, 2**61])
def test_a_note_on_an_unknown_step_is_not_found(api: Program, session: Session, sequence: int) -> None:
    assert session
    answer = api.post(NOTES, {"sequence": sequence, "text": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "step_not_found")


def test_notes_are_paginated_by_step_even_after_a_deleted_note(api: Program, session: Session) -> None:
    assert session
    for sequence in (4, 2, 5, 2, 1):
        pinned(api, sequence)
    first = api.get(NOTES, limit=2).json()
    assert [each["sequence"] for each in first["items"]] == [1, 2]
    assert api.delete(f"{NOTES}/{first['items'][1]['id']}").status_code == 200
    second = api.get(NOTES, limit=2, after=first["next"]).json()
    assert [each["sequence"] for each in second["items"]] == [2, 4]
    last = api.get(NOTES, limit=2, after=second["next"]).json()
    assert ([each["sequence"] for each in last["items"]], last["next"]) == ([5], None)


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"after": "x"}, {"after": "WyJ4Il0"}])
def test_an_invalid_page_is_refused(api: Program, session: Session, query: dict[str, str]) -> None:
    assert session
    assert api.get(NOTES, **query).status_code == 422


def test_a_cursor_of_another_session_is_refused(api: Program, project: Project, session: Session) -> None:
    recorded(project, example_actions(), key="t")
    for text in "ab":
        api.post("/sessions/t/notes", {"sequence": 1, "text": text})
    after = api.get("/sessions/t/notes", limit=1).json()["next"]
    answer = api.get(NOTES, after=after)
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_after")
    assert session


def test_a_deleted_note_is_no_longer_listed_and_has_no_text(api: Program, session: Session) -> None:
    made = pinned(api, 2, "A secret by mistake.")
    deleted = api.delete(f"{NOTES}/{made['id']}").json()
    assert (deleted["deleted"], deleted["deleted_by"]) == (made["id"], "key test")
    assert api.get(NOTES).json()["items"] == []
    assert api.get("/sessions/s/summary").json()["notes"] == 0
    repeated = api.delete(f"{NOTES}/{made['id']}")
    assert (repeated.status_code, repeated.json()["code"]) == (404, "note_deleted")
    assert repeated.json()["facts"]["deleted_at"] == deleted["deleted_at"]
    stored = Note.objects.get()
    assert (stored.text, stored.created_by, stored.deleted_by) == ("", "key test", "key test")
    assert session


def test_only_its_author_or_an_administrator_deletes_a_note(
    project: Project, session: Session, api: Program
) -> None:
    note = commands.add(session, 1, "Mine.", by="anna@example.org")
    answer = program(project, "read", "record").delete(f"{NOTES}/{note.id}")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_your_note")
    assert api.delete(f"{NOTES}/{note.id}").status_code == 200


def test_a_note_is_only_found_in_its_own_session(api: Program, project: Project, session: Session) -> None:
    recorded(project, example_actions(), key="t")
    note = pinned(api, 1)["id"]
    assert api.delete(f"/sessions/t/notes/{note}").json()["code"] == "note_not_found"
    assert api.delete(f"{NOTES}/{uuid4()}").json()["code"] == "note_not_found"
    assert session


def test_erasing_a_session_erases_its_notes(api: Program, session: Session) -> None:
    deleted = pinned(api, 1)["id"]
    api.delete(f"{NOTES}/{deleted}")
    pinned(api, 2)
    assert api.delete(f"/sessions/{session.id}").status_code == 200
    assert Note.objects.count() == 0


def test_a_repeated_note_is_stored_once_and_a_different_text_is_a_new_note(session: Session) -> None:
    note_id = uuid7()
    first = commands.add(session, 1, "a", by="x", note_id=note_id)
    assert commands.add(session, 1, "a", by="x", note_id=note_id) == first
    other = commands.add(session, 1, "b", by="x", note_id=note_id)
    assert other.id != note_id
    assert [note.text for note in notes_of(session)] == ["a", "b"]


def test_a_step_may_have_at_most_a_hundred_notes(
    session: Session, monkeypatch: pytest.MonkeyPatch, api: Program
) -> None:
    monkeypatch.setattr(commands, "MOST_AT_A_STEP", 2)
    pinned(api, 1)
    pinned(api, 2)
    pinned(api, 1)
    answer = api.post(NOTES, {"sequence": 1, "text": "x"})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_notes")
    assert session


def test_note_counts_and_noted_steps_take_one_query_each(session: Session) -> None:
    for sequence in (4, 2, 4, 5):
        commands.add(session, sequence, "x", by="x")
    commands.delete(commands.add(session, 1, "x", by="x"), by="x", administers=False)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert note_counts(session, [1, 2, 3, 4]) == {2: 1, 4: 2}
        assert noted_steps(session, 1, 5, 10) == [2, 4, 5]
        assert noted_steps(session, 1, 5, 2) == [2, 4]
    assert len(queries) == 3


def test_a_list_of_notes_takes_the_same_queries_for_any_number(api: Program, session: Session) -> None:
    pinned(api, 1)
    with CaptureQueriesContext(connection) as few:
        api.get(NOTES)
    for _ in range(20):
        commands.add(session, 3, "x", by="x")
    with CaptureQueriesContext(connection) as many:
        assert len(api.get(NOTES).json()["items"]) == 21
    assert len(many) == len(few)


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": ""},
        {"sequence": 0},
        {"text": "x" * 12_001},
        {"deleted_by": "x", "text": ""},
        {"deleted_by": "x", "deleted_at": "2026-01-01T00:00:00Z"},
    ],
)
def test_the_database_refuses_invalid_rows(session: Session, wrong: dict[str, object]) -> None:
    row = {
        "project_id": session.project_id,
        "session": session,
        "sequence": 1,
        "text": "x",
        "created_by": "x",
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Note.objects.create(**row | wrong)


def test_an_unknown_field_is_refused_by_name(api: Program, session: Session) -> None:
    assert session
    answer = api.post(NOTES, {"sequence": 1, "text": "x", "colour": "red"})
    assert answer.status_code == 422
    assert "colour" in json.dumps(answer.json())

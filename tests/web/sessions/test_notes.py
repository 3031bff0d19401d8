"""Notes on the timeline and in their list, over HTTP."""

import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.core.accounts.people import member
from tests.web.timelines import HOSTILE, example_actions, get, recorded, words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.recording.annotations.notes.commands import add, delete
from timemachine.recording.annotations.notes.models import LONGEST_TEXT, Note
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.web.sessions.presenters.picture import MOST_PINS
from timemachine.web.sessions.views import annotations as views

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project, example_actions())


def sent(browser: Client, text: str, address: str = "?step=2", **more: str) -> str:
    """Add a note and return the address of the redirect."""
    answer = browser.post(f"/sessions/s/{address}", {"text": text, **more})
    assert answer.status_code == 303, answer.content.decode()
    return str(answer["Location"])


def test_a_note_is_shown_on_every_tab_of_its_step_and_of_no_other(operator: Client, session: Session) -> None:
    note = add(session, 2, "Here it went wrong.", by="anna@example.org")
    for tab in ("action", "state", "context", "raw"):
        page = get(operator, f"/sessions/s/?step=2&tab={tab}", target="article#step")
        assert f'id="note-{note.id}"' in page, tab
        assert "Here it went wrong. anna@example.org · just now · Link to note 1" in words(page)
        assert "Here it went wrong" not in get(
            operator, f"/sessions/s/?step=4&tab={tab}", target="article#step"
        )
    page = get(operator, "/sessions/s/?step=2")
    assert f'id="note-{note.id}"' in page
    assert "1 note" in words(page)


def test_a_note_is_added_without_javascript_and_redirects_to_its_step(
    operator: Client, session: Session
) -> None:
    to = sent(operator, "First line\r\nsecond", "?step=2&tab=raw&filter=kind:ask")
    note = Note.objects.get()
    assert to == f"/sessions/s/?step=2&tab=raw&filter=kind:ask#note-{note.id}"
    assert (note.session, note.sequence, note.text) == (session, 2, "First line\nsecond")
    assert note.created_by.startswith("operator")
    assert f'id="note-{note.id}"' in get(operator, to)


def test_the_form_names_its_step_and_has_a_key(operator: Client, session: Session) -> None:
    assert session
    page = get(operator, "/sessions/s/?tab=state")
    form = re.search(r'<form class="form note-form".*?</form>', page, re.DOTALL)
    assert form
    assert 'action="?step=1&amp;tab=state"' in form[0]
    assert 'data-key="p"' in form[0]
    assert "<kbd>p</kbd>" in page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Enter a note."),
        (" \r\n ", "A note needs some text."),
        ("ä" * (LONGEST_TEXT + 1), "has 2,001 characters; the maximum is 2,000"),
    ],
)
def test_an_invalid_note_is_reported_at_its_field_and_its_text_is_kept(
    operator: Client, session: Session, text: str, why: str
) -> None:
    assert session
    answer = operator.post("/sessions/s/?step=4", {"text": text})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-sequence="4"' in page
    field = re.search(r"<textarea[^>]*>([^<]*)</textarea>", page)
    assert field
    assert 'aria-invalid="true"' in field[0]
    assert "autofocus" in field[0]
    assert 'aria-describedby="note_text_helptext note_text_error"' in field[0]
    assert field[1].replace("\r\n", "\n").lstrip("\n") == text.replace("\r\n", "\n").lstrip("\n")
    assert why in words(page[page.index('id="note_text_error"') :])
    assert Note.objects.count() == 0


def test_a_full_step_says_so_at_the_field(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.recording.annotations.notes.commands.MOST_AT_A_STEP", 1)
    add(session, 2, "x", by="x")
    answer = operator.post("/sessions/s/?step=2", {"text": "y"})
    assert answer.status_code == 409
    assert "This step already has 1 notes" in words(
        answer.content.decode()[answer.content.decode().index("note_text_error") :]
    )


def test_a_note_on_an_unknown_step_is_refused(operator: Client, session: Session) -> None:
    assert session
    for step in ("", "?step=99", "?step=x"):
        assert operator.post(f"/sessions/s/{step}", {"text": "x"}).status_code == 404, step


def test_a_form_that_is_sent_twice_adds_one_note(operator: Client, session: Session) -> None:
    form_id = str(uuid4())
    first = sent(operator, "x", form_id=form_id)
    assert sent(operator, "x", form_id=form_id) == first
    assert notes_of(session).count() == 1
    assert sent(operator, "something else", form_id=form_id) != first
    assert notes_of(session).count() == 2


def test_hostile_text_is_harmless_wherever_it_is_shown(operator: Client, session: Session) -> None:
    add(session, 1, HOSTILE, by="x\u202e<i>")
    sent(operator, HOSTILE.replace("\ud800", ""), "?step=1")
    assert notes_of(session).last() is not None
    for address in ("/sessions/s/?step=1", "/sessions/s/notes/"):
        page = get(operator, address)
        for raw in ("<script>alert", "<img src=x", "\x00", "\u202e", "\x1b", "<i>"):
            assert raw not in page
        assert page.count("&lt;script&gt;alert(1)") >= 2
        assert "⟨NUL⟩⟨U+202E⟩⟨ESC⟩" in page
        assert "{{ 7|add:7 }}" in page


def test_a_viewer_reads_notes_and_sees_no_forms(viewer: Client, session: Session) -> None:
    add(session, 1, "Look here.", by="anna@example.org")
    page = get(viewer, "/sessions/s/")
    assert "Look here." in page
    assert "note-form" not in page
    assert "delete-note" not in page
    assert 'id="notes"' not in get(viewer, "/sessions/s/?step=2")


def test_only_its_author_and_administrators_can_delete_a_note(project: Project, session: Session) -> None:
    writer, admin = member(project, "operator", "anna@example.org"), member(project, "admin")
    other = member(project, "operator")
    for person, may in ((writer, True), (other, False), (admin, True)):
        note = add(session, 2, "Mine.", by=writer.user.email)
        browser = Client()
        browser.force_login(person.user)
        assert ("delete-note" in get(browser, "/sessions/s/?step=2")) is may
        answer = browser.post(f"/sessions/s/notes/{note.id}/delete/", {"next": "/sessions/s/?step=2&tab=raw"})
        assert answer.status_code == (303 if may else 403)
        note.refresh_from_db()
        assert (note.deleted_by == person.user.email) is may
        if may:
            assert answer["Location"] == "/sessions/s/?step=2&tab=raw#notes"
            assert "Note on step 2 deleted." in words(get(browser, answer["Location"]))
            assert "Mine." not in get(browser, "/sessions/s/?step=2")
        else:
            delete(note, by=writer.user.email, administers=False)


def test_deleting_a_note_redirects_to_its_step_and_never_to_another_site(
    operator: Client, session: Session
) -> None:
    person = sent(operator, "x").rpartition("note-")[2]
    plain = operator.post(f"/sessions/s/notes/{person}/delete/")
    assert plain["Location"] == f"/sessions/{session.id}/?step=2#notes"
    other = sent(operator, "x").rpartition("note-")[2]
    external = operator.post(f"/sessions/s/notes/{other}/delete/", {"next": "https://evil.example/"})
    assert external["Location"] == "/#notes"


def test_a_note_has_its_own_address(operator: Client, session: Session) -> None:
    note = add(session, 4, "x", by="anna@example.org")
    answer = operator.get(f"/sessions/s/notes/{note.id}/")
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/sessions/{session.id}/?step=4#note-{note.id}",
    )
    delete(note, by="anna@example.org", administers=False)
    deleted = operator.get(f"/sessions/s/notes/{note.id}/")
    assert deleted.status_code == 404
    assert "This note was deleted by anna@example.org at" in words(deleted.content.decode())


def test_another_projects_notes_are_not_found(operator: Client, other_project: Project) -> None:
    session = recorded(other_project, example_actions())
    note = add(session, 1, "x", by="x")
    for address in ("/sessions/s/notes/", f"/sessions/s/notes/{note.id}/"):
        assert operator.get(address).status_code == 404
    assert operator.post(f"/sessions/s/notes/{note.id}/delete/").status_code == 404
    assert operator.post("/sessions/s/?step=1", {"text": "x"}).status_code == 404
    assert notes_of(session).count() == 1


def test_rows_with_notes_are_labelled(operator: Client, session: Session) -> None:
    for sequence in (2, 4, 4):
        add(session, sequence, "x", by="x")
    page = get(operator, "/sessions/s/")
    marks = re.findall(r'<li id="s(\d+)"(?:(?!</li>).)*?<span class="noted">([^<]*)', page, re.DOTALL)
    assert marks == [("2", "note"), ("4", "2 notes")]
    more = get(operator, "/sessions/s/?after=2", target="li#later")
    assert '<span class="noted">2 notes</span>' in more


def test_the_picture_pins_the_steps_with_notes_and_names_them(operator: Client, session: Session) -> None:
    assert 'class="pins"' not in get(operator, "/sessions/s/")
    for sequence in (2, 5, 5):
        add(session, sequence, "x", by="x")
    page = get(operator, "/sessions/s/")
    wide = 600 / session.actions.count()
    assert f'class="pins" d="M{1.5 * wide:.2f} 22h0M{4.5 * wide:.2f} 22h0"' in page
    assert "notes at steps 2, 5" in page
    stretch = get(operator, "/sessions/s/?filter=step:1-3")
    assert 'class="pins" d="M300.00 22h0"' in stretch
    assert "notes at step 2" in stretch


def test_a_picture_with_too_many_pins_says_which_it_drew(operator: Client, project: Project) -> None:
    session = recorded(project, [ActionDraft(kind="event")] * (MOST_PINS + 1))
    Note.objects.bulk_create(
        Note(project=project, session=session, sequence=n + 1, text="x", created_by="x")
        for n in range(MOST_PINS + 1)
    )
    page = get(operator, "/sessions/s/")
    assert re.search(r'class="pins" d="((?:M[\d.]+ 22h0){500})"', page)
    assert "500 and later ones" in page
    assert "Only the first 500 steps with notes are drawn. All notes" in words(page)


def test_the_timeline_links_to_the_list_of_all_notes(operator: Client, session: Session) -> None:
    assert "note-count" not in get(operator, "/sessions/s/")
    for sequence in (4, 1, 2):
        add(session, sequence, f"about {sequence}", by="anna@example.org")
    page = get(operator, "/sessions/s/")
    assert re.search(r'href="/sessions/[^"]+/notes/">3 notes</a>', page)
    listed = words(get(operator, "/sessions/s/notes/"))
    assert listed.index("about 1") < listed.index("about 2") < listed.index("about 4")


def test_the_list_of_notes_is_paged(
    operator: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PAGE", 2)
    for sequence in (1, 2, 2, 4, 5):
        add(session, sequence, "x", by="x")
    seen, address = [], "/sessions/s/notes/"
    while address:
        page = get(operator, address)
        seen += [int(number) for number in re.findall(r">step (\d+)</a>", page)]
        onward = re.search(r'rel="next" href="([^"]+)"', page)
        address = f"/sessions/s/notes/{onward[1]}" if onward else ""
    assert seen == [1, 2, 2, 4, 5]


@pytest.mark.parametrize("after", ["x", "00000000-0000-7000-8000-000000000000"])
def test_an_invalid_page_position_is_refused(operator: Client, session: Session, after: str) -> None:
    assert session
    assert operator.get(f"/sessions/s/notes/?after={after}").status_code == 422


def test_an_empty_list_says_what_to_do(operator: Client, viewer: Client, session: Session) -> None:
    assert "press p to add one" in words(get(operator, "/sessions/s/notes/"))
    assert "Operators can add notes" in words(get(viewer, "/sessions/s/notes/"))
    last = add(session, 5, "x", by="x")
    assert "No more notes" in words(get(operator, f"/sessions/s/notes/?after={last.id}"))


def test_the_number_of_queries_does_not_grow_with_notes(operator: Client, session: Session) -> None:
    def count_queries() -> dict[str, int]:
        found = {}
        for address in ("/sessions/s/?step=2", "/sessions/s/?step=2&tab=state", "/sessions/s/notes/"):
            with CaptureQueriesContext(connection) as queries:
                get(operator, address)
            found[address] = len(queries)
        return found

    add(session, 2, "x", by="x")
    get(operator, "/sessions/s/?step=2")
    few = count_queries()
    for sequence in (1, 2, 2, 3, 4, 4, 5):
        add(session, sequence, "x", by="x")
    assert count_queries() == few


def test_a_share_link_shows_no_note(project: Project, session: Session) -> None:
    add(session, 1, "Only for us.", by="anna@example.org")
    visitor, place = opened(shared(project, session)[1])
    page = get(visitor, place)
    assert 'data-sequence="1"' in page
    assert "Only for us." not in page
    assert 'class="noted"' not in page


def test_a_session_without_steps_accepts_no_notes(operator: Client, project: Project) -> None:
    recorded(project, [])
    assert "note-form" not in get(operator, "/sessions/s/")
    assert operator.post("/sessions/s/", {"text": "x"}).status_code == 404

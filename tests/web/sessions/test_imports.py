"""Importing in a browser: sessions, a report on the lines, and a message for a file that is not a transcript."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests.core.accounts.people import member
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.recording.importing.models import FileImport
from timemachine.recording.importing.pure.report import LineSkipped
from timemachine.recording.importing.worker import work
from timemachine.recording.sessions.models import Session
from timemachine.web.sessions.views import imports
from timemachine.web.sessions.views.imports import skipped_lines

SESSION_ID = "3f1d2c4b-0000-4000-8000-00000000000a"


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return signed_in(project, "operator")


def signed_in(project: Project, role: str) -> Client:
    client = Client()
    client.force_login(member(project, role).user)
    return client


def line(number: int, text: str, session: str = SESSION_ID) -> str:
    """A user's message in the format of Claude Code."""
    return json.dumps(
        {
            "type": "user",
            "uuid": f"{session[:-4]}{number:04}",
            "parentUuid": None,
            "sessionId": session,
            "timestamp": f"2026-11-20T09:00:{number:02}.000Z",
            "message": {"role": "user", "content": text},
        }
    )


def transcript(*lines: str, name: str = "session.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "\n".join(lines).encode())


def test_the_form_accepts_files_and_lists_the_formats(operator: Client) -> None:
    page = operator.get("/import/").text
    assert re.search(r'<input type="file" name="file"[^>]* multiple', page)
    assert "Detect automatically" in page
    assert 'value="claude_code"' in page


def test_a_transcript_becomes_a_session_with_a_report_on_its_lines(
    operator: Client, project: Project
) -> None:
    file = transcript(
        line(1, "Grüße, Zoë"), line(2, "and again"), "{broken", "", "{broken too", line(3, "end")
    )
    sent = operator.post("/import/", {"file": file})
    assert (sent.status_code, sent["Location"]) == (303, "/import/done/")
    session = Session.objects.get(project=project)
    page = operator.get("/import/done/").text
    assert f'href="/sessions/{session.id}/"' in page
    assert SESSION_ID in page
    assert "3 message" in page
    assert "2 lines" in page
    assert "3" in re.findall(r'<td data-label="Which" class="mono">([^<]*)', page)[0]
    assert "5" in "".join(re.findall(r'<td data-label="Which" class="mono">([^<]*)', page))
    assert session.last_sequence == 3


def test_the_report_says_what_was_read_and_what_it_became(operator: Client) -> None:
    file = transcript(line(1, "one"), line(2, "two"), '{"uuid": "x"}')
    operator.post("/import/", {"file": file})
    page = operator.get("/import/done/").text
    shown = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Read 3 lines or records Became 2 steps" in shown
    assert "2 messages Skipped 1 line" in shown
    assert "It has no “type”, so it is not a Claude Code line." in shown
    assert "`" not in shown


def test_a_repeated_import_adds_only_new_steps_and_counts_the_known_ones(operator: Client) -> None:
    operator.post("/import/", {"file": transcript(line(1, "one"))})
    operator.post("/import/", {"file": transcript(line(1, "one"), line(2, "two"))})
    page = operator.get("/import/done/").text
    assert re.search(r'data-label="Steps" class="number">2<', page)
    assert re.search(r'data-label="Already imported" class="number">1<', page)
    assert Session.objects.get().last_sequence == 2


def test_the_result_of_each_of_several_files_is_shown(operator: Client) -> None:
    known = line(1, "one")
    operator.post("/import/", {"file": transcript(known)})
    operator.post("/import/", {"file": [transcript(known), transcript("no", name="no.txt")]})
    page = operator.get("/import/done/").text
    assert "2 files: 1 without new steps, 1 refused." in page
    assert "Nothing new: all steps had been imported before." in page


def test_files_that_are_all_refused_get_a_line_each_and_the_formats_once(operator: Client) -> None:
    files = [transcript("no", name=f"{name}.txt") for name in ("a", "b", "c")]
    page = operator.post("/import/", {"file": files}).text
    for name in ("a", "b", "c"):
        assert page.count(f"{name}.txt is not a transcript that can be imported.") == 1
    assert "None of the 3 files were imported." in page
    assert page.count("Supported formats:") == 1
    assert page.count("Claude Code session (") == 2  # there, and in the choice of a format


def test_several_files_are_imported_independently(operator: Client) -> None:
    other = SESSION_ID.replace("3f", "4f")
    files = [
        transcript(line(1, "a")),
        transcript("no", name="no.txt"),
        transcript(line(1, "b", other), name="b.jsonl"),
    ]
    assert operator.post("/import/", {"file": files}).status_code == 303
    page = operator.get("/import/done/").text
    assert Session.objects.count() == 2
    assert "no.txt is not a transcript that can be imported" in page
    assert "Nothing was imported." in page
    assert "3 files: 2 with new steps, 1 refused." in page
    assert page.count("Supported formats:") == 1
    assert "b.jsonl" in page


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"file": SimpleUploadedFile("notes.txt", b"Dear diary")}, "notes.txt is not a transcript"),
        ({"file": SimpleUploadedFile("empty.jsonl", b"")}, "empty.jsonl is not a transcript"),
        ({}, "Choose at least one file."),
        ({"file": SimpleUploadedFile("x.jsonl", b"{}"), "format": "psychic"}, "Unknown format"),
    ],
)
def test_a_file_that_is_not_a_transcript_is_refused_and_nothing_is_stored(
    operator: Client, form: dict[str, object], sentence: str
) -> None:
    page = operator.post("/import/", form)
    assert page.status_code == 422
    assert sentence in page.text
    assert "_error" in re.findall(r'aria-describedby="([^"]*)"', page.text)[-1]
    assert not Session.objects.exists()
    assert operator.get("/import/done/")["Location"] == "/import/"


def test_a_selected_format_stays_selected(operator: Client) -> None:
    page = operator.post("/import/", {"format": "claude_code"})
    assert '<option value="claude_code" selected>' in page.text


def test_a_file_over_the_limit_is_refused_with_a_message(operator: Client, settings: Settings) -> None:
    settings.MAX_IMPORT_BYTES = 200_000
    page = operator.post("/import/", {"file": transcript(line(1, "x" * 300_000))})
    assert page.status_code == 413
    assert "The upload exceeds the limit of 195.3 KB" in page.context["form"].errors["file"][0]
    assert not Session.objects.exists()


def test_an_import_does_not_replace_a_session_recorded_here(operator: Client) -> None:
    operator.post("/sessions/new/", {"name": "mine", "key": SESSION_ID})
    page = operator.post("/import/", {"file": transcript(line(1, "one"))})
    assert page.status_code == 422
    assert "cannot be replaced by an import" in page.text
    assert Session.objects.get().last_sequence == 0


def test_a_form_without_its_token_is_refused(project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(project, "operator").user)
    assert client.post("/import/", {"file": transcript(line(1, "one"))}).status_code == 403
    assert not Session.objects.exists()


def test_the_report_is_visible_only_in_the_browser_that_imported(operator: Client, project: Project) -> None:
    operator.post("/import/", {"file": transcript(line(1, "one"))})
    assert signed_in(project, "admin").get("/import/done/")["Location"] == "/import/"


def test_skipped_lines_are_grouped_by_reason() -> None:
    skipped = [LineSkipped(line=number, reason="cut off") for number in (3, 7, 8, 9, 12)]
    skipped.insert(1, LineSkipped(line=4, reason="not an object"))
    assert skipped_lines(skipped) == [
        {"reason": "cut off", "count": 5, "lines": "3, 7–9, 12"},
        {"reason": "not an object", "count": 1, "lines": "4"},
    ]


@given(st.sets(st.integers(1, 60)))
def test_no_skipped_line_is_lost_and_none_is_added(lines: set[int]) -> None:
    groups = skipped_lines(LineSkipped(line=number, reason="r") for number in sorted(lines))
    written = [run.split("–") for group in groups for run in group["lines"].split(", ")]
    assert {number for run in written for number in range(int(run[0]), int(run[-1]) + 1)} == lines


def queued(browser: Client, monkeypatch: pytest.MonkeyPatch, *files: SimpleUploadedFile) -> str:
    """Upload files that all count as large; return the address of the redirect."""
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 10)
    sent = browser.post("/import/", {"file": list(files)})
    assert sent.status_code == 303
    address: str = sent["Location"]
    return address


def test_a_large_file_has_a_page_that_shows_the_progress(
    operator: Client, project: Project, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    address = queued(operator, monkeypatch, transcript(line(1, "Grüße"), "{broken"))
    found = FileImport.objects.get()
    assert address == f"/imports/{found.id}/"
    page = operator.get(address).text
    assert "Waiting for a worker." in page
    assert "Attempt " not in page
    assert f'hx-get="/imports/{found.id}/?rev=0"' in page
    FileImport.objects.update(status="running", done=1_000, total=4_000)
    assert '<progress max="4000" value="1000"' in operator.get(address).text
    FileImport.objects.update(attempts=2)
    assert "Attempt 2 of 3" in operator.get(address).text
    FileImport.objects.update(status="waiting", attempts=0)
    work(found.id)
    with django_assert_max_num_queries(12):
        page = operator.get(address).text
    assert "1 of 1 step imported" in page
    assert "hx-get" not in re.findall(r'<div id="progress"[^>]*>', page)[0]
    assert f'href="/sessions/{Session.objects.get().id}/"' in page
    assert "1 line" in page
    erase_session(Session.objects.get(), by="Ada")
    assert "deleted since" in operator.get(address).text


def test_polling_returns_nothing_until_the_import_has_changed(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = queued(operator, monkeypatch, transcript(line(1, "a")))
    htmx = {"HX-Request": "true"}
    assert operator.get(f"{address}?rev=0", headers=htmx).status_code == 204
    FileImport.objects.update(
        revision=1, status="failed", finished_at=now(), data=b"", error_message="It is cut off."
    )
    news = operator.get(f"{address}?rev=0", headers=htmx | {"HX-Target": "progress"}).text
    assert "It is cut off." in news
    assert "Nothing was imported." in news


def test_the_status_of_each_of_several_files_is_shown(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [transcript(line(1, "a"), name="a.jsonl"), transcript("no", name="no.txt")]
    assert queued(operator, monkeypatch, *files) == "/import/done/"
    page = operator.get("/import/done/").text
    assert f'href="/imports/{FileImport.objects.get().id}/"' in page
    assert "no.txt is not a transcript" in page

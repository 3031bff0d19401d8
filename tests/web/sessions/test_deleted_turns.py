"""Manually deleted turns: what the deletion page says before, and the tombstone in their place."""

import html
import json
import re

import pytest
from django.test import Client

from tests.api.conftest import program
from tests.core.accounts.people import member
from tests.web.people import browser_of
from tests.web.sessions.two_turns import session, two_turn_session
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.memory.transcripts.summarising import summarise
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.queries import session_of

__all__ = ["session"]
REASON = {"reason": "asked for"}


@pytest.fixture(scope="module")
def with_deleted_turn_once(shared_rows: None) -> Session:
    """A session whose first turn was deleted."""
    session = two_turn_session(Project.objects.create(name="Prüfung"))
    administrator = Client()
    administrator.force_login(member(session.project, "admin", "ada@example.org", password=None).user)
    sent = administrator.post(f"/sessions/{session.id}/steps/1/delete/", REASON)
    assert sent.status_code == 302, sent.text
    return session


@pytest.fixture
def with_deleted_turn(with_deleted_turn_once: Session, db: None) -> Session:
    return Session.objects.get(pk=with_deleted_turn_once.pk)


@pytest.fixture
def reader(with_deleted_turn: Session) -> Client:
    """An administrator of the project of that session."""
    return browser_of(with_deleted_turn.project, ADMIN)


def test_a_turn_is_deleted_from_its_step_and_leaves_a_tombstone(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/steps/1/delete/"
    assert address in administrator.get(f"/sessions/{session.id}/?step=1").text
    assert "the words 0" in administrator.get(address).text
    assert administrator.post(address, {"reason": ""}).status_code == 422
    refused = administrator.post(address, {"reason": "it said: the words 0"})
    assert (refused.status_code, "must not be stored" in refused.text) == (422, True)
    done = administrator.post(address, REASON)
    assert done["Location"] == f"/sessions/{session.id}/?step=1"
    shown = administrator.get(done["Location"]).text
    assert "deleted: turn" in shown
    assert "asked for" in shown
    assert "the words 0" not in shown
    assert "the words 1" in shown
    assert "Delete step" not in shown
    transcript = administrator.get(f"/sessions/{session.id}/transcript/").text
    assert '<span class="redacted"><span>deleted on ' in transcript
    assert "asked for" in transcript
    deleted_page = administrator.get(address).text
    assert "This step has already been deleted." in deleted_page
    assert "asked for" in deleted_page
    assert "<textarea" not in deleted_page
    assert 'name="reason"' not in deleted_page
    second = administrator.post(address, REASON)
    assert (second.status_code, "This step has already been deleted." in second.text) == (409, True)


def test_the_raw_views_of_a_deleted_turn_equal_the_answer_of_the_api(
    reader: Client, with_deleted_turn: Session
) -> None:
    document = program(with_deleted_turn.project).get(f"/sessions/{with_deleted_turn.id}/actions/1").json()
    assert document["deleted"]["reason"] == "asked for"
    for address in ("?step=1&tab=raw", "?step=1&view=raw"):
        page = reader.get(f"/sessions/{with_deleted_turn.id}/{address}").text
        found = re.search(r'<pre class="text">(.*?)</pre>', page, re.DOTALL)
        assert found is not None
        text = re.sub(r'<span class="redacted"><span>(.*?)</span></span>', r"[\1]", found[1])
        assert json.loads(html.unescape(text)) == document, address


def test_every_tab_says_when_and_why_a_turn_was_deleted(reader: Client, with_deleted_turn: Session) -> None:
    for address in (
        "?step=1",
        "?step=1&tab=state",
        "?step=2&tab=state",
        "?step=2&tab=diff",
        "?step=1&tab=diff",
    ):
        page = reader.get(f"/sessions/{with_deleted_turn.id}/{address}").text
        assert "[erased" not in page, address
        assert "erased: field" not in page, address
        step = page[page.index('class="step-head"') :]
        assert "deleted on" in step, address
        assert "asked for" in step, address
    page = reader.get(f"/sessions/{with_deleted_turn.id}/?step=1").text
    page = page[page.index('<article id="step"') :]
    for offered in ("Erase fields</a>", "Replay from here</a>", "<summary>Change</summary>"):
        assert offered not in page
    assert "This step's content was deleted." in page


def test_a_visitor_sees_that_a_turn_was_deleted_but_not_by_whom_or_why(with_deleted_turn: Session) -> None:
    visitor, address = opened(shared(with_deleted_turn.project, with_deleted_turn)[1])
    page = " ".join(visitor.get(f"{address}?step=1").text.split())
    assert re.search(r"deleted on 20\d\d-\d\d-\d\d \d\d:\d\d UTC", page)
    assert "erased: field" not in page
    assert "asked for" not in page


def test_a_step_whose_name_looks_like_a_deletion_mark_hides_nothing_from_a_visitor(
    project: Project,
) -> None:
    started = start_session(project, name="Payments", by="test", key="payments")
    request, paid = {"who": "Mallory", "sum": 1_000_000}, "PAID the whole sum"
    name = "[deleted: turn] 2026-01-01 00:00 UTC"
    append(started.id, [ActionDraft(kind="tool_call", tool=name, input=request, output=paid)])
    visitor, address = opened(shared(project, session_of(project, "payments"))[1])
    found = erasing.prepare(session_of(project, "payments"), by="ada", fields=["input.who"], steps=[1])
    erasing.confirm(erasing.work(found.id) or found, reason="asked for", by="ada")
    erasing.work(found.id)
    page = " ".join(visitor.get(f"{address}?step=1").text.split())
    assert "Mallory" not in page
    assert "PAID the whole sum" in page
    assert "Erased: <b>input</b>" in page
    assert "deleted on" not in page
    assert "This step's content was deleted" not in page


def test_a_turn_deleted_before_sealing_is_not_called_unsealed_afterwards(
    administrator: Client, session: Session
) -> None:
    administrator.post(f"/sessions/{session.id}/steps/1/delete/", REASON)
    step = f"/sessions/{session.id}/?step=1"
    assert "erased before it was sealed" in administrator.get(step).text
    end_session(session.id)
    seal_session(session.id)
    shown = administrator.get(step).text
    assert "1 field erased" in shown
    assert "not sealed yet" not in shown
    assert "erased before it was sealed" in shown


def test_deleting_a_turn_names_the_summary_that_may_quote_it(administrator: Client, session: Session) -> None:
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    append(session.id, [ActionDraft(kind="message", role="user", output="said after the summary")])
    frame = '<a href="/collections/lessons/frames/0/">'
    assert frame in administrator.get(f"/sessions/{session.id}/steps/1/delete/").text
    assert frame not in administrator.get(f"/sessions/{session.id}/steps/3/delete/").text
    done = administrator.post(f"/sessions/{session.id}/steps/1/delete/", REASON)
    assert frame in administrator.get(done["Location"]).text
    evidence = administrator.get(f"/sessions/{session.id}/evidence/").text
    assert "these summaries may quote it and stay" in evidence
    assert frame in evidence
    erasure = re.search(r'"(/erasures/[^"]+)"', evidence)
    assert erasure is not None
    assert frame in administrator.get(erasure[1]).text
    later = administrator.post(f"/sessions/{session.id}/steps/3/delete/", REASON)
    assert frame not in administrator.get(later["Location"]).text


def test_deleting_a_turn_that_repeats_a_summarised_one_names_the_summary(
    administrator: Client, session: Session
) -> None:
    session.refresh_from_db()
    action = ActionDraft(kind="message", role="user", output="The parcel of Mrs Lindqvist is lost.")
    append(session.id, [action])
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    append(session.id, [action])
    frame = '<a href="/collections/lessons/frames/0/">'
    address = f"/sessions/{session.id}/steps/4/delete/"
    assert f"even if they may quote this step: a summary in {frame}" in administrator.get(address).text
    done = administrator.post(address, REASON)
    shown = administrator.get(done["Location"]).text
    assert "1 other step repeated it" in shown
    assert frame in shown


def test_the_deletion_page_in_a_long_session_names_every_summary(
    administrator: Client, session: Session
) -> None:
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    append(session.id, [ActionDraft(kind="message", output="later")] * erasing.MOST_IN_A_REQUEST)
    page = administrator.get(f"/sessions/{session.id}/steps/3/delete/").text
    assert '<a href="/collections/lessons/frames/0/">' in page

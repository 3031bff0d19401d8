"""Retention, deletions in bulk, holds and deleted turns by hand."""

import re

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.accounts.models import ADMIN, OPERATOR, Project
from timemachine.forgetting import commands
from timemachine.forgetting.models import Forgetting
from timemachine.memory.summarising import summarise
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Hold, Session

REASON = {"reason": "asked for"}


@pytest.fixture
def session(project: Project) -> Session:
    begun = start_session(project, name="Talk", by="test", key="talk", tags=["junk"])
    append(begun.id, [ActionDraft(kind="message", role="user", output=f"the words {n}") for n in range(2)])
    return begun


@pytest.fixture
def administrator(project: Project) -> Client:
    return browser_of(project, ADMIN)


def test_a_turn_is_deleted_from_its_step_and_leaves_its_tombstone(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/steps/1/delete/"
    assert address in administrator.get(f"/sessions/{session.id}/?step=1").text
    assert "the words 0" in administrator.get(address).text
    assert administrator.post(address, {"reason": ""}).status_code == 422
    refused = administrator.post(address, {"reason": "it said: the words 0"})
    assert (refused.status_code, "must not stay" in refused.text) == (422, True)
    done = administrator.post(address, REASON)
    assert done["Location"] == f"/sessions/{session.id}/?step=1"
    shown = administrator.get(done["Location"]).text
    assert "erased: turn, whole" in shown
    assert "asked for" in shown
    assert "the words 0" not in shown
    assert "the words 1" in shown
    assert "Delete turn" not in shown
    again = administrator.post(address, REASON)
    assert (again.status_code, "was deleted before" in again.text) == (409, True)


def test_a_held_session_offers_nothing_to_delete_and_says_why_it_refuses(
    administrator: Client, project: Project, session: Session
) -> None:
    address = f"/sessions/{session.id}/hold/"
    assert "It was never held" in administrator.get(address).text
    assert administrator.post(address, REASON)["Location"] == address
    page = administrator.get(f"/sessions/{session.id}/?step=1").text
    assert "Under legal hold" in page
    for words in ("Delete turn", "Delete session", "Erase fields"):
        assert words not in page
    for path in ("delete/", "steps/1/delete/"):
        refused = administrator.post(f"/sessions/{session.id}/{path}", REASON | {"name": "talk"})
        assert (refused.status_code, "legal hold" in refused.text) == (409, True), path
    assert (
        "legal hold"
        in administrator.post(f"/sessions/{session.id}/erase-fields/", {"of_step": ["output"]}).text
    )
    hold = Hold.objects.get(project=project)
    assert administrator.post(f"/holds/{hold.id}/release/", {"reason": ""}).status_code == 422
    assert administrator.post(f"/holds/{hold.id}/release/", REASON).status_code == 303
    assert "released" in administrator.get(f"/holds/{hold.id}/").text
    assert "Delete turn" in administrator.get(f"/sessions/{session.id}/?step=1").text


def test_sessions_are_seen_before_they_are_deleted_together(
    administrator: Client, project: Project, session: Session
) -> None:
    assert administrator.post("/forgettings/new/", {"status": ""}).status_code == 422
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    seen = administrator.get(found).text
    assert "<b>1 session</b> with 2 turns" in seen
    assert administrator.post(f"{found}confirm/", {"reason": ""}).status_code == 422
    assert administrator.post(f"{found}confirm/", REASON)["Location"] == found
    assert "every 1s" in administrator.get(found).text
    commands.work(Forgetting.objects.get(project=project).id)
    done = administrator.get(found).text
    assert "1 session deleted with 2 turns" in " ".join(done.split())
    assert "1 session deleted" in " ".join(administrator.get("/settings/retention/").text.split())
    assert not Session.objects.filter(pk=session.pk).exists()


def test_pages_that_delete_say_that_a_summary_stays_and_that_it_is_every_session(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/delete/"
    assert "a summary" not in administrator.get(address).text
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    assert '<a href="/collections/lessons/frames/0/">' in administrator.get(address).text
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    shown = administrator.get(found).text
    assert "This is every session of the project." in shown
    assert "Of 1 session a summary stays in a collection" in shown


def test_what_fits_a_filter_is_held_together(administrator: Client, session: Session) -> None:
    assert 'method="get"' not in administrator.get("/settings/retention/").text
    address = administrator.post("/forgettings/new/", {"tag": "junk", "do": "hold"})["Location"]
    assert address == "/holds/new/?tag=junk"
    assert "<b>1 session</b> with 2 turns fit now" in administrator.get(address).text
    made = administrator.post(address, REASON)["Location"]
    assert "Talk" in administrator.get(made).text
    assert "there is nothing to hold" in administrator.get("/holds/new/?tag=none").text
    assert administrator.get("/holds/new/").status_code == 422
    assert administrator.get("/holds/new/?older_than_days=soon").status_code == 422


def test_a_rule_is_set_with_a_reason_where_it_is_early_and_taken_away(administrator: Client) -> None:
    address = "/settings/retention/"
    assert "every session is kept for good" in administrator.get(address).text
    refused = administrator.post(address, {"days": "30"})
    assert (refused.status_code, "six months" in refused.text) == (422, True)
    assert administrator.post(address, {"days": "30", "tag": "junk"} | REASON)["Location"] == address
    shown = administrator.get(address).text
    assert "Sessions with tag junk: deleted after 30 days" in shown
    assert "Before six months (183 days)" in shown
    removed = re.search(r"/settings/retention/[0-9a-f-]+/remove/", shown)
    assert administrator.post(removed[0] if removed else "")["Location"] == address
    assert "every session is kept for good" in administrator.get(address).text


def test_only_administrators_delete_hold_and_set_rules(project: Project, session: Session) -> None:
    operator = browser_of(project, OPERATOR)
    assert "Delete turn" not in operator.get(f"/sessions/{session.id}/?step=1").text
    shown = operator.get("/settings/retention/").text
    assert "Set rule" not in shown
    assert "Look what would be deleted" not in shown
    assert operator.get(f"/sessions/{session.id}/hold/").status_code == 200
    for path, body in (
        (f"/sessions/{session.id}/hold/", REASON),
        (f"/sessions/{session.id}/steps/1/delete/", REASON),
        ("/settings/retention/", {"days": "400"}),
        ("/forgettings/new/", {"tag": "junk"}),
        ("/holds/new/?tag=junk", REASON),
    ):
        assert operator.post(path, body).status_code == 403, path

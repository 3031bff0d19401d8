"""Retention rules, bulk deletions and manual legal holds."""

import re
from datetime import timedelta

from django.test import Client

from tests.api.conftest import program
from tests.web.people import browser_of
from tests.web.sessions.two_turns import session
from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.pure.clock import now
from timemachine.governance.deletion.retention import commands, legal_holds
from timemachine.governance.deletion.retention.models import BulkDeletion
from timemachine.memory.transcripts.summarising import summarise
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Hold, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.queries import session_of

__all__ = ["session"]
REASON = {"reason": "asked for"}


def test_a_held_session_offers_no_deletion_and_refuses_one_with_the_reason(
    administrator: Client, project: Project, session: Session
) -> None:
    address = f"/sessions/{session.id}/hold/"
    assert "This session has never been on hold" in administrator.get(address).text
    assert administrator.post(address, REASON)["Location"] == address
    page = administrator.get(f"/sessions/{session.id}/?step=1").text
    assert "Under legal hold" in page
    for words in ("Delete step", "Delete session", "Erase fields"):
        assert words not in page
    hold = Hold.objects.get(project=project)
    for path, sent, typed in (
        ("delete/", REASON | {"name": "talk"}, 'value="asked for"'),
        ("steps/1/delete/", REASON, 'value="asked for"'),
        ("erase-fields/", {"of_step": ["output"], "steps": "2"}, 'value="2"'),
    ):
        shown = administrator.get(f"/sessions/{session.id}/{path}").text
        assert "under legal hold" in shown, path
        assert "asked for" in shown, path
        assert f"/holds/{hold.id}/" in shown, path
        assert 'class="button danger"' not in shown, path
        refused = administrator.post(f"/sessions/{session.id}/{path}", sent)
        assert (refused.status_code, "legal hold" in refused.text) == (409, True), path
        assert typed in refused.text, path
    assert administrator.post(f"/holds/{hold.id}/release/", {"reason": ""}).status_code == 422
    assert administrator.post(f"/holds/{hold.id}/release/", REASON).status_code == 303
    assert "released" in administrator.get(f"/holds/{hold.id}/").text
    assert "Delete step" in administrator.get(f"/sessions/{session.id}/?step=1").text


def test_a_bulk_deletion_is_previewed_before_it_is_confirmed(
    administrator: Client, project: Project, session: Session
) -> None:
    assert administrator.post("/forgettings/new/", {"status": ""}).status_code == 422
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    seen = administrator.get(found).text
    assert "<b>1 session</b> with 2 steps" in seen
    assert administrator.post(f"{found}confirm/", {"reason": ""}).status_code == 422
    assert administrator.post(f"{found}confirm/", REASON)["Location"] == found
    assert "every 1s" in administrator.get(found).text
    commands.work(BulkDeletion.objects.get(project=project).id)
    done = administrator.get(found).text
    assert "1 session deleted with 2 steps" in " ".join(done.split())
    assert "1 session deleted" in " ".join(administrator.get("/settings/retention/").text.split())
    assert not Session.objects.filter(pk=session.pk).exists()


def test_a_bulk_deletion_is_not_offered_if_all_matches_are_held(
    administrator: Client, project: Project, session: Session
) -> None:
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    assert "Delete permanently" in administrator.get(found).text
    legal_holds.place(project, reason="case 12", by="ada", sessions=[session])
    page = administrator.get(found).text
    assert "Nothing to delete." in page
    assert "Delete permanently" not in page
    assert "every session in the project" not in page


def test_deletion_pages_name_remaining_summaries_and_warn_if_all_sessions_match(
    administrator: Client, session: Session
) -> None:
    address = f"/sessions/{session.id}/delete/"
    assert "a summary" not in administrator.get(address).text
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    assert '<a href="/collections/lessons/frames/0/">' in administrator.get(address).text
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    shown = administrator.get(found).text
    assert "This is every session in the project." in shown
    assert "Summaries of 1 session stay in collections" in shown


def test_all_sessions_that_match_a_filter_are_held_together(administrator: Client, session: Session) -> None:
    assert 'method="get"' not in administrator.get("/settings/retention/").text
    address = administrator.post("/forgettings/new/", {"tag": "junk", "do": "hold"})["Location"]
    assert address == "/holds/new/?tag=junk"
    assert "<b>1 session</b> with 2 steps match now" in administrator.get(address).text
    made = administrator.post(address, REASON)["Location"]
    assert "Talk" in administrator.get(made).text
    assert "No session matches." in administrator.get("/holds/new/?tag=none").text
    assert administrator.get("/holds/new/").status_code == 422
    assert administrator.get("/holds/new/?older_than_days=soon").status_code == 422


def test_a_short_retention_rule_needs_a_reason_and_can_be_removed(administrator: Client) -> None:
    address = "/settings/retention/"
    assert "All sessions are kept permanently" in administrator.get(address).text
    refused = administrator.post(address, {"days": "30"})
    assert (refused.status_code, "six months" in refused.text) == (422, True)
    rule = {"days": "30", "tag": "junk"} | REASON
    assert "Nothing to delete today" in administrator.post(address, rule).text
    assert "All sessions are kept permanently" in administrator.get(address).text
    assert 'value="junk"' in administrator.post(address, rule | {"change": "yes"}).text
    assert administrator.post(address, rule | {"confirmed": "yes"})["Location"] == address
    shown = administrator.get(address).text
    assert "Sessions with tag junk: deleted after 30 days" in shown
    assert "Shorter than six months (183 days)" in shown
    removed = re.search(r"/settings/retention/[0-9a-f-]+/remove/", shown)
    assert administrator.post(removed[0] if removed else "")["Location"] == address
    assert "All sessions are kept permanently" in administrator.get(address).text


def test_operators_see_no_forms_that_delete_or_hold(project: Project, session: Session) -> None:
    operator = browser_of(project, OPERATOR)
    assert "Delete step" not in operator.get(f"/sessions/{session.id}/?step=1").text
    shown = operator.get("/settings/retention/").text
    assert "Preview rule" not in shown
    assert "Preview deletion" not in shown
    assert operator.get(f"/sessions/{session.id}/hold/").status_code == 200


def words(page: str) -> str:
    return " ".join(page.split()).replace(" </b>", "</b>")


def test_a_rule_previews_what_it_would_delete_and_when(administrator: Client, project: Project) -> None:
    for key, age in (("old", 50), ("older", 60), ("new", 1)):
        started = start_session(project, name=key, by="test", key=key)
        append(started.id, [ActionDraft(kind="message", role="user", output="words")] * 2)
        moment = now() - timedelta(days=age)
        Session.objects.filter(pk=started.pk).update(started_at=moment, last_action_at=moment)
    rule = {"days": "40", "reason": "asked for"}
    seen = words(administrator.post("/settings/retention/", rule).text)
    assert "This deletes <b>2 sessions with 4 steps</b> at its next run, within the hour" in seen
    assert f"{now() - timedelta(days=20):%Y-%m-%d}" in seen
    legal_holds.place(project, reason="case 12", by="ada", sessions=[session_of(project, "older")])
    seen = words(administrator.post("/settings/retention/", rule).text)
    assert "<b>2 sessions with 4 steps, 1 of them under legal hold</b>" in seen
    assert f"{now() - timedelta(days=10):%Y-%m-%d}" in seen
    later = words(administrator.post("/settings/retention/", {"days": "400"}).text)
    assert "Nothing to delete today" in later
    assert f"{now() + timedelta(days=350):%Y-%m-%d}" in later


def test_the_list_of_sessions_marks_and_filters_held_sessions(
    administrator: Client, project: Project, session: Session
) -> None:
    start_session(project, name="Free", by="test", key="free")
    assert ">on hold</a>" not in administrator.get("/").text
    legal_holds.place(project, reason="case 12", by="ada", sessions=[session])
    assert administrator.get("/").text.count(">on hold</a>") == 1
    for held, listed, hidden in (("yes", "Talk", "Free"), ("no", "Free", "Talk")):
        shown = administrator.get("/", {"held": held}).text
        assert listed in shown
        assert f"<bdi>{hidden}</bdi>" not in shown
    assert "cannot be" in administrator.get("/", {"held": "perhaps"}).text


def test_a_late_cancellation_and_a_deletion_under_hold_are_refused_on_the_page(
    administrator: Client, project: Project, session: Session
) -> None:
    found = administrator.post("/forgettings/new/", {"tag": "junk"})["Location"]
    for _ in range(2):
        administrator.post(f"{found}cancel/")
    assert "cannot be cancelled" in administrator.get(found).text
    note = add(session, 1, "look here", by="ada")
    legal_holds.place(project, reason="case 12", by="ada", sessions=[session])
    refused = administrator.post(f"/sessions/{session.id}/notes/{note.id}/delete/")
    assert "case 12" in administrator.get(refused["Location"]).text


def test_pages_of_bulk_deletions_mark_settings_in_the_navigation(administrator: Client) -> None:
    found = administrator.post("/forgettings/new/", {"older_than_days": "1"})
    shown = administrator.get(found["Location"]).text
    assert 'href="/settings/" aria-current="true"' in shown


def test_an_empty_filter_is_refused_for_the_form_and_not_for_a_field(administrator: Client) -> None:
    refused = administrator.post("/forgettings/new/", {"named": " "})
    assert refused.status_code == 422
    assert "An empty filter would match all of them." in refused.text
    assert "which_named_error" not in refused.text
    assert "Name or key contains</a>:" not in refused.text


def test_the_address_of_a_deleted_session_says_so_only_to_its_project(
    administrator: Client, project: Project, other_project: Project, session: Session
) -> None:
    session.refresh_from_db()
    summarise(session, by="test", collection="lessons")
    administrator.post(f"/sessions/{session.id}/delete/", REASON | {"name": "talk"})
    stranger, outsider = program(other_project), browser_of(other_project, OPERATOR)
    for named in (session.id, "talk"):
        answer = administrator.get(f"/sessions/{named}/")
        shown = " ".join(answer.text.split())
        assert answer.status_code == 404
        assert "This session was deleted" in shown
        assert "asked for" in shown
        assert f"{session.last_sequence} steps" in shown
        assert '<a href="/collections/lessons/frames/0/">' in shown
        assert re.search(r"entry [0-9]+ of the project's log", shown)
        api_answer = program(project).get(f"/sessions/{named}")
        assert (api_answer.status_code, api_answer.json()["code"]) == (404, "session_deleted")
        without_read_scope = (
            program(project, "record").post(f"/sessions/{named}/actions", {"actions": []}).json()
        )
        assert without_read_scope["facts"] == {"session": str(session.id)}
        assert "asked for" not in without_read_scope["message"]
        facts = api_answer.json()["facts"]
        assert facts["deleted"]["reason"] == "asked for"
        assert (facts["session"], facts["summaries"]) == (
            str(session.id),
            [{"collection": "lessons", "frame": 0}],
        )
        assert stranger.get(f"/sessions/{named}").json()["code"] == "session_not_found"
        assert "deleted" not in outsider.get(f"/sessions/{named}/").text
    recreated = start_session(project, name="Talk again", by="test", key="talk")
    assert administrator.get("/sessions/talk/").status_code in (200, 302)
    assert program(project).get("/sessions/talk").json()["id"] == str(recreated.id)


def test_single_deletions_are_listed_among_the_deletions(
    administrator: Client, project: Project, other_project: Project, session: Session
) -> None:
    address = "/settings/retention/"
    assert "No single deletions." in administrator.get(address).text
    other = start_session(project, name="Other", by="test", key="other", tags=["bulk"])
    administrator.post(f"/sessions/{session.id}/steps/1/delete/", REASON)
    shown = " ".join(administrator.get(address).text.split())
    assert "step 1 of <bdi>Talk</bdi>" in shown
    found = administrator.post("/forgettings/new/", {"tag": "bulk"})["Location"]
    administrator.post(f"{found}confirm/", REASON)
    commands.work(BulkDeletion.objects.get(project=project).id)
    administrator.post(f"/sessions/{session.id}/delete/", {"name": "talk", "reason": "all of it"})
    shown = " ".join(administrator.get(address).text.split())
    assert f'<a href="/sessions/{session.id}/">' in shown
    assert "all of it" in shown
    assert "turn 1 of" not in shown
    assert str(other.id) not in shown
    assert str(session.id) not in browser_of(other_project, OPERATOR).get(address).text

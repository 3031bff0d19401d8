"""Legal holds: nothing in a held session is deleted or erased by any method."""

from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import LogEntry
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.deletion.retention import legal_holds, retention
from timemachine.governance.deletion.retention.queries import hold_of, holds_of, holds_over
from timemachine.governance.deletion.retention.session_filter import SessionSelection
from timemachine.management.demo.commands import load, remove
from timemachine.recording.annotations.notes import commands as notes
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.holds import held_among
from timemachine.recording.sessions.models import Action, ErasedSession, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(project: Project) -> Session:
    begun = start_session(project, name="The case", by="test", key="case", agent="clerk", tags=["case"])
    append(begun.id, [ActionDraft(kind="message", role="user", output=f"turn {n}") for n in range(3)])
    return begun


def test_nothing_deletes_or_erases_a_held_session(project: Project, session: Session) -> None:
    note = notes.add(session, 1, "a thought", by="test")
    looked = erasing.work(erasing.prepare(session, by="test", fields=["output"]).id)
    hold = legal_holds.place(project, reason="the lawsuit of May", by="ada", sessions=[session])
    assert held_among([session.id]) == {session.id}
    assert looked is not None
    tries = (
        lambda: erase_session(session, by="ada"),
        lambda: erasing.confirm(looked, reason="asked for", by="ada"),
        lambda: erasing.prepare(session, by="ada", fields=["output"]),
        lambda: erasing.delete_turn(session.actions.get(sequence=2), reason="asked for", by="ada"),
        lambda: notes.delete(note, by="test", administers=True),
    )
    for each in tries:
        with pytest.raises(Conflict) as refused:
            each()
        assert refused.value.code == "on_hold"
        assert ", placed by ada: the lawsuit of May. It cannot be deleted" in refused.value.message
        assert refused.value.facts["holds"] == [str(hold.id)]
    assert Action.objects.filter(session=session).count() == 3
    append(session.id, [ActionDraft(kind="message", output="it still records")])
    legal_holds.release(hold, reason="it is settled", by="ada")
    assert erase_session(session, by="ada") == 4
    assert [vars(each)["open"] for each in holds_of(project)] == [0]


@pytest.mark.parametrize(
    ("mode", "statement"),
    [
        ("on", "DELETE FROM tm_session WHERE id = %s"),
        ("on", "DELETE FROM tm_action WHERE session_id = %s"),
        ("on", "DELETE FROM tm_hit WHERE action_id IN (SELECT id FROM tm_action WHERE session_id = %s)"),
        ("on", "DELETE FROM tm_note WHERE session_id = %s"),
        ("on", "DELETE FROM tm_replay WHERE session_id = %s"),
        ("fields", "UPDATE tm_action SET label = '' WHERE session_id = %s"),
        ("fields", "UPDATE tm_session SET name = '' WHERE id = %s"),
        ("fields", "UPDATE tm_erasure SET status = 'erasing' WHERE session_id = %s"),
    ],
)
def test_the_database_itself_refuses_deletion(project: Project, mode: str, statement: str) -> None:
    made = load(project, by="test")
    notes.add(made.session, 1, "a thought", by="test")
    erasing.prepare(made.session, by="test", fields=["output"])
    legal_holds.place(project, reason="the lawsuit of May", by="ada", sessions=[made.session])
    with pytest.raises(IntegrityError, match="is under legal hold"):
        _tried(mode, statement, made.session)
    with pytest.raises(Conflict, match="under legal hold"):
        remove(project)
    assert Session.objects.filter(pk=made.session.pk).exists()


def _tried(mode: str, statement: str, session: Session) -> None:
    """Execute the statement in the erasure mode of the database."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL timemachine.erasing = '{mode}'")
        cursor.execute(statement, [session.id])


def test_a_hold_applies_to_the_sessions_that_matched_when_it_was_created(
    project: Project, session: Session
) -> None:
    other = start_session(project, name="Other", by="test", tags=["else"])
    hold = legal_holds.place(
        project, reason="the lawsuit of May", by="ada", which=SessionSelection(tag="case")
    )
    later = start_session(project, name="Later", by="test", tags=["case"])
    assert held_among([session.id, other.id, later.id]) == {session.id}
    assert (hold.wanted, hold.number, hold.open) == ({"tag": "case"}, 1, 1)  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="nothing to hold"):
        legal_holds.place(project, reason="a look", by="ada", which=SessionSelection(tag="none"))


def test_who_created_and_released_a_hold_and_why_is_kept_after_the_session_is_deleted(
    project: Project, session: Session
) -> None:
    first = legal_holds.place(project, reason="the lawsuit of May", by="ada", sessions=[session])
    second = legal_holds.place(project, reason="the audit", by="bo", sessions=[session])
    legal_holds.release(first, reason="it is settled", by="cy")
    with pytest.raises(Conflict, match="the audit"):
        erase_session(session, by="ada")
    with pytest.raises(Conflict, match="already released"):
        legal_holds.release(first, reason="again", by="cy")
    assert [each.reason for each in holds_over(session)] == ["the audit", "the lawsuit of May"]
    legal_holds.release(second, reason="it is over", by="cy", sessions=[session])
    erase_session(session, by="ada", reason="its time is over")
    released = hold_of(project, first.id)
    assert (released.released_by, released.release_reason, released.number) == ("cy", "it is settled", 1)  # type: ignore[attr-defined]
    log = b"".join(bytes(each.entry) for each in LogEntry.objects.filter(project=project))
    assert log.count(b'"what":"placed"') == log.count(b'"what":"released"') == 2
    assert ErasedSession.objects.get(project=project).reason == "its time is over"


def test_the_verifier_reads_a_log_with_holds_rules_and_deletions(
    project: Project, session: Session, tmp_path: Path
) -> None:
    hold = legal_holds.place(project, reason="the lawsuit of May", by="ada", sessions=[session])
    legal_holds.release(hold, reason="it is settled", by="cy")
    retention.remove_rule(retention.set_rule(project, days=400, by="ada"), by="ada")
    session.refresh_from_db()
    erasing.delete_turn(session.actions.get(sequence=1), reason="asked for", by="ada")
    erase_session(session, by="ada")
    with (tmp_path / "log.zip").open("wb") as target:
        exporting.write_log(target, project)
    found = tm_verify.verify(str(tmp_path / "log.zip"))
    assert list(found.problems) == []
    assert [each.turns for each in found.erasures] == [(1,), ()]


@pytest.mark.parametrize("reason", ["", "  ", "call +49 30 901820"])
def test_a_hold_needs_a_reason_without_findings(project: Project, session: Session, reason: str) -> None:
    with pytest.raises(InvalidInput):
        legal_holds.place(project, reason=reason, by="ada", sessions=[session])
    assert not held_among([session.id])


def test_a_project_cannot_hold_sessions_of_another(other_project: Project, session: Session) -> None:
    with pytest.raises(InvalidInput, match="nothing to hold"):
        legal_holds.place(other_project, reason="the lawsuit of May", by="eve", sessions=[session])
    with pytest.raises(InvalidInput, match="nothing to hold"):
        legal_holds.place(
            other_project, reason="the lawsuit of May", by="eve", which=SessionSelection(tag="case")
        )

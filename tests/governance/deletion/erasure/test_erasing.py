"""Erasing fields: erased text is removed from every table, and nothing else is removed."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from tests.builders import QUESTIONS, compared, recorded_session, replayed
from tests.governance.deletion.erasure.canary import (
    AUDIT,
    BIRDS,
    CANARY,
    EVERY_FIELD,
    PATTERN,
    SENTENCE,
    checked,
    erased,
    everywhere,
    sealed,
)
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import drop_unreferenced, store
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.evidence.models import ErasedField, LogEntry, SealedRecord
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.registry import overdue
from timemachine.recording.intake.models import Intake
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.alignment.queries import aligned
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.rules import read_rules

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("before_the_seal", [False, True])
def test_findings_of_a_profile_are_removed_from_every_table(session: Session, before_the_seal: bool) -> None:
    if not before_the_seal:
        sealed(session)
    assert set(everywhere()) >= {
        "tm_action",
        "tm_hit",
        "tm_payload",
        "tm_session",
        "tm_note",
        "tm_usage",
        "tm_searched_action",
    }
    done = erased(session, profile=BIRDS)
    assert everywhere() == {"tm_erasure": 1}  # the pattern of the profile
    assert done.result is not None
    assert (done.result["steps"], done.preview and done.preview["steps"]) == (3, 3)
    if before_the_seal:
        sealed(session)
    checks = checked(session)
    assert [each.problems for each in checks] == [[]] * len(checks)
    assert bool(checks[0].erased) != before_the_seal
    assert not ErasedField.objects.filter(commitment=None).exists() or before_the_seal
    assert Action.objects.get(session=session, sequence=2).parent_sequence == 1


def test_values_refused_by_the_database_are_in_none_of_its_logs(project: Project) -> None:
    start_session(project, name="first", by="test", key="twice")
    with pytest.raises(Conflict):
        start_session(project, name="of a Zqforgotten9Kx", by="test", key="twice")
    assert everywhere("Zqforgotten9Kx") == {}


def test_a_profile_finds_nothing_in_what_it_has_redacted(session: Session) -> None:
    rules = read_rules(
        {"detect": ["phone"], "phone_regions": ["DE"], "patterns": [PATTERN], "fields": EVERY_FIELD}
    )
    everything = Profile(name="everything", version=1, rules=rules)
    done = erased(session, profile=everything)
    assert done.result is not None
    assert done.result["counts"] != []
    second = erasing.work(erasing.prepare(session, by="ada@example.org", profile=everything).id)
    assert second is not None
    assert second.preview is not None
    found = {
        name: second.preview[name] for name in ("steps", "of_steps", "of_session", "counts", "replay_steps")
    }
    assert found == {"steps": 0, "of_steps": [], "of_session": [], "counts": [], "replay_steps": 0}


@pytest.mark.parametrize("path", ["retrieval.hits", "retrieval.hits[*].sha256"])
def test_erased_passages_are_not_found_again(session: Session, path: str) -> None:
    erased(session, fields=[path])
    second = erasing.work(erasing.prepare(session, by="ada@example.org", fields=[path]).id)
    assert second is not None
    assert second.preview is not None
    assert (second.preview["steps"], second.preview["counts"]) == (0, [])


def test_selected_fields_are_removed_from_every_table(session: Session) -> None:
    sealed(session)
    erased(session, fields=EVERY_FIELD)
    # the name and price of a model are numbers and labels that no path leads to
    assert everywhere() == {"tm_action": 3, "tm_usage": 1}
    assert [each.problems for each in checked(session)] == [[]] * 5


def test_other_fields_are_kept(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    sealed(session)
    step = Action.objects.filter(session=session, kind="ask").order_by("sequence").first()
    assert step is not None
    before = everywhere("ten years")
    assert before
    replay = replayed(session, AUDIT)
    sealed(session)
    done = erased(session, fields=["output"], steps=[step.sequence])
    step.refresh_from_db()
    assert bytes(step.output.data) == b"[erased: field]"  # type: ignore[union-attr]
    step_after = ReplayStep.objects.get(replay=replay, sequence=step.sequence)
    assert b"ten years" not in bytes(step_after.output.data)  # type: ignore[union-attr]
    assert done.result is not None
    assert done.result["collections"] == ["handbook"]
    check = checked(session)
    assert [each.problems for each in check] == [[]] * len(check)
    assert check[0].erased == ErasedField.objects.filter(session=session, replay=None).count() > 0


def test_an_erasure_needs_a_reason_and_runs_once(session: Session) -> None:
    found = erasing.prepare(session, by="ada", fields=["output"], steps=[1])
    with pytest.raises(Conflict, match="still being scanned"):
        erasing.confirm(found, reason="because", by="ada")
    erasing.work(found.id)
    with pytest.raises(InvalidInput, match="reason"):
        erasing.confirm(found, reason="  ", by="ada")
    assert Action.objects.filter(session=session, output__sha256=content_of(SENTENCE).sha256).count() == 3
    erasing.confirm(found, reason="because", by="ada")
    erasing.work(found.id)
    erasing.work(found.id)
    with pytest.raises(Conflict, match="already been erased"):
        erasing.confirm(found, reason="because", by="ada")


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"fields": ["output"], "profile": BIRDS},
        {"fields": ["sequence"]},
        {"fields": ["output"], "steps": [9]},
    ],
)
def test_an_invalid_erasure_is_refused(session: Session, chosen: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        erasing.prepare(session, by="ada", **chosen)


def test_nothing_is_erased_while_a_replay_runs(session: Session) -> None:
    Replay.objects.filter(session=session).update(status="running")
    found = erasing.work(erasing.prepare(session, by="ada", profile=BIRDS).id)
    assert found is not None
    assert found.problem is not None
    assert "A replay of this session is running" in found.problem


def test_recorded_rows_cannot_be_changed_in_any_other_way(session: Session) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).update(output=None)
    sealed(session)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'fields'")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).update(kind="find")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SealedRecord.objects.update(leaf=bytes(32))
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Action.objects.filter(session=session).delete()


def test_cached_texts_of_two_sessions_are_not_shown_after_an_erasure(session: Session) -> None:
    project = session.project
    other = recorded_session(project, questions=QUESTIONS[:1])
    first = aligned(project, str(session.id), str(other.id))
    assert any(CANARY in step.label for step in first.left.steps.values())
    erased(session, profile=BIRDS)
    second = aligned(project, str(session.id), str(other.id))
    assert not any(CANARY in step.label for step in second.left.steps.values())


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_killed_erasure_leaves_no_partial_state(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed(session)
    found = erasing.work(erasing.prepare(session, by="ada", profile=BIRDS).id)
    assert found is not None
    erasing.confirm(found, reason="because", by="ada")
    before, entries = everywhere(), LogEntry.objects.count()
    with monkeypatch.context() as during:
        during.setattr(erasing, "recount", killed)
        with pytest.raises(KeyboardInterrupt):
            erasing.work(found.id)
    assert (everywhere(), LogEntry.objects.count()) == (before, entries)
    assert overdue(run_erasure) == []
    Erasure.objects.update(lease_until=now() - timedelta(seconds=1))
    assert overdue(run_erasure) == [found.id]
    erasing.work(found.id)
    assert everywhere() == {"tm_erasure": 1}


def test_reasons_labels_and_file_names_are_searched_as_well(project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
    Comparison.objects.filter(pk=comparison.pk).update(reason=f"About {CANARY}")
    link, _ = create_link(project, comparison, Terms(label=f"For {CANARY}"), by="test")
    sealed(session)
    done = erased(session, profile=BIRDS)
    comparison.refresh_from_db()
    link.refresh_from_db()
    assert (comparison.reason, link.label) == ("About [erased: bird]", "For [erased: bird]")
    assert done.result is not None
    assert {each["place"] for each in done.result["elsewhere"]} >= {
        "reasons and arms of comparisons",
        "share links",
    }
    assert [each.problems for each in checked(session)] == [[]] * 4


def test_nothing_is_erased_while_a_file_is_uploaded(session: Session) -> None:
    Intake.objects.filter(session=session).update(status="running")
    found = erasing.work(erasing.prepare(session, by="ada", profile=BIRDS).id)
    assert found is not None
    assert found.problem is not None
    assert "A file upload of this session is running" in found.problem


def test_erasing_a_session_erases_what_its_import_stores_about_it(session: Session) -> None:
    assert "tm_file_import" in everywhere()
    erase_session(session, by="ada@example.org", reason="asked for")
    assert "tm_file_import" not in everywhere()


def unreferenced() -> int:
    """Count the payloads without references."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        dropped = drop_unreferenced(list(Payload.objects.values_list("id", flat=True)))
        transaction.set_rollback(True)
        return dropped


def test_only_payloads_affected_by_an_erasure_are_checked_and_none_is_left(
    session: Session,
) -> None:
    other = store(session.project_id, [content_of("nobody refers to it")])
    assert unreferenced() == 1
    sealed(session)
    erased(session, profile=BIRDS)
    assert unreferenced() == 1
    erase_session(session, by="ada")
    assert unreferenced() == 1
    assert Payload.objects.filter(id__in=other.values()).exists()

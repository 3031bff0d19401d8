"""Concurrent sealing, recording and erasing: a seal covers what remains, and the log misses nothing."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests.builders import QUESTIONS, compared, recorded_session, replayed
from tests.governance.deletion.erasure.canary import SENTENCE, everywhere
from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import store
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import content_of
from timemachine.evidence import commands
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import access, project_log
from timemachine.evidence.log.access import Head
from timemachine.evidence.models import LogEntry, Seal
from timemachine.evidence.pure.record import Record
from timemachine.evidence.queries import seal_of
from timemachine.evidence.sealing import seals
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.evidence.sealing.subjects import Subject
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.memory.backlog import store_if_current
from timemachine.memory.patterns.models import ReadSession
from timemachine.memory.patterns.reader import reread_session
from timemachine.memory.search.indexing import reindex_steps
from timemachine.memory.search.models import IndexedSession
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

THREADS = 2


@contextmanager
def run_while_session_is_locked(
    session: Session, first: Callable[[], Any], second: Callable[[], Any], *, no_key: bool
) -> Iterator[list[Any]]:
    """Return the results of two operations that begin one after the other while a recorder has locked the session's row."""
    results = list[Any]()
    with ThreadPoolExecutor(THREADS) as pool:
        with transaction.atomic():
            Session.objects.select_for_update(no_key=no_key).get(pk=session.pk)
            one = in_a_thread(pool, first)
            wait_until(lambda: blocked_queries() == 1)
            other = in_a_thread(pool, second)
            wait_until(lambda: other.done() or blocked_queries() == THREADS)
        results += [one.result(), other.result()]
    yield results


@pytest.fixture
def session(transactional_db: None) -> Session:
    return recorded_session(Project.objects.create(name="Meanwhile"), questions=QUESTIONS[:1])


def test_a_session_first_sealed_during_its_erasure_is_sealed_as_what_remains(session: Session) -> None:
    found = erasing.work(erasing.prepare(session, by="ada", fields=["output"], steps=[2]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    with run_while_session_is_locked(
        session, lambda: erasing.work(found.id), lambda: seals.seal_session(session.id), no_key=False
    ) as (done, seal):
        assert done.status == "done", done.problem
    check = commands.run_check(commands.request_check(seal, by=None).id)
    assert check is not None
    assert check.problems == []


def test_a_repetition_recorded_during_an_erasure_is_erased_too(transactional_db: None) -> None:
    project = Project.objects.create(name="Meanwhile")
    begun = start_session(project, name="goes on", by="test")
    append(
        begun.id, [ActionDraft(kind="message", input=f"Again: {SENTENCE}", output="Nothing is said here.")]
    )
    begun.refresh_from_db()
    found = erasing.work(erasing.prepare(begun, by="ada", fields=["output"]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    drafts = [
        ActionDraft(kind="message", output=SENTENCE),
        ActionDraft(kind="message", input=f"So: {SENTENCE}"),
    ]
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Session.objects.select_for_update().get(pk=begun.pk)
            erasure = in_a_thread(pool, lambda: erasing.work(found.id))
            wait_until(lambda: blocked_queries() == 1)
            append(begun.id, drafts)
        done = erasure.result()
    assert done is not None
    assert done.status == "done", done.problem
    assert everywhere() == {}


def test_a_writer_to_the_projects_log_and_a_turn_deletion_do_not_deadlock(
    transactional_db: None,
) -> None:
    begun = start_session(Project.objects.create(name="Meanwhile"), name="goes on", by="test")
    append(begun.id, [ActionDraft(kind="message", output=SENTENCE)])
    begun.refresh_from_db()
    project_log.append(begun.project, [{"entry": project_log.HOLD}])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            project_log.append(begun.project, [{"entry": project_log.HOLD}])
            step = begun.actions.get(sequence=1)
            deletion = in_a_thread(pool, lambda: erasing.delete_turn(step, reason="asked for", by="ada"))
            wait_until(lambda: blocked_queries() == 1)
        assert deletion.result().status == "done"
    assert everywhere() == {}


def test_a_reason_that_repeats_concurrently_recorded_text_is_refused(transactional_db: None) -> None:
    begun = start_session(Project.objects.create(name="Meanwhile"), name="goes on", by="test")
    append(begun.id, [ActionDraft(kind="message", output="Nothing is said here.")])
    begun.refresh_from_db()
    found = erasing.work(erasing.prepare(begun, by="ada", fields=["output"]).id)
    assert found is not None
    erasing.confirm(found, reason=f"Asked for: {SENTENCE}", by="ada")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Session.objects.select_for_update().get(pk=begun.pk)
            erasure = in_a_thread(pool, lambda: erasing.work(found.id))
            wait_until(lambda: blocked_queries() == 1)
            append(begun.id, [ActionDraft(kind="message", output=SENTENCE)])
        done = erasure.result()
    assert done is not None
    assert (done.status, done.reason) == ("found", None)
    assert "which must not be stored" in (done.problem or "")


def test_recording_does_not_wait_until_all_steps_are_compared_with_the_reason_again(
    transactional_db: None,
) -> None:
    begun = start_session(Project.objects.create(name="Meanwhile"), name="goes on", by="test")
    append(begun.id, [ActionDraft(kind="message", output="Nothing is said here.")])
    begun.refresh_from_db()
    found = erasing.work(erasing.prepare(begun, by="ada", fields=["output"]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    statements = list[str]()

    def erase() -> Erasure | None:
        with CaptureQueriesContext(connection) as queries:
            done = erasing.work(found.id)
        statements.extend(each["sql"] for each in queries)
        return done

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Session.objects.select_for_update().get(pk=begun.pk)
            erasure = in_a_thread(pool, erase)
            wait_until(lambda: blocked_queries() == 1)
            append(begun.id, [ActionDraft(kind="message", input="Go on.")])
        done = erasure.result()
    assert done is not None
    assert done.status == "done", done.problem
    holding = next(
        place for place, sql in enumerate(statements) if "tm_session" in sql and "FOR UPDATE" in sql
    )
    full_scan = '"tm_action"."sequence" > 0'
    assert any(full_scan in sql for sql in statements[:holding])
    assert not [sql for sql in statements[holding:] if full_scan in sql and " IN (" not in sql]


def test_a_comparison_sealed_while_a_session_loses_fields_is_sealed_as_what_remains(
    session: Session, tmp_path: Path
) -> None:
    other = recorded_session(session.project, questions=QUESTIONS[:1], key="other")
    both = compared(session.project, [session, other], "local:extractive-1", "local:extractive-3")
    for each in (session, other):
        seals.seal_session(each.id)
    found = erasing.work(erasing.prepare(session, by="ada", fields=["output"], steps=[2]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    with run_while_session_is_locked(
        session, lambda: erasing.work(found.id), lambda: seals.seal_comparison(both.id), no_key=False
    ) as (done, seal):
        assert done.status == "done", done.problem
    check = commands.run_check(commands.request_check(seal, by=None).id)
    assert check is not None
    assert check.problems == []
    assert _problems(session.project, tmp_path) == []


def test_a_check_of_a_comparison_is_consistent_while_a_session_loses_fields(session: Session) -> None:
    other = recorded_session(session.project, questions=QUESTIONS[:1], key="other")
    both = compared(session.project, [session, other], "local:extractive-1", "local:extractive-3")
    requested = commands.request_check(seals.seal_comparison(both.id), by=None)
    found = erasing.work(erasing.prepare(session, by="ada", fields=["output"], steps=[2]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    with run_while_session_is_locked(
        session, lambda: erasing.work(found.id), lambda: commands.run_check(requested.id), no_key=False
    ) as (done, check):
        assert done.status == "done", done.problem
        assert check.problems == []
    resealed = seals.seal_comparison(both.id)
    after = commands.run_check(commands.request_check(resealed, by=None).id)
    assert after is not None
    assert (after.problems, resealed and resealed.generation) == ([], 2)


def test_a_comparison_sealed_while_a_session_is_erased_is_sealed_as_what_remains(
    session: Session, tmp_path: Path
) -> None:
    other = recorded_session(session.project, questions=QUESTIONS[:1], key="other")
    both = compared(session.project, [session, other], "local:extractive-1", "local:extractive-3")
    for each in (session, other):
        seals.seal_session(each.id)
    with run_while_session_is_locked(
        session,
        lambda: erase_session(session, by="ada"),
        lambda: seals.seal_comparison(both.id),
        no_key=True,
    ):
        pass
    check = commands.run_check(commands.request_check(seals.seal_comparison(both.id), by=None).id)
    assert check is not None
    assert check.problems == []
    assert _problems(session.project, tmp_path) == []


def test_a_session_first_sealed_during_its_erasure_is_not_reported_missing(
    session: Session, tmp_path: Path
) -> None:
    remaining = recorded_session(session.project, questions=QUESTIONS[:1], key="kept")
    seals.seal_session(remaining.id)
    with run_while_session_is_locked(
        session,
        lambda: erase_session(session, by="ada"),
        lambda: seals.seal_session(session.id),
        no_key=True,
    ):
        assert seal_of(session) is None
    assert _problems(session.project, tmp_path) == []


def test_an_access_log_committed_to_during_the_erasure_of_its_session_is_not_reported_missing(
    session: Session, tmp_path: Path
) -> None:
    seals.seal_session(recorded_session(session.project, questions=QUESTIONS[:1], key="kept").id)
    head = Head(chain="link 7", lines=1, sha256="0" * 64, session=session.id)
    with run_while_session_is_locked(
        session,
        lambda: erase_session(session, by="ada"),
        lambda: access.commit(session.project, [head]),
        no_key=True,
    ) as (_, committed):
        assert committed == 0
    assert (Seal.objects.count(), LogEntry.objects.count()) == (1, 2)
    assert _problems(session.project, tmp_path) == []


def test_a_bundle_is_a_consistent_snapshot_even_during_an_erasure(session: Session, tmp_path: Path) -> None:
    found = erasing.work(erasing.prepare(session, by="ada", fields=["output", "retrieval"]).id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    done = list[str]()

    def erase() -> None:
        row = erasing.work(found.id)
        done.append("" if row is None else row.status)

    def discloses(_subject: Subject, record: Record, _texts: object) -> AbstractSet[str]:
        if not done:
            with ThreadPoolExecutor(1) as pool:
                in_a_thread(pool, erase).result()
        return record.fields.keys()

    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    for target in (before, after):
        with target.open("wb") as opened:
            exporting.write_session(opened, session, audience=exporting.Audience(discloses=discloses))
    assert done == ["done"]
    reports = [tm_verify.verify(str(target)) for target in (before, after)]
    assert [each.problems for each in reports] == [[], []]
    assert [each.checked["erased_fields"] > 0 for each in reports] == [False, True]
    assert [each.checked["withheld"] for each in reports] == [0, 0]


def test_replays_and_comparisons_are_checked_and_exported_in_a_read_only_transaction(
    session: Session, tmp_path: Path
) -> None:
    comparison = compared(session.project, [session], "local:extractive-1", "local:extractive-3")
    replay = replayed(session, ReplayOptions(audit=True, reason="a test"))
    for seal in (seals.seal_comparison(comparison.id), seals.seal_replay(replay.id)):
        check = commands.run_check(commands.request_check(seal, by=None).id)
        assert check is not None
        assert check.problems == []
    for write in (
        lambda target: exporting.write_comparison(target, comparison),
        lambda target: exporting.write_replay(target, replay),
    ):
        with exporting.temporary_file(write) as zipped:
            (tmp_path / "evidence.zip").write_bytes(zipped.read())
        assert tm_verify.verify(str(tmp_path / "evidence.zip")).problems == []


def _problems(project: Project, folder: Path) -> list[dict[str, Any]]:
    target = BytesIO()
    exporting.write_log(target, project)
    (folder / "log.zip").write_bytes(target.getvalue())
    return list(tm_verify.verify(str(folder / "log.zip")).problems)


@pytest.mark.parametrize(
    ("begin", "again"),
    [
        (lambda each: ReadSession(session=each, project_id=each.project_id, began_at=now()), reread_session),
        (
            lambda each: IndexedSession(session=each, project_id=each.project_id),
            partial(reindex_steps, sequences=[1]),
        ),
    ],
    ids=["patterns", "search"],
)
def test_a_worker_that_begins_with_a_session_does_not_deadlock_with_its_erasure(
    session: Session, begin: Callable[[Session], Any], again: Callable[[Session], None]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            locked = Session.objects.select_for_update().get(pk=session.pk)
            worker = in_a_thread(pool, lambda: store_if_current(begin(session), lambda: None))
            wait_until(lambda: blocked_queries() == 1)
            again(locked)
        assert worker.result() is True


def test_a_content_that_is_stored_again_is_not_deleted_as_unreferenced(transactional_db: None) -> None:
    project = Project.objects.create(name="Meanwhile")
    content = content_of("The same words.")
    gone, kept = (start_session(project, name=name, by="test") for name in ("gone", "kept"))
    append(gone.id, [ActionDraft(kind="message", output="The same words.")])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert store(project.id, [content])[content]
            deletion = in_a_thread(pool, lambda: erase_session(gone, by="ada"))
            wait_until(lambda: blocked_queries() == 1)
            append(kept.id, [ActionDraft(kind="message", output="The same words.")])
        deletion.result()
    assert Payload.objects.filter(project=project, sha256=content.sha256).count() == 1

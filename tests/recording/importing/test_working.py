"""Large files: a worker imports each completely or not at all, even if workers die, and no file is kept afterwards."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from tests.recording.importing.sample_files import lines
from tests.recording.importing.transcript_samples import CHAT, CODEX_RECORDS
from timemachine.core.accounts.models import Project
from timemachine.core.leases import MOST_ATTEMPTS, Progress
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.jobs.registry import overdue
from timemachine.recording.importing import worker
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.models import FileImport
from timemachine.recording.importing.queries import import_of, sessions_of
from timemachine.recording.importing.worker import hand_in, work
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.tasks import run_import

pytestmark = pytest.mark.django_db
FILE = lines(*CODEX_RECORDS)


def lost(found: FileImport) -> None:
    """The worker died and its lease has expired."""
    FileImport.objects.filter(id=found.id).update(lease_until=now() - timedelta(seconds=1))


def test_a_worker_imports_a_file_and_deletes_it(project: Project) -> None:
    found = hand_in(project, FILE, by="Ada", filename="rollout.jsonl")
    assert (found.status, found.format, found.total, Session.objects.count()) == ("waiting", "codex", None, 0)
    assert found.began_at is None
    work(found.id)
    found.refresh_from_db()
    assert found.began_at is not None
    assert (found.status, found.done, found.total, bytes(found.data)) == ("done", 11, 11, b"")
    assert (found.size, found.error_code, found.lease_until) == (len(FILE), None, None)
    assert found.report is not None
    assert found.report["lines"] == len(CODEX_RECORDS)
    (listed,) = sessions_of(found, 10)
    assert listed.session is not None
    assert (listed.session.key, listed.actions, listed.already_there) == ("c1", 11, 0)
    work(found.id)
    assert Action.objects.count() == 11


def test_progress_covers_all_actions_of_a_file(project: Project) -> None:
    updates: list[tuple[int, int | None]] = []

    class ReportedProgress(Progress):
        def __setattr__(self, name: str, value: int | None) -> None:
            super().__setattr__(name, value)
            if name == "done":
                updates.append((self.done, getattr(self, "total", None)))

    many = [{"role": "user", "content": f"{number}"} for number in range(2_500)]
    import_file(project, lines({"messages": many}, {"messages": CHAT}), by="Ada", progress=ReportedProgress())
    assert sorted(set(updates[1:])) == [(0, 2507), (1000, 2507), (2000, 2507), (2500, 2507), (2507, 2507)]


def test_an_erased_imported_session_is_listed_without_a_name(project: Project) -> None:
    found = hand_in(project, FILE, by="Ada")
    work(found.id)
    found.refresh_from_db()
    found.sessions = [{"id": str(uuid4()), "actions": 3, "already_there": 1}]
    (listed,) = sessions_of(found, 10)
    assert (listed.session, listed.actions) == (None, 3)


def test_a_file_in_an_unknown_format_is_refused_at_upload(project: Project) -> None:
    with pytest.raises(InvalidInput, match="not a transcript"):
        hand_in(project, b"notes", by="Ada", filename="notes.txt")
    assert not FileImport.objects.exists()


def test_a_file_that_turns_out_to_be_invalid_fails_with_the_reason(project: Project) -> None:
    found = hand_in(project, b'{"trajectory": [], "history": [', by="Ada", format_name="swe_agent")
    work(found.id)
    found.refresh_from_db()
    assert (found.status, found.error_code, bytes(found.data)) == ("failed", "unknown_format", b"")
    assert "it is truncated or not JSON" in (found.error_message or "")
    assert sessions_of(found, 10) == []


def test_a_dead_worker_leaves_nothing_and_the_next_one_starts_over(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hand_in(project, FILE, by="Ada")
    real = worker._end

    def crash(*_: Any, **__: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_end", crash)
    with pytest.raises(KeyboardInterrupt):
        work(found.id)
    assert not Session.objects.exists()
    work(found.id)  # someone still has it
    assert not Session.objects.exists()
    monkeypatch.setattr(worker, "_end", real)
    lost(found)
    work(found.id)
    found.refresh_from_db()
    assert (found.status, found.attempts, Action.objects.count()) == ("done", 2, 11)


def test_a_worker_that_lost_its_lease_writes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hand_in(project, FILE, by="Ada")
    monkeypatch.setattr(worker, "_end", lambda *_, **__: 0)
    work(found.id)
    found.refresh_from_db()
    assert (found.status, Session.objects.count()) == ("running", 0)


def test_database_errors_are_retried_and_the_third_lost_worker_ends_the_import(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hand_in(project, FILE, by="Ada")

    def refuse(*_: Any, **__: Any) -> Any:
        raise DatabaseError("deadlock detected\nmore")

    monkeypatch.setattr(worker, "import_file", refuse)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(DatabaseError):
            work(found.id)
        lost(found)
    work(found.id)
    found.refresh_from_db()
    assert (found.status, found.error_code, bytes(found.data)) == ("failed", "not_kept", b"")
    assert found.error_message == "The database rejected the sessions: deadlock detected."


def test_a_third_lost_worker_is_reported(project: Project) -> None:
    found = hand_in(project, FILE, by="Ada")
    FileImport.objects.filter(id=found.id).update(attempts=MOST_ATTEMPTS)
    work(found.id)
    found.refresh_from_db()
    assert (found.status, found.error_code) == ("failed", "worker_lost")


def test_an_import_without_a_worker_is_enqueued_again(project: Project) -> None:
    found = hand_in(project, FILE, by="Ada")
    assert overdue(run_import) == []
    assert overdue(run_import, at_start=True) == [found.id]
    FileImport.objects.update(enqueued_at=now() - timedelta(minutes=1))
    assert overdue(run_import) == [found.id]
    work(found.id)
    assert overdue(run_import, at_start=True) == []


def test_the_database_refuses_a_finished_import_that_keeps_its_file(project: Project) -> None:
    found = hand_in(project, FILE, by="Ada")
    with pytest.raises(IntegrityError, match="file_import_keeps_no_file_when_over"), transaction.atomic():
        FileImport.objects.filter(id=found.id).update(finished_at=now())


def test_an_import_of_another_project_is_not_found(project: Project, other_project: Project) -> None:
    found = hand_in(project, FILE, by="Ada")
    assert import_of(project, str(found.id)) == found
    for import_id in (str(found.id), "no-id"):
        with pytest.raises(NotFound, match="no such import in this project"):
            import_of(other_project, import_id)

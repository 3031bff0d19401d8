"""Receive files, and import those that are too large for their sender to wait.

A worker imports the file, all of it or nothing, and then deletes the stored copy. Sessions, counts and the end of the
import are one transaction, written only under the lease: if a worker is killed, nothing remains and the next one
starts from the beginning. Progress is written through a separate connection.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.database import rejection
from timemachine.core.leases import (
    MOST_ATTEMPTS,
    PROGRESS_INTERVAL,
    Lease,
    LeaseLost,
    Progress,
    claim,
    keep_alive,
)
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.streams import unpacked
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.models import DONE, FAILED, RUNNING, FileImport, FileWork
from timemachine.recording.importing.pure.contents import Contents, pieces_of
from timemachine.recording.importing.pure.registry import choose_format

IN_MEMORY: Final = 4 * 1024 * 1024
"""Bytes of a file that is held in memory; a larger one is memory-mapped from disk."""
AT_ONCE_BYTES: Final = 4 * 1024 * 1024
PART_BYTES: Final = 4 * 1024 * 1024
_COPY_PARTS: Final = "COPY tm_file_part (file_import_id, number, data) FROM STDIN (FORMAT BINARY)"


@contextmanager
def received(parts: Iterable[bytes]) -> Iterator[Contents]:
    """Yield the file that the parts make, unpacked if it is gzip or Zstandard; it is removed at the end of the block.

    Raises `TooLarge` if it is, or unpacks to, more than `settings.MAX_IMPORT_BYTES`, and `InvalidInput`
    (`not_packed`).
    """
    with TemporaryFile() as file:
        file.writelines(unpacked(parts, settings.MAX_IMPORT_BYTES))
        size = file.tell()
        file.seek(0)
        if size <= IN_MEMORY:
            yield file.read()
            return
        file.flush()
        with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
            yield mapped


@transaction.atomic
def hand_in(
    project: Project, data: Contents, *, by: str, format_name: str | None = None, filename: str | None = None
) -> FileImport:
    """Store a file for a worker to import. Raises `InvalidInput` immediately if no format matches."""
    name = choose_format(format_name, data, filename)
    is_small = len(data) <= PART_BYTES
    found = FileImport.objects.create(
        project=project,
        name=filename or "a file",
        format=name,
        data=data[:] if is_small else b"",
        size=len(data),
        put_by=by,
        enqueued_at=now(),
    )
    if not is_small:
        # COPY is used because psycopg keeps the text of its last hundred statements, with everything they insert.
        with connection.cursor() as cursor, cursor.copy(_COPY_PARTS) as copy:
            copy.set_types(["uuid", "int4", "bytea"])
            for number, piece in enumerate(pieces_of(data, PART_BYTES), start=1):
                copy.write_row((found.id, number, piece))
    return found


def work(import_id: UUID) -> None:
    """Import a file that was handed in. Safe to run twice, to run concurrently, and to be killed at any point."""
    lease = _claim(import_id)
    if lease is None:
        return
    progress = Progress()

    def changes() -> dict[str, object]:
        return progress.columns() | {"revision": F("revision") + 1}

    try:
        with keep_alive(lease, every=PROGRESS_INTERVAL, progress=changes):
            _import(lease, progress)
    except LeaseLost:
        return
    except TimeMachineError as why:
        _end(lease, status=FAILED, error_code=why.code, error_message=why.message)
    except DatabaseError as why:  # it may be temporary (a deadlock), so another worker retries
        note_rejection(lease, why, "sessions")
        raise


def note_rejection[Row: FileWork](lease: Lease[Row], why: DatabaseError, what: str) -> None:
    """Store why the database did not keep what an attempt wrote, in case the attempt is the last."""
    error = rejection(why, what)
    lease.held().update(error_code=error.code, error_message=error.message)


def overdue() -> QuerySet[FileImport]:
    """Return the imports that have not finished."""
    return FileImport.objects.filter(finished_at=None)


@transaction.atomic
def _claim(import_id: UUID) -> Lease[FileImport] | None:
    """Lease the import; None if it has finished or another worker has it. Fail it if its workers stopped three times."""
    counted = {"attempts": F("attempts") + 1, "revision": F("revision") + 1}
    lease = claim(
        overdue().filter(id=import_id), **counted, status=RUNNING, total=None, done=0, began_at=now()
    )
    if lease is None:
        return None
    found = lease.locked()
    if found.attempts <= MOST_ATTEMPTS:
        return lease
    _end(
        lease,
        status=FAILED,
        error_code=found.error_code or "worker_lost",
        error_message=found.error_message
        or (
            f"The worker stopped {MOST_ATTEMPTS} times while importing this file. Nothing was imported. "
            "Check the worker's log, or split the file."
        ),
    )
    return None


@transaction.atomic
def _import(lease: Lease[FileImport], progress: Progress) -> None:
    found = lease.row("project")
    with received(_parts(found)) as data:
        done = import_file(
            found.project,
            data,
            by=found.put_by,
            format_name=found.format,
            filename=found.name,
            progress=progress,
        )
    sessions = [
        {
            "id": str(each.session.id),
            "actions": each.actions,
            "already_there": each.already_there,
            "deleted_turns": each.deleted_turns,
            "deleted_before": each.deleted_before and each.deleted_before.pk,
        }
        for each in done.sessions
    ]
    if not _end(
        lease,
        status=DONE,
        done=progress.done,
        total=progress.done,
        sessions=sessions,
        report=done.report.model_dump(),
        error_code=None,
        error_message=None,
    ):
        raise LeaseLost


def _parts(found: FileImport) -> Iterator[bytes]:
    if found.data:
        yield bytes(found.data)
    for number in list(found.parts.order_by("number").values_list("number", flat=True)):
        yield bytes(found.parts.get(number=number).data)


def _end(lease: Lease[FileImport], **changes: Any) -> bool:
    return lease.release(finished_at=now(), data=b"", revision=F("revision") + 1, **changes)

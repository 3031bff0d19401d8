"""A file that is too large for its sender to wait: kept, imported by a worker, all of it or none, and then let go of.

Sessions, counts and the end of the import are one transaction, written only under the lease: a killed worker leaves nothing, and the
next one begins anew. How far it is is written beside it, by a connection of its own.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import F, Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.heartbeat import heartbeat
from timemachine.recording.importing.commands import ImportDone, import_file
from timemachine.recording.importing.file_contents import received
from timemachine.recording.importing.models import DONE, FAILED, RUNNING, WAITING, FileImport
from timemachine.recording.importing.pure.mapped_bytes import Contents, pieces_of
from timemachine.recording.importing.pure.registry import chosen

AT_ONCE_BYTES: Final = 4 * 1024 * 1024
PART_BYTES: Final = 4 * 1024 * 1024
MOST_ATTEMPTS: Final = 3
_COPY_PARTS: Final = "COPY tm_file_part (file_import_id, number, data) FROM STDIN (FORMAT BINARY)"
RING_AGAIN_AFTER: Final = timedelta(seconds=30)
_TELL_EVERY: Final = 1.0


class LeaseLost(Exception):
    """Another worker has the import now; what this one did is not written."""


@dataclass(slots=True)
class _Work:
    """What one worker is at; `done` and `total` are read by the thread that tells how far it is."""

    import_id: UUID
    token: UUID
    done: int = 0
    total: int | None = None

    def tell(self, done: int, total: int) -> None:
        """So many of so many actions are recorded."""
        self.done, self.total = done, total


@transaction.atomic
def hand_in(
    project: Project, data: Contents, *, by: str, format_name: str | None = None, filename: str | None = None
) -> FileImport:
    """Keep a file for a worker. Raises `InvalidInput` at once for one that no format knows."""
    name = chosen(format_name, data, filename)
    is_small = len(data) <= PART_BYTES
    found = FileImport.objects.create(
        project=project,
        name=filename or "a file",
        format=name,
        data=data[:] if is_small else b"",
        size=len(data),
        put_by=by,
        rung_at=now(),
    )
    if not is_small:
        _keep_parts(found, data)
    return found


def _keep_parts(found: FileImport, data: Contents) -> None:
    """Keep the file part by part. Copied, because psycopg holds on to the text of a hundred statements, of each with all that it inserts."""
    with connection.cursor() as cursor, cursor.copy(_COPY_PARTS) as copy:
        copy.set_types(["uuid", "int4", "bytea"])
        for number, piece in enumerate(pieces_of(data, PART_BYTES), start=1):
            copy.write_row((found.id, number, piece))


def work(import_id: UUID) -> None:
    """Import a file that was handed in. Safe to run twice, at the same time, and to be killed at any point."""
    found = _claim(import_id)
    if found is None:
        return
    at_work = _Work(import_id, found.lease_token or uuid4())
    try:
        with _told(at_work):
            _import(found, at_work)
    except LeaseLost:
        return
    except TimeMachineError as why:
        _end(at_work, status=FAILED, error_code=why.code, error_message=why.message)
    except DatabaseError as why:  # it may pass (a deadlock), so another worker tries again
        _held(at_work).update(error_code="not_kept", error_message=_reason(why))
        raise


@transaction.atomic
def due_for_ringing(*, at_once: bool = False) -> list[UUID]:
    """The imports that nobody is at, marked as rung. `at_once` (a worker has just started) does not wait for the last ringing."""
    moment = now()
    idle = FileImport.objects.filter(
        Q(status=WAITING) | Q(status=RUNNING, lease_until__lt=moment), finished_at=None
    )
    if not at_once:
        idle = idle.filter(Q(status=RUNNING) | Q(rung_at__lt=moment - RING_AGAIN_AFTER))
    ids = list(idle.values_list("id", flat=True))
    FileImport.objects.filter(id__in=ids).update(rung_at=moment)
    return ids


@transaction.atomic
def _claim(import_id: UUID) -> FileImport | None:
    """The import, to work on; None where it is over or somebody is at it. The third worker lost at it ends it."""
    free = Q(status=WAITING) | Q(status=RUNNING, lease_until__lt=now())
    found = FileImport.objects.select_for_update().filter(free, id=import_id, finished_at=None).first()
    if found is None:
        return None
    found.attempts += 1
    found.revision += 1
    if found.attempts > MOST_ATTEMPTS:
        found.status, found.finished_at, found.lease_until, found.data = FAILED, now(), None, b""
        found.error_code = found.error_code or "worker_lost"
        found.error_message = found.error_message or (
            f"The worker was lost {MOST_ATTEMPTS} times at this file; nothing of it was kept. Its log may say why; split the file."
        )
        found.save()
        return None
    found.status, found.lease_token, found.lease_until = RUNNING, uuid4(), _until()
    found.total, found.done = None, 0
    found.save()
    return found


@transaction.atomic
def _import(found: FileImport, at_work: _Work) -> None:
    with received(_parts(found)) as data:
        done = import_file(
            found.project,
            data,
            by=found.put_by,
            format_name=found.format,
            filename=found.name,
            tell=at_work.tell,
        )
    if not _end(at_work, status=DONE, done=at_work.done, total=at_work.done, **_outcome(done)):
        raise LeaseLost


def _parts(found: FileImport) -> Iterator[bytes]:
    if found.data:
        yield bytes(found.data)
    for number in list(found.parts.order_by("number").values_list("number", flat=True)):
        yield bytes(found.parts.get(number=number).data)


def _outcome(done: ImportDone) -> dict[str, Any]:
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
    return {"sessions": sessions, "report": done.report.as_json(), "error_code": None, "error_message": None}


def _end(at_work: _Work, **changes: Any) -> int:
    return _held(at_work).update(
        finished_at=now(), lease_until=None, data=b"", revision=F("revision") + 1, **changes
    )


def _held(at_work: _Work) -> QuerySet[FileImport]:
    return FileImport.objects.filter(id=at_work.import_id, lease_token=at_work.token, status=RUNNING)


def _told(at_work: _Work) -> AbstractContextManager[None]:
    """Keep the lease alive while the block runs, and say how far it is."""

    def beat() -> None:
        _held(at_work).update(
            lease_until=_until(), done=at_work.done, total=at_work.total, revision=F("revision") + 1
        )

    return heartbeat(beat, every=_TELL_EVERY, at_end=connections.close_all)


def _reason(why: DatabaseError) -> str:
    first_line = str(why).partition("\n")[0]
    return f"The database did not take the sessions: {first_line.rstrip('.')}."


def _until() -> datetime:
    return now() + timedelta(seconds=settings.LEASE_SECONDS)

"""Health checks: whether this process lives, whether it can serve requests, and whether workers do their part."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Max
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from timemachine.core.database import failure_of
from timemachine.core.database_roles import application_rights
from timemachine.core.migration_state import pending_migrations
from timemachine.core.pure.clock import now
from timemachine.core.pure.disk_space import disk_space
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.home import home
from timemachine.core.pure.numbers import counted
from timemachine.core.replica import has_replica, replica_state
from timemachine.core.triggers import problem_with_triggers
from timemachine.evidence.log import keys
from timemachine.jobs import workers
from timemachine.jobs.models import JobBacklog
from timemachine.jobs.queue import oldest_messages
from timemachine.web.row_security import for_every_project

_FAR_BEHIND: Final = 16_000_000
"""Bytes of the log that a replica may lack at one moment; a busy one is always a little behind."""
_LATE: Final = timedelta(minutes=2)
"""How old the last sweep may be. It runs every few seconds, unless all threads of the workers are busy."""
_LONGEST_WAIT: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of a check, with a sentence that says what to do if it failed. It names no secret, host or folder."""

    ok: bool
    message: str

    def as_json(self) -> dict[str, object]:
        return {"ok": self.ok, "message": self.message}


type _Make = Callable[[], Check]


@require_safe
def live(_request: HttpRequest) -> JsonResponse:
    """Answer if this process is alive."""
    return JsonResponse({"status": "live"})


@never_cache
@require_safe
@for_every_project
def ready(_request: HttpRequest) -> JsonResponse:
    """Answer whether this process can serve requests.

    Workers are reported, but without them pages and recording still work. So are triggers and the store of signing keys: a server
    that stopped for one would record nothing.
    """
    needed = _checks({"disk": _disk, "database": _database, "migrations": _migrations})
    others: dict[str, _Make] = {"triggers": _triggers, "role": _role, "signing": _signing}
    if has_replica():
        others["replica"] = _replica
    others |= _OF_WORKERS
    return _answer(needed, _checks_with_tables(needed, others))


@never_cache
@require_safe
@for_every_project
def working(_request: HttpRequest) -> JsonResponse:
    """Answer whether workers run and keep up."""
    needed = _checks({"database": _database, "migrations": _migrations})
    return _answer(needed | _checks_with_tables(needed, _OF_WORKERS), {})


def _answer(needed: dict[str, Check], others: dict[str, Check]) -> JsonResponse:
    """Return all checks, with the status of those that are needed, and `why` they failed."""
    failed = [each.message for each in needed.values() if not each.ok]
    document: dict[str, object] = {"status": "not ready" if failed else "ready"}
    if failed:
        document["why"] = " ".join(failed)
    document["checks"] = {name: each.as_json() for name, each in (needed | others).items()}
    return JsonResponse(document, status=Unavailable.status if failed else 200)


def _checks_with_tables(needed: dict[str, Check], checks: dict[str, _Make]) -> dict[str, Check]:
    """Return the results of checks that can be made only if the database has its tables."""
    if not all(name in needed and needed[name].ok for name in ("database", "migrations")):
        return {}
    return _checks(checks)


def _checks(checks: dict[str, _Make]) -> dict[str, Check]:
    """Return their results, up to the first one that the database does not answer: each would wait for it."""
    found: dict[str, Check] = {}
    for name, check in checks.items():
        try:
            found[name] = check()
        except (DatabaseError, InterfaceError) as why:
            failure = failure_of(why)
            if failure is None:
                raise
            found[name] = Check(ok=False, message=failure.cause)
            break
    return found


def _database() -> Check:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return Check(ok=True, message="The database answers.")


def _migrations() -> Check:
    missing = len(pending_migrations())
    if not missing:
        return Check(ok=True, message="The database has all migrations.")
    lacks = counted(missing, "migration")
    return Check(
        ok=False, message=f"The database lacks {lacks}. Run `timemachine manage prepare` on the server."
    )


def _disk() -> Check:
    """Check the disks on which this process writes files."""
    disks = []
    for folder in (home(), tempfile.gettempdir()):
        with suppress(OSError):  # a server in a container has no data folder
            disks.append(disk_space(folder, least_mb=settings.MIN_FREE_DISK_MB))
    for disk in disks:
        if not disk.is_enough:
            return Check(
                ok=False,
                message=f"Only {disk.free:,} MB are free on the disk of the server; at least {disk.needed:,} are needed "
                "(MIN_FREE_DISK_MB).",
            )
    least = min((disk.free for disk in disks), default=0)
    return Check(ok=True, message=f"{least:,} MB are free on the disk of the server.")


def _triggers() -> Check:
    with connection.cursor() as cursor:

        def query(sql: str) -> list[tuple[Any, ...]]:
            cursor.execute(sql)
            return list(cursor.fetchall())

        problem = problem_with_triggers(query)
    return Check(ok=problem is None, message=problem or "The triggers that protect what was recorded fire.")


def _role() -> Check:
    """Say what else the role of the server may do. An installation works with any role, so this is no failure."""
    return Check(ok=True, message=application_rights().sentence)


def _signing() -> Check:
    """Check the stores of signing keys that are outside the database. What cannot be signed waits, so this stops nothing."""
    stores = keys.stores_outside_the_database()
    if not stores:
        return Check(ok=True, message="Keys in the database sign evidence.")
    problems = [problem for store in stores if (problem := keys.why_store_unusable(store))]
    works = f"The key store {' and '.join(stores)} signs evidence."
    return Check(ok=not problems, message=" ".join(problems) or works)


def _replica() -> Check:
    """Say whether the replica answers reads. If it does not, the primary does."""
    state = replica_state()
    if state.behind is None:
        return Check(
            ok=False,
            message="The replica does not answer, so the primary answers its reads. See the server's log.",
        )
    if state.behind > _FAR_BEHIND:
        megabytes = state.behind // 1_000_000
        return Check(
            ok=False,
            message=f"The replica lacks {megabytes:,} MB of the database's log, so the primary answers most of its reads.",
        )
    return Check(ok=True, message="The replica answers session lists, search and costs.")


def _workers() -> Check:
    found = workers.running()
    if found:
        return Check(ok=True, message=f"{counted(found, 'worker')} {'is' if found == 1 else 'are'} running.")
    return Check(
        ok=False,
        message="No worker is running, so replays, imports, seals and search wait. Start a worker, or see its log.",
    )


def _queue() -> Check:
    swept = JobBacklog.objects.aggregate(at=Max("measured_at"))["at"]
    if swept is None or now() - swept > _LATE:
        return Check(
            ok=False,
            message="No worker has looked for waiting work in the last 2 minutes. Workers are too busy, or beat is not running.",
        )
    queue, waits = max(oldest_messages().items(), key=itemgetter(1), default=("", 0.0))
    if waits > _LONGEST_WAIT.total_seconds():
        return Check(
            ok=False,
            message=f"A message has waited in the queue {queue} for {counted(int(waits // 60), 'minute')}. "
            "Start more workers.",
        )
    return Check(ok=True, message="Workers take work from the queue.")


_OF_WORKERS: Final[dict[str, _Make]] = {"workers": _workers, "queue": _queue}

"""The ask that an answer from the cache was first given to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.ids import uuid_of
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The first ask: its session and step, its time, and how long the model took; None if not recorded.

    `outside`: it was asked outside a session. `erased`: its session is no longer in the project. If neither is set
    and there is no session, the record does not name it.
    """

    session: Session | None
    sequence: int | None
    outside: bool
    erased: bool
    at: datetime | None
    call_ms: float | None


def origin_of(project_id: UUID, cached_from: Mapping[str, Any] | None) -> Origin | None:
    """Return the first ask as recorded; None for an answer that is not from the cache. One query."""
    if cached_from is None:
        return None
    named, sequence, at = (cached_from.get(name) for name in ("session", "sequence", "at"))
    session = None if named is None else _session(project_id, named)
    return Origin(
        session=session if sequence is not None else None,
        sequence=sequence,
        outside="session" in cached_from and named is None,
        erased=named is not None and session is None,
        at=None if at is None else parse_time(at),
        call_ms=cached_from.get("call_ms"),
    )


def _session(project_id: UUID, named: str) -> Session | None:
    found = uuid_of(named)  # None for another application's own session name
    return None if found is None else Session.objects.filter(project_id=project_id, id=found).first()

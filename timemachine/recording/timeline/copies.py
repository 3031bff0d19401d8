"""Copied steps: context that happened in an earlier session or file, how many there are, and which step each was there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.fields.json import KeyTextTransform

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.usage.queries import CACHED_SESSIONS, uncounted_kinds_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncounted:
    """The steps of a session that no total counts as steps: how many were copied from each session, by its key (None if unknown), and
    how many are corrections.
    """

    copies: Mapping[str | None, int] = field(default_factory=dict)
    corrections: int = 0

    @property
    def copied(self) -> int:
        return sum(self.copies.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a step was copied from. `key` names its session, None if unknown; `session` is None if it is not here.

    `sequence` is the step in that session, None if it is unknown or not here.
    """

    key: str | None
    session: Session | None
    sequence: int | None


def original_of(session: Session, copied_from: Mapping[str, Any] | None) -> Original | None:
    """Return what a step of the session was copied from; None for a step that happened in it. At most two queries."""
    if copied_from is None:
        return None
    key, step = copied_from["session"], copied_from["step"]
    found = None if key is None else Session.objects.of(session.project).filter(key=key).first()
    if found is None or step is None:
        return Original(key=key, session=found, sequence=None)
    named = {"sequence": step} if isinstance(step, int) else {"client_id": step}
    sequence = found.actions.filter(**named).values_list("sequence", flat=True).first()
    return Original(key=key, session=found, sequence=sequence)


def uncounted_in(session: Session) -> Uncounted:
    """Return the copies and corrections of a session. At most two queries, or none if it has no new steps."""
    uncounted = sum(uncounted_kinds_of(session).values())
    return _uncounted(session.id, session.last_sequence, uncounted) if uncounted else Uncounted()


@lru_cache(maxsize=CACHED_SESSIONS)
def _uncounted(session: UUID, last: int, uncounted: int) -> Uncounted:  # noqa: ARG001  # a new last step means a new count
    copied = Action.objects.filter(session_id=session, copied_from__isnull=False).order_by()
    by_origin = copied.annotate(origin=KeyTextTransform("session", "copied_from")).values("origin")
    copies: dict[str | None, int] = dict(by_origin.annotate(steps=Count("id")).values_list("origin", "steps"))
    return Uncounted(copies=copies, corrections=uncounted - sum(copies.values()))


def copied_in(sessions: Iterable[Session]) -> dict[UUID, int]:
    """Return how many steps of each session are copies, for the sessions that have some. One query."""
    copied = Action.objects.filter(session__in=[each.id for each in sessions], copied_from__isnull=False)
    return dict(
        copied.order_by().values("session").annotate(steps=Count("id")).values_list("session", "steps")
    )

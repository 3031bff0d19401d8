"""Sealing and erasing keep out of each other's way: what one has read is not changed by the other before it is written down.

A seal that is new can be locked by nobody else, and a new row asks for its session only at the end of its transaction. So both take a
lock of the session's name, and in one order: project, names of sessions, session, seals, log.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from timemachine.accounts.models import Project
from timemachine.comparison.models import Comparison
from timemachine.evidence.models import Seal
from timemachine.recording.models import Session


def keep_from_erasure(sessions: Iterable[UUID]) -> None:
    """Nothing of these sessions is erased until the transaction ends; what was before stands in what is read from here on."""
    with connection.cursor() as cursor:
        for each in sorted(sessions):
            cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [_name(each)])


def keep_from_sealing(session: Session) -> None:
    """Neither the session nor a replay or comparison of it is sealed until the transaction ends, nor are access logs of the project committed to."""
    Project.objects.select_for_update(no_key=True).get(pk=session.project_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [_name(session.pk)])


def seals_over(session: Session) -> list[Seal]:
    """Every seal of the session, its replays and the comparisons over these, in the order of their making; held until the transaction ends."""
    compared = Comparison.objects.filter(runs__replay__session=session)
    seals = (
        Seal.objects.filter(session=session)
        | Seal.objects.filter(replay__session=session)
        | Seal.objects.filter(comparison__in=compared)
    )
    return list(seals.select_for_update(of=("self",)).order_by("id"))


def _name(session: UUID) -> str:
    return f"evidence of {session}"

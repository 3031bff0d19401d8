"""Calls of a replay under its spend limit: each reserves what it is expected to cost before it starts, over all workers."""

import time
from decimal import Decimal
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Count, F, Q, Sum

from timemachine.base.clock import now
from timemachine.replay import leases
from timemachine.replay.leases import Lease, LeaseLost
from timemachine.replay.models import Replay, ReplayAttempt
from timemachine.replay.purse import FREE, Purse

PAUSE: Final = 0.5
"""Seconds after which room for a call that had none is looked for again."""


class NoRoomYet(LeaseLost):
    """What is under way may leave too little for this call: its step was given back, to be taken again."""


class LimitReached(Exception):
    """Too little of the spend limit is left for this call, whatever becomes of the others; the message says how much."""


def intend_call(lease: Lease, replay: Replay, cost: Decimal | None) -> None:
    """Write down that a model is about to be called, and under a spend limit reserve what that is expected to cost.

    None where nobody can tell. Raises `LeaseLost`, `NoRoomYet` and `LimitReached`: then it must not be called.
    """
    if replay.options.get("spend_limit_usd") is None:
        leases.intend_call(lease)
    elif not _reserved(lease, replay, cost):
        leases.give_back([lease])
        time.sleep(PAUSE)
        raise NoRoomYet


def purse_of(replay: Replay) -> Purse:
    """The limit that this replay has, alone or with those of its group, and what became of it so far."""
    alone = replay.spend_group is None
    of = {"step__replay": replay} if alone else {"step__replay__spend_group": replay.spend_group}
    intended = Q(call_intended_at__isnull=False, cost_usd=None)
    under_way = Q(call_intended_at__isnull=False, finished_at=None, step__lease_token=F("lease_token"))
    under_way &= Q(step__status="running", step__lease_until__gte=now())
    sums: dict[str, Any] = ReplayAttempt.objects.filter(**of).aggregate(
        spent=Sum("cost_usd"),
        reserved=Sum("reserved_usd", filter=under_way),
        unknown=Count("id", filter=under_way & Q(reserved_usd=None)),
        uncertain=Sum("reserved_usd", filter=intended & ~under_way),
    )
    return Purse(
        limit=Decimal(str(replay.options["spend_limit_usd"])),
        spent=sums["spent"] or FREE,
        reserved=sums["reserved"] or FREE,
        unknown=sums["unknown"],
        uncertain=sums["uncertain"] or FREE,
    )


def _reserved(lease: Lease, replay: Replay, cost: Decimal | None) -> bool:
    with transaction.atomic():
        if cost != FREE and not _fits(replay, cost):
            return False
        leases.intend_call(lease)
        ReplayAttempt.objects.filter(id=lease.attempt_id).update(reserved_usd=cost)
    return True


def _fits(replay: Replay, cost: Decimal | None) -> bool:
    one_after_the_other = (replay.spend_group or replay.id).int & (2**63 - 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [one_after_the_other])
    purse = purse_of(replay)
    if not purse.may_fit_later(cost):
        raise LimitReached(
            purse.why_not(
                cost, "replay" if replay.spend_group is None else "replay and those launched with it"
            )
        )
    return purse.fits(cost)

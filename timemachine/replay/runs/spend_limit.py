"""Calls of a replay under its spend limit: each reserves what it is expected to cost before it starts, over all workers."""

import time
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum

from timemachine.core.leases import LeaseLost, briefly
from timemachine.core.pure.clock import now
from timemachine.replay.runs import leases
from timemachine.replay.runs.costs import INTENDED, under_way
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import CallBeside, Replay, ReplayAttempt
from timemachine.replay.runs.pure.budget import FREE, Purse

PAUSE: Final = 0.5
"""Seconds after which room for a call that had none is looked for again."""


class NoRoomYet(LeaseLost):
    """What is under way may leave too little for this call: its step was given back, to be taken again."""


class LimitReached(Exception):
    """Too little of the spend limit is left for this call, whatever becomes of the others; the message says how much."""


def intend_call(lease: StepLease, replay: Replay, cost: Decimal | None) -> None:
    """Write down that a model is about to be called, and under a spend limit reserve what that is expected to cost.

    None where nobody can tell. Raises `LeaseLost`, `NoRoomYet` and `LimitReached`: then it must not be called.
    """
    try:
        if replay.options.get("spend_limit_usd") is None:
            leases.intend_call(lease)
            return
        if _reserved(lease, replay, cost):
            return
    except LeaseLost:
        leases.give_back([lease])  # of a cancelled replay, so that whoever ends it finds it
        raise
    leases.give_back([lease])
    time.sleep(PAUSE)
    raise NoRoomYet


def purse_of(replay: Replay) -> Purse:
    """The limit that this replay has, alone or with its group, and what became of it so far."""
    limit = Decimal(str(replay.options["spend_limit_usd"]))
    if replay.spend_group is None:
        return _purse(limit, _of_attempts({"step__replay": replay}))
    return purse_of_group(replay.spend_group, limit)


def purse_of_group(group: UUID, limit: Decimal) -> Purse:
    """A limit that replays share, with each other and with calls beside them, and what became of it so far."""
    return _purse(limit, _of_attempts({"step__replay__spend_group": group}), _of_calls_beside(group))


def reserve_beside(
    group: UUID, limit: Decimal, call_id: UUID, cost: Decimal | None, *, longest: timedelta
) -> bool:
    """Reserve what a call beside the replays of a group is expected to cost, in the caller's transaction; False where it may fit later.

    The call that is not settled after `longest` counts as one of which nobody knows whether it was billed. Raises `LimitReached`.
    """
    _one_after_the_other(group)
    purse = purse_of_group(group, limit)
    if cost != FREE and not purse.fits(cost):
        if purse.may_fit_later(cost):
            return False
        raise LimitReached(purse.why_not(cost, "comparison"))
    CallBeside.objects.create(id=call_id, spend_group=group, reserved_usd=cost, lost_after=now() + longest)
    return True


def settle_beside(call_id: UUID, cost: Decimal | None) -> None:
    """The call is over and did cost so much; None where nobody knows."""
    CallBeside.objects.filter(id=call_id).update(cost_usd=cost, finished_at=now())


def _of_attempts(of: dict[str, Any]) -> dict[str, Any]:
    return _sums(ReplayAttempt.objects.filter(**of), under_way(), INTENDED & Q(cost_usd=None))


def _of_calls_beside(group: UUID) -> dict[str, Any]:
    under_way = Q(finished_at=None, lost_after__gte=now())
    return _sums(CallBeside.objects.filter(spend_group=group), under_way, Q(cost_usd=None))


def _sums(calls: QuerySet[Any], under_way: Q, intended: Q) -> dict[str, Any]:
    return calls.aggregate(
        spent=Sum("cost_usd"),
        reserved=Sum("reserved_usd", filter=under_way),
        unknown=Count("id", filter=under_way & Q(reserved_usd=None)),
        uncertain=Sum("reserved_usd", filter=intended & ~under_way),
    )


def _purse(limit: Decimal, *sums: dict[str, Any]) -> Purse:
    return Purse(
        limit=limit,
        spent=sum((each["spent"] or FREE for each in sums), FREE),
        reserved=sum((each["reserved"] or FREE for each in sums), FREE),
        unknown=sum(each["unknown"] for each in sums),
        uncertain=sum((each["uncertain"] or FREE for each in sums), FREE),
    )


def _reserved(lease: StepLease, replay: Replay, cost: Decimal | None) -> bool:
    with briefly():
        if cost != FREE and not _fits(replay, cost):
            return False
        leases.intend_call(lease)
        ReplayAttempt.objects.filter(id=lease.attempt_id).update(reserved_usd=cost)
    return True


def _fits(replay: Replay, cost: Decimal | None) -> bool:
    _one_after_the_other(replay.spend_group or replay.id)
    purse = purse_of(replay)
    if not purse.may_fit_later(cost):
        raise LimitReached(
            purse.why_not(
                cost, "replay" if replay.spend_group is None else "replay and those launched with it"
            )
        )
    return purse.fits(cost)


def _one_after_the_other(spender: UUID) -> None:
    """Let nobody else reserve anything of this limit until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [spender.int & (2**63 - 1)])

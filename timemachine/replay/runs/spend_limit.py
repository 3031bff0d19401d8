"""The spend limit of a replay: each call reserves its expected cost before it starts, across all workers."""

import time
from datetime import timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from timemachine.core.database import lock_until_commit
from timemachine.core.leases import LeaseLost, briefly
from timemachine.core.pure.clock import now
from timemachine.replay.runs import leases
from timemachine.replay.runs.costs import INTENDED, under_way
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import ExtraCall, Replay, ReplayAttempt
from timemachine.replay.runs.pure.budget import FREE, Budget

PAUSE: Final = 0.5
"""Seconds to wait before a call that did not fit is tried again."""


class BudgetUnavailable(LeaseLost):
    """Running calls may use up the rest of the budget. The step was given back and will be claimed again."""


class LimitReached(Exception):
    """The rest of the budget is too small for this call, whatever the running calls cost. The message says how much is spent."""


def intend_call(lease: StepLease, replay: Replay, cost: Decimal | None) -> None:
    """Store that a model is about to be called, and reserve the expected cost (None: unknown) if there is a spend limit.

    Raises: `LeaseLost`, `BudgetUnavailable` or `LimitReached` if it must not be called.
    """
    try:
        if replay.options.get("spend_limit_usd") is None:
            leases.intend_call(lease)
            return
        if _reserve(lease, replay, cost):
            return
    except LeaseLost:
        leases.give_back([lease])  # of a cancelled replay, so that its step can be cancelled
        raise
    leases.give_back([lease])
    time.sleep(PAUSE)
    raise BudgetUnavailable


def group_budget(group: UUID, limit: Decimal) -> Budget:
    """Return the budget that the replays of a group share with each other and with extra calls."""
    attempts = ReplayAttempt.objects.filter(step__replay__spend_group=group)
    going = Q(finished_at=None, lost_after__gte=now())
    calls = _budget(limit, ExtraCall.objects.filter(spend_group=group), going, Q(cost_usd=None))
    return _attempt_budget(limit, attempts).plus(calls)


def reserve_extra_call(
    group: UUID, limit: Decimal, call_id: UUID, cost: Decimal | None, *, longest: timedelta
) -> bool:
    """Reserve the expected cost of an extra call of a group, in the caller's transaction. Return False if it may fit later.

    A call that is not settled after `longest` counts as one that may have been billed. Raises:
    `LimitReached`.
    """
    lock_until_commit(_lock_name(group))
    budget = group_budget(group, limit)
    if cost != FREE and not budget.fits(cost):
        if budget.may_fit_later(cost):
            return False
        raise LimitReached(budget.refusal(cost, "comparison"))
    ExtraCall.objects.create(id=call_id, spend_group=group, reserved_usd=cost, lost_after=now() + longest)
    return True


def settle_extra_call(call_id: UUID, cost: Decimal | None) -> None:
    """Store that the call has ended and what it cost; None if that is unknown."""
    ExtraCall.objects.filter(id=call_id).update(cost_usd=cost, finished_at=now())


def _attempt_budget(limit: Decimal, attempts: QuerySet[ReplayAttempt]) -> Budget:
    return _budget(limit, attempts, under_way(), INTENDED & Q(cost_usd=None))


def _budget(
    limit: Decimal, calls: QuerySet[ReplayAttempt] | QuerySet[ExtraCall], under_way: Q, intended: Q
) -> Budget:
    found = calls.aggregate(
        spent=Sum("cost_usd", default=FREE),
        reserved=Sum("reserved_usd", filter=under_way, default=FREE),
        unknown=Count("id", filter=under_way & Q(reserved_usd=None)),
        uncertain=Sum("reserved_usd", filter=intended & ~under_way, default=FREE),
    )
    return Budget(limit=limit, **found)


def _reserve(lease: StepLease, replay: Replay, cost: Decimal | None) -> bool:
    with briefly():
        if cost != FREE and not _fits(replay, cost):
            return False
        leases.intend_call(lease)
        ReplayAttempt.objects.filter(id=lease.attempt_id).update(reserved_usd=cost)
    return True


def _fits(replay: Replay, cost: Decimal | None) -> bool:
    lock_until_commit(_lock_name(replay.spend_group or replay.id))
    limit = Decimal(str(replay.options["spend_limit_usd"]))
    if replay.spend_group is None:
        whose = "replay"
        budget = _attempt_budget(limit, ReplayAttempt.objects.filter(step__replay=replay))
    else:
        whose = "replay and the replays launched with it"
        budget = group_budget(replay.spend_group, limit)
    if not budget.may_fit_later(cost):
        raise LimitReached(budget.refusal(cost, whose))
    return budget.fits(cost)


def _lock_name(spender: UUID) -> str:
    """Return the name of the lock that prevents other reservations under this limit."""
    return f"spend limit {spender}"

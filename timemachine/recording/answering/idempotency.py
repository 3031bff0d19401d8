"""An ask that is sent again under its `Idempotency-Key`: a model is asked once, and its answer, or how it failed, is told again."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models.functions import Now

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, TimeMachineError
from timemachine.recording.answering.commands import AskDone, Audience
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.answering.running_asks import PATIENCE_SECONDS
from timemachine.recording.sessions.idempotency import (
    check_key,
    delivery,
    hold_delivery,
    keep_delivery,
    require_answered,
)
from timemachine.recording.sessions.models import Delivery, Session

GONE_SECONDS: Final = 3.0
"""For so long an ask may be over without its answer being kept: that is written right behind its record."""
_BEGUN_WITHIN: Final = timedelta(seconds=30)
_LOOK_SECONDS: Final = 0.1
_ANSWERED: Final = 200


class FailedBefore(TimeMachineError):
    """How the same ask failed before, with the status that it was told with."""

    def __init__(self, status: int, told: dict[str, Any]) -> None:
        super().__init__(told["message"], code=told["code"], **told["facts"])
        self.status = status  # type: ignore[misc]  # each has that of the failure it tells again


def claimed(session: Session, key: str, request_sha256: str) -> Delivery:
    """The ask of this key: with the `status` of what was answered to it, or without one, which is then the caller's to make.

    Another of the same key that is under way is waited for. Raises `Conflict` where that takes more than ten seconds
    (`request_under_way`), where it was lost (`ask_lost`), or where the key came with another request.
    """
    check_key(key)
    until = time.monotonic() + PATIENCE_SECONDS
    gone_at: float | None = None
    while True:
        found, is_mine = _claim(session, key, request_sha256)
        if is_mine or found.status is not None:
            return found
        if found.ask is None or AskUnderWay.objects.filter(id=found.ask).exists():
            gone_at = None
        else:
            gone_at = gone_at or time.monotonic()
        _check_patience(until, gone_at)
        time.sleep(_LOOK_SECONDS)


def earlier_answer(found: Delivery) -> dict[str, Any]:
    """What was answered to the ask. Raises how it failed, `Conflict` where the answer was erased since."""
    require_answered(found)
    told: dict[str, Any] = found.answer or {}
    if found.status != _ANSWERED:
        raise FailedBefore(found.status or 0, told)
    return told


def keeping(
    claim: Delivery, make: Callable[[Audience], AskDone], document: Callable[[AskDone], dict[str, Any]]
) -> Callable[[Audience], AskDone]:
    """The same ask, whose answer or recorded failure is kept for its key; where nothing was recorded the key is free again."""

    def made(audience: Audience) -> AskDone:
        row = Delivery.objects.filter(pk=claim.pk)
        if not row.filter(ask=None, status=None).update(ask=audience.ask):
            raise _still_under_way()
        try:
            done = make(audience)
        except TimeMachineError as failed:
            if failed.facts.get("sequence") is None and failed.code != "ask_lost":
                row.delete()
            else:
                _keep(claim, failed.status, failed.as_json(), failed.facts.get("sequence"))
            raise
        _keep(claim, _ANSWERED, document(done), done.sequence)
        return done

    return made


def let_go(claim: Delivery) -> None:
    """Free the key of an ask that was not begun."""
    Delivery.objects.filter(pk=claim.pk, ask=None, status=None).delete()


def _keep(claim: Delivery, status: int, answer: dict[str, Any], sequence: int | None) -> None:
    """Keep an answer, but not where something of the session was erased since it was recorded: it could be in it."""
    sequences = [] if sequence is None else [sequence]
    row = Delivery.objects.filter(pk=claim.pk, request_sha256=claim.request_sha256)
    row.update(status=status, answer=answer, sequences=sequences)


@transaction.atomic
def _claim(session: Session, key: str, request_sha256: str) -> tuple[Delivery, bool]:
    """What there is of the key, and whether it is the caller's: new, or of a process that died before it began."""
    hold_delivery(session, key)
    found = delivery(session, key, request_sha256)
    if found is None:
        return keep_delivery(session, key, request_sha256, sequences=[]), True
    never_began = found.status is None and found.ask is None and found.created_at < now() - _BEGUN_WITHIN
    if never_began:
        Delivery.objects.filter(pk=found.pk).update(created_at=Now())
    return found, never_began


def _check_patience(until: float, gone_at: float | None) -> None:
    if gone_at is not None and time.monotonic() - gone_at > GONE_SECONDS:
        raise Conflict(
            "The ask of this Idempotency-Key was lost before it was answered; it may have been billed. Ask again with a new key.",
            code="ask_lost",
        )
    if time.monotonic() > until:
        raise _still_under_way()


def _still_under_way() -> Conflict:
    return Conflict(
        "The ask of this Idempotency-Key is still under way; send it again in some seconds, and it gets its answer.",
        code="request_under_way",
        retry_after_seconds=2,
    )

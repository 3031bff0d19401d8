"""Asks with an `Idempotency-Key`: the model is called once, and a repeat gets the same answer or error."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models.functions import Now

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.answering.running_asks import PATIENCE_SECONDS
from timemachine.recording.sessions.idempotency import (
    check_key,
    find_delivery,
    lock_delivery,
    store_delivery,
    stored_answer,
)
from timemachine.recording.sessions.models import Delivery, Session

GRACE_SECONDS: Final = 3.0
"""How long an ask may have finished without a stored answer, which is written right after its record."""
_BEGUN_WITHIN: Final = timedelta(seconds=30)
_LOOK_SECONDS: Final = 0.1
_ANSWERED: Final = 200


class FailedBefore(TimeMachineError):
    """The error of an earlier attempt of the same ask, with its status."""

    def __init__(self, status: int, answer: JsonObject) -> None:
        super().__init__(answer["message"], code=answer["code"], **answer["facts"])
        self.status = status  # type: ignore[misc]  # each has the status of the failure it repeats


def claim_key(session: Session, key: str, request_sha256: str) -> Delivery:
    """Return the ask of this key: with the `status` of its answer, or without one if the caller is to make it.

    Waits for a running ask with the same key. Raises `Conflict` if that takes more than ten seconds
    (`request_under_way`), if it was lost (`ask_lost`), or if the key was used for another request.
    """
    check_key(key)
    until = time.monotonic() + PATIENCE_SECONDS
    ended_at: float | None = None
    while True:
        found, is_mine = _claim(session, key, request_sha256)
        if is_mine or found.status is not None:
            return found
        if found.ask is None or AskUnderWay.objects.filter(id=found.ask).exists():
            ended_at = None
        else:
            ended_at = ended_at or time.monotonic()
        _check_patience(until, ended_at)
        time.sleep(_LOOK_SECONDS)


def earlier_answer(found: Delivery) -> JsonObject:
    """Return the stored answer of the ask. Raises its error if it failed, and `Conflict` if the answer was erased."""
    answer = stored_answer(found)
    if found.status != _ANSWERED:
        raise FailedBefore(found.status or 0, answer)
    return answer


def storing_answer(
    claim: Delivery, make: Callable[[AskObserver], AskDone], document: Callable[[AskDone], JsonObject]
) -> Callable[[AskObserver], AskDone]:
    """Wrap an ask so that its answer or recorded failure is stored for its key. If nothing was recorded, the key is free
    again."""

    def made(observer: AskObserver) -> AskDone:
        row = Delivery.objects.filter(pk=claim.pk)
        if not row.filter(ask=None, status=None).update(ask=observer.ask):
            raise _still_under_way()
        try:
            done = make(observer)
        except TimeMachineError as failed:
            if failed.facts.get("sequence") is None and failed.code != "ask_lost":
                row.delete()
            else:
                _keep(claim, failed.status, failed.as_json(), failed.facts.get("sequence"))
            raise
        _keep(claim, _ANSWERED, document(done), done.sequence)
        return done

    return made


def release_claim(claim: Delivery) -> None:
    """Free the key of an ask that was not started."""
    Delivery.objects.filter(pk=claim.pk, ask=None, status=None).delete()


def _keep(claim: Delivery, status: int, answer: JsonObject, sequence: int | None) -> None:
    """Store an answer, unless something of the session has been erased since, which the answer might contain."""
    sequences = [] if sequence is None else [sequence]
    row = Delivery.objects.filter(pk=claim.pk, request_sha256=claim.request_sha256)
    row.update(status=status, answer=answer, sequences=sequences)


@transaction.atomic
def _claim(session: Session, key: str, request_sha256: str) -> tuple[Delivery, bool]:
    """Return the row of the key, and whether the caller owns it: it is new, or its process died before it started."""
    lock_delivery(session, key)
    found = find_delivery(session, key, request_sha256)
    if found is None:
        return store_delivery(session, key, request_sha256, sequences=[]), True
    never_began = found.status is None and found.ask is None and found.created_at < now() - _BEGUN_WITHIN
    if never_began:
        Delivery.objects.filter(pk=found.pk).update(created_at=Now())
    return found, never_began


def _check_patience(until: float, ended_at: float | None) -> None:
    if ended_at is not None and time.monotonic() - ended_at > GRACE_SECONDS:
        raise Conflict(
            "The ask with this Idempotency-Key was lost before it was answered, and may have been billed. Ask again with a new key.",
            code="ask_lost",
        )
    if time.monotonic() > until:
        raise _still_under_way()


def _still_under_way() -> Conflict:
    return Conflict(
        "The ask with this Idempotency-Key is still running. Send it again in a few seconds to get its answer.",
        code="request_under_way",
        retry_after_seconds=2,
    )

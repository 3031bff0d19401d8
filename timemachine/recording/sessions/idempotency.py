"""Requests with an `Idempotency-Key`: each runs once, and a repeat gets the first answer."""

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.models import Delivery, Session
from timemachine.recording.sessions.pure import validation

type Done = tuple[JsonObject, list[int]]
"""The answer, and the sequences of the recorded actions."""


def check_key(key: str) -> None:
    """Raise `InvalidInput` for a key that is empty or too long."""
    if not key.strip():
        raise InvalidInput(
            "The Idempotency-Key is empty. Send a unique value for this request or leave out the header.",
            code="invalid_field",
            field="Idempotency-Key",
        )
    validation.check_id("Idempotency-Key", key)


def run_once(session: Session, key: str, request_sha256: str, make: Callable[[], Done]) -> JsonObject:
    """Record into the session, or return the answer of the same earlier request. Others with the same key wait.

    If it fails, nothing is stored and the request may be repeated. Raises `Conflict` if the key was used for another
    request.
    """
    check_key(key)
    with transaction.atomic():
        lock_delivery(session, key)
        earlier = find_delivery(session, key, request_sha256)
        if earlier is not None:
            return stored_answer(earlier)
        answer, sequences = make()
        store_delivery(session, key, request_sha256, sequences=sequences, status=200, answer=answer)
        return answer


def start_once(project: Project, key: str, request_sha256: str, begin: Callable[[], Session]) -> Session:
    """Return the session that `begin` starts, or the one that the same earlier request started.

    Raises `Conflict` if the key was used for another request.
    """
    check_key(key)
    with transaction.atomic():
        lock_until_commit(f"beginning {project.id} {key}")
        earlier = Delivery.objects.filter(project=project, key=key, begins=True).first()
        if earlier is not None:
            _require_same(earlier, request_sha256)
            return Session.objects.select_related("collection", "parent").get(id=earlier.session_id)
        begun = begin()
        Delivery.objects.create(
            project=project, session=begun, key=key, request_sha256=request_sha256, sequences=[], begins=True
        )
        return begun


def lock_delivery(session: Session, key: str) -> None:
    """Keep others from reading what this key was answered until the transaction ends."""
    lock_until_commit(f"delivery {session.id} {key}")


def find_delivery(session: Session, key: str, request_sha256: str) -> Delivery | None:
    """Return the stored answer of the request, None if it is new. Raises `Conflict` if the key was used for another request."""
    found = Delivery.objects.filter(session=session, key=key, begins=False).first()
    if found is not None:
        _require_same(found, request_sha256)
    return found


def store_delivery(session: Session, key: str, request_sha256: str, **columns: Any) -> Delivery:
    """Store what a request was answered, in the transaction that answers it.

    Raises `Conflict` if another request used the key at the same time.
    """
    try:
        return Delivery.objects.create(
            project_id=session.project_id,
            session=session,
            key=key,
            request_sha256=request_sha256,
            **columns,
        )
    except IntegrityError as why:
        raise _key_reused() from why


def stored_answer(earlier: Delivery) -> JsonObject:
    """Return the stored answer. Raises `Conflict` if it was erased."""
    if earlier.answer is None:
        raise _key_reused()
    return dict(earlier.answer)


def _require_same(earlier: Delivery, request_sha256: str) -> None:
    if earlier.request_sha256 != request_sha256:
        raise _key_reused()


def _key_reused() -> Conflict:
    return Conflict(
        "This Idempotency-Key was used for another request, or what it recorded has been erased. Use a new key for a new request.",
        code="idempotency_key_reused",
    )

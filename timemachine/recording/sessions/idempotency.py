"""What is sent again under its `Idempotency-Key`: it is done once, and answered as it was."""

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.recording.sessions.models import Delivery, Session
from timemachine.recording.sessions.parents import hold
from timemachine.recording.sessions.pure import validation

type Done = tuple[dict[str, Any], list[int]]
"""What is answered, and the sequences of what was recorded."""


def check_key(key: str) -> None:
    """Refuse a key that is empty or too long. Raises `InvalidInput`."""
    if not key.strip():
        raise InvalidInput(
            "The Idempotency-Key is empty; send a text of your own that names this request, or leave the header out.",
            code="invalid_field",
            field="Idempotency-Key",
        )
    validation.check_id("Idempotency-Key", key)


def once(session: Session, key: str, request_sha256: str, make: Callable[[], Done]) -> dict[str, Any]:
    """Do what records into the session, or answer what was answered to the same request before; others of the key wait meanwhile.

    Where it fails nothing is kept, and it may be sent again. Raises `Conflict` where the key came with another request.
    """
    check_key(key)
    with transaction.atomic():
        hold_delivery(session, key)
        earlier = delivery(session, key, request_sha256)
        if earlier is not None:
            require_answered(earlier)
            return dict(earlier.answer or {})
        answer, sequences = make()
        keep_delivery(session, key, request_sha256, sequences=sequences, status=200, answer=answer)
        return answer


def begun_once(project: Project, key: str, request_sha256: str, begin: Callable[[], Session]) -> Session:
    """The session that `begin` makes, or the one that the same request began before. Raises `Conflict` where the key came with another."""
    check_key(key)
    with transaction.atomic():
        hold([f"beginning {project.id} {key}"])
        earlier = Delivery.objects.filter(project=project, key=key, begins=True).first()
        if earlier is not None:
            _require_same(earlier, request_sha256)
            return Session.objects.select_related("collection", "parent").get(id=earlier.session_id)
        begun = begin()
        Delivery.objects.create(
            project=project, session=begun, key=key, request_sha256=request_sha256, sequences=[], begins=True
        )
        return begun


def hold_delivery(session: Session, key: str) -> None:
    """Nobody else looks what this key has been answered, until the transaction ends."""
    hold([f"delivery {session.id} {key}"])


def delivery(session: Session, key: str, request_sha256: str) -> Delivery | None:
    """What was kept of the request, None where it is new. Raises `Conflict` where the key came with another request."""
    found = Delivery.objects.filter(session=session, key=key, begins=False).first()
    if found is not None:
        _require_same(found, request_sha256)
    return found


def keep_delivery(session: Session, key: str, request_sha256: str, **columns: Any) -> Delivery:
    """Keep what a request was answered, in the transaction that answers it. Raises `Conflict` where another of the session came under the key at once."""
    try:
        return Delivery.objects.create(
            project_id=session.project_id,
            session=session,
            key=key,
            request_sha256=request_sha256,
            **columns,
        )
    except IntegrityError as why:
        raise _another() from why


def require_answered(earlier: Delivery) -> None:
    """Refuse what has no answer of its own any more. Raises `Conflict`."""
    if earlier.answer is None:
        raise _another()


def _require_same(earlier: Delivery, request_sha256: str) -> None:
    if earlier.request_sha256 != request_sha256:
        raise _another()


def _another() -> Conflict:
    return Conflict(
        "This Idempotency-Key came with another request before, or what it recorded was erased since; use a new key for a new request.",
        code="idempotency_key_reused",
    )

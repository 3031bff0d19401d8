"""`Idempotency-Key`: what is sent again under it is recorded once, and answered as it was."""

from collections.abc import Callable
from typing import Annotated, Any, Final

from django.http import HttpRequest
from ninja import Header

from timemachine.core.pure.content import sha256_hex
from timemachine.recording.sessions.idempotency import Done
from timemachine.recording.sessions.idempotency import once as done_once
from timemachine.recording.sessions.models import Session

NAME: Final = "Idempotency-Key"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=NAME,
        description="A text of your own, up to 2,000 bytes, that names this request: sent again under it, the same request is done once and gets the "
        "same answer, and another one is refused (`idempotency_key_reused`).",
    ),
]


def once(request: HttpRequest, session: Session, key: str | None, make: Callable[[], Done]) -> dict[str, Any]:
    """What `make` records and answers, done once where the request has a key."""
    return make()[0] if key is None else done_once(session, key, request_hash(request), make)


def request_hash(request: HttpRequest) -> str:
    """What tells this request from others of its key: what is asked, and its body."""
    operation = request.path_info.rsplit("/", 1)[-1]
    return sha256_hex(operation.encode() + b"\n" + request.body)

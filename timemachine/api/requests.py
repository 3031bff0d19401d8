"""What every request is checked for: parameters that the operation has, each once, and its `Idempotency-Key`."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, Final, cast, get_args

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from ninja import Header

from timemachine.api.errors import Unsupported
from timemachine.core.pure.content import sha256_hex
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.schemas import Schema
from timemachine.core.pure.single_values import check_once_each
from timemachine.recording.sessions.idempotency import Done
from timemachine.recording.sessions.idempotency import run_once as done_once
from timemachine.recording.sessions.models import Session

KEY: Final = "Idempotency-Key"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=KEY,
        description="A string of your choice, up to 2,000 bytes, that identifies this request. Repeated with the same key, the request is done once and "
        "gets the same answer. A different request with that key is refused (`idempotency_key_reused`).",
    ),
]


def once[Out: Schema](
    request: HttpRequest,
    session: Session,
    key: str | None,
    kind: type[Out],
    make: Callable[[], tuple[Out, list[int]]],
) -> Out:
    """Return what `make` records and returns, done once if the request has a key: the same request then gets the stored response."""
    if key is None:
        return make()[0]

    def done() -> Done:
        made, sequences = make()
        return made.model_dump(), sequences

    stored = done_once(session, key, request_hash(request), done)
    return cast("Out", kind.model_construct(**stored))


def request_hash(request: HttpRequest) -> str:
    """Return what distinguishes this request from others with its key: the operation and the body."""
    operation = request.path_info.rsplit("/", 1)[-1]
    return sha256_hex(operation.encode() + b"\n" + request.body)


def known_parameters_only[**P, Answer](view: Callable[P, Answer]) -> Callable[P, Answer]:
    """Let an operation refuse unknown and repeated query parameters, after authentication.

    A misspelt filter would otherwise match everything. An `Idempotency-Key` that it does not use is refused, too. Raises `InvalidInput`.
    """
    known, sent, is_keyed = _known(view, "query"), _sent(view), KEY in _known(view, "header")

    @wraps(view)
    def within(*given: P.args, **named: P.kwargs) -> Answer:
        request = given[0]
        if isinstance(request, HttpRequest):
            _check(sorted(set(request.GET) - known), sorted(known), sent)
            check_once_each(request.GET.lists())
            if request.method == "POST" and not is_keyed and KEY in request.headers:
                raise _not_keyed()
        return view(*given, **named)

    return within


def _known(view: Any, source: str) -> set[str]:
    """The names of the parameters in the query, or of the headers, of this operation."""
    models = view._ninja_operation.models  # noqa: SLF001  # ninja keeps it there for decorators
    return {
        name
        for model in models
        if model.__ninja_param_source__ == source
        for name in model.__ninja_flatten_map__
    }


def _sent(view: Any) -> set[str]:
    """The names of the fields of the body, if the operation takes one object."""
    bodies = [
        field.annotation
        for model in view._ninja_operation.models  # noqa: SLF001
        if model.__ninja_param_source__ == "body"
        for field in model.model_fields.values()
    ]
    kinds = [kind for body in bodies for kind in (body, *get_args(body))]
    return {name for kind in kinds for name in getattr(kind, "model_fields", ())}


def _check(unknown: list[str], known: list[str], sent: set[str]) -> None:
    if not unknown:
        return
    if unknown[0] in sent:
        raise InvalidInput(
            f'`{unknown[0]}` belongs in the body, as JSON: {{"{unknown[0]}": …}}; it is not a query parameter.',
            code="invalid_request",
            fields=[each[:80] for each in unknown],
        )
    there = f"it takes {', '.join(known)}" if known else "this operation takes none"
    raise InvalidInput(
        f"There is no parameter `{unknown[0][:80]}`; {there}.",
        code="invalid_request",
        fields=[each[:80] for each in unknown],
    )


def _not_keyed() -> InvalidInput:
    return InvalidInput(
        "Only operations that start or record into a session use an Idempotency-Key. Leave the header out.",
        code="invalid_field",
        field=KEY,
    )


class NotStored:
    """Middleware: forbid caches to store API responses, which contain recorded texts, and keys and links that are shown only once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith("/api/"):
            patch_cache_control(response, no_store=True)
        return response


_PIECE: Final = 256 * 1024
_FORM: Final = "multipart/form-data"
_PACKED: Final = frozenset({"", "identity", "gzip"})


def body_of(request: HttpRequest) -> Iterator[bytes]:
    """The pieces of the body.

    Raises `TooLarge` before anything is read, `InvalidInput` for a form (`unsupported_media_type`) and for a body that ends too early
    (`unreadable`).
    """
    if request.content_type == _FORM:
        raise Unsupported(
            "The body is a form, but must be the file itself: with curl, `--data-binary @FILE` instead of `-F file=@FILE`."
        )
    if request.headers.get("Content-Encoding", "").strip().lower() not in _PACKED:
        raise Unsupported(
            "Only gzip is supported as Content-Encoding. Send the file uncompressed or with gzip."
        )
    if request.headers.get("Transfer-Encoding") and not request.META.get("CONTENT_LENGTH"):
        raise InvalidInput(
            "The request has no Content-Length. Send one: with curl, `--data-binary @FILE` instead of `-T -`.",
            code="unreadable",
        )
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if size > settings.MAX_IMPORT_BYTES:
        raise TooLarge(
            f"The file has {size:,} bytes; {settings.MAX_IMPORT_BYTES:,} is the maximum. Split it.",
            limit_bytes=settings.MAX_IMPORT_BYTES,
        )
    return _pieces(request, size)


def _pieces(request: HttpRequest, size: int) -> Iterator[bytes]:
    left = size
    while piece := request.read(_PIECE):
        left -= len(piece)
        yield piece
    if left > 0:
        raise InvalidInput(
            "The request body is incomplete. Nothing was stored. Send it again.", code="unreadable"
        )

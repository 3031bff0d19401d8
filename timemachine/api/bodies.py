"""The body of a request that is a file, read piece by piece: it may be larger than what a request may hold elsewhere."""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from timemachine.core.pure.errors import InvalidInput, TooLarge

_PIECE: Final = 256 * 1024
_FORM: Final = "multipart/form-data"
_PACKED: Final = frozenset({"", "identity", "gzip"})


class _Unsupported(InvalidInput):
    status = 415
    default_code = "unsupported_media_type"


def body_of(request: HttpRequest) -> Iterator[bytes]:
    """The pieces of the body.

    Raises `TooLarge` before anything is read, `InvalidInput` for a form (`unsupported_media_type`) and for a body that ends before it is whole
    (`unreadable`).
    """
    if request.content_type == _FORM:
        raise _Unsupported(
            "This is a form, and the body has to be the file itself: with curl, `--data-binary @FILE` instead of `-F file=@FILE`."
        )
    if request.headers.get("Content-Encoding", "").strip().lower() not in _PACKED:
        raise _Unsupported(
            "A file is taken as it is, or packed with gzip; send it without another Content-Encoding."
        )
    if request.headers.get("Transfer-Encoding") and not request.META.get("CONTENT_LENGTH"):
        raise InvalidInput(
            "The request does not say how long the file is; send it with a Content-Length: with curl, `--data-binary @FILE` instead of `-T -`.",
            code="unreadable",
        )
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if size > settings.MAX_IMPORT_BYTES:
        raise TooLarge(
            f"The file has {size:,} bytes; {settings.MAX_IMPORT_BYTES:,} are the most. Split it.",
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
            "The body ended before it was whole; nothing of it was kept. Send it again.", code="unreadable"
        )

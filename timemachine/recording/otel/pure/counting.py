"""Count the spans of a request before reading them: an empty span has two bytes and is parsed into hundreds."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from timemachine.core.pure.errors import TooLarge

MOST_SPANS: Final = 50_000
_MOST_FIELDS: Final = 2 * MOST_SPANS
"""Of a protobuf body, down to its spans: groups and their own fields count too."""
_PATH: Final = (1, 2, 2)
"""The nested fields `resource_spans`, `scope_spans` and `spans`."""
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_WIDTHS: Final = {_FIXED_64: 8, _FIXED_32: 4}


def check_protobuf(body: bytes) -> None:
    """Raise `TooLarge` if there are more spans than a request may have. Invalid protobuf is left to the decoder."""
    spans = 0
    for count, is_span in enumerate(_fields(memoryview(body), _PATH), start=1):
        spans += is_span
        if spans > MOST_SPANS or count > _MOST_FIELDS:
            raise _too_many()


def check_document(request: Any) -> None:
    """Raise `TooLarge` if a JSON request has more spans than it may have."""
    found = _listed(request, "resourceSpans")
    if sum(1 for group in found for each in _listed(group, "scopeSpans") for _ in _listed(each, "spans")) > (
        MOST_SPANS
    ):
        raise _too_many()


def _too_many() -> TooLarge:
    return TooLarge(
        f"A request can have at most {MOST_SPANS:,} spans. Send smaller batches.", limit=MOST_SPANS
    )


def _listed(owner: Any, name: str) -> list[Any]:
    found = owner.get(name) if isinstance(owner, Mapping) else None
    return found if isinstance(found, list) else []


def _fields(message: memoryview, path: tuple[int, ...]) -> Iterator[bool]:
    """Yield, for every field on the way down the path, whether it is at its end. Stops where the message is invalid."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        inner = number == path[0] and kind == _LENGTH
        yield inner and len(path) == 1
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _LENGTH:
            size, at = _varint(message, at)
            if inner and len(path) > 1:
                yield from _fields(message[at : at + size], path[1:])
            at += size
        elif kind in _WIDTHS:
            at += _WIDTHS[kind]
        else:
            return


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number at this place and the place after it; the end of the message if it is cut off."""
    found = 0
    for shift, byte in enumerate(message[at : at + 10]):
        found |= (byte & 127) << 7 * shift
        if byte < 128:  # noqa: PLR2004
            return found, at + shift + 1
    return found, len(message)

"""Timestamps of RFC 3161: the request to an authority, and whether its answer matches. Whether to trust it is
up to those with its certificate.
"""

from datetime import datetime
from typing import Final

from rfc3161_client import PKIStatus, TimeStampRequest, TimestampRequestBuilder, decode_timestamp_response

QUERY_TYPE: Final = "application/timestamp-query"
_GRANTED: Final = (PKIStatus.GRANTED, PKIStatus.GRANTED_WITH_MODS)
_SEQUENCE: Final = 0x30
_CONTENT: Final = 0xA0  # [0]; the certificates have this tag, too


def timestamp_request(data: bytes) -> TimeStampRequest:
    """Return a request for a timestamp over the SHA-512 of these bytes, with a nonce."""
    return TimestampRequestBuilder().data(data).build()


def timestamp_of(answer: bytes) -> datetime:
    """Return when an authority answered, by its clock. The answer must have been accepted before."""
    return decode_timestamp_response(with_sorted_certificates(answer)).tst_info.gen_time


def refusal(request: TimeStampRequest, answer: bytes) -> str | None:
    """Return why the answer is not a timestamp of what was requested, or None if it is."""
    try:
        found = decode_timestamp_response(with_sorted_certificates(answer))
        if found.status not in _GRANTED:
            return f"The authority did not issue a timestamp: {'; '.join(found.status_string) or f'status {found.status}'}."
        imprint, nonce = found.tst_info.message_imprint.message, found.tst_info.nonce
    except (ValueError, KeyError):
        return "The authority's response is not a timestamp (RFC 3161)."
    if imprint != request.message_imprint.message or nonce != request.nonce:
        return "The authority's response is a timestamp of something else."
    return None


def with_sorted_certificates(answer: bytes) -> bytes:
    """Return an authority's answer (RFC 3161) with the unsigned certificates of its token (RFC 5652) sorted, as
    DER requires and few authorities do.

    An answer of another form is returned unchanged.
    """
    try:
        return _sorted_inside(answer, [(_SEQUENCE, 1), (_SEQUENCE, 1), (_CONTENT, 0), (_SEQUENCE, 3)])
    except (IndexError, ValueError):
        return answer


def _sorted_inside(data: bytes, path: list[tuple[int, int]]) -> bytes:
    """Return an element with the parts at the end of `path` (pairs of a tag and a part) sorted."""
    (element,) = _elements(data)
    tag, head = element[0], _head(element[:6])[0]
    parts = _elements(element[head:])
    if not path:
        if tag != _CONTENT:
            raise ValueError("there are no certificates")
        return _element(tag, b"".join(sorted(parts)))
    (expected, at), *rest = path
    if tag != expected:
        raise ValueError("another form")
    parts[at] = _sorted_inside(parts[at], rest)
    return _element(tag, b"".join(parts))


def _elements(data: bytes) -> list[bytes]:
    """Split bytes into consecutive elements. Raises `IndexError` or `ValueError` if they do not fill it."""
    found, begin = list[bytes](), 0
    while begin < len(data):
        head, length = _head(data[begin : begin + 6])
        end = begin + head + length
        if end > len(data):
            raise ValueError("it ends too early")
        found.append(data[begin:end])
        begin = end
    return found


def _head(data: bytes) -> tuple[int, int]:
    """Return the length of an element's tag and length bytes, and the length of its content."""
    first = data[1]
    if first < 0x80:  # noqa: PLR2004  # the short form
        return 2, first
    many = first & 0x7F
    if not 1 <= many <= 4:  # noqa: PLR2004  # four bytes are more than an answer has
        raise ValueError("another form")
    return 2 + many, int.from_bytes(data[2 : 2 + many])


def _element(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:  # noqa: PLR2004
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(size)]) + size + content

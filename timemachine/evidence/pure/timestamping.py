"""Timestamps of RFC 3161: the request to an authority, and whether its answer matches. Whether to trust it is
up to those with its certificate.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

QUERY_TYPE: Final = "application/timestamp-query"
_GRANTED: Final = (0, 1)  # 1: with modifications
_INTEGER: Final = 0x02
_OCTETS: Final = 0x04
_UTF8: Final = 0x0C
_TIME: Final = 0x18
_SEQUENCE: Final = 0x30
_EXPLICIT: Final = 0xA0  # [0]
_VERSION: Final = bytes.fromhex("020101")
_SHA512: Final = bytes.fromhex("300d 0609 608648016503040203 0500")
_WITH_CERTIFICATES: Final = bytes.fromhex("0101ff")
_LONG: Final = 0x80
_WRONG_FORM: Final = (ValueError, IndexError)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampRequest:
    """A request for a timestamp over the SHA-512 `digest`, in DER, with a nonce."""

    digest: bytes
    nonce: int

    def as_bytes(self) -> bytes:
        """Return what is sent to the authority."""
        imprint = _element(_SEQUENCE, _SHA512 + _element(_OCTETS, self.digest))
        nonce = _element(_INTEGER, self.nonce.to_bytes(self.nonce.bit_length() // 8 + 1))
        return _element(_SEQUENCE, _VERSION + imprint + nonce + _WITH_CERTIFICATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dated:
    """What an authority signed."""

    digest: bytes
    nonce: int | None
    at: datetime


def timestamp_request(data: bytes) -> TimestampRequest:
    """Return a request for a timestamp over the SHA-512 of these bytes, with a nonce."""
    return TimestampRequest(digest=hashlib.sha512(data).digest(), nonce=secrets.randbits(64))


def timestamp_of(answer: bytes) -> datetime:
    """Return when an authority answered, by its clock. The answer must have been accepted before."""
    return _dated(answer).at


def refusal(request: TimestampRequest, answer: bytes) -> str | None:
    """Return why the answer is not a timestamp of what was requested, or None if it is."""
    try:
        status, words = _status(answer)
        if status not in _GRANTED:
            return f"The authority gave no timestamp: {'; '.join(words) or f'status {status}'}."
        found = _dated(answer)
    except _WRONG_FORM:
        return "The authority's answer is not a timestamp (RFC 3161)."
    if found.digest != request.digest or found.nonce != request.nonce:
        return "The authority's answer is a timestamp of something else."
    return None


def _status(answer: bytes) -> tuple[int, list[str]]:
    """Return the authority's verdict, and its words. Raises one of `_WRONG_FORM`."""
    status, *more = _within(_within(answer, _SEQUENCE)[0], _SEQUENCE)
    words = _within(more[0], _SEQUENCE) if more and more[0][0] == _SEQUENCE else []
    return _number(status), [_content(each, _UTF8).decode() for each in words]


def _dated(answer: bytes) -> _Dated:
    """Return what is signed in a granted answer. Raises one of `_WRONG_FORM`."""
    _granted, token = _within(answer, _SEQUENCE)
    _type, signed = _within(token, _SEQUENCE)
    content = _within(_within(signed, _EXPLICIT)[0], _SEQUENCE)[2]
    _type, info = _within(content, _SEQUENCE)
    (octets,) = _within(info, _EXPLICIT)
    _version, _policy, imprint, _serial, at, *more = _within(_content(octets, _OCTETS), _SEQUENCE)
    _algorithm, digest = _within(imprint, _SEQUENCE)
    return _Dated(
        digest=_content(digest, _OCTETS),
        nonce=next((_number(each) for each in more if each[0] == _INTEGER), None),
        at=_time(_content(at, _TIME).decode()),
    )


def _time(text: str) -> datetime:
    found = re.fullmatch(r"(\d{8})(\d{6}(?:\.\d+)?Z)", text, re.ASCII)
    if found is None:
        raise ValueError("it has no time")
    return datetime.fromisoformat("T".join(found.groups()))


def _number(element: bytes) -> int:
    return int.from_bytes(_content(element, _INTEGER), signed=True)


def _within(element: bytes, tag: int) -> list[bytes]:
    """Return the elements in a DER element with this tag. Raises one of `_WRONG_FORM`."""
    return list(_elements(_content(element, tag)))


def _content(element: bytes, tag: int) -> bytes:
    (only,) = _elements(element)
    if only[0] != tag:
        raise ValueError("it has another form")
    return only[_head(only)[0] :]


def _elements(data: bytes) -> Iterator[bytes]:
    """Split bytes into consecutive elements. Raises one of `_WRONG_FORM` if they do not fill it."""
    begin = 0
    while begin < len(data):
        head, length = _head(data[begin : begin + 6])
        end = begin + head + length
        if end > len(data):
            raise ValueError("it ends too early")
        yield data[begin:end]
        begin = end


def _head(data: bytes) -> tuple[int, int]:
    """Return the length of an element's tag and length bytes, and the length of its content."""
    first = data[1]
    if first < _LONG:
        return 2, first
    many = first - _LONG
    if not 1 <= many <= 4:  # noqa: PLR2004  # four bytes are more than an answer has
        raise ValueError("it has another form")
    return 2 + many, int.from_bytes(data[2 : 2 + many])


def _element(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content  # a request has only short ones

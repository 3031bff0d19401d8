"""Bytes of anybody that may be packed with gzip, unpacked while they come in, and never to more than a limit. Pure."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TooLarge

MOST_MEMBERS: Final = 20_000
"""A packed file may be several behind each other (RFC 1952); an empty one has 20 bytes and takes as long as a full one."""
_BEGIN: Final = b"\x1f\x8b"
_WINDOW: Final = 31
_PIECE: Final = 256 * 1024


def plain(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """The parts of a file as they are, or unpacked where it begins as gzip does.

    Raises `TooLarge` as soon as there are more bytes than the limit, packed or unpacked; `InvalidInput` (`not_packed`) for packed ones that
    are damaged, cut off, or in too many members.
    """
    coming = _limited(parts, limit)
    first = b""
    for part in coming:
        first += part
        if len(first) >= len(_BEGIN):
            break
    whole = chain([first], coming) if first else coming
    return _limited(_unpacked(whole), limit) if first.startswith(_BEGIN) else iter(whole)


def _limited(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise TooLarge(
                f"The file has more than {limit:,} bytes, the most that can be imported, also unpacked. Split it.",
                limit_bytes=limit,
            )
        yield part


def _unpacked(parts: Iterable[bytes]) -> Iterator[bytes]:
    members = 1
    member = zlib.decompressobj(_WINDOW)
    for part in parts:
        rest = part
        while rest:
            if member.eof:
                if not rest.strip(b"\0"):  # tapes and some tools fill up with zeros
                    break
                members += 1
                if members > MOST_MEMBERS:
                    raise _damaged(f"it has more than {MOST_MEMBERS:,} packed members; pack it as one")
                member = zlib.decompressobj(_WINDOW)
            try:
                found = member.decompress(rest, _PIECE)
            except zlib.error as why:
                raise _damaged("it is damaged and cannot be unpacked") from why
            rest = member.unused_data if member.eof else member.unconsumed_tail
            yield found
    if not member.eof:
        raise _damaged("it is cut off: its packing does not end")


def _damaged(why: str) -> InvalidInput:
    return InvalidInput(f"This gzip file cannot be read: {why}.", code="not_packed")

"""Byte streams: unpacked while they arrive, never beyond a limit, and marked if they end early."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TooLarge

MOST_MEMBERS: Final = 20_000
"""A gzip file can consist of several members (RFC 1952). An empty one takes 20 bytes but as long as a full one."""
CUT_OFF: Final = b'\n{"cut off": "This file is incomplete; download it again."'
"""No JSON, JSON line or archive is valid with this at its end."""
_BEGIN: Final = b"\x1f\x8b"
_WINDOW: Final = 31
_PIECE: Final = 256 * 1024


def unpacked(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Return the parts of a file, unpacked if it is gzip. Raises `TooLarge` for more bytes than the limit, packed or
    unpacked, and `InvalidInput` (`not_packed`) if the gzip data is damaged, cut off, or has too many members.
    """
    coming = _limited(parts, limit)
    first = b""
    for part in coming:
        first += part
        if len(first) >= len(_BEGIN):
            break
    whole = chain([first], coming) if first else coming
    return _limited(_unpacked(whole), limit) if first.startswith(_BEGIN) else iter(whole)


def marked_if_cut_off(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the parts. If one cannot be made, yield `CUT_OFF` instead, then raise its error."""
    try:
        yield from parts
    except Exception:  # whatever failed, the reader must see that the stream is incomplete
        yield CUT_OFF
        raise


def _limited(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise TooLarge(
                f"The file is larger than {limit:,} bytes, packed or unpacked, which is the limit of an import. Split it.",
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
                if not rest.strip(b"\0"):  # padding by tapes and some tools
                    break
                members += 1
                if members > MOST_MEMBERS:
                    raise _damaged(f"it has more than {MOST_MEMBERS:,} members; repack it as one")
                member = zlib.decompressobj(_WINDOW)
            try:
                found = member.decompress(rest, _PIECE)
            except zlib.error as why:
                raise _damaged("it is damaged and cannot be unpacked") from why
            rest = member.unused_data if member.eof else member.unconsumed_tail
            yield found
    if not member.eof:
        raise _damaged("it is cut off: the gzip data has no end")


def _damaged(why: str) -> InvalidInput:
    return InvalidInput(f"This gzip file cannot be read: {why}.", code="not_packed")

"""Byte streams: unpacked while they arrive, never beyond a limit, and marked if they end early."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from timemachine.core.pure import zstandard
from timemachine.core.pure.errors import InvalidInput, TooLarge

MOST_MEMBERS: Final = 20_000
"""A gzip file can consist of several members (RFC 1952), a Zstandard file of several frames. An empty one takes 20 bytes
or fewer but as long as a full one."""
CUT_OFF: Final = b'\n{"cut off": "This file is incomplete; download it again."'
"""No JSON, JSON line or archive is valid with this at its end."""
_BEGIN: Final = b"\x1f\x8b"
_WINDOW: Final = 31
_PIECE: Final = 256 * 1024


def unpacked(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Return the parts of a file, unpacked if it is gzip or Zstandard. Raises `TooLarge` for more bytes than the limit,
    packed or unpacked, and `InvalidInput` (`not_packed`) if the packed data is damaged, cut off, or has too many members.
    """
    coming = _limited(parts, limit)
    first = b""
    for part in coming:
        first += part
        if len(first) >= len(zstandard.MAGIC):
            break
    whole = chain([first], coming) if first else coming
    if first.startswith(_BEGIN):
        return _limited(_members(whole), limit)
    return _limited(_frames(whole), limit) if first.startswith(zstandard.MAGIC) else iter(whole)


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
                f"The file is larger than {limit:,} bytes, compressed or decompressed, which is the import limit. Split it.",
                limit_bytes=limit,
            )
        yield part


def _members(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip file."""
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
                    raise _damaged("gzip", f"it has more than {MOST_MEMBERS:,} members; repack it as one")
                member = zlib.decompressobj(_WINDOW)
            try:
                found = member.decompress(rest, _PIECE)
            except zlib.error as why:
                raise _damaged("gzip", "it is damaged and cannot be decompressed") from why
            rest = member.unused_data if member.eof else member.unconsumed_tail
            yield found
    if not member.eof:
        raise _damaged("gzip", "it is truncated: the gzip data is incomplete")


def _frames(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a Zstandard file."""
    frames = 1
    frame = zstandard.decompressor()
    for part in parts:
        rest = part
        while rest or not (frame.eof or frame.needs_input):
            if frame.eof:
                frames += 1
                if frames > MOST_MEMBERS:
                    raise _damaged("Zstandard", f"it has more than {MOST_MEMBERS:,} frames; repack it as one")
                frame = zstandard.decompressor()
            try:
                found = frame.decompress(rest, _PIECE)
            except zstandard.Error as why:
                raise _damaged("Zstandard", "it is damaged and cannot be decompressed") from why
            rest = frame.unused_data if frame.eof else b""
            yield found
    if not frame.eof:
        raise _damaged("Zstandard", "it is truncated: its last frame is incomplete")


def _damaged(packing: str, why: str) -> InvalidInput:
    return InvalidInput(f"This {packing} file cannot be read: {why}.", code="not_packed")

"""Bytes that lie in memory or, mapped, on a disk, and what can be asked of both. Pure."""

from collections.abc import Iterator
from io import BytesIO
from mmap import mmap
from typing import Final

type Contents = bytes | mmap
"""Both have a length, and slices that are bytes."""
_PIECE: Final = 4 * 1024 * 1024


def pieces_of(data: Contents, size: int = _PIECE) -> Iterator[bytes]:
    """All of it, so many bytes at a time."""
    return (data[start : start + size] for start in range(0, len(data), size))


def count_in(data: Contents, sign: bytes) -> int:
    """How often a single byte stands in it."""
    return sum(piece.count(sign) for piece in pieces_of(data))


def raw_lines(data: Contents) -> Iterator[bytes]:
    """Its lines with their ends, each read when it is asked for."""
    if isinstance(data, bytes):
        return iter(BytesIO(data))
    data.seek(0)
    return iter(data.readline, b"")

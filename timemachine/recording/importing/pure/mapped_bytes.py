"""Bytes in memory or in a memory-mapped file."""

from collections.abc import Iterator
from io import BytesIO
from mmap import mmap
from typing import Final

type Contents = bytes | mmap
"""Both have a length, and slices that are bytes."""
_PIECE: Final = 4 * 1024 * 1024


def pieces_of(data: Contents, size: int = _PIECE) -> Iterator[bytes]:
    """Yield the content in pieces of `size` bytes."""
    return (data[start : start + size] for start in range(0, len(data), size))


def count_in(data: Contents, sign: bytes) -> int:
    """Return how often a single byte occurs."""
    return sum(piece.count(sign) for piece in pieces_of(data))


def raw_lines(data: Contents) -> Iterator[bytes]:
    """Yield the lines with their line ends, each read on demand."""
    if isinstance(data, bytes):
        return iter(BytesIO(data))
    data.seek(0)
    return iter(data.readline, b"")

"""Compress bytes for storage, and read them again.

A packed value is one Zstandard frame, written in blocks of 16 KiB: its first bytes can be read without the rest.
"""

import threading
from typing import Final

from timemachine.core.pure import zstandard

LEVEL: Final = 1
"""Higher levels take two to four times as long, and save nothing on texts of a few kilobytes."""
SMALLEST: Final = 512
"""Shorter values stay as they are: unpacking takes 10 to 15 µs whatever the size, and saves little."""
_PARTS: Final = 10
"""A value is packed only if that saves at least a tenth: reading it takes longer."""
_BLOCK: Final = 16 * 1024
_HEAD_OF_FRAME: Final = 18
_HEAD_OF_BLOCK: Final = 3
_LARGEST_WINDOW: Final = 23
"""Power of two of the bytes that reading holds; packing at this level uses 19."""
_LONGEST: Final = 2**31 - 1
_of_thread = threading.local()


class Damaged(ValueError):
    """The bytes are not a packed value of this size."""


def pack(data: bytes) -> bytes | None:
    """Return the bytes in packed form, or None if that saves less than a tenth."""
    if len(data) < SMALLEST:
        return None
    packed = _packed(data)
    return packed if len(packed) <= len(data) - len(data) // _PARTS else None


def unpack(packed: bytes | memoryview, size: int) -> bytes:
    """Return the `size` bytes that were packed; it never makes more. Raises `Damaged` if these are not they."""
    reader = zstandard.decompressor(_LARGEST_WINDOW)
    data = _read(reader, packed, size)
    if len(data) != size or not reader.eof or reader.unused_data:
        raise Damaged(f"not a packed value of {size:,} bytes")
    return data


def unpack_first(packed: bytes | memoryview, length: int) -> bytes:
    """Return the first `length` bytes of a value of at least that size, given at least `packed_length` of its packed
    bytes. Raises `Damaged`.
    """
    data = _read(zstandard.decompressor(_LARGEST_WINDOW), packed, length)
    if len(data) != length:
        raise Damaged(f"not the beginning of a packed value of {length:,} bytes")
    return data


def packed_length(length: int) -> int:
    """Return how many packed bytes suffice to read the first `length` bytes."""
    blocks = -(-length // _BLOCK)
    return min(_LONGEST, _HEAD_OF_FRAME + blocks * (_BLOCK + _HEAD_OF_BLOCK))


def _packed(data: bytes) -> bytes:
    writer = _writer()
    last = max(0, len(data) - 1) // _BLOCK * _BLOCK
    parts = [
        writer.compress(data[at : at + _BLOCK], mode=writer.FLUSH_FRAME if at == last else writer.FLUSH_BLOCK)
        for at in range(0, last + 1, _BLOCK)
    ]
    return b"".join(parts)


def _writer() -> zstandard.Compressor:
    """Return the compressor of this thread: making one takes longer than packing a kilobyte."""
    if not hasattr(_of_thread, "writer"):
        _of_thread.writer = zstandard.compressor(LEVEL)
    writer: zstandard.Compressor = _of_thread.writer
    return writer


def _read(reader: zstandard.Decompressor, packed: bytes | memoryview, length: int) -> bytes:
    try:
        return reader.decompress(packed, max_length=length)
    except (zstandard.Error, EOFError) as why:
        raise Damaged(str(why)) from why

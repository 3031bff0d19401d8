"""Zstandard, as the standard library has it since Python 3.14."""

import sys
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd  # pragma: no cover - coverage is measured with an older Python
else:
    from backports import zstd

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_LARGEST_WINDOW: Final = 27
"""The reader's own limit for files."""

type Compressor = zstd.ZstdCompressor
type Decompressor = zstd.ZstdDecompressor
Error: Final = zstd.ZstdError


def decompressor(largest_window: int = _LARGEST_WINDOW) -> Decompressor:
    """Return a reader of one frame, which holds at most that power of two of bytes."""
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: largest_window}
    return zstd.ZstdDecompressor(options=options)


def compressor(level: int) -> Compressor:
    """Return a writer of frames, one after another."""
    return zstd.ZstdCompressor(level=level)

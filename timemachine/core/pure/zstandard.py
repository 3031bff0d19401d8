"""Zstandard, as the standard library has it since Python 3.14."""

import sys
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd  # pragma: no cover - coverage is measured with an older Python
else:
    from backports import zstd

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_LARGEST_WINDOW: Final = 27
"""Power of two of the bytes that a frame may make the reader hold; the reader's own limit for files."""

type Decompressor = zstd.ZstdDecompressor
Error: Final = zstd.ZstdError


def decompressor() -> Decompressor:
    """Return a reader of one frame."""
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    return zstd.ZstdDecompressor(options=options)

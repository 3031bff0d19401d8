"""Bodies of requests and responses, without their compression."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from timemachine.core.pure import zstandard

MOST_BYTES: Final = 32 * 1024 * 1024
"""The largest body that is recorded. A step may have 64 MB."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_FAULTS: Final = (zlib.error, zstandard.Error, EOFError)


class Unreadable(Exception):
    """A body that cannot be read; the message says why."""


def decoded(parts: Iterable[bytes], encoding: str | None) -> Iterator[bytes]:
    """Yield the body in as many parts, without its compression. Raises `Unreadable`, also if it is too large."""
    name = (encoding or "identity").strip().lower()
    if name not in _READERS:
        raise Unreadable(f"its content encoding is {name[:40]}")
    read, size = _READERS[name](), 0
    for part in parts:
        try:
            found = read(part)
        except _FAULTS as why:
            raise Unreadable(f"it is not {name}") from why
        size += len(found)
        if size > MOST_BYTES:
            raise Unreadable(f"it has more than {MOST_BYTES:,} bytes")
        yield found


def _identity() -> Callable[[bytes], bytes]:
    return lambda part: part


def _zlib(bits: int) -> Callable[[], Callable[[bytes], bytes]]:
    def made() -> Callable[[bytes], bytes]:
        reader = zlib.decompressobj(bits)
        return lambda part: reader.decompress(part, MOST_BYTES + 1)

    return made


def _zstd() -> Callable[[bytes], bytes]:
    reader = zstandard.decompressor()
    return lambda part: reader.decompress(part, MOST_BYTES + 1) if part and not reader.eof else b""


_READERS: Final[dict[str, Callable[[], Callable[[bytes], bytes]]]] = {
    "identity": _identity,
    "gzip": _zlib(_GZIP),
    "x-gzip": _zlib(_GZIP),
    "deflate": _zlib(zlib.MAX_WBITS),
    "zstd": _zstd,
}

"""A ZIP file with deterministic bytes that knows the SHA-256 of each file in it. Pure."""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import batched
from typing import IO, Final

_TIME: Final = (1980, 1, 1, 0, 0, 0)
_LEVEL: Final = 4
_AT_ONCE: Final = 100


class ZippedFile:
    """One file in the ZIP, hashed while it is written."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._opened.write(data)
        self._digest.update(data)

    def lines(self, lines: Iterable[bytes]) -> None:
        """Append lines, many at a time."""
        for some in batched(lines, _AT_ONCE):
            self.write(b"\n".join(some) + b"\n")

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of what was written, in hex."""
        return self._digest.hexdigest()


class Zipped:
    """The ZIP file; `hashes` has the finished files."""

    def __init__(self, target: IO[bytes]) -> None:
        self.hashes: dict[str, str] = {}
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)

    @contextmanager
    def file(self, name: str) -> Iterator[ZippedFile]:
        """Open a file for writing; one at a time."""
        info = zipfile.ZipInfo(name, _TIME)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        with self._zip.open(info, "w", force_zip64=True) as opened:
            made = ZippedFile(opened)
            yield made
        self.hashes[name] = made.sha256

    def add(self, name: str, data: bytes) -> None:
        """Add a file with this content."""
        with self.file(name) as made:
            made.write(data)

    def close(self) -> None:
        """Write the directory; nothing can be added afterwards."""
        self._zip.close()

"""The bytes of an uploaded file, in memory if it is small, else memory-mapped from disk."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Final

from django.conf import settings

from timemachine.core.pure.streams import unpacked
from timemachine.recording.importing.pure.contents import Contents

IN_MEMORY: Final = 4 * 1024 * 1024


@contextmanager
def received(parts: Iterable[bytes]) -> Iterator[Contents]:
    """Yield the file that the parts make, unpacked if it is gzip; it is removed at the end of the block.

    Raises `TooLarge` if it is, or unpacks to, more than `settings.MAX_IMPORT_BYTES`, and `InvalidInput`
    (`not_packed`).
    """
    with TemporaryFile() as file:
        file.writelines(unpacked(parts, settings.MAX_IMPORT_BYTES))
        size = file.tell()
        file.seek(0)
        if size <= IN_MEMORY:
            yield file.read()
            return
        file.flush()
        with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
            yield mapped

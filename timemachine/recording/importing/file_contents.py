"""The bytes of a file that is imported: in memory where they are few, else on a disk, read as if they were in memory."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Final

from django.conf import settings

from timemachine.core.pure.streams import unpacked
from timemachine.recording.importing.pure.mapped_bytes import Contents

PIECE: Final = 256 * 1024
IN_MEMORY: Final = 4 * 1024 * 1024


@contextmanager
def received(parts: Iterable[bytes]) -> Iterator[Contents]:
    """The file that the parts make, unpacked where it is packed with gzip; let go of at the end of the block.

    Raises `TooLarge` where it is, or unpacks to, more than `settings.MAX_IMPORT_BYTES`, and `InvalidInput` (`not_packed`).
    """
    with TemporaryFile() as kept:
        kept.writelines(unpacked(parts, settings.MAX_IMPORT_BYTES))
        size = kept.tell()
        kept.seek(0)
        if size <= IN_MEMORY:
            yield kept.read()
            return
        kept.flush()
        with mmap(kept.fileno(), 0, access=ACCESS_READ) as found:
            yield found

"""Safe reading of untrusted ZIP archives: limits on members and sizes, no paths outside, nothing written to disk.

Members are read by name, one at a time, and never beyond the size in the directory. An archive is refused, with the
reason, if it is encrypted, cut off, a bomb, contains links, has a wrong checksum, or is compressed by anything but
deflate and Zstandard.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from copy import copy
from io import BytesIO
from mmap import mmap
from pathlib import PurePosixPath
from typing import Final

from timemachine.core.pure import zstandard
from timemachine.core.pure.errors import InvalidInput

MOST_MEMBERS: Final = 20_000
LARGEST_INFLATED: Final = 512 * 1024 * 1024
LARGEST_RATIO: Final = 500
"""The largest ratio of unpacked to packed size. Deflate reaches 1,032, as bombs do.

Repetitive JSON lines were measured at 261 at most with a number or time of their own, and at 412 without.
"""
_RATIO_COUNTS_FROM: Final = 64 * 1024 * 1024
_LARGEST_DIRECTORY: Final = 8 * 1024 * 1024
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LOCATOR: Final = b"PK\x06\x07"
"""Starts the locator of a ZIP64 directory, 20 bytes before the end record, which then lacks the size and count."""
_LOCATOR_SIZE: Final = 20
_LONGEST_COMMENT: Final = 65_535
_CHUNK: Final = 256 * 1024
_ZSTANDARD: Final = 93
_COMPRESSIONS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD}
_NAMES: Final = {
    1: "shrink",
    6: "implode",
    9: "deflate64",
    12: "bzip2",
    14: "LZMA",
    95: "XZ",
}


def is_zip(data: bytes | mmap) -> bool:
    """Return whether the bytes begin like a ZIP archive."""
    return data[:4] in {b"PK\x03\x04", _END}


def names_in(data: bytes | mmap) -> frozenset[str]:
    """Return the names in an archive, or none if it cannot be opened."""
    try:
        return frozenset(Archive(data).names)
    except InvalidInput:
        return frozenset()


class Archive:
    """An archive whose directory was checked. Its members can be read one at a time. Raises `InvalidInput`
    (`unsafe_archive`) if a member is not safe to read.
    """

    def __init__(self, data: bytes | mmap) -> None:
        _check_directory(data)
        try:
            self._zip = zipfile.ZipFile(BytesIO(data) if isinstance(data, bytes) else data)  # type: ignore[arg-type]  # it can read, seek and tell
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as why:
            raise _refusal(f"its directory cannot be read: {_reason(why)}") from why
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._remaining = LARGEST_INFLATED
        found = self._zip.infolist()
        if len(found) > MOST_MEMBERS:
            raise _refusal(f"it has {len(found):,} members; the limit is {MOST_MEMBERS:,}")
        for member in found:
            _check(member)
            if member.filename in self._members:
                raise _refusal(f"it names {member.filename[:80]!r} twice")
            self._members[member.filename] = member
        total = sum(member.file_size for member in found)
        if total > LARGEST_INFLATED:
            raise _refusal(f"it would unpack to {total:,} bytes; the limit is {LARGEST_INFLATED:,}")

    @property
    def names(self) -> list[str]:
        """The names of the files, in the order of the directory."""
        return [name for name in self._members if not name.endswith("/")]

    def read(self, name: str) -> bytes:
        """Return the bytes of a member. Raises `InvalidInput` if the member is cut off, damaged, or larger than its
        directory entry says.
        """
        member = self._members.get(name)
        if member is None:
            raise _refusal(f"it has no {name[:80]!r}")
        _check_readable(member)
        parts: list[bytes] = []
        size = 0
        try:
            for part in self._parts_of(member):
                size += len(part)
                if size > member.file_size or size > self._remaining:
                    raise _refusal(f"{name[:80]!r} unpacks to more than its directory says")
                parts.append(part)
        except (
            zipfile.BadZipFile,
            zlib.error,
            zstandard.Error,
            EOFError,
            RuntimeError,
            ValueError,
            OSError,
        ) as why:
            raise _refusal(f"{name[:80]!r} is truncated or damaged: {_reason(why)}") from why
        if size != member.file_size:
            raise _refusal(f"{name[:80]!r} unpacks to less than its directory says")
        self._remaining -= size
        return b"".join(parts)

    def _parts_of(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the bytes of a member in parts of a limited size."""
        if member.compress_type != _ZSTANDARD:
            with self._zip.open(member) as opened:
                while part := opened.read(_CHUNK):
                    yield part
            return
        packed = copy(member)  # zipfile reads this method from Python 3.14 on, and then without a limit
        packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
        del packed.CRC
        unpacked = zstandard.decompressor()
        checksum = 0
        with self._zip.open(packed) as opened:
            while not unpacked.eof:
                more = opened.read(_CHUNK) if unpacked.needs_input else b""
                if unpacked.needs_input and not more:
                    raise EOFError("its last frame is truncated")
                part = unpacked.decompress(more, _CHUNK)
                checksum = zlib.crc32(part, checksum)
                yield part
        if checksum != member.CRC:
            raise zipfile.BadZipFile("Bad CRC-32")


def _check_directory(data: bytes | mmap) -> None:
    """Refuse a directory of millions of entries before reading it. Its size bounds them; its count can lie."""
    place = data.rfind(_END, max(0, len(data) - _END_SIZE - _LONGEST_COMMENT))
    if place < 0 or len(data) - place < _END_SIZE:
        raise _refusal("it is truncated: the directory at its end is missing")
    if data[max(0, place - _LOCATOR_SIZE) : place].startswith(_LOCATOR):
        raise _refusal(
            "it has a ZIP64 directory, which is meant for archives of 4 GB or more; repack it without one"
        )
    size = int.from_bytes(data[place + 12 : place + 16], "little")
    if size > _LARGEST_DIRECTORY:
        raise _refusal(f"its directory has {size:,} bytes; the limit is {_LARGEST_DIRECTORY:,}")


def _check(member: zipfile.ZipInfo) -> None:
    name = member.orig_filename
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":" or "\x00" in name
    if leads_out:
        raise _refusal(f"its member {name[:80]!r} has a path outside the archive")
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _refusal(f"its member {name[:80]!r} is a link or a device, not a file")
    ratio = member.file_size / max(1, member.compress_size)
    if member.file_size > _RATIO_COUNTS_FROM and ratio > LARGEST_RATIO:
        raise _refusal(
            f"its member {name[:80]!r} would unpack to {ratio:,.0f} times its size; the limit is {LARGEST_RATIO}"
        )


def _check_readable(member: zipfile.ZipInfo) -> None:
    name = member.filename[:80]
    if member.flag_bits & 0x1:
        raise _refusal(f"its member {name!r} is encrypted")
    if member.compress_type not in _COMPRESSIONS:
        written = _NAMES.get(member.compress_type, f"method {member.compress_type}")
        raise _refusal(f"its member {name!r} is compressed with {written}; repack it with deflate")


def _reason(why: Exception) -> str:
    return str(why).rstrip(".") or type(why).__name__


def _refusal(why: str) -> InvalidInput:
    return InvalidInput(f"Cannot open this archive: {why}.", code="unsafe_archive")

"""ZIP archives of anybody, read safely: limits on members and sizes, no path that leads out, nothing written to a disk. Pure.

Members are read by name, one at a time, and never more than their directory says they hold. What is refused is refused with
its reason: encrypted, a link, another compression than stored and deflate, cut off, a wrong checksum, a bomb.
"""

import stat
import zipfile
import zlib
from io import BytesIO
from mmap import mmap
from pathlib import PurePosixPath
from typing import Final

from timemachine.core.pure.errors import InvalidInput

MOST_MEMBERS: Final = 20_000
LARGEST_INFLATED: Final = 512 * 1024 * 1024
LARGEST_RATIO: Final = 500
"""Deflate ends at 1,032, where a bomb is. JSON lines that say the same again and again, each with a number or a time of its own, were
measured at 261 at most, and with nothing of their own at 412."""
_RATIO_COUNTS_FROM: Final = 64 * 1024 * 1024
_LARGEST_DIRECTORY: Final = 8 * 1024 * 1024
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LOCATOR: Final = b"PK\x06\x07"
"""Where the directory of ZIP64 is; 20 bytes before the end, and its size and count then stand in neither."""
_LOCATOR_SIZE: Final = 20
_LONGEST_COMMENT: Final = 65_535
_CHUNK: Final = 256 * 1024
_COMPRESSIONS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_NAMES: Final = {
    1: "shrink",
    6: "implode",
    9: "deflate64",
    12: "bzip2",
    14: "LZMA",
    93: "Zstandard",
    95: "XZ",
}


def is_zip(data: bytes | mmap) -> bool:
    """Whether the bytes begin as a ZIP archive does."""
    return data[:4] in {b"PK\x03\x04", _END}


def names_in(data: bytes | mmap) -> frozenset[str]:
    """The names of an archive; none where it cannot be opened."""
    try:
        return frozenset(Archive(data).names)
    except InvalidInput:
        return frozenset()


class Archive:
    """An archive whose directory was looked through: all that it names may be read, one member at a time.

    Raises `InvalidInput` (`unsafe_archive`) where a member may not be.
    """

    def __init__(self, data: bytes | mmap) -> None:
        _check_directory(data)
        try:
            self._zip = zipfile.ZipFile(BytesIO(data) if isinstance(data, bytes) else data)  # type: ignore[arg-type]  # it reads, seeks and tells
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as why:
            raise _refusal(f"its directory cannot be read: {_said(why)}") from why
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._left = LARGEST_INFLATED
        found = self._zip.infolist()
        if len(found) > MOST_MEMBERS:
            raise _refusal(f"it has {len(found):,} members; {MOST_MEMBERS:,} are the most")
        for member in found:
            _check(member)
            if member.filename in self._members:
                raise _refusal(f"it names {member.filename[:80]!r} twice")
            self._members[member.filename] = member
        total = sum(member.file_size for member in found)
        if total > LARGEST_INFLATED:
            raise _refusal(f"it would unpack to {total:,} bytes; {LARGEST_INFLATED:,} are the most")

    @property
    def names(self) -> list[str]:
        """The names of its files, as they stand in the directory."""
        return [name for name in self._members if not name.endswith("/")]

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises `InvalidInput` where it is cut off, damaged, or more than its directory says."""
        member = self._members.get(name)
        if member is None:
            raise _refusal(f"it has no {name[:80]!r}")
        _check_readable(member)
        parts: list[bytes] = []
        size = 0
        try:
            with self._zip.open(member) as opened:
                while part := opened.read(_CHUNK):
                    size += len(part)
                    if size > member.file_size or size > self._left:
                        raise _refusal(f"{name[:80]!r} unpacks to more than its directory says")
                    parts.append(part)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
            OSError,
        ) as why:
            raise _refusal(f"{name[:80]!r} is cut off or damaged: {_said(why)}") from why
        if size != member.file_size:
            raise _refusal(f"{name[:80]!r} unpacks to less than its directory says")
        self._left -= size
        return b"".join(parts)


def _check_directory(data: bytes | mmap) -> None:
    """Refuse a directory of millions of entries before it is read: its size bounds them, its count may lie."""
    place = data.rfind(_END, max(0, len(data) - _END_SIZE - _LONGEST_COMMENT))
    if place < 0 or len(data) - place < _END_SIZE:
        raise _refusal("it is cut off: its directory, which stands at its end, is missing")
    if data[max(0, place - _LOCATOR_SIZE) : place].startswith(_LOCATOR):
        raise _refusal(
            "it has a directory of ZIP64; pack it anew without, it is for archives of 4 GB and more"
        )
    size = int.from_bytes(data[place + 12 : place + 16], "little")
    if size > _LARGEST_DIRECTORY:
        raise _refusal(f"its directory has {size:,} bytes; {_LARGEST_DIRECTORY:,} are the most")


def _check(member: zipfile.ZipInfo) -> None:
    name = member.orig_filename
    path = PurePosixPath(name.replace("\\", "/"))
    leads_out = path.is_absolute() or ".." in path.parts or name[1:2] == ":" or "\x00" in name
    if leads_out:
        raise _refusal(f"its member {name[:80]!r} has a path that leads out of it")
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _refusal(f"its member {name[:80]!r} is a link or a device, not a file")
    ratio = member.file_size / max(1, member.compress_size)
    if member.file_size > _RATIO_COUNTS_FROM and ratio > LARGEST_RATIO:
        raise _refusal(
            f"its member {name[:80]!r} would unpack to {ratio:,.0f} times its size; {LARGEST_RATIO} are the most"
        )


def _check_readable(member: zipfile.ZipInfo) -> None:
    name = member.filename[:80]
    if member.flag_bits & 0x1:
        raise _refusal(f"its member {name!r} is encrypted")
    if member.compress_type not in _COMPRESSIONS:
        written = _NAMES.get(member.compress_type, f"method {member.compress_type}")
        raise _refusal(f"its member {name!r} is compressed by {written}; pack it anew with deflate")


def _said(why: Exception) -> str:
    return str(why).rstrip(".") or type(why).__name__


def _refusal(found: str) -> InvalidInput:
    return InvalidInput(f"This archive is not opened: {found}.", code="unsafe_archive")

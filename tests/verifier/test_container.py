"""Every byte of the zip belongs to a file or the directory: no unsigned data can be included."""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.verifier.bundles import faults, packed, unpacked
from tests.verifier.conftest import Made
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db  # for the fixture only
END: Final = 22


def _moved(data: bytes, at: int, inserted: bytes) -> bytes:
    """Insert bytes before the zip's directory, and correct every later offset."""
    moved = bytearray(data[:at] + inserted + data[at:])
    directory = struct.unpack("<L", data[-6:-2])[0] + len(inserted)
    moved[-6:-2] = struct.pack("<L", directory)
    while moved[directory : directory + 4] == b"PK\x01\x02":
        names, extra, comment = struct.unpack("<3H", moved[directory + 28 : directory + 34])
        (begin,) = struct.unpack("<L", moved[directory + 42 : directory + 46])
        if begin >= at:
            moved[directory + 42 : directory + 46] = struct.pack("<L", begin + len(inserted))
        directory += 46 + names + extra + comment
    return bytes(moved)


def _second(data: bytes) -> zipfile.ZipInfo:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return opened.infolist()[1]


def _after_deflate(data: bytes) -> bytes:
    """Append bytes to the compressed data of the second file and count them in its packed size."""
    info, hidden = _second(data), b"hidden"
    begin = info.header_offset + 30 + len(info.filename)
    begin += struct.unpack("<H", data[info.header_offset + 28 : info.header_offset + 30])[0]
    made = bytearray(_moved(data, begin + info.compress_size, hidden))
    size = info.compress_size + len(hidden)
    at = begin - 8  # of the local header's large sizes
    made[at : at + 8] = struct.pack("<Q", size)
    directory = struct.unpack("<L", made[-6:-2])[0]
    entry = made.index(b"PK\x01\x02", directory + 4)
    made[entry + 20 : entry + 24] = struct.pack("<L", size)
    return bytes(made)


def _comment(data: bytes) -> bytes:
    return data[:-2] + struct.pack("<H", 6) + b"hidden"


def _of_a_file(data: bytes) -> bytes:
    """Add a comment to the first file in the directory."""
    (at,) = struct.unpack("<L", data[-6:-2])
    (names,) = struct.unpack("<H", data[at + 28 : at + 30])
    end = at + 46 + names
    made = bytearray(data[:end] + b"hidden" + data[end:])
    made[at + 32 : at + 34] = struct.pack("<H", 6)
    (size,) = struct.unpack("<L", data[-10:-6])
    made[-10:-6] = struct.pack("<L", size + 6)
    return bytes(made)


def _local(offset: int) -> Callable[[bytes], bytes]:
    """Change a byte in the header of the second file."""

    def change(data: bytes) -> bytes:
        made = bytearray(data)
        made[_second(data).header_offset + offset] ^= 1
        return bytes(made)

    return change


def _as(kind: int) -> Callable[[bytes], bytes]:
    """Mark the first file as another kind of file for unpacking programs."""

    def change(data: bytes) -> bytes:
        made = bytearray(data)
        (at,) = struct.unpack("<L", data[-6:-2])
        made[at + 5] = 3  # packed on Unix
        made[at + 38 : at + 42] = struct.pack("<L", (kind | 0o777) << 16)
        return bytes(made)

    return change


HIDDEN: Final[dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    "a prefix": (lambda data: b"#!/bin/sh\n" + data, ""),
    "a prefix that the offsets include": (lambda data: _moved(data, 0, b"hidden"), ""),
    "a gap": (lambda data: _moved(data, _second(data).header_offset, b"hidden"), ""),
    "a gap before the directory": (
        lambda data: _moved(data, struct.unpack("<L", data[-6:-2])[0], b"hidden"),
        "the directory",
    ),
    "a comment": (_comment, "the end of the zip"),
    "bytes after the end": (lambda data: data + b"hidden", "the end of the zip"),
    "a comment of a file": (_of_a_file, ""),
    "bytes after the end of a file": (_after_deflate, ""),
    "another time in the header of a file": (_local(10), ""),
    "another checksum in the header of a file": (_local(14), ""),
    "another name in the header of a file": (_local(30), ""),
    "other flags in the header of a file": (_local(6), ""),
    "a file that is unpacked as a link": (_as(stat.S_IFLNK), ""),
    "a file that is unpacked as a folder": (_as(stat.S_IFDIR), ""),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_data_outside_any_file_is_reported(made: Made, tmp_path: Path, name: str) -> None:
    change, where = HIDDEN[name]
    path = tmp_path / "x.zip"
    path.write_bytes(change(made.session))
    found = faults(path, made.key)
    assert any(code == "zip" and (not where or place == where) for code, place in found), found


def test_hidden_bytes_are_counted_for_any_chunk_size(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(_after_deflate(made.session))
    hidden_alone = _second(
        made.session
    ).compress_size  # the file itself is the first chunk, the bytes after it the next
    for size in (tm_verify.CHUNK, hidden_alone):
        monkeypatch.setattr(tm_verify, "CHUNK", size)
        report = tm_verify.verify(str(path), made.key)
        assert [each["says"] for each in report.problems] == [
            "6 bytes follow its end, which no file and no signature covers."
        ]


def test_two_files_with_the_same_bytes_are_reported(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    data = bytearray(made.session)
    (directory,) = struct.unpack("<L", data[-6:-2])
    second = data.index(b"PK\x01\x02", directory + 4)
    data[second + 42 : second + 46] = bytes(4)
    path.write_bytes(data)
    assert any(code == "zip" for code, _ in faults(path, made.key))


def test_a_streamed_or_uncompressed_zip_is_valid(made: Made, tmp_path: Path) -> None:
    class Stream(io.RawIOBase):
        """A stream that can be written once and not rewritten."""

        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.data += data
            return len(data)

    for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        stream = Stream()
        with zipfile.ZipFile(stream, "w", kind) as opened:
            for large, (name, data) in enumerate(unpacked(made.session).items()):
                with opened.open(name, "w", force_zip64=bool(large % 2)) as file:
                    file.write(data)
        path = tmp_path / f"{kind}.zip"
        path.write_bytes(stream.data)
        assert faults(path, made.key) == []
        descriptor = stream.data.index(b"PK\x07\x08")
        stream.data[descriptor + 5] ^= 1  # of the checksum after a file
        path.write_bytes(stream.data)
        assert {code for code, _ in faults(path, made.key)} == {"zip"}


def test_a_zip_with_very_many_files_is_read_to_its_end(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than 65,535 files require another end of the directory; here it is written for fewer."""
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 100)
    empty_files = {f"more/{number}": b"" for number in range(200)}
    path = packed(unpacked(made.session) | empty_files, tmp_path / "x.zip")
    assert b"PK\x06\x06" in path.read_bytes()
    report = tm_verify.verify(str(path), made.key)
    assert {each["code"] for each in report.problems} == {"file"}
    assert report.more + len(report.problems) == 200


def test_a_file_that_ends_early_or_late_is_damaged(made: Made, tmp_path: Path) -> None:
    files = unpacked(made.session)
    path = packed(files, tmp_path / "x.zip")
    with zipfile.ZipFile(path) as opened:
        info = opened.getinfo("README.txt")
    begin = info.header_offset + 30 + len("README.txt")
    data = path.read_bytes()
    short = zlib.compressobj(9, zlib.DEFLATED, -15)
    less = short.compress(files["README.txt"][:20]) + short.flush(zlib.Z_SYNC_FLUSH)
    for other in (less.ljust(info.compress_size, b"\0"), bytes(info.compress_size)):
        path.write_bytes(data[:begin] + other + data[begin + info.compress_size :])
        assert ("file", "README.txt") in faults(path, made.key)


def test_changing_any_byte_of_a_bundle_is_noticed(made: Made, tmp_path: Path) -> None:
    """Exceptions are the directory's data about the packing program (version and file permissions), and packed data that unpacks to the same files.

    A repetition can refer to different positions, and the last byte is padded with any bits."""
    data, path = made.older_log, tmp_path / "x.zip"
    (directory,) = struct.unpack("<L", data[-6:-2])
    unread, at = set[int](), directory
    while data[at : at + 4] == b"PK\x01\x02":
        names, extra, _ = struct.unpack("<3H", data[at + 28 : at + 34])
        unread |= {at + 4, at + 5, *range(at + 36, at + 42)}
        at += 46 + names + extra
    assert len(data) - at == END
    path.write_bytes(data)
    files, of_files = unpacked(data), set[int]()
    with zipfile.ZipFile(path) as opened:
        for info in opened.infolist():
            begin = info.header_offset + 30
            begin += sum(struct.unpack("<2H", data[begin - 4 : begin]))
            of_files |= set(range(begin, begin + info.compress_size))
    for place in [*range(0, directory, 397), *range(directory, len(data))]:
        changed = bytearray(data)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        try:
            missed = bool(faults(path, made.key))
        except tm_verify.Unreadable:
            missed = True
        same = place in of_files and not missed and unpacked(bytes(changed)) == files
        assert missed or same or place in unread, place

"""Untrusted ZIP archives: problems are reported, and nothing in a bad archive is opened."""

import io
import stat
import struct
import sys
import warnings
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.core.pure import zip_files
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.zip_files import Archive, is_zip, names_in
from timemachine.recording.importing.pure.reader import opening_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def archive(*members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP archive of these members."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", compression) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in members:
            made.writestr(name, data)
    return held.getvalue()


def reason(data: bytes, name: str | None = None) -> str:
    """Return why the archive, or a member of it, is refused."""
    with pytest.raises(InvalidInput, match="Cannot open this archive: ") as refusal:
        Archive(data).read(name or "")
    assert refusal.value.code == "unsafe_archive"
    return refusal.value.message


def in_the_directory(data: bytes, at: int, value: int, size: int) -> bytes:
    """Return the archive with a number in its (first) directory entry changed."""
    place = data.index(b"PK\x01\x02") + at
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


GOOD = archive(("a/b.json", b"{}" * 100), ("c.txt", b"text"))


def test_members_are_read_by_name() -> None:
    opened = Archive(GOOD)
    assert opened.names == ["a/b.json", "c.txt"]
    assert (opened.read("a/b.json"), opened.read("c.txt")) == (b"{}" * 100, b"text")
    assert Archive(archive(("empty", b""), ("folder/", b""))).names == ["empty"]
    assert is_zip(GOOD)
    assert is_zip(archive())
    assert not is_zip(b"PK")


def test_stored_members_are_read_too() -> None:
    assert (
        Archive(archive(("a", b"x" * 2_000_000), compression=zipfile.ZIP_STORED)).read("a")
        == b"x" * 2_000_000
    )


@pytest.mark.parametrize(
    "name", ["../up", "a/../../up", "/etc/passwd", "..\\up", "C:\\up", "a\\..\\..\\up", "\\\\host\\up"]
)
def test_a_path_outside_the_archive_is_refused(name: str) -> None:
    assert "a path outside the archive" in reason(archive((name, b"x")))


def test_a_name_with_a_nul_is_refused() -> None:
    assert "a path outside the archive" in reason(archive(("aXb", b"x")).replace(b"aXb", b"a\x00b"))


def test_a_link_is_refused() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    assert "is a link or a device" in reason(held.getvalue())


def test_a_duplicate_name_is_refused() -> None:
    assert "names 'a' twice" in reason(archive(("a", b"1"), ("a", b"2")))


def test_a_bomb_is_refused_by_its_ratio() -> None:
    assert "times its size; the limit is 500" in reason(archive(("zeros", bytes(80_000_000))))


def test_a_repetitive_log_is_not_a_bomb() -> None:
    text = "the same file, read once more\\n" * 500
    lines = [f'{{"sequence": {n}, "at": {n * 7919 % 10**6}, "output": "{text}"}}\n' for n in range(4_500)]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("events.jsonl", "".join(lines))
        (member,) = made.infolist()
    assert member.file_size > 64 * 1024 * 1024
    assert member.file_size / member.compress_size > 200
    assert len(Archive(held.getvalue()).read("events.jsonl")) == member.file_size


def test_a_directory_with_excessive_sizes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "LARGEST_INFLATED", 150)
    assert "would unpack to 204 bytes; the limit is 150" in reason(GOOD)


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "MOST_MEMBERS", 1)
    assert "it has 2 members; the limit is 1" in reason(GOOD)


def test_a_long_directory_is_refused_before_it_is_read() -> None:
    place = GOOD.rindex(b"PK\x05\x06") + 12
    lying = GOOD[:place] + (2**31).to_bytes(4, "little") + GOOD[place + 4 :]
    assert "its directory has 2,147,483,648 bytes" in reason(lying)


@pytest.mark.parametrize(("end", "message"), [(-30, "is missing"), (-1, "is missing")])
def test_a_truncated_archive_is_refused(end: int, message: str) -> None:
    assert message in reason(GOOD[:end])
    assert names_in(GOOD[:end]) == frozenset()


def test_an_invalid_directory_is_refused() -> None:
    assert "its directory cannot be read" in reason(GOOD.replace(b"PK\x01\x02", b"XX\x01\x02"))


def test_an_encrypted_member_is_refused() -> None:
    assert "'a/b.json' is encrypted" in reason(in_the_directory(GOOD, 8, 1, 2), "a/b.json")


@pytest.mark.parametrize(("method", "called"), [(95, "XZ"), (12, "bzip2"), (77, "method 77")])
def test_another_compression_is_refused_by_name(method: int, called: str) -> None:
    assert f"is compressed with {called}; repack it" in reason(
        in_the_directory(GOOD, 10, method, 2), "a/b.json"
    )


def packed_with_zstandard(content: bytes, packed: bytes | None = None) -> bytes:
    """An archive with one member, `a.json`, as Inspect writes it."""
    packed = zstd.compress(content) if packed is None else packed
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr(zipfile.ZipInfo("a.json"), packed)
    data = held.getvalue()
    crc = zlib.crc32(content).to_bytes(4, "little")
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.index(signature) + at
        sizes = len(packed).to_bytes(4, "little") + len(content).to_bytes(4, "little")
        data = data[:place] + b"\x5d\0" + data[place + 2 : place + 6] + crc + sizes + data[place + 18 :]
    return data


def test_a_member_packed_with_zstandard_is_read() -> None:
    content = b"all that was said " * 100_000
    assert Archive(packed_with_zstandard(content)).read("a.json") == content


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (zstd.compress(b"said")[:-2], "its last frame is truncated"),
        (zstd.compress(b"sand"), "Bad CRC-32"),
        (zstd.compress(b"said twice"), "unpacks to more than its directory says"),
        (b"nothing of the kind", "is truncated or damaged"),
        (
            zstd.compress(bytes(2**20), options={zstd.CompressionParameter.window_log: 30}),
            "unpacks to more than its directory says|is truncated or damaged",
        ),
    ],
)
def test_a_damaged_member_packed_with_zstandard_is_refused(packed: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        Archive(packed_with_zstandard(b"said", packed)).read("a.json")


def test_a_small_member_that_unpacks_to_gigabytes_is_stopped_early() -> None:
    bomb = zstd.compress(bytes(256 * 1024 * 1024))
    with pytest.raises(InvalidInput, match="unpacks to more than its directory says"):
        Archive(packed_with_zstandard(b"said", bomb)).read("a.json")


def test_a_member_with_a_wrong_checksum_is_refused() -> None:
    assert "is truncated or damaged: Bad CRC-32" in reason(in_the_directory(GOOD, 16, 7, 4), "a/b.json")


@pytest.mark.parametrize(
    ("size", "message"), [(100, "more than its directory says|damaged"), (300, "less than|damaged")]
)
def test_a_member_with_another_size_than_in_the_directory_is_refused(size: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Archive(in_the_directory(GOOD, 24, size, 4)).read("a/b.json")


def test_an_archive_with_too_large_a_total_is_refused() -> None:
    opened = Archive(GOOD)
    opened._remaining = 100
    with pytest.raises(InvalidInput, match="unpacks to more than its directory says"):
        opened.read("a/b.json")


def test_a_missing_member_is_refused() -> None:
    assert "it has no 'x'" in reason(GOOD, "x")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
def test_a_damaged_archive_is_read_or_refused(place: int, byte: int, end: int) -> None:
    damaged = (GOOD[:place] + bytes([byte]) + GOOD[place + 1 :])[: end if byte % 3 == 0 else None]
    opening_of(damaged)
    try:
        opened = Archive(damaged)
        held = [opened.read(name) for name in opened.names]
    except InvalidInput as why:
        held = []
        assert why.message  # noqa: PT017 - that it is a refusal is the law
    assert sum(map(len, held)) <= 1_000


def test_a_directory_of_zip64_is_refused_before_it_is_read() -> None:
    entries = b"".join(
        struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
        + b"%06x" % number
        for number in range(200_000)
    )
    start = b"PK\3\4" + bytes(26)
    offset = len(start) + len(entries)
    end_of_zip64 = struct.pack(
        "<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 200_000, 200_000, len(entries), len(start)
    )
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, offset, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 100, 0xFFFFFFFF, 0)
    assert "a ZIP64 directory" in reason(start + entries + end_of_zip64 + locator + end)

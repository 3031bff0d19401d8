"""Files with or without gzip compression, including decompression bombs."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure import streams
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.streams import unpacked

LIMIT = 1_000_000


def in_parts(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.lists(st.binary(max_size=2_000), min_size=1, max_size=4), st.integers(1, 700))
def test_packed_data_round_trips_in_any_parts_and_members(texts: list[bytes], size: int) -> None:
    packed = b"".join(gzip.compress(each) for each in texts)
    assert b"".join(unpacked(in_parts(packed, size), LIMIT)) == b"".join(texts)
    assert b"".join(unpacked(in_parts(packed + b"\0" * 512, size), LIMIT)) == b"".join(texts)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"{}", b"\x1e\x8b and more"])
@pytest.mark.parametrize("size", [1, 100])
def test_unpacked_data_is_passed_through(data: bytes, size: int) -> None:
    assert b"".join(unpacked(in_parts(data, size), LIMIT)) == data


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    sizes: list[int] = []
    with pytest.raises(TooLarge, match="packed or unpacked"):
        sizes.extend(map(len, unpacked([bomb], LIMIT)))
    assert sum(sizes) <= LIMIT


def test_a_packed_file_may_not_exceed_the_limit_itself() -> None:
    with pytest.raises(TooLarge):
        list(unpacked([b"x" * 11], 10))


@pytest.mark.parametrize("data", [gzip.compress(b"abc" * 99, mtime=0)[:-4], b"\x1f\x8b"])
def test_a_truncated_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="cut off"):
        list(unpacked([data], LIMIT))


def test_a_damaged_file_is_refused() -> None:
    with pytest.raises(InvalidInput, match="damaged") as refusal:
        list(unpacked([b"\x1f\x8b" + b"no gzip at all"], LIMIT))
    assert refusal.value.code == "not_packed"


def test_endless_empty_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_MEMBERS", 3)
    assert list(unpacked([gzip.compress(b"") * 3], LIMIT)) is not None
    with pytest.raises(InvalidInput, match="members"):
        list(unpacked([gzip.compress(b"") * 4], LIMIT))

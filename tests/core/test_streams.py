"""Files as they are or compressed with gzip or Zstandard, including decompression bombs."""

import gzip
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure import streams
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.streams import unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 1_000_000


def in_parts(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(st.lists(st.binary(max_size=2_000), min_size=1, max_size=4), st.integers(1, 700))
def test_packed_data_round_trips_in_any_parts_and_members(texts: list[bytes], size: int) -> None:
    packed = b"".join(gzip.compress(each) for each in texts)
    assert b"".join(unpacked(in_parts(packed, size), LIMIT)) == b"".join(texts)
    assert b"".join(unpacked(in_parts(packed + b"\0" * 512, size), LIMIT)) == b"".join(texts)
    frames = b"".join(zstd.compress(each) for each in texts)
    assert b"".join(unpacked(in_parts(frames, size), LIMIT)) == b"".join(texts)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"{}", b"\x1e\x8b and more", b"\x28\xb5\x2f"])
@pytest.mark.parametrize("size", [1, 100])
def test_unpacked_data_is_passed_through(data: bytes, size: int) -> None:
    assert b"".join(unpacked(in_parts(data, size), LIMIT)) == data


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_bomb_is_refused_before_it_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    sizes: list[int] = []
    with pytest.raises(TooLarge, match="compressed or decompressed"):
        sizes.extend(map(len, unpacked([pack(bytes(50_000_000))], LIMIT)))
    assert sum(sizes) <= LIMIT


def test_a_packed_file_may_not_exceed_the_limit_itself() -> None:
    with pytest.raises(TooLarge):
        list(unpacked([b"x" * 11], 10))


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(b"abc" * 99, mtime=0)[:-4],
        b"\x1f\x8b",
        zstd.compress(b"abc" * 99)[:-2],
        zstd.compress(b"abc")[:4],
    ],
)
def test_a_truncated_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="truncated"):
        list(unpacked([data], LIMIT))


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8b" + b"no gzip at all", b"\x28\xb5\x2f\xfd" + b"\xff" * 20, zstd.compress(b"a") + b"rest"],
)
def test_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="damaged") as refusal:
        list(unpacked([data], LIMIT))
    assert refusal.value.code == "not_packed"


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_endless_empty_members_are_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_MEMBERS", 3)
    assert list(unpacked([pack(b"") * 3], LIMIT)) is not None
    with pytest.raises(InvalidInput, match=r"members|frames"):
        list(unpacked([pack(b"") * 4], LIMIT))

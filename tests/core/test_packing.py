"""Bytes are packed for storage, and come back exactly or not at all."""

import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.packing import SMALLEST, Damaged, pack, packed_length, unpack, unpack_first

TEXT = b"The quick brown fox jumps over the lazy dog, again and again. " * 2_000


@given(st.binary(max_size=300), st.integers(min_value=1, max_value=400))
def test_what_is_packed_comes_back_and_is_shorter(some: bytes, times: int) -> None:
    data = some * times
    packed = pack(data)
    if packed is not None:
        assert len(packed) < len(data)
        assert unpack(packed, len(data)) == data


@pytest.mark.parametrize("data", [b"", b"a" * (SMALLEST - 1), os.urandom(100_000)])
def test_what_is_short_or_would_not_become_shorter_is_not_packed(data: bytes) -> None:
    assert pack(data) is None


@pytest.mark.parametrize("length", [0, 1, 16_384, 16_385, 50_000, len(TEXT)])
@pytest.mark.parametrize("data", [TEXT, os.urandom(60_000) + TEXT])
def test_the_beginning_is_read_without_the_rest(data: bytes, length: int) -> None:
    packed = pack(data)
    assert packed is not None
    assert unpack_first(packed[: packed_length(length)], length) == data[:length]


@pytest.mark.parametrize("size", [0, 1, len(TEXT) - 1, len(TEXT) + 1, 2**62])
def test_another_size_is_damage(size: int) -> None:
    packed = pack(TEXT)
    assert packed is not None
    with pytest.raises(Damaged):
        unpack(packed, size)


def test_a_beginning_that_is_cut_off_is_damage() -> None:
    packed = pack(os.urandom(60_000) + TEXT)
    assert packed is not None
    with pytest.raises(Damaged, match="the beginning"):
        unpack_first(packed[:20_000], 50_000)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_are_damage(data: bytes) -> None:
    with suppress(Damaged):
        assert len(unpack(data, 100)) == 100


def test_a_frame_that_needs_much_memory_is_damage() -> None:
    with pytest.raises(Damaged, match="too much memory"):
        unpack(bytes.fromhex("28b52ffd0088") + b"\x01\x00\x00", 10)  # a window of 128 MB

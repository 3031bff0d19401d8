import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_faithful import any_json, any_text
from timemachine.core.pure.content import (
    canonical_json,
    content_of,
    json_bytes,
    parse_json,
    readable_value,
    text_sha256,
    value_of,
)
from timemachine.core.pure.errors import InvalidInput


@given(any_json)
def test_a_value_round_trips_through_its_bytes(value: object) -> None:
    content = content_of(value)
    assert value_of(content.media_type, content.data) == value
    assert content.sha256 == hashlib.sha256(content.data).hexdigest()


def test_of_bytes_that_are_not_readable_what_is_readable_is_returned() -> None:
    assert readable_value("application/json", b'{"a":1}') == {"a": 1}
    assert readable_value("application/json", b'{"a":') == '{"a":'
    assert readable_value("text/plain", b"a\xff") == "a\ufffd"


@given(any_text)
def test_a_text_is_stored_as_its_own_bytes(text: str) -> None:
    assert content_of(text).data == text.encode("utf-8", "surrogatepass")


def test_the_hash_of_a_text_is_that_of_its_utf8_bytes() -> None:
    assert text_sha256("héllo") == hashlib.sha256("héllo".encode()).hexdigest()


def test_keys_keep_their_order_in_values_and_are_sorted_for_comparison() -> None:
    assert json_bytes({"b": 1, "a": "ü"}) == '{"b":1,"a":"ü"}'.encode()
    assert canonical_json({"b": 1, "a": 2}) == b'{"a":2,"b":1}'


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{", "not JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1e999}', "larger than a double"),
        ('{"a": 1, "a": 2}', "Duplicate"),
        ("[" * 70 + "]" * 70, "deeper than 64"),
        ("[" * 100_000, "deeper than 64"),
        (b"\xff\xfe", "not JSON"),
        ("1" * 5000, "4,300 digits"),
    ],
)
def test_invalid_json_is_refused_with_the_reason(written: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_json(written)


def test_the_first_duplicate_key_is_named_among_any_number_of_keys() -> None:
    names = [*range(200_000), 150_000, 7]
    with pytest.raises(InvalidInput, match="Duplicate JSON key '150000'"):
        parse_json("{" + ",".join(f'"{name}":0' for name in names) + "}")


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_round_trip(number: float) -> None:
    assert parse_json(json_bytes({"n": number})) == {"n": number}


def test_values_outside_json_are_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot be written as JSON"):
        json_bytes({"n": float("nan")})

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.postgres_text import (
    is_plain,
    original,
    original_json,
    searchable,
    storable,
    storable_json,
)

any_text = st.text(st.characters(codec=None, exclude_categories=()))
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(any_text)
def test_every_text_round_trips(text: str) -> None:
    assert original(storable(text)) == text


@given(any_text)
def test_stored_text_is_utf8_without_nul(text: str) -> None:
    stored = storable(text)
    assert "\x00" not in stored
    stored.encode("utf-8")


@given(any_json)
def test_every_json_value_round_trips(value: object) -> None:
    assert original_json(storable_json(value)) == value


def test_a_search_text_keeps_its_length_and_loses_only_unstorable_characters() -> None:
    assert searchable("a\x00b\ud800c") == "a\ufffdb\ufffdc"


@given(any_text)
def test_a_text_is_plain_if_a_column_without_escapes_accepts_it(text: str) -> None:
    assert is_plain(text) == (storable(text.replace("\uffff", "")) == text.replace("\uffff", ""))


def test_a_text_with_nul_or_a_lone_surrogate_is_not_plain() -> None:
    assert [is_plain(text) for text in ("", "ä\uffff", "a\x00", "\ud800")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a\x00b", "a\uffff0b"),
        ("\uffff", "\ufffff"),
        ("\ud83d", "\uffffsd83d"),
        ("\uffff0", "\ufffff0"),
        ("plain", "plain"),
    ],
)
def test_unstorable_characters_are_escaped_and_restored(text: str, stored: str) -> None:
    assert storable(text) == stored
    assert original(stored) == text

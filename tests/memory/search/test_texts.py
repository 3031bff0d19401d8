"""The text by which a payload is found."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.content import json_bytes, text_bytes
from timemachine.memory.search.pure.payload_text import text_of

JSON = "application/json"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"path": "src/parser.js", "line": 42}, "src/parser.js\n42"),
        ({"a": ["x", {"b": "y"}], "c": None, "d": True}, "x\ny"),
        ({"quoted": 'he said "no"', "empty": ""}, 'he said "no"'),
        ({"lines": "one\ntwo\t\\"}, "one\ntwo\t\\"),
        ([-1.5e-7, 0], "-1.5e-07\n0"),
        ({}, ""),
    ],
)
def test_of_json_the_values_are_searched_and_not_the_names(value: Any, text: str) -> None:
    assert text_of(JSON, json_bytes(value)) == text


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        ('{"content":"it goes on', "it goes on"),
        ('{"content":"it goes on\\', "it goes on"),
        ('{"content":"it goes on\\u00', "it goes on"),
        ('{"content":"said \\"yes\\" and', 'said "yes" and'),
        ('{"a":"x","b', "x\nb"),
        ('{"a":"x"', "x"),
    ],
)
def test_json_may_end_anywhere(cut: str, text: str) -> None:
    assert text_of(JSON, cut.encode()) == text


def test_a_text_is_searched_as_it_is_and_what_cannot_be_stored_is_a_sign() -> None:
    assert text_of("text/plain", text_bytes('{"a": "x"}')) == '{"a": "x"}'
    assert "\x00" not in text_of("text/plain", text_bytes("a\x00b\ud800"))
    assert text_of("text/plain", "Zoë".encode()[:-1]).startswith("Zo")


@given(
    st.recursive(
        st.text(max_size=20) | st.integers() | st.none(),
        lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(max_size=9), each, max_size=4),
        max_leaves=8,
    )
)
def test_every_json_is_read_from_any_beginning_of_it(value: Any) -> None:
    data = json.dumps(value).encode()
    for end in range(0, len(data) + 1, 7):
        text_of(JSON, data[:end]).encode()

"""The searchable text of a payload."""

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
def test_the_values_of_json_are_searched_and_its_keys_are_not(value: Any, text: str) -> None:
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
def test_json_may_be_truncated_anywhere(cut: str, text: str) -> None:
    assert text_of(JSON, cut.encode()) == text


def test_plain_text_is_searched_unchanged_with_unstorable_characters_replaced() -> None:
    assert text_of("text/plain", text_bytes('{"a": "x"}')) == '{"a": "x"}'
    assert "\x00" not in text_of("text/plain", text_bytes("a\x00b\ud800"))
    assert text_of("text/plain", text_bytes("a \ud800 b")) == "a \ufffd b"
    assert text_of("application/json", text_bytes('{"a": "x\udfffy"}')) == "x\ufffdy"
    assert text_of("text/plain", "Zoë".encode()[:-1]).startswith("Zo")


@given(
    st.recursive(
        st.text(max_size=20) | st.integers() | st.none(),
        lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(max_size=9), each, max_size=4),
        max_leaves=8,
    )
)
def test_any_prefix_of_json_can_be_read(value: Any) -> None:
    data = json.dumps(value).encode()
    for end in range(0, len(data) + 1, 7):
        text_of(JSON, data[:end]).encode()

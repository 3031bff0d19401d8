import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.content import json_bytes
from timemachine.web.payloads.pure.partial_json import Unreadable, indented, read

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def written(value: Any) -> str:
    return json_bytes(value).decode("utf-8", "surrogatepass")


@given(values)
def test_indented_json_equals_pythons_output_and_keeps_its_value(value: Any) -> None:
    text = written(value)
    assert json.loads(indented(text)) == json.loads(text)
    assert indented(text) == json.dumps(value, indent=2, ensure_ascii=False)


@given(values, st.integers(0, 60))
def test_indenting_a_part_changes_only_whitespace(value: Any, length: int) -> None:
    part = written(value)[:length]
    assert "".join(indented(part).split()) == "".join(part.split())


@pytest.mark.parametrize(
    ("beginning", "value"),
    [
        ('{"a":[1,"unfin', {"a": ["1", "unfin"]}),
        ('{"a":"x\\u00', {"a": "x"}),
        ('{"a":"x\\\\', {"a": "x\\"}),
        ('{"a":1,"b', {"a": "1"}),
        ('{"a":1,"b":', {"a": "1"}),
        ('{"a":tr', {}),
        ('[{"a":{}},{"b":[', [{"a": {}}, {"b": []}]),
        ("[1,2]", ["1", "2"]),
        ('["whole"', ["whole"]),
    ],
)
def test_the_beginning_of_json_says_what_it_says_so_far(beginning: str, value: Any) -> None:
    assert read(beginning, cut=True) == value


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), min_size=1), st.integers(1, 200))
def test_every_beginning_of_a_list_is_read(value: Any, length: int) -> None:
    assert isinstance(read(written(value)[:length], cut=True), list)


@pytest.mark.parametrize(("text", "cut"), [("no", False), ("no", True), ("[" * 100_000, True)])
def test_what_is_no_json_is_unreadable(text: str, cut: bool) -> None:
    with pytest.raises(Unreadable):
        read(text, cut=cut)

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.content import json_bytes
from timemachine.web.sessions.presenters.bodies import MOST_LEAVES, Leaf, body, indented

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def written(value: Any) -> str:
    return json_bytes(value).decode("utf-8", "surrogatepass")


def test_a_text_is_shown_as_it_is() -> None:
    assert body("text/plain", '{"a": 1}', cut=False).text == '{"a": 1}'
    assert not body("text/plain", '{"a": 1}', cut=False).json


def test_json_is_shown_by_its_leaves_with_every_digit() -> None:
    found = body(
        "application/json",
        '{"a":1.10,"b":[{"text":"x\\ny"}],"n":null,"e":{},"big":12345678901234567890}',
        cut=False,
    )
    assert list(found.leaves) == [
        Leaf(path="a", text="1.10", literal=True),
        Leaf(path="b[0].text", text="x\ny"),
        Leaf(path="n", text="null", literal=True),
        Leaf(path="e", text="{}", literal=True),
        Leaf(path="big", text="12345678901234567890", literal=True),
    ]


def test_a_number_and_a_text_that_looks_like_one_are_distinguished() -> None:
    (number, text) = body("application/json", '[1,"1"]', cut=False).leaves
    assert (number.literal, text.literal) == (True, False)


def test_a_bare_value_has_no_path() -> None:
    assert list(body("application/json", "42", cut=False).leaves) == [Leaf(path="", text="42", literal=True)]


@pytest.mark.parametrize(("count", "shown_by_leaf"), [(MOST_LEAVES, True), (MOST_LEAVES + 1, False)])
def test_too_many_leaves_are_indented_instead(count: int, shown_by_leaf: bool) -> None:
    found = body("application/json", written(list(range(count))), cut=False)
    assert bool(found.leaves) == shown_by_leaf
    assert bool(found.text) != shown_by_leaf


def test_a_truncated_document_is_indented_but_not_parsed() -> None:
    assert body("application/json", '{"a":[1,"unfin', cut=True).text == '{\n  "a": [\n    1,\n    "unfin'


@given(values)
def test_indented_json_equals_pythons_output_and_keeps_its_value(value: Any) -> None:
    text = written(value)
    assert json.loads(indented(text)) == json.loads(text)
    assert indented(text) == json.dumps(value, indent=2, ensure_ascii=False)


@given(values, st.integers(0, 60))
def test_indenting_a_part_changes_only_whitespace(value: Any, length: int) -> None:
    part = written(value)[:length]
    expected = "".join(part.split())
    assert "".join(indented(part).split()) == expected

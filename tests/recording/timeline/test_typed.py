"""The term at the caret of a filter, and the filter after a suggestion is inserted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.pure.filter import Named, parse
from timemachine.recording.timeline.pure.filter_completion import HINTS, fields_like, typed


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("", None, ""),
        ("to", None, "to"),
        ("-to", None, "to"),
        ('"to', None, "to"),
        ("kind:ask to", None, "to"),
        ("tool:", "tool", ""),
        ("-tool:re", "tool", "re"),
        ("dur:>2", "took", ">2"),
        ("text:x", "text", "x"),
        ("tool:read,gr", "tool", "gr"),
        ('tool:"two wo', "tool", "two wo"),
        ('tool:"two words",gr', "tool", "gr"),
        (r'tool:"a \"b', "tool", 'a "b'),
        ('tag:"a, b', "tag", "a, b"),
    ],
)
def test_the_term_at_the_end_is_the_typed_one(text: str, field: str | None, words: str) -> None:
    found = typed(text, len(text))
    assert (found.field, found.words) == (field, words)


@pytest.mark.parametrize(
    ("text", "at", "name", "expected"),
    [
        ("", 0, "tool", ("tool:", 5)),
        ("-to", 3, "tool", ("-tool:", 6)),
        ("to kind:ask", 2, "tool", ("tool: kind:ask", 5)),
        ("kind:ask s", 10, "status", ("kind:ask status:", 16)),
    ],
)
def test_a_suggested_field_replaces_the_typed_term(
    text: str, at: int, name: str, expected: tuple[str, int]
) -> None:
    assert typed(text, at).with_field(name) == expected


@pytest.mark.parametrize(
    ("text", "at", "value", "expected"),
    [
        ("tool:re", 7, "read_file", ("tool:read_file ", 15)),
        ("tool:re kind:ask", 6, "read_file", ("tool:read_file kind:ask", 14)),
        ("tool:a,re,c", 9, "read", ("tool:a,read,c", 11)),
        ('tag:"two', 8, "two words", ('tag:"two words" ', 16)),
        ("tag:x", 5, 'say "hi"', (r'tag:"say \"hi\"" ', 17)),
    ],
)
def test_a_suggested_value_replaces_the_typed_term_and_is_quoted_if_needed(
    text: str, at: int, value: str, expected: tuple[str, int]
) -> None:
    assert typed(text, at).with_value(value) == expected


@given(st.text(min_size=1))
def test_any_suggested_value_parses_to_itself(value: str) -> None:
    (term,) = parse(typed("tool:", 5).with_value(value)[0]).terms
    assert term == Named(field="tool", values=(value,))


@given(st.text(alphabet='ab:",\\ -'), st.integers(-2, 30))
def test_any_text_has_a_term_at_the_caret(text: str, at: int) -> None:
    found = typed(text, at)
    assert 0 <= found.first <= found.last <= len(text)
    assert found.first <= min(max(at, 0), len(text)) or found.words == ""


def test_fields_with_the_typed_prefix_come_first() -> None:
    assert list(fields_like("to")) == ["tool", "took", "tokens"]
    assert next(fields_like("o")) == "tool"
    assert list(fields_like("")) == list(HINTS)
    assert list(fields_like("zzz")) == []

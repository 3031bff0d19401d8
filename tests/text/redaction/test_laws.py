"""Laws of redaction: it is idempotent, no finding remains, nothing else changes, every offset is right."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.text.redaction.pure.engine import custom, spans
from timemachine.text.redaction.pure.marks import can_be_a_name, mark, spans_between_marks
from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.rules import Rules, read_rules
from timemachine.text.redaction.pure.text import ROUNDS, findings_in, redact_text
from timemachine.text.redaction.pure.values import redact_value

AWKWARD = read_rules(
    {
        "detect": ["secret", "email", "phone", "card", "iban", "ssn", "password", "machine"],
        "phone_regions": ["DE"],
        "patterns": [
            {"name": "first word", "pattern": "^[a-f]"},
            {"name": "across", "pattern": "(?s)x.*y"},
            {"name": "mark", "pattern": r"withheld|\[|e-mail", "ignore_case": True},
            {"name": "edge", "pattern": r"\b[0-9]$"},
        ],
    }
)
SECRETS = (
    "jane.doe@example.com",
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    "536-22-1987",
    "+49 30 901820",
    "AKIAIOSFODNN7EXAMPLE",
    "password='hun ter 2'",
    "Bearer abcdefghijklmnop123",
    "postgres://u:p4ss@db/x",
    "curl -u ada:swordfish x",
    "mysql -pswordfish",
    "--token",
    "-p",
    "sshpass",
    "Lantern62",
    "<password>honeydew</password>",
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "-----END PRIVATE KEY-----",
)
PARTS = (
    "--token",
    "-p",
    "sshpass",
    "Lantern62",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "-----END PRIVATE KEY-----",
)
OTHERS = (
    "[withheld: e-mail]",
    "[withheld: ",
    "]",
    "\ud83d",
    "\udd70",
    "😀",
    "ä",
    "\x00",
    "\n",
    " ",
    "x",
    "y",
    "abc",
)
texts = st.lists(
    st.one_of(
        st.sampled_from(SECRETS + OTHERS), st.text(max_size=12), st.text(string.printable, max_size=12)
    ),
    max_size=12,
).map("".join)
values = st.recursive(
    st.one_of(
        texts, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=10,
)
rules = st.sampled_from([RULES, AWKWARD, Rules(detect=("email",)), Rules(detect=("phone",))])


@given(text=texts, by=rules)
def test_redaction_is_idempotent_and_leaves_no_finding(text: str, by: Rules) -> None:
    once = redact_text(text, by).text
    assert findings_in(once, by) == []
    assert redact_text(once, by).text == once


@given(text=texts, by=rules)
def test_everything_else_is_kept_and_every_offset_is_right(text: str, by: Rules) -> None:
    found = redact_text(text, by)
    begin, rebuilt = 0, ""
    for each in found.findings:
        assert begin <= each.start < each.end <= len(text)
        assert found.text[found.place(each.start) : found.place(each.end, end=True)] == mark(each.rule)
        rebuilt += text[begin : each.start] + mark(each.rule)
        begin = each.end
    assert rebuilt + text[begin:] == found.text
    inside = {place for each in found.findings for place in range(each.start, each.end)}
    for place, character in enumerate(text):
        if place not in inside:
            assert found.text[found.place(place)] == character
            assert found.place(place + 1, end=True) == found.place(place) + 1
    assert found.place(len(text), end=True) == len(found.text)
    if not found.findings:
        assert found.text is text


@given(
    before=st.text(" äö😀\ud83d\n.,;", max_size=8),
    secret=st.sampled_from(SECRETS),
    after=st.text(" ä😀\udd70\n", max_size=8),
)
def test_an_unsplit_secret_survives_nowhere(before: str, secret: str, after: str) -> None:
    text = f"{before} {secret} {after}"
    if secret in PARTS:
        return
    assert redact_text(text, RULES).findings
    assert secret not in redact_text(text, RULES).text
    assert secret not in str(redact_value({"a": [text, {text: 1}]}, RULES).value)


@given(value=values, by=rules)
def test_redacting_a_value_twice_equals_redacting_it_once(value: Any, by: Rules) -> None:
    once = redact_value(value, by)
    twice = redact_value(once.value, by)
    assert twice.value == once.value
    assert not twice.tally
    assert once.touched == (once.value != value)


def test_a_pattern_withholds_its_group_if_the_group_matched() -> None:
    by = read_rules({"patterns": [{"name": "id", "pattern": "no ([0-9]+)|none"}]})
    assert redact_text("no 17, none", by).text == "no [withheld: id], [withheld: id]"
    assert list(spans(custom(r"\b|y", ignore_case=False), "a y")) == []


def test_marks_are_not_part_of_a_finding() -> None:
    text = "x [withheld: e-mail] y, and x [withheld: no rule] y"
    assert redact_text(text, AWKWARD).text == "x [withheld: e-mail] y, and [withheld: across]"
    assert spans_between_marks("[withheld: e-mail]", RULES.marks) == []


def test_overlapping_findings_become_one_mark() -> None:
    by = read_rules(
        {"patterns": [{"name": n, "pattern": p} for n, p in (("a", "abc"), ("b", "cde"), ("c", "b"))]}
    )
    found = redact_text("1abcde2", by)
    assert (found.text, len(found.findings)) == ("1[withheld: a]2", 1)


def test_a_text_that_keeps_yielding_findings_is_withheld_completely() -> None:
    by = read_rules({"patterns": [{"name": "first", "pattern": "^[a-z]"}]})
    found = redact_text("a" * 100, by)
    assert found.text == mark("first") * (ROUNDS + 1)
    assert redact_text(found.text, by).text == found.text


def test_keys_that_become_equal_stay_separate() -> None:
    value = {
        "a@b.org": 1,
        "c@d.org": 2,
        "[withheld: e-mail] 2": 3,
        "password": ["x", 7, None, True, {"a": "b"}],
    }
    found = redact_value(value, RULES)
    assert found.value == {
        "[withheld: e-mail]": 1,
        "[withheld: e-mail] 3": 2,
        "[withheld: e-mail] 2": 3,
        "password": ["[withheld: secret]", "[withheld: secret]", None, True, {"a": "b"}],
    }
    assert found.tally == {("e-mail", "e-mail"): 2, ("secret", "value of a secret field"): 2}


def test_numbers_are_searched_as_text() -> None:
    found = redact_value([4111111111111111, 1.5, 12, True], RULES)
    assert found.value == ["[withheld: card number]", 1.5, 12, True]


@pytest.mark.parametrize(
    ("can", "names"),
    [
        (True, ["customer number", "Kundennr. 2", "é"]),
        (False, ["e-mail", "field", "", "a]", " a", "a ", "a\nb", "a" * 41]),
    ],
)
def test_only_a_valid_name_can_be_in_a_mark(can: bool, names: list[str]) -> None:
    assert {can_be_a_name(name) for name in names} == {can}

"""Redaction rules are parsed strictly, and errors name what is wrong and where."""

from typing import Any

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.redaction.pure.paths import Path, parse_path, withhold
from timemachine.text.redaction.pure.rules import MOST_PATTERNS, Rules, read_rules

ALL = {
    "detect": ["email", "secret"],
    "phone_regions": ["DE"],
    "patterns": [{"name": "customer number", "pattern": "ACME-[0-9]+", "ignore_case": True}],
    "fields": ["agent", "session.user"],
}


def test_rules_keep_what_was_written() -> None:
    rules = read_rules(ALL)
    assert rules.as_json() == ALL | {"detect": ["secret", "email"]}
    assert read_rules(rules.as_json()) == rules
    assert rules.paths == (Path(of_session=False, field="agent"), Path(of_session=True, field="user"))


@pytest.mark.parametrize(
    ("given", "where", "message"),
    [
        ([], "rules", "JSON object"),
        ({}, "rules", "withhold nothing"),
        ({"detects": []}, "rules", "Unknown part 'detects'"),
        ({"detect": ["mail"]}, "rules.detect[0]", "the detectors are secret, email, phone, card"),
        ({"detect": "email"}, "rules.detect", "a list"),
        ({"detect": [1]}, "rules.detect", "list of strings"),
        ({"detect": ["phone"], "phone_regions": ["de"]}, "rules.phone_regions[0]", "two letters"),
        ({"patterns": [{"pattern": "x"}]}, "rules.patterns[0]", "`name`, `pattern`"),
        ({"patterns": ["x"]}, "rules.patterns[0]", "`name`, `pattern`"),
        (
            {"patterns": [{"name": "e-mail", "pattern": "x"}]},
            "rules.patterns[0].name",
            "the name of a detector",
        ),
        ({"patterns": [{"name": "a]b", "pattern": "x"}]}, "rules.patterns[0].name", "1 to 40 letters"),
        (
            {"patterns": [{"name": "a", "pattern": "x", "ignore_case": 1}]},
            "rules.patterns[0].ignore_case",
            "",
        ),
        ({"patterns": [{"name": "a", "pattern": ""}]}, "rules.patterns[0].pattern", "1 to 500"),
        ({"patterns": [{"name": "a", "pattern": r"\b"}]}, "rules.patterns[0].pattern", "at least one"),
        ({"patterns": [{"name": "a", "pattern": "(x"}]}, "rules.patterns[0].pattern", "missing )"),
        ({"patterns": [{"name": "a", "pattern": r"(x)\1"}]}, "rules.patterns[0].pattern", "RE2"),
        ({"patterns": [{"name": "a", "pattern": "(?=x)"}]}, "rules.patterns[0].pattern", "look-around"),
        ({"patterns": [{"name": "a", "pattern": "x*"}]}, "rules.patterns[0].pattern", "at least one"),
        ({"patterns": [{"name": "a", "pattern": r"\pL{1,300}x"}]}, "rules.patterns[0].pattern", "too large"),
        (
            {"patterns": [{"name": "a", "pattern": "(ab){999}c{999}"}]},
            "rules.patterns[0].pattern",
            "too much",
        ),
        ({"patterns": [{"name": "a", "pattern": "x"}] * 2}, "rules.patterns[1].name", "Two patterns"),
        ({"patterns": [{"name": "a", "pattern": "x"}] * (MOST_PATTERNS + 1)}, "rules.patterns", "at most 50"),
        ({"fields": ["sequence"]}, "rules.fields[0]", "does not name a field"),
        ({"fields": ["a" * 300]}, "rules.fields[0]", "does not name a field"),
        ({"fields": ["\x00"]}, "rules.fields", "list of strings"),
    ],
)
def test_an_invalid_rule_is_refused_with_its_position(given: Any, where: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_rules(given)
    assert refusal.value.facts["field"] == where
    assert message in refusal.value.message


@pytest.mark.parametrize(
    ("written", "field", "steps"),
    [
        ("input", "input", ()),
        ("input.messages[*].content", "input", ("messages", "*", "content")),
        ("retrieval.hits[0].metadata.*", "retrieval", ("hits", 0, "metadata", "*")),
        ('output["a key"].b', "output", ("a key", "b")),
        ("session.metadata.team", "metadata", ("team",)),
    ],
)
def test_a_path_is_parsed_into_field_and_steps(written: str, field: str, steps: tuple[Any, ...]) -> None:
    found = parse_path(written)
    assert found == Path(of_session=written.startswith("session"), field=field, steps=steps)


@pytest.mark.parametrize(
    "written",
    [
        "",
        ".",
        "*",
        "[0]",
        "input.",
        "input..x",
        "input[",
        "input[x]",
        "inputs",
        "session",
        "kind",
        ".input",
        "a[0]b",
    ],
)
def test_an_invalid_path_is_not_parsed(written: str) -> None:
    assert parse_path(written) is None


MARK = "[withheld: field]"


@pytest.mark.parametrize(
    ("written", "value", "reads", "number"),
    [
        ("agent", "Ada", MARK, 1),
        ("agent", None, None, 0),
        ("agent", MARK, MARK, 0),
        ("tags", ["a", "b"], [MARK], 1),
        ("tags", [], [], 0),
        ("error", {"type": "x"}, {"withheld": MARK}, 1),
        ("input", {"a": 1}, MARK, 1),
        ("input.a", {"a": 1, "b": 2}, {"a": MARK, "b": 2}, 1),
        ("input.*", {"a": 1, "b": None}, {"a": MARK, "b": None}, 1),
        ("input[*].c", [{"c": 1}, {"d": 2}, 3], [{"c": MARK}, {"d": 2}, 3], 1),
        ("input[1]", [1, 2], [1, MARK], 1),
        ("input[5]", [1, 2], [1, 2], 0),
        ("input.a", "text", "text", 0),
    ],
)
def test_the_target_of_a_path_is_withheld(written: str, value: Any, reads: Any, number: int) -> None:
    path = parse_path(written)
    assert path is not None
    assert withhold(value, path) == (reads, number)
    assert withhold(reads, path) == (reads, 0)


def test_rules_know_their_marks() -> None:
    assert {"customer number", "e-mail", "field", "hash"} <= read_rules(ALL).marks
    assert "customer number" not in Rules(detect=("email",)).marks

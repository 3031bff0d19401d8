"""What is selected for erasure, and what repeats it: tables of cases."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.deletion.erasure.pure import repeats
from timemachine.governance.deletion.erasure.pure.placing import placed
from timemachine.governance.deletion.erasure.pure.selection import chosen_of
from timemachine.text.redaction.pure.marks import as_erased, erased, mark
from timemachine.text.redaction.pure.rules import Wordings
from timemachine.text.redaction.pure.text import redact_text

PROFILE = {"name": "p", "version": 1, "rules": {"detect": ["email"]}}
LONG = "This sentence is long enough to be looked for."


@pytest.mark.parametrize(
    ("profile", "fields", "steps", "of_session", "everywhere"),
    [
        (PROFILE, [], [], True, True),
        (None, ["output"], [2], False, False),
        (None, ["session.user"], [], True, False),
    ],
)
def test_a_selection_states_the_fields_it_applies_to(
    profile: Any, fields: list[str], steps: list[int], of_session: bool, everywhere: bool
) -> None:
    chosen = chosen_of(profile, fields, steps)
    assert (chosen.of_session, chosen.looks_everywhere) == (of_session, everywhere)
    assert [chosen.takes(each) for each in (1, 2)] == ([False, True] if steps else [True, True])
    assert [path.field for path in chosen.within(["input"]).paths][-1] == "input"


@pytest.mark.parametrize(
    ("profile", "fields", "steps"),
    [
        (None, [], []),
        (PROFILE, ["output"], []),
        (None, ["output"], list(range(1, 1_002))),
        (None, ["kind"], []),
    ],
)
def test_an_invalid_selection_is_refused(profile: Any, fields: list[str], steps: list[int]) -> None:
    with pytest.raises(InvalidInput):
        chosen_of(profile, fields, steps)


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("a", "a", []),
        ("a", "[x]", ["a"]),
        ({"a": "b", "c": ["d", 1]}, {"a": "b", "c": "x"}, ["d"]),
        ({"a": "b"}, None, ["b"]),
        (["a", "b"], ["a", "x"], ["b"]),
        (1, 2, []),
    ],
)
def test_lost_texts_are_those_no_longer_present(before: Any, after: Any, lost: list[str]) -> None:
    assert list(repeats.lost_texts(before, after)) == lost


def test_each_sentence_of_a_lost_text_is_found_elsewhere() -> None:
    rules = repeats.rules_for([f"{LONG} And this one, too, in the same text.", "short"])
    assert rules is not None
    found = redact_text(f"He said: {LONG} And then nothing. short", rules)
    assert found.text == "He said: [withheld: repeated text] And then nothing. short"
    assert repeats.rules_for(["too short"]) is None


def test_each_sentence_of_a_long_text_is_searched_for() -> None:
    long = " ".join(f"This is the sentence with the number {n}." for n in range(2_000))
    rules = repeats.rules_for([long])
    assert (rules is not None, len(long) > 80_000) == (True, True)
    for n in (0, 7, 999, 1_999):
        quoted = f"He said: This is the sentence with the number {n}. And then nothing."
        assert rules is not None
        assert redact_text(quoted, rules).text == "He said: [withheld: repeated text] And then nothing."


@given(st.text("ab .", max_size=60), st.lists(st.text("ab .", min_size=16, max_size=30), max_size=4))
def test_every_searched_text_is_found(text: str, texts: list[str]) -> None:
    found = list(Wordings.of(texts, "n").spans(text))
    assert all(text[start:end] in texts for start, end in found)
    assert bool(found) == any(each in text for each in texts)
    assert all(end <= start for (_, end), (start, _) in pairwise(found))


def test_an_erased_mark_stays_a_mark() -> None:
    names = frozenset({"e-mail"})
    value = {mark("e-mail"): [mark("e-mail"), mark("other"), 1]}
    assert as_erased(value, names) == {"[erased: e-mail]": ["[erased: e-mail]", "[withheld: other]", 1]}
    rules = repeats.rules_for([f"{LONG} x"])
    assert rules is not None
    assert redact_text(erased("field") + LONG, rules).text == "[erased: field][withheld: repeated text]"


def test_sentence_offsets_are_adjusted_to_shorter_marks() -> None:
    names = frozenset({"e-mail"})
    output = mark("e-mail") + " is it. Yes."
    sentences = [
        {
            "text": "Yes.",
            "start": len(output) - 4,
            "end": len(output),
            "frame": 1,
            "passage_start": 0,
            "passage_end": None,
        },
        "no sentence",
    ]
    hits = [{"frame": 1, "text": output}, "no hit"]
    document = {"output": output, "grounding": {"sentences": sentences}, "retrieval": {"hits": hits}}
    found = as_erased(placed(document, names), names)
    first = found["grounding"]["sentences"][0]
    assert found["output"][first["start"] : first["end"]] == "Yes."
    assert (first["passage_start"], first["passage_end"]) == (0, None)


@pytest.mark.parametrize(
    "document", [{}, {"grounding": None}, {"grounding": {"score": 1}}, {"grounding": {"sentences": []}}]
)
def test_without_sentences_nothing_is_moved(document: dict[str, Any]) -> None:
    assert placed(document, frozenset()) == document

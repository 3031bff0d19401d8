"""What in a claim goes against the passage that it seems to rest on: a number, a name, a negation."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Final, Literal

from timemachine.grounding.passages import Place, Source
from timemachine.language.names import Name, Vocabulary, missing_names
from timemachine.language.numbers import Number, missing_numbers
from timemachine.language.polarity import negated_in_one, turned
from timemachine.language.statement import Statement
from timemachine.language.words import WORD

Conflict = Literal["number", "name", "negation"]

# How much of a claim a sentence must hold before a number of its own goes against that of the claim.
_CLOSE: Final = 0.4
_YEARS: Final = range(1500, 2200)


def conflict(claim: Statement, place: Place, source: Source) -> Conflict | None:
    """The first thing of a claim that goes against a place.

    A number or a name that no passage has at all; a number that stands where the sentence has another of its kind; a name
    beside a word that the sentence has another name beside, or two in each other's place; something negated on one side only, or pointing the other way.
    """
    if any(not source.numbers.hold(number) for number in claim.numbers if number.certain):
        return "number"
    if missing_names((name for name in claim.names if name.certain), source.vocabulary):
        return "name"
    if place.containment >= _CLOSE and _number_replaced(claim, place.statement):
        return "number"
    if _names_swapped(claim, place.statement) or _name_replaced(claim, place.statement):
        return "name"
    if negated_in_one(claim.terms, place.statement.terms) or turned(claim.polarity, place.statement.polarity):
        return "negation"
    return None


def _number_replaced(claim: Statement, sentence: Statement) -> bool:
    ours = {_kind(number) for number in missing_numbers(claim.numbers, sentence.numbers)}
    theirs = {_kind(number) for number in missing_numbers(sentence.numbers, claim.numbers)}
    return bool(ours & theirs)


def _kind(number: Number) -> str:
    """What a number counts: its unit, a date, a time, a year, or nothing that it says."""
    if number.unit:
        return number.unit
    if number.key.isdecimal() and int(number.key) in _YEARS:
        return "date"
    return number.key.split()[0] if " " in number.key else ""


def _names_swapped(claim: Statement, sentence: Statement) -> bool:
    """Whether two names stand around the same word in the claim and the other way round in the sentence."""
    if _passive(claim) != _passive(sentence):
        return False
    theirs = set(_between_names(sentence))
    return any(
        (after, word, before) in theirs and before != after for before, word, after in _between_names(claim)
    )


def _between_names(statement: Statement) -> Iterator[tuple[str, str, str]]:
    """The words between each two neighbouring names, with the names."""
    for before, after in pairwise(statement.names):
        for term in statement.terms[_first_after(statement, before) : _first_at(statement, after)]:
            yield before.key, term.key, after.key


def _first_after(statement: Statement, name: Name) -> int:
    return bisect_left(statement.terms, name.end, key=attrgetter("start"))


def _first_at(statement: Statement, name: Name) -> int:
    return bisect_right(statement.terms, name.start, key=attrgetter("end"))


def _name_replaced(claim: Statement, sentence: Statement) -> bool:
    """Whether the sentence has another name beside a word that stands beside a name of the claim."""
    ours, theirs = _beside_names(claim, sentence), _beside_names(sentence, claim)
    return any(beside in theirs and (name.certain or theirs[beside].certain) for beside, name in ours.items())


def _beside_names(statement: Statement, other: Statement) -> dict[tuple[str, str], Name]:
    """The names that the other sentence does not mention, by the word before ("before", word) or after ("after", word)."""
    elsewhere = Vocabulary([other.text])
    found: dict[tuple[str, str], Name] = {}
    for name in missing_names(statement.names, elsewhere):
        here, there = _first_at(statement, name), _first_after(statement, name)
        found.update({("before", term.key): name for term in statement.terms[max(0, here - 1) : here]})
        found.update({("after", term.key): name for term in statement.terms[there : there + 1]})
    return found


def _passive(statement: Statement) -> bool:
    return any(found[0].lower() == "by" for found in WORD.finditer(statement.text))

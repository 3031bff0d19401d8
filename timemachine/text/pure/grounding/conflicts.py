"""Contradictions between a claim and the passage that it seems to rest on, and what of it no passage contains."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Final

from timemachine.text.pure.grounding.passages import Place, Source
from timemachine.text.pure.grounding.roles import swapped
from timemachine.text.pure.grounding.schemas import Reason
from timemachine.text.pure.language.names import Name, missing_names
from timemachine.text.pure.language.numbers import Number, missing_numbers
from timemachine.text.pure.language.polarity import negated_in_one, neutral_key, turned
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.talk import GLUE
from timemachine.text.pure.language.terms import Term
from timemachine.text.pure.language.words import root

# How much of a claim a sentence must contain before a different number in it contradicts the claim.
_CLOSE: Final = 0.4
# A sentence that is denied entirely, whatever it negates itself.
_DENIED: Final = re.compile(
    r"\b(?:not|isn't|wasn't|never)\s(?:true|correct|the case)\sthat\b|\b(?:false|untrue|incorrect|wrong)\sthat\b",
    re.IGNORECASE,
)
_COUNTED: Final = 12
_YEARS: Final = range(1500, 2200)
_MOST_MISSING: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A contradiction. `swapped`: both say the same about the same two things, with the roles exchanged."""

    kind: Reason
    swapped: bool = False


def conflict(claim: Statement, place: Place, source: Source) -> Conflict | None:
    """Return the first contradiction between a claim and a place.

    A number or name that no passage has (if the sentence also says the opposite, that is the contradiction); a number for which the sentence has another of its kind; a name next to a word
    next to which the sentence has another name; two names with exchanged roles, or two other things ("no_support",
    because nothing says it that way round); something negated on one side only, or pointing in the other direction.
    """
    close = place.own >= _CLOSE
    kind = _nowhere(claim, source)
    if kind == "number" and close and _turned(claim, place.statement):
        return Conflict(kind="negation")
    if kind is None and close and _number_replaced(claim, place):
        kind = "number"
    kind = kind or _name_replaced(claim, place, source)
    if kind:
        return Conflict(kind=kind)
    exchanged = swapped(claim, place.statement)
    if exchanged:
        return Conflict(kind="name" if any(map(claim.names_at, exchanged)) else "no_support", swapped=True)
    return Conflict(kind="negation") if close and _turned(claim, place.statement) else None


def _nowhere(claim: Statement, source: Source) -> Reason | None:
    if any(not source.numbers.contains(number) for number in claim.numbers if _stated(number)):
        return "number"
    if missing_names((name for name in claim.names if name.certain), source.vocabulary):
        return "name"
    return None


def _stated(number: Number) -> bool:
    """Return whether a number must be found. A small number in words may count something ("two ways", if two are named)."""
    counted = number.text.isalpha() and number.unit is None and Fraction(number.bare or 0) <= _COUNTED
    return number.certain and not counted


def _turned(claim: Statement, sentence: Statement) -> bool:
    """Return whether something is negated on one side only, or points in the other direction."""
    denied_in_one = bool(_DENIED.search(claim.text)) != bool(_DENIED.search(sentence.text))
    return (
        denied_in_one
        or negated_in_one(claim.rooted, sentence.rooted) is not None
        or bool(turned(claim.polarity, sentence.polarity))
    )


def _number_replaced(claim: Statement, place: Place) -> bool:
    """Return whether the sentence has another number of the same kind instead of one of the claim."""
    ours = missing_numbers(claim.numbers, [*place.statement.numbers, *_carried_over(claim, place)])
    theirs = missing_numbers(place.statement.numbers, claim.numbers)
    return bool({_sort(number) for number in ours} & {_sort(number) for number in theirs})


def _carried_over(claim: Statement, place: Place) -> Iterator[Number]:
    """Yield the numbers of neighbouring sentences that contain something of the claim that the place does not."""
    rest = {key for key in claim.roots if not key.startswith(("#", "~"))} - {*place.statement.roots}
    for beside in place.beside:
        if rest.intersection(beside.roots):
            yield from beside.numbers


def _sort(number: Number) -> str:
    """Return what a number counts: its unit, a date, a time, a year, or "" if it does not say."""
    if number.unit:
        return number.unit
    if number.key.isdecimal() and int(number.key) in _YEARS:
        return "date"
    return number.key.split()[0] if " " in number.key else ""


def _name_replaced(claim: Statement, place: Place, source: Source) -> Reason | None:
    """Return whether the sentence has another name next to a word that is next to a name in the claim.

    A word that is capitalized only because it starts a sentence counts if the passages mention it elsewhere
    ("no_support").
    """
    ours, theirs = _beside_names(claim, place.statement), _beside_names(place.statement, claim)
    other = [(beside, name) for beside, name in ours.items() if beside in theirs]
    other = [(beside, name) for beside, name in other if not _named_beside(beside, name, place)]
    if any(name.certain or theirs[beside].certain for beside, name in other):
        return "name"
    return "no_support" if any(source.vocabulary.mentions(name) for _, name in other) else None


def _named_beside(beside: tuple[str, str], name: Name, place: Place) -> bool:
    """Return whether a neighbouring sentence has the name next to the same word."""
    found = (_beside_names(each, None).get(beside) for each in place.beside)
    return any(each is not None and each.key == name.key for each in found)


def _beside_names(statement: Statement, other: Statement | None) -> dict[tuple[str, str], Name]:
    """Return the names that the other sentence does not mention, by the word before or after them."""
    found: dict[tuple[str, str], Name] = {}
    for name in missing_names(statement.names, other.vocabulary) if other else statement.names:
        here = bisect_right(statement.terms, name.start, key=attrgetter("end"))
        there = bisect_left(statement.terms, name.end, key=attrgetter("start"))
        found.update({("before", term.key): name for term in statement.terms[max(0, here - 1) : here]})
        found.update({("after", term.key): name for term in statement.terms[there : there + 1]})
    return found


def missing(claim: Statement, source: Source) -> tuple[str, ...]:
    """Return the words, numbers and names of a claim that no passage contains, as written, each once, at most 12.

    A name of several words is returned completely. Connecting words ("additionally") are left out.
    """
    spans = [
        (name.start, name.end)
        for name in claim.names
        if name.certain and not source.vocabulary.mentions(name)
    ]
    spans += [
        (number.start, number.end)
        for number in claim.numbers
        if number.certain and not source.numbers.contains(number)
    ]
    inside = {at for start, end in spans for at in range(start, end)}
    keys = frozenset(claim.keys)
    words = (
        (term.start, term.end)
        for term in claim.terms
        if term.start not in inside and _is_missing_word(claim, term, keys, source)
    )
    found: dict[str, str] = {}
    for start, end in sorted([*spans, *words]):
        found.setdefault(claim.text[start:end].casefold(), claim.text[start:end])
    return tuple(found.values())[:_MOST_MISSING]


def _is_missing_word(claim: Statement, term: Term, keys: frozenset[str], source: Source) -> bool:
    if term.kind != "word" or neutral_key(term) not in keys:
        return False
    key = root(neutral_key(term))
    if key in GLUE or key.startswith("~") or source.mentions(key):
        return False
    return not source.vocabulary.has(claim.text[term.start : term.end])

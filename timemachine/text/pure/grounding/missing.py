"""What a sentence says that no passage contains: content words, numbers and names, in order."""

from collections.abc import Iterator
from typing import Final

from timemachine.text.pure.grounding.passages import Source
from timemachine.text.pure.language.forms import root
from timemachine.text.pure.language.polarity import neutral_key
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.talk import GLUE
from timemachine.text.pure.language.terms import Term

_MOST: Final = 12


def missing(claim: Statement, source: Source) -> tuple[str, ...]:
    """Return the words, numbers and names of a claim that no passage contains, as written, each once, at most 12.

    A name of several words is returned completely. Connecting words ("additionally") are left out.
    """
    spans = [*_names(claim, source), *_figures(claim, source)]
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
    return tuple(found.values())[:_MOST]


def _names(claim: Statement, source: Source) -> Iterator[tuple[int, int]]:
    for name in claim.names:
        if name.certain and not source.vocabulary.mentions(name):
            yield name.start, name.end


def _figures(claim: Statement, source: Source) -> Iterator[tuple[int, int]]:
    for number in claim.numbers:
        if number.certain and not source.numbers.contains(number):
            yield number.start, number.end


def _is_missing_word(claim: Statement, term: Term, keys: frozenset[str], source: Source) -> bool:
    if term.kind != "word" or neutral_key(term) not in keys:
        return False
    key = root(neutral_key(term))
    if key in GLUE or key.startswith("~") or source.mentions(key):
        return False
    return not source.vocabulary.has(claim.text[term.start : term.end])

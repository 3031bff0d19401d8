"""Parse the query language of the search field: `timeout "null check" -staging or parser.js:42`. Pure.

All words must occur, `"…"` matches a phrase, `-` excludes, and `or` separates alternatives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.pure.identifiers import identifiers

LONGEST: Final = 1_000
MOST_CLAUSES: Final = 50

_CLAUSE: Final = re.compile(r'(?P<negated>-?)(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+))')
_SAYS_SOMETHING: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A word or phrase that must occur or must not; an `identifier` is looked up exactly."""

    text: str
    negated: bool = False
    quoted: bool = False
    identifier: str | None = None

    @property
    def binds(self) -> bool:
        """Return whether it also applies to semantic results: quotes, exclusions and identifiers are meant
        literally.
        """
        return self.negated or self.quoted or self.identifier is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A parsed query: steps that match every clause of at least one group."""

    text: str
    groups: tuple[tuple[Clause, ...], ...]

    @property
    def required(self) -> tuple[Clause, ...]:
        """Return the clauses that must occur."""
        return tuple(clause for group in self.groups for clause in group if not clause.negated)

    @property
    def words(self) -> str:
        """Return the text to search for by meaning."""
        return " ".join(clause.text for clause in self.required)

    @property
    def binding(self) -> tuple[tuple[Clause, ...], ...]:
        """Return the clauses that apply to semantic results, too; empty if one of the groups has none."""
        bound = tuple(tuple(clause for clause in group if clause.binds) for group in self.groups)
        return bound if all(bound) else ()


def parse(text: str) -> ParsedQuery:
    """Return the parsed query. Raises `InvalidInput` (`unknown_search`) with what to change."""
    if len(text) > LONGEST:
        raise _refused(f"It has {len(text):,} characters; the limit is {LONGEST:,}.")
    groups: list[list[Clause]] = [[]]
    for clause in _clauses(searchable(text)):
        if clause is None:
            groups.append([])
        else:
            groups[-1].append(clause)
    complete = [tuple(group) for group in groups if group]
    if not complete:
        raise _refused("Enter a word to search for.")
    if sum(map(len, complete)) > MOST_CLAUSES:
        raise _refused(f"It has more than {MOST_CLAUSES} words. Leave some out.")
    if any(all(clause.negated for clause in group) for group in complete):
        raise _refused("It only excludes words. Add a word to search for.")
    return ParsedQuery(text=text, groups=tuple(complete))


def _clauses(text: str) -> Iterator[Clause | None]:
    """Yield the clauses in order; None for an `or`."""
    for found in _CLAUSE.finditer(text):
        negated, phrase, word = bool(found["negated"]), found["phrase"], found["word"]
        words = word if phrase is None else phrase
        if not negated and word is not None and word.lower() == "or":
            yield None
        elif _SAYS_SOMETHING.search(words):
            yield Clause(
                text=words, negated=negated, quoted=phrase is not None, identifier=_identifier(words)
            )


def _identifier(word: str) -> str | None:
    """Return the identifier that the complete clause is, or None."""
    if len(word.split()) != 1:
        return None
    return next(iter(identifiers(word)), None)


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"This cannot be searched for. {why}", code="unknown_search", field="q")

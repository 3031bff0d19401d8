"""What is asked of a search, as people write it in a search field: `timeout "null check" -staging or parser.js:42`. Pure.

Words beside each other are all wanted, `"…"` as they stand, `-` not at all, and `or` divides what is wanted instead of each other.
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
    """A word or phrase that a step must hold, or must not; an `identifier` is looked up whole."""

    text: str
    negated: bool = False
    quoted: bool = False
    identifier: str | None = None

    @property
    def binds(self) -> bool:
        """Whether it holds for what is found by its meaning, too: who quotes, excludes or names something means it."""
        return self.negated or self.quoted or self.identifier is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked: steps that fulfil every clause of any of the groups."""

    text: str
    groups: tuple[tuple[Clause, ...], ...]

    @property
    def wanted(self) -> tuple[Clause, ...]:
        """The clauses that are to be found."""
        return tuple(clause for group in self.groups for clause in group if not clause.negated)

    @property
    def words(self) -> str:
        """What is to be found as a text, for its meaning."""
        return " ".join(clause.text for clause in self.wanted)

    @property
    def binding(self) -> tuple[tuple[Clause, ...], ...]:
        """What holds for steps that are found by their meaning, too; empty where one of the groups binds nothing."""
        bound = tuple(tuple(clause for clause in group if clause.binds) for group in self.groups)
        return bound if all(bound) else ()


def parse(text: str) -> Asked:
    """What was asked. Raises `InvalidInput` (`unknown_search`) with what to write instead."""
    if len(text) > LONGEST:
        raise _refused(f"It has {len(text):,} characters; a search may have {LONGEST:,}.")
    groups: list[list[Clause]] = [[]]
    for clause in _clauses(searchable(text)):
        if clause is None:
            groups.append([])
        else:
            groups[-1].append(clause)
    kept = [tuple(group) for group in groups if group]
    if not kept:
        raise _refused("Write a word to look for.")
    if sum(map(len, kept)) > MOST_CLAUSES:
        raise _refused(f"It has more than {MOST_CLAUSES} words; leave some out.")
    if any(all(clause.negated for clause in group) for group in kept):
        raise _refused("It only says what is not wanted. Write a word to look for beside it.")
    return Asked(text=text, groups=tuple(kept))


def _clauses(text: str) -> Iterator[Clause | None]:
    """The clauses in their order; None where an `or` stands."""
    for found in _CLAUSE.finditer(text):
        negated, phrase, word = bool(found["negated"]), found["phrase"], found["word"]
        said = word if phrase is None else phrase
        if not negated and word is not None and word.lower() == "or":
            yield None
        elif _SAYS_SOMETHING.search(said):
            yield Clause(text=said, negated=negated, quoted=phrase is not None, identifier=_identifier(said))


def _identifier(said: str) -> str | None:
    """The identifier that the whole clause names, None where it names none or has other words."""
    if len(said.split()) != 1:
        return None
    return next(iter(identifiers(said)), None)


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"This cannot be searched for. {why}", code="unknown_search", field="q")

"""Roles: whether two sentences have the same two things around the same word, exchanged."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.talk import GLUE
from timemachine.text.pure.language.terms import Term
from timemachine.text.pure.language.words import root, stem, word_set

# The largest distance in terms of two things in one statement.
_SPAN: Final = 3
_BY: Final = re.compile(r"\bby\b", re.IGNORECASE)
# What is beyond such a word is no longer agent or patient.
_JOINS: Final = re.compile(
    r"\b(?:of|with|for|in|on|at|from|by|into|onto|than|as|when|while|who|which|that|until|during|before|after|between|per|via)\b",
    re.IGNORECASE,
)
# Relations that are symmetric, and words that are neither agent nor patient.
_NO_PART: Final = frozenset(
    root(stem(word))
    for word in word_set(
        """
        similar same equal different differ near meet marry partner compare relate versus next opposite agree connect
        share combine mix join merge talk together like contain add plus equivalent
        time times today yesterday tomorrow now last day days week weeks month months year years hour hours minute minutes
        again already soon later often always never up down out more less most least only all above below over under before after
        """
    )
)

Triple = tuple[str, str, str]


def swapped(claim: Statement, sentence: Statement) -> tuple[Term, Term] | None:
    """Return two terms of the claim with exchanged roles in the sentence ("A paid B" and "B paid A"), or None.

    "B was paid by A" equals "A paid B". The same word must be between the two, in one clause on both sides.
    """
    theirs = {triple for triple, _, _ in _triples(sentence)}
    for (agent, verb, patient), first, last in _triples(claim):
        if agent != patient and (patient, verb, agent) in theirs and (agent, verb, patient) not in theirs:
            return first, last
    return None


def _triples(statement: Statement) -> Iterator[tuple[Triple, Term, Term]]:
    for clause in _clauses(statement.rooted):
        for middle in range(1, len(clause) - 1):
            yield from _around(statement.text, clause, middle)


def _around(text: str, clause: Sequence[Term], middle: int) -> Iterator[tuple[Triple, Term, Term]]:
    """Yield the pairs around a word of a clause with only small words and adjectives between."""
    verb = clause[middle]
    before = [
        term
        for term in clause[max(0, middle - _SPAN) : middle]
        if not _JOINS.search(text, term.end, verb.start)
    ]
    for last in clause[middle + 1 : middle + 1 + _SPAN]:
        between = text[verb.end : last.start]
        passive = _BY.search(between) is not None
        if passive or not _JOINS.search(between):
            for first in before:
                agent, patient = (last, first) if passive else (first, last)
                if not {agent.key, patient.key} & GLUE:
                    yield (agent.key, verb.key, patient.key), first, last


def _clauses(terms: Sequence[Term]) -> list[list[Term]]:
    clauses: list[list[Term]] = [[]]
    for term in terms:
        if term.opens:
            clauses.append([])
        if term.kind in ("word", "identifier") and term.key not in _NO_PART:
            clauses[-1].append(term)
    return clauses

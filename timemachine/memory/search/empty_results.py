"""Explain why a search has no results."""

from dataclasses import fields
from typing import Final

from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.pure.query import parse
from timemachine.memory.search.queries import SearchResult

_ASKED: Final = {"q", "mode"}
_NAMES: Final = {"min_cost": "session cost from"}
_LONGEST: Final = 80


def explain_no_results(found: SearchResult) -> str | None:
    """Return whether the words or the filters are the cause, as a sentence, or None if there are results."""
    if found.groups:
        return None
    if found.too_common:
        return "All words are too common. Add a rarer one."
    if found.has_candidates:
        return _words(found.options)
    of_indexed = " that is indexed" if found.not_indexed else ""
    filters = _filters(found.options)
    if filters:
        return f"No step{of_indexed} matches the filter: {filters}."
    return "No step is indexed yet." if found.not_indexed else "Nothing is recorded yet."


def _words(options: SearchOptions) -> str:
    """Return hints for the words: one for each part of the query language that was used."""
    if options.mode == "semantic":
        return "No step has a similar meaning. Try other words."
    query = parse(options.q)
    sentence = "No step matches."
    if any(sum(not clause.negated for clause in group) > 1 for group in query.groups):
        sentence = "A step must contain all words. Leave one out, or put “or” between them."
    clauses = [clause for group in query.groups for clause in group]
    if any(clause.quoted for clause in clauses):
        sentence += " Words in quotation marks must occur in that order."
    if any(clause.negated for clause in clauses):
        sentence += " Words after “-” must not occur."
    return sentence


def _filters(options: SearchOptions) -> str:
    given = {
        field.name: getattr(options, field.name) for field in fields(options) if field.name not in _ASKED
    }
    return ", ".join(
        f"{_NAMES.get(name, name)} {value}"[:_LONGEST]
        for name, value in given.items()
        if value not in ("", None)
    )

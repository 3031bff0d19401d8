"""Why a search found nothing, in a sentence."""

from dataclasses import fields
from typing import Final

from timemachine.memory.search.filters import Wanted
from timemachine.memory.search.pure.query import parse
from timemachine.memory.search.queries import Found

_ASKED: Final = {"q", "mode"}
_NAMES: Final = {"min_cost": "session cost from"}
_LONGEST: Final = 80


def why_nothing(found: Found) -> str | None:
    """Whether the words are the cause, or what else narrows it; None where something was found."""
    if found.groups:
        return None
    if found.too_common:
        return "Every word is too common to be looked for. Add a rarer one."
    if found.is_any_left:
        return _words(found.wanted)
    of_indexed = " of those that are indexed" if found.not_indexed else ""
    filters = _filters(found.wanted)
    if filters:
        return f"The filter leaves no step{of_indexed}: {filters}."
    return "No step is indexed yet." if found.not_indexed else "Nothing is recorded yet."


def _words(wanted: Wanted) -> str:
    """Which words are in the way: a hint for each way of asking that was used."""
    if wanted.mode == "semantic":
        return "No step means something near it. Try other words."
    asked = parse(wanted.q)
    said = "No step holds what is looked for."
    if any(sum(not clause.negated for clause in group) > 1 for group in asked.groups):
        said = "A step must hold all of the words: leave one out, or write `or` between them."
    clauses = [clause for group in asked.groups for clause in group]
    if any(clause.quoted for clause in clauses):
        said += " Words in quotation marks must stand in that order."
    if any(clause.negated for clause in clauses):
        said += " A word after a - must not be there."
    return said


def _filters(wanted: Wanted) -> str:
    given = {field.name: getattr(wanted, field.name) for field in fields(wanted) if field.name not in _ASKED}
    return ", ".join(
        f"{_NAMES.get(name, name)} {value}"[:_LONGEST]
        for name, value in given.items()
        if value not in ("", None)
    )

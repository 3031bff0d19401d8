"""The timeline filter as a database condition."""

import re
from decimal import Decimal
from typing import Final

from django.db.models import Exists, F, Func, OuterRef, Q, TextField, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import (
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Regex,
)

from timemachine.core.pure.postgres_text import storable
from timemachine.recording.annotations.significance.queries import IMPORTANCE, SIGNIFICANCE
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import (
    BECAME_KNOWN,
    FAILED,
    HAPPENED_HERE,
    IS_CORRECTION,
    UNKNOWN_COST,
)
from timemachine.recording.timeline.pure.filter import LAST, Filter, Measured, Named, Term

_COMPARED: Final = {
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
    "<": LessThan,
    "<=": LessThanOrEqual,
    "=": Exact,
}
_COLUMNS: Final = {
    "took": "duration_ms",
    "cost": "cost_usd",
    "iteration": "iteration",
}
_SIGNIFICANCE: Final = Coalesce(SIGNIFICANCE, Value(""))
_TOKENS: Final = ("total_tokens", "input_tokens", "output_tokens")
_SEARCHED: Final = ("label", "error_message")


def matching(shown: Filter) -> Q:
    """Return the condition of a filter on actions."""
    condition = Q(kind__in=shown.kinds) if shown.kinds else Q()
    if shown.status is not None:
        condition &= FAILED if shown.status == "error" else ~FAILED
    if shown.steps is not None:
        first, last = shown.steps
        condition &= Q(sequence__gte=first) if last == LAST else Q(sequence__range=(first, last))
    for term in shown.terms:
        condition &= ~_means(term) if term.negated else _means(term)
    return condition


def _means(term: Term) -> Q:
    if isinstance(term, Measured):
        return _measured(term)
    if isinstance(term, Named):
        return Q.create([_is(term.field, value) for value in term.values], connector=Q.OR)
    words = storable(term.words)
    return Q.create([Q(**{f"{column}__icontains": words}) for column in _SEARCHED], connector=Q.OR)


def _is(field: str, value: str) -> Q:
    if field == "tag":
        return Q(tags__contains=[value])
    if field == "metadata":
        return has_metadata(value)
    if field == "cost":
        return UNKNOWN_COST & HAPPENED_HERE & ~_became_known()
    if field == "agent":
        return like("agent", value) | (Q(agent=None) & like("session__agent", value))
    if field == "significance":
        return Q(Exact(_SIGNIFICANCE, value))
    return like(field, value)


def _became_known() -> Q:
    """Return the condition that a later correction has the cost of the step, or of the step that it corrects."""
    later = Action.objects.filter(
        BECAME_KNOWN, session=OuterRef("session"), sequence__gt=OuterRef("sequence")
    )
    of_step = Q(parent_id_given=OuterRef("client_id")) | Q(parent_sequence=OuterRef("sequence"))
    of_same = Q(parent_id_given=OuterRef("parent_id_given")) | Q(parent_sequence=OuterRef("parent_sequence"))
    return Q(Exists(later.filter(of_step))) | (IS_CORRECTION & Q(Exists(later.filter(of_same))))


def like(column: str, value: str) -> Q:
    """Return the condition that a column has that value, in which `*` stands for any characters."""
    return Q(**{f"{column}__regex": _pattern(value)}) if "*" in value else Q(**{column: value})


def has_metadata(value: str) -> Q:
    """Return the condition that a step's metadata has a field, or with `field=value` that it has that value.

    A dot leads into an object. Numbers, true and false are compared as JSON writes them; `*` stands for any characters.
    A field that is null counts as missing.
    """
    name, has_value, text = value.partition("=")
    condition = Q()
    for path in dict.fromkeys(((name,), tuple(name.split(".")))):  # a name can contain dots itself
        found = Func(
            F("metadata"),
            *(Value(storable(key)) for key in path),
            function="jsonb_extract_path_text",
            output_field=TextField(),
        )
        here = Q(IsNull(found, False))  # noqa: FBT003
        if has_value:
            known = Coalesce(found, Value("", output_field=TextField()))
            here &= Q(Regex(known, _pattern(text)) if "*" in text else Exact(known, storable(text)))
        condition |= here
    return condition


def _pattern(value: str) -> str:
    """Return the regular expression for a value with `*`, as the database stores its text."""
    return f"^{'.*'.join(re.escape(part) for part in storable(value).split('*'))}$"


def _measured(term: Measured) -> Q:
    compared = _COMPARED[term.sign]
    if term.field == "tokens":
        both = Coalesce(F("input_tokens"), 0) + Coalesce(F("output_tokens"), 0)
        recorded = Q.create([Q(**{f"{column}__isnull": False}) for column in _TOKENS], connector=Q.OR)
        return recorded & Q(compared(Coalesce(F("total_tokens"), both), int(term.number)))
    if term.field == "importance":
        return Q(IsNull(IMPORTANCE, False)) & Q(compared(IMPORTANCE, term.number))  # noqa: FBT003
    number = Decimal(repr(term.number)) if term.field == "cost" else term.number
    return Q(**{f"{_COLUMNS[term.field]}__{compared.lookup_name}": number})

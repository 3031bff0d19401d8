"""Suggestions while a filter is typed: fields by name, values that the session has, and how to write a phrase or leave something out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.db.models import Count, F, Func, Sum

from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.postgres_text import storable
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.pure.filter import CHOICES
from timemachine.recording.timeline.pure.filter_completion import (
    HINTS,
    MINUS,
    PHRASE,
    Typed,
    fields_like,
    typed,
)
from timemachine.recording.usage.models import Usage
from timemachine.recording.usage.queries import kinds_of

MOST: Final = 10
LATEST: Final = 2_000
"""Names and tags are read from this many of the latest steps; other suggestions use counts."""
COUNTED: Final = frozenset({"tool", "model", "agent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A field, a piece of syntax, or a value with the number of its steps if known; `filter` is the filter with it, `at` the caret.

    With `of_latest`, the number covers only that many of the latest steps.
    """

    words: str
    hint: str
    number: int | None
    of_latest: int | None
    filter: str
    at: int


def suggestions(session: Session, text: str, at: int) -> list[Suggestion]:
    """Return at most `MOST` suggestions for the caret's place in a filter, besides the syntax. At most one query."""
    piece = typed(text, at)
    if piece.field is None:
        return [*_syntax(piece), *islice(_fields(piece), MOST)]
    found = islice(_values(session, piece.field, piece.words), MOST)
    latest = LATEST if piece.field in {"name", "tag"} and session.last_sequence > LATEST else None
    return [_value(piece, value, number, latest) for value, number in found]


def _fields(piece: Typed) -> Iterator[Suggestion]:
    for name in fields_like(piece.words):
        text, at = piece.with_field(name)
        yield Suggestion(words=f"{name}:", hint=HINTS[name], number=None, of_latest=None, filter=text, at=at)


def _syntax(piece: Typed) -> Iterator[Suggestion]:
    """Yield what can be written where nothing is written yet."""
    if piece.first < piece.last:
        return
    yield _written(piece, PHRASE, "steps with this phrase")
    if not piece.is_negated:
        yield _written(piece, MINUS, "leaves out what follows, as in -timeout")


def _written(piece: Typed, words: str, hint: str) -> Suggestion:
    text, at = piece.with_piece(words, caret=1)
    return Suggestion(words=words, hint=hint, number=None, of_latest=None, filter=text, at=at)


def _value(piece: Typed, value: str, number: int | None, latest: int | None) -> Suggestion:
    text, at = piece.with_value(value)
    return Suggestion(words=value, hint="", number=number, of_latest=latest, filter=text, at=at)


def _values(session: Session, field: str, words: str) -> Iterable[tuple[str, int | None]]:
    """Return the values of a field that contain these words, the most frequent first."""
    if field in COUNTED:
        return _from_counts(session, field, words)
    if field in {"name", "tag"}:
        return _latest(session, field, words)
    if field in CHOICES:
        return ((each, None) for each in CHOICES[field] if words.lower() in each)
    return _few(session, field, words)


def _few(session: Session, field: str, words: str) -> Iterator[tuple[str, int | None]]:
    counts: Mapping[str, int] = {}
    if field == "kind":
        counts = kinds_of(session)
    elif field == "status":
        counts = {"error": session.error_count, "ok": session.last_sequence - session.error_count}
    found = [(value, number) for value, number in counts.items() if words.lower() in value]
    yield from sorted(found, key=lambda each: (-each[1], each[0]))


def _from_counts(session: Session, field: str, words: str) -> Iterable[tuple[str, int | None]]:
    named = Usage.objects.filter(session=session, **{f"{field}__isnull": False}).order_by()
    if words:
        named = named.filter(**{f"{field}__icontains": storable(words)})
    counted: Any = named.values(field).annotate(steps=Sum("number")).order_by("-steps", field)
    return [(row[field], int(row["steps"])) for row in counted[:MOST]]


def _latest(session: Session, field: str, words: str) -> Iterable[tuple[str, int | None]]:
    steps = Action.objects.filter(session=session, sequence__gt=session.last_sequence - LATEST).order_by()
    one = (
        Func(F("tags"), function="unnest", output_field=FaithfulTextField()) if field == "tag" else F("name")
    )
    counted: Any = (
        steps.annotate(value=one).values("value").annotate(steps=Count("id")).order_by("-steps", "value")
    )
    like = words.lower()
    return ((row["value"], row["steps"]) for row in counted if row["value"] and like in row["value"].lower())

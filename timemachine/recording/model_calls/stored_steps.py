"""Read the steps of a session as a conversation needs them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet

from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import readable_value, sha256_hex
from timemachine.recording.model_calls.pure.conversation import BEGINNINGS, RecordedStep
from timemachine.recording.sessions.deletions import IS_DELETED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import COMPACTION, SETTINGS

type Row = Mapping[str, Any]

MOST_LEVELS: Final = 50
"""The most levels of steps inside steps that are looked at."""
_OPENING: Final = 20
"""Among the first so many steps, messages of the system are the system prompt."""
_PAYLOADS: Final = ("input", "output")
_PLACE: Final = (
    "sequence",
    "client_id",
    "kind",
    "call_id",
    "tags",
    "agent",
    "parent_sequence",
    "parent_id_given",
)
_COLUMNS: Final = (
    *_PLACE,
    "layer",
    "role",
    "name",
    "tool",
    "copied_from",
    "error_type",
    "error_message",
    *(f"{side}__{column}" for side in _PAYLOADS for column in ("media_type", "sha256")),
)
_BYTES: Final = {f"{side}_bytes": bytes_of(side) for side in _PAYLOADS}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsRead:
    """Steps in order. `altered` are those whose stored bytes do not have the recorded hashes."""

    steps: Sequence[RecordedStep]
    altered: tuple[int, ...]
    deleted: tuple[int, ...]


def rows_through(session: Session, last: int, first: int = 1) -> list[Row]:
    """Return the steps from one number to another, in order."""
    return _rows(session.actions.filter(sequence__gte=first, sequence__lte=last))


def stating_rows(session: Session, before: int) -> list[Row]:
    """Return the steps before that one that state what every later request has."""
    opening = Q(kind="message", role="system", sequence__lte=_OPENING)
    stating = opening | Q(tags__contains=[SETTINGS]) | Q(kind="event", name__in=BEGINNINGS)
    return _rows(session.actions.filter(stating, sequence__lt=before))


def last_compaction(session: Session, before: int) -> int | None:
    """Return the number of the last compaction before that step."""
    found = session.actions.filter(sequence__lt=before, tags__contains=[COMPACTION])
    return found.order_by("-sequence").values_list("sequence", flat=True).first()


def ancestors(session: Session, rows: Sequence[Row], *columns: str, through: int | None = None) -> list[Row]:
    """Return the steps up to `through` that these ones are inside and that are not among them, without their payloads,
    but with these other columns. One query for each level."""
    shown = session.actions.all() if through is None else session.actions.filter(sequence__lte=through)
    known = {row["sequence"] for row in rows}
    named = {row["client_id"] for row in rows}
    found: list[Row] = []
    level = rows
    for _ in range(MOST_LEVELS):
        ids = {row["parent_id_given"] for row in level} - named - {None}
        numbers = {row["parent_sequence"] for row in level if row["parent_id_given"] is None} - known - {None}
        if not ids and not numbers:
            break
        inside = Q(sequence__in=numbers) | Q(client_id__in=ids)
        level = list(shown.filter(inside).values(*_PLACE, *columns))
        found += level
        known |= numbers | {row["sequence"] for row in level}
        named |= ids
    return sorted(found, key=lambda row: row["sequence"])


def steps_of(rows: Sequence[Row], shift: int = 0) -> StepsRead:
    """Return the steps of these rows, with `shift` subtracted from their numbers."""
    places = {row["client_id"]: row["sequence"] for row in rows if row["client_id"] is not None}
    return StepsRead(
        steps=[_step(row, places, shift) for row in rows],
        altered=tuple(row["sequence"] - shift for row in rows if not _is_intact(row)),
        deleted=tuple(row["sequence"] - shift for row in rows if row.get("is_deleted")),
    )


def levels_of(action: Action, rows: Collection[Row]) -> Iterator[Row]:
    """Yield the rows of the steps that a step is inside, the innermost first."""
    by_number = {row["sequence"]: row for row in rows}
    by_id = {row["client_id"]: row for row in rows}
    given, number = action.parent_id_given, action.parent_sequence
    for _ in range(MOST_LEVELS):
        row = by_number.get(number) if given is None else by_id.get(given)
        if row is None:
            return
        yield row
        given, number = row["parent_id_given"], row["parent_sequence"]


def _rows(found: QuerySet[Action]) -> list[Row]:
    steps = found.annotate(is_deleted=IS_DELETED).order_by("sequence")
    return list(steps.values(*_COLUMNS, "is_deleted", **_BYTES))


def _is_intact(row: Row) -> bool:
    """Return whether the stored bytes of a step have the hashes that were recorded."""
    stored = ((row.get(f"{side}_bytes"), row.get(f"{side}__sha256")) for side in _PAYLOADS)
    return all(data is None or sha256_hex(data) == sha256 for data, sha256 in stored)


def _step(row: Row, places: Mapping[str, int], shift: int) -> RecordedStep:
    parent = row["parent_sequence"]
    if row["parent_id_given"] is not None:
        parent = places.get(row["parent_id_given"])
    return RecordedStep(
        sequence=row["sequence"] - shift,
        kind=row["kind"],
        role=row.get("role"),
        agent=row["agent"],
        name=row.get("name"),
        tool=row.get("tool"),
        call_id=row["call_id"],
        parent=None if parent is None else parent - shift,
        tags=row["tags"],
        input=_value(row, "input"),
        output=_value(row, "output"),
        failed=row.get("error_type") is not None or row.get("error_message") is not None,
        is_internal=row.get("layer") in {"tool", "sys"} and row.get("role") != "system",
    )


def _value(row: Row, side: str) -> Any:
    data = row.get(f"{side}_bytes")
    return None if data is None else readable_value(row[f"{side}__media_type"], data)

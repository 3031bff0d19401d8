"""The labels of steps, computed again from what was sealed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.content import value_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import (
    PayloadName,
    first_words,
    label_of_deleted,
    label_of_words,
)

_PAYLOADS: Final[tuple[PayloadName, ...]] = ("input", "output")
_NAMING: Final = ("kind", "tool", "name", "error_message")
_COLUMNS: Final = (
    "sequence",
    "label",
    *_NAMING,
    *(f"{name}{column}" for name in _PAYLOADS for column in ("_id", "__media_type")),
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Rows of steps by sequence, and the first words of their payloads, as far as these were read."""

    rows: Mapping[int, Mapping[str, Any]]
    media: Mapping[int, str]
    used_as: Mapping[int, Collection[tuple[str, PayloadName]]]
    """By payload: of which kinds of steps it is the input or the output. Several steps can have the same one."""
    words: dict[tuple[int, str, PayloadName], str] = field(default_factory=dict)

    def read(self, payload: int, data: bytes) -> None:
        """Remember the first words of a payload that a label may need. Altered bytes may have none."""
        if payload in self.media:
            try:
                value = value_of(self.media[payload], data)
                for kind, name in self.used_as[payload]:
                    self.words[payload, kind, name] = first_words(value, kind, name)
            except (ValueError, RecursionError):
                return

    def difference(self, sequence: int, deleted_at: Collection[str]) -> str | None:
        """Return how the label of a step differs from what it must be; None if it does not, or cannot be known.

        `deleted_at` are the times (RFC 3339) at which the log says that the whole step was deleted.
        """
        row = self.rows.get(sequence)
        if row is None or any(self._is_unread(row, name) for name in _PAYLOADS):
            return None
        named = ActionDraft(**{name: row[name] for name in _NAMING})
        right = label_of_words(named, lambda name: self.words.get(_place(row, name)))
        deleted = [label_of_deleted(datetime.fromisoformat(at)) for at in deleted_at]
        if row["label"] in (right, *deleted):
            return None
        return f"Its label is “{row['label']}”. It must be “{(*deleted, right)[0]}”."

    def _is_unread(self, row: Mapping[str, Any], name: PayloadName) -> bool:
        return row[f"{name}_id"] is not None and _place(row, name) not in self.words


def labels_of(session: Session, sequences: Sequence[int]) -> Labels:
    """Return the labels of steps, before any payload was read. One query."""
    found = Action.objects.filter(session=session, sequence__in=sequences).values(*_COLUMNS)
    rows = {row["sequence"]: row for row in found}
    media: dict[int, str] = {}
    used_as: dict[int, set[tuple[str, PayloadName]]] = {}
    for row in rows.values():
        for name in _PAYLOADS:
            if (payload := row[f"{name}_id"]) is not None:
                media[payload] = row[f"{name}__media_type"]
                used_as.setdefault(payload, set()).add((row["kind"], name))
    return Labels(rows, media, used_as)


def _place(row: Mapping[str, Any], name: PayloadName) -> tuple[int, str, PayloadName]:
    return row[f"{name}_id"], row["kind"], name

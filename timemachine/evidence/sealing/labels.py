"""The labels of steps, computed again from what was sealed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.content import value_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.label import first_words, label, label_of_deleted

_PAYLOADS: Final = ("input", "output")
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
    words: dict[int, str] = field(default_factory=dict)

    def read(self, payload: int, data: bytes) -> None:
        """Remember the first words of a payload that a label may need. Altered bytes may have none."""
        if payload in self.media:
            try:
                self.words[payload] = first_words(value_of(self.media[payload], data))
            except (ValueError, RecursionError):
                return

    def difference(self, sequence: int, deleted_at: Collection[str]) -> str | None:
        """Return how the label of a step differs from what it must be; None if it does not, or cannot be known.

        `deleted_at` are the times (RFC 3339) at which the log says that the whole step was deleted.
        """
        row = self.rows.get(sequence)
        if row is None or any(self._is_unread(row[f"{name}_id"]) for name in _PAYLOADS):
            return None
        named: dict[str, Any] = {name: row[name] for name in _NAMING}
        named |= {name: self.words.get(row[f"{name}_id"]) for name in _PAYLOADS}
        right = label(ActionDraft(**named))
        deleted = [label_of_deleted(datetime.fromisoformat(at)) for at in deleted_at]
        if row["label"] in (right, *deleted):
            return None
        return f"Its label is “{row['label']}”. It must be “{(*deleted, right)[0]}”."

    def _is_unread(self, payload: int | None) -> bool:
        return payload is not None and payload not in self.words


def labels_of(session: Session, sequences: Sequence[int]) -> Labels:
    """Return the labels of steps, before any payload was read. One query."""
    found = Action.objects.filter(session=session, sequence__in=sequences).values(*_COLUMNS)
    rows = {row["sequence"]: row for row in found}
    media = {
        row[f"{name}_id"]: row[f"{name}__media_type"]
        for row in rows.values()
        for name in _PAYLOADS
        if row[f"{name}_id"] is not None
    }
    return Labels(rows, media)

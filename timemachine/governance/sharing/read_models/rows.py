"""The timeline as a visitor sees it: its lines, and which steps they are inside of."""

from collections.abc import Sequence
from dataclasses import dataclass

from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.redactor import Redactor, naming_fields
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.pure.nesting import Place, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRow:
    """One line of the timeline. `significance` is the recorded one, not a later annotation."""

    sequence: int
    kind: str
    label: str
    name: str | None
    tool: str | None
    duration_ms: float | None
    significance: str | None
    failed: bool
    copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPlace:
    """A row and the steps that it is inside of, as in `timeline.pure.nesting`. Nothing is collapsed."""

    step: SharedRow
    above: tuple[int, ...]
    below: tuple[int, ...]
    depth: int
    folds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRows:
    """Consecutive rows; `earlier` and `later` are steps of the pages before and after, None at an end."""

    rows: Sequence[SharedPlace]
    earlier: int | None
    later: int | None


def shared_row(row: Row, action: Action | None, redactor: Redactor) -> SharedRow:
    """Return a line of the timeline. `action` is its step with payloads; None if nothing is withheld."""
    if action is None:
        return shown_of(SharedRow, row)
    document = redactor.document(naming_fields(action))
    return shown_of(
        SharedRow,
        row,
        label=redactor.label(action, document),
        name=document["name"],
        tool=document["tool"],
    )


def nameless_row(row: Row) -> SharedRow:
    """Return a line of the timeline without its words, which are not read."""
    return shown_of(SharedRow, row, label="", name=None, tool=None)


def shared_place(place: Place, row: SharedRow) -> SharedPlace:
    """Return a row with its place."""
    return SharedPlace(step=row, above=place.above, below=place.below, depth=place.depth)

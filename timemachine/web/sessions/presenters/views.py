"""The four views of a session's steps: timeline, compact, table and raw."""

from typing import Any, Final, Protocol

from django.conf import settings

from timemachine.governance.deletion.erasure.erased_actions import as_given
from timemachine.recording.annotations.notes.queries import note_counts
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline import compact_rows
from timemachine.recording.timeline.compact_rows import Compact
from timemachine.recording.timeline.pure.compact import Bundle
from timemachine.recording.timeline.pure.filter import Filter
from timemachine.recording.timeline.raw import SIZE as RAW_SIZE
from timemachine.recording.timeline.raw import raw_steps
from timemachine.recording.timeline.rows import View, first_match
from timemachine.recording.timeline.sheet import TABLE_SIZE, Place, Sheet, sheet, span_of, table_rows
from timemachine.recording.timeline.step import nearest, neighbours

VIEWS: Final = ("timeline", "table", "compact", "raw")
SHEETS: Final = {"table": TABLE_SIZE, "raw": RAW_SIZE}
"""The views with pages instead of a list next to a step, and their number of steps per page."""
LEAD: Final = 5
"""Number of table rows before the step at which the table opens."""


class UrlState(Protocol):
    """The part of a URL that concerns a view: which view, which steps, and where."""

    @property
    def view(self) -> str: ...
    @property
    def shown(self) -> Filter: ...
    @property
    def seen(self) -> View: ...
    @property
    def step(self) -> int | None: ...
    @property
    def near(self) -> int | None: ...
    @property
    def before(self) -> int | None: ...
    @property
    def after(self) -> int | None: ...


def view_notice(written: str) -> str:
    """Return the message for an unknown view; empty for a known one."""
    if not written or written in VIEWS:
        return ""
    return f"There is no view “{written[:40]}”. Available views: {', '.join(VIEWS)}. This is the timeline."


def sheet_page(session: Session, asked: UrlState) -> dict[str, Any]:
    """Return a page of the table or of the raw view. The current page is kept while the selected step is on it."""
    size = SHEETS[asked.view]
    found = sheet(session, asked.shown, _place(session, asked), size)
    if asked.step is not None and asked.step not in found.sequences:
        found = sheet(session, asked.shown, _near(asked, asked.step), size)
    sequence = _sequence(session, asked, found)
    context: dict[str, Any] = {"sheet": found, "sequence": sequence, "held": _held(found)}
    if sequence is None:
        return context
    action = Action.objects.get(session=session, sequence=sequence)
    context["beside"] = neighbours(session, action, asked.shown)
    return context | _steps_of(session, asked, found)


def _place(session: Session, asked: UrlState) -> Place:
    if asked.before is not None or asked.after is not None:
        return Place(near=1, before=asked.before, after=asked.after)
    return _near(asked, asked.step or first_match(session, asked.shown) or 1)


def _near(asked: UrlState, step: int) -> Place:
    return Place(near=step, lead=LEAD if asked.view == "table" else 0)


def _sequence(session: Session, asked: UrlState, found: Sheet) -> int | None:
    """Return the selected step, or the first visible one."""
    if asked.step is None and found.sequences:
        return found.sequences[0]
    return nearest(session, asked.step or 1)


def _held(found: Sheet) -> dict[str, int]:
    """Return the query that keeps this page while another of its steps is selected."""
    return {"after": found.sequences[0] - 1} if found.sequences else {}


def _steps_of(session: Session, asked: UrlState, found: Sheet) -> dict[str, Any]:
    if asked.view == "raw":
        return {
            "raw_steps": raw_steps(session, found.sequences, as_given),
            "api_address": f"{settings.PUBLIC_URL}/api/sessions/{session.id}/actions",
        }
    rows = table_rows(session, found.sequences)
    return {
        "table_rows": rows,
        "span": span_of(rows),
        "noted": note_counts(session, found.sequences) if found.sequences else {},
    }


def compact_list(session: Session, asked: UrlState, sequence: int | None) -> dict[str, Any]:
    """Return the rows of the compact view around a step."""
    around = asked.near or sequence or 1
    return _compact(session, compact_rows.compact_window(session, around, asked.seen, selected=sequence))


def more_compact(session: Session, asked: UrlState) -> dict[str, Any]:
    """Return the rows of the compact view before or after those of a page."""
    found = (
        compact_rows.compact_before(session, asked.before, asked.seen)
        if asked.before is not None
        else compact_rows.compact_after(session, asked.after or 0, asked.seen)
    )
    return _compact(session, found)


def _compact(session: Session, found: Compact) -> dict[str, Any]:
    return {
        "window": found.window,
        "standing": {first: standing_words(bundle) for first, bundle in found.standing.items()},
        "noted": _noted(session, found),
    }


def standing_words(bundle: Bundle) -> str:
    """Return the steps that a row stands for: `×37 · 12–85`; `12, 14`; `×3 · 6 of 12–40` if there are others between them."""
    numbers = [step.sequence for step in bundle.steps]
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        which = f"{first:,}–{last:,}"
    elif len(numbers) == 2:  # noqa: PLR2004
        which = f"{first:,}, {last:,}"
    else:
        which = f"{len(numbers):,} of {first:,}–{last:,}"
    return f"×{len(bundle.units):,} · {which}" if len(bundle.units) > 1 else which


def _noted(session: Session, found: Compact) -> dict[int, int]:
    """Return the number of notes of each row; a row that stands for several steps has the notes of all of them. One query."""
    rows = [place.step.sequence for place in found.window.rows]
    hidden = {
        first: [step.sequence for step in bundle.steps if step.sequence not in set(rows)]
        for first, bundle in found.standing.items()
    }
    counts = note_counts(session, [*rows, *(each for several in hidden.values() for each in several)])
    return {
        row: number
        for row in rows
        if (number := counts.get(row, 0) + sum(counts.get(each, 0) for each in hidden.get(row, ())))
    }

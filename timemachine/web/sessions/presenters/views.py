"""The four views of a session's steps: timeline, compact, table and raw."""

from dataclasses import dataclass
from typing import Final

from django.conf import settings

from timemachine.governance.deletion.erasure.queries import as_given
from timemachine.recording.annotations.notes.queries import note_counts
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import copy_of
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline.compact_rows import Compact, compact_after, compact_before, compact_window
from timemachine.recording.timeline.copies import original_of, uncounted_in
from timemachine.recording.timeline.extent import scale_of
from timemachine.recording.timeline.pure.compact import Bundle
from timemachine.recording.timeline.pure.filter import Filter
from timemachine.recording.timeline.pure.scale import Scale
from timemachine.recording.timeline.raw import SIZE as RAW_SIZE
from timemachine.recording.timeline.raw import raw_steps
from timemachine.recording.timeline.rows import Window, first_match, rows_after, rows_before, window
from timemachine.recording.timeline.sheet import TABLE_SIZE, Place, Sheet, sheet, span_of, table_rows
from timemachine.recording.timeline.step import nearest, neighbours
from timemachine.recording.usage.queries import kinds_of, reasons_of_session, uncounted_kinds_of
from timemachine.replay.judging.queries import spent_on
from timemachine.web.sessions.presenters.replays import row_verdicts
from timemachine.web.sessions.presenters.step_notes import noted_rows
from timemachine.web.sessions.presenters.url_state import UrlState

SHEETS: Final = {"table": TABLE_SIZE, "raw": RAW_SIZE}
"""The views with pages instead of a list next to a step, and their number of steps per page."""
LEAD: Final = 5
"""Number of table rows before the step at which the table opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindChip:
    """A kind of step with its number, the filter that toggles it, and whether it is chosen. `uncounted` of the steps are copies or
    corrections: they are in the list, but no total counts them as steps.
    """

    kind: str
    number: int
    uncounted: int
    on: bool
    filter: str


def filter_links(session: Session, shown: Filter) -> dict[str, object]:
    """Return the chips of all kinds in the session, and the filters that the other links of the list lead to."""
    counts, uncounted = kinds_of(session), uncounted_kinds_of(session)
    return {
        "chips": [
            KindChip(
                kind=kind,
                number=counts.get(kind, 0),
                uncounted=uncounted.get(kind, 0),
                on=kind in shown.kinds,
                filter=str(shown.toggled(kind)),
            )
            for kind in KINDS
            if kind in counts or kind in shown.kinds
        ],
        "terms": [(term, str(shown.without(term))) for term in shown.terms],
        "whole": str(shown.within(None)),
        "errors_filter": str(shown.with_status("error")),
        "judged_cost": spent_on(session),
        "unknown_reasons": reasons_of_session(session),
        **copies_of(session),
    }


def copies_of(session: Session) -> dict[str, object]:
    """Return the steps that no total counts, and the only session or file that they were copied from, if there is only one."""
    uncounted = uncounted_in(session)
    origins = list(uncounted.copies)
    only = original_of(session, copy_of(*origins)) if len(origins) == 1 else None
    return {"uncounted": uncounted, "copied_from": only}


def rows_around(session: Session, state: UrlState, sequence: int | None, scale: Scale) -> dict[str, object]:
    """Return the rows around a step, in the views that have a list."""
    if state.view in SHEETS:
        return {}
    if state.view == "compact":
        around = state.near or sequence or 1
        return _compact(session, state, compact_window(session, around, state.seen, selected=sequence))
    around = state.near or (None if state.row is None else scale.step_at(state.row)) or sequence or 1
    return _rows(session, state, window(session, around, state.seen, selected=sequence), scale)


def more_rows(session: Session, state: UrlState) -> dict[str, object]:
    """Return the rows before or after those of a page."""
    before, after = state.before, state.after or 0
    if state.view == "compact":
        found = (
            compact_after(session, after, state.seen)
            if before is None
            else compact_before(session, before, state.seen)
        )
        return _compact(session, state, found)
    rows = (
        rows_after(session, after, state.seen) if before is None else rows_before(session, before, state.seen)
    )
    return _rows(session, state, rows, scale_of(session, state.shown))


def _rows(session: Session, state: UrlState, window: Window, scale: Scale) -> dict[str, object]:
    """Return the rows of the timeline, and the number of those before and after, so that the scrollbar has the right length."""
    before = 0 if window.earlier is None else scale.before(window.earlier)
    after = 0 if window.later is None else scale.total - scale.before(window.later + 1)
    return {
        "window": window,
        "noted": noted_rows(session, window),
        "beyond": {"before": max(before, 1), "after": max(after, 1), "total": scale.total},
        "replayed": row_verdicts(session, state.replay, window),
    }


def _compact(session: Session, state: UrlState, found: Compact) -> dict[str, object]:
    standing = {first: standing_words(bundle) for first, bundle in found.standing.items()}
    return {
        "window": found.window,
        "standing": standing,
        "noted": _noted(session, found),
        "replayed": row_verdicts(session, state.replay, found.window, standing),
    }


def sheet_page(session: Session, state: UrlState) -> tuple[int | None, dict[str, object]]:
    """Return the selected step, and a page of the table or of the raw view. The current page is kept while the step is on it."""
    size = SHEETS[state.view]
    found = sheet(session, state.shown, _place(session, state), size)
    if state.step is not None and state.step not in found.sequences:
        found = sheet(session, state.shown, _near(state, state.step), size)
    sequence = (
        found.sequences[0] if state.step is None and found.sequences else nearest(session, state.step or 1)
    )
    held = {"after": found.sequences[0] - 1} if found.sequences else {}  # keeps this page for its other steps
    context: dict[str, object] = {"sheet": found, "held": held}
    if sequence is not None:
        action = Action.objects.get(session=session, sequence=sequence)
        context["beside"] = neighbours(session, action, state.shown)
        context |= _steps_of(session, state, found)
    return sequence, context


def _place(session: Session, state: UrlState) -> Place:
    if state.before is not None or state.after is not None:
        return Place(near=1, before=state.before, after=state.after)
    return _near(state, state.step or first_match(session, state.shown) or 1)


def _near(state: UrlState, step: int) -> Place:
    return Place(near=step, lead=LEAD if state.view == "table" else 0)


def _steps_of(session: Session, state: UrlState, found: Sheet) -> dict[str, object]:
    if state.view == "raw":
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

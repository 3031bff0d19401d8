"""Rows of the compact view: a window of complete hundreds of steps, with calls and their results, and repeats, in one
row each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.pure.compact import WIDTH, Bundle, bundles, hundred
from timemachine.recording.timeline.pure.nesting import Place, Row
from timemachine.recording.timeline.rows import View, Window, steps_before, steps_from

SIDE: Final = WIDTH
"""How many steps are read on each side of a place, at least one complete hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A window of rows. `standing` lists, by their first step, the rows that stand for several steps."""

    window: Window
    standing: Mapping[int, Bundle]


def compact_window(session: Session, around: int, view: View, selected: int | None = None) -> Compact:
    """Return the rows around a step: those of its hundred and after, and those before it. Two queries.

    The row with the selected step is expanded.
    """
    begin = hundred(around) * WIDTH + 1
    before, earlier = _complete(steps_before(session, begin, SIDE + 1, view), SIDE, 0)
    after, later = _complete(steps_from(session, begin, SIDE + 1, view), SIDE, -1)
    found = bundles([*before, *after])
    return _compact(_places(found, view, selected), found, earlier=earlier, later=later)


def compact_before(session: Session, sequence: int, view: View) -> Compact:
    """Return the rows that end just before the row of that step. One query."""
    end = (hundred(sequence) + 1) * WIDTH + 1
    steps, earlier = _complete(steps_before(session, end, SIDE + WIDTH + 1, view), SIDE + WIDTH, 0)
    found = bundles(steps)
    places = _places(found, view)
    return _compact(places[: _index(places, sequence)[0]], found, earlier=earlier, later=False)


def compact_after(session: Session, sequence: int, view: View) -> Compact:
    """Return the rows that begin just after the row of that step. One query."""
    begin = hundred(sequence) * WIDTH + 1
    steps, later = _complete(steps_from(session, begin, SIDE + WIDTH + 1, view), SIDE + WIDTH, -1)
    found = bundles(steps)
    places = _places(found, view)
    return _compact(places[_index(places, sequence)[1] :], found, earlier=False, later=later)


def _complete(rows: Sequence[Row], limit: int, end: int) -> tuple[Sequence[Row], bool]:
    """Return the rows without the hundred at one end (0 or -1), which may be incomplete, if there are more than the limit; and
    whether there are more."""
    if len(rows) <= limit:
        return rows, False
    incomplete = hundred(rows[end].sequence)
    return [row for row in rows if hundred(row.sequence) != incomplete], True


def _places(found: Sequence[Bundle], view: View, selected: int | None = None) -> list[Place]:
    """Return a row for each bundle; an expanded bundle is followed by its other steps."""
    places: list[Place] = []
    for bundle in found:
        first, *others = bundle.steps
        is_open = first.sequence in view.unfolded or any(each.sequence == selected for each in others)
        shown = first if is_open else replace(first, failed=bundle.failed, duration_ms=bundle.duration_ms)
        places.append(Place(step=shown, inside=len(others), folds=bool(others), unfolded=is_open))
        if is_open:
            places += [Place(step=each, above=(first.sequence,)) for each in others]
    return places


def _index(places: Sequence[Place], sequence: int) -> tuple[int, int]:
    """Return the number of rows before the row of a step, and the number up to and including it."""
    numbers = [place.step.sequence for place in places]
    if sequence in numbers:
        return numbers.index(sequence), numbers.index(sequence) + 1
    before = next((at for at, number in enumerate(numbers) if number > sequence), len(numbers))
    return before, before


def _compact(places: Sequence[Place], found: Sequence[Bundle], *, earlier: bool, later: bool) -> Compact:
    return Compact(
        window=Window(
            rows=places,
            earlier=places[0].step.sequence if earlier and places else None,
            later=places[-1].step.sequence if later and places else None,
        ),
        standing={bundle.head.sequence: bundle for bundle in found if len(bundle.steps) > 1},
    )

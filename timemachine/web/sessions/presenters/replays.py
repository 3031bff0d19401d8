"""A session's replays on its timeline: the progress of the newest, and the verdicts of the selected one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.numbers import counted, spaced
from timemachine.recording.annotations.notes.queries import noted_steps
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.pieces import StepRange, session_picture
from timemachine.recording.timeline.rows import Window
from timemachine.replay.runs import queries
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.statuses import OPEN_STEP_STATUSES
from timemachine.web.sessions.presenters.picture import (
    MOST_PINS,
    Drawing,
    Outcome,
    ReplayedSteps,
    drawing,
    picture_over,
)
from timemachine.web.sessions.presenters.url_state import UrlState

SHOWN: Final = 2
MOST_MARKS: Final = 300
"""In how many stretches the steps of a replay are drawn."""
NO_STANDING: Final[Mapping[int, str]] = {}
SAME: Final = frozenset({"identical", "same_action", "formatting", "equivalent", "same", "verified"})
WRONG: Final = frozenset({"failed", "error", "altered", "missing"})
BESIDE: Final = {"changed": "passages", "reordered": "order of passages"}
NOT_COMPARED: Final = ("not_recorded", "reconstructed", "skipped", "cancelled")
SIGNS: Final = {"waiting": "○", "running": "◐", "uncertain": "?", **dict.fromkeys(NOT_COMPARED, "–")}
OUTCOMES: Final[Mapping[str, Outcome]] = {
    **dict.fromkeys(SAME, Outcome.SAME),
    **dict.fromkeys(WRONG, Outcome.FAILED),
    **dict.fromkeys(NOT_COMPARED, Outcome.NOT_COMPARED),
    **dict.fromkeys(OPEN_STEP_STATUSES, Outcome.WAITING),
}
"""How the picture draws verdicts and statuses. All other verdicts differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A replay of the session, its progress, and whether it is the selected one."""

    progress: queries.Progress
    is_chosen: bool

    @property
    def words(self) -> str:
        """Return the progress in words: `Replay running: 12 of 40 steps, 2 failed`."""
        found = self.progress
        but = f", {found.failed:,} failed" if found.failed else ""
        but += ", nothing could be verified" if found.is_unverified else ""
        done = f"Replay {found.replay.status}: {found.done - found.skipped:,} of {counted(found.total, 'step')}{but}"
        return f"{done}, {found.skipped:,} not asked because of the spend limit" if found.skipped else done

    @property
    def outcome(self) -> str:
        """Return the status that sets its colour: `failed` as soon as a step has failed, none if nothing could be verified."""
        status = "" if self.progress.is_unverified else self.progress.replay.status
        return "failed" if self.progress.failed else status


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The replays that a timeline shows. `revision` changes with each of them."""

    lines: Sequence[Line]
    revision: str

    @property
    def is_open(self) -> bool:
        """Return whether any of them is queued or running."""
        return any(line.progress.is_open for line in self.lines)

    @property
    def announcement(self) -> str:
        """Return how the selected or newest replay ended; empty while one is running."""
        return self.lines[0].words if self.lines and not self.is_open else ""

    @property
    def looked_at(self) -> queries.Progress | None:
        """Return the replay in the picture: the selected one, else the newest running one."""
        chosen = [line.progress for line in self.lines if line.is_chosen]
        running = [line.progress for line in self.lines if line.progress.is_open]
        return next(iter([*chosen, *running]), None)


def replayed(session: Session, chosen: Replay | None = None, *, unless: str | None = None) -> Replayed | None:
    """Return the session's newest replays and the selected one; None if nothing changed since a revision. At most two queries."""
    found = queries.newest_replays(session, SHOWN, chosen)
    revision = "-".join(f"{each.id.hex[-8:]}.{each.revision}" for each in found)
    if revision == unless:
        return None
    lines = [
        Line(progress=each, is_chosen=chosen is not None and each.replay.id == chosen.id)
        for each in (queries.progress_of(found) if found else [])
    ]
    return Replayed(lines=lines, revision=revision)


def replays_shown(session: Session, named: str) -> tuple[Replayed | None, bool]:
    """Return the replays of a timeline, with the one named in the URL, and whether there is none with that name. At most three queries."""
    chosen = queries.replay_named(session, named)
    return replayed(session, chosen), bool(named) and chosen is None


def row_verdicts(
    session: Session, named: str, window: Window, standing: Mapping[int, str] = NO_STANDING
) -> Mapping[int, SafeString]:
    """Return the verdicts of the rows of a page in the replay that the URL selects. Two queries, none without a selection.

    A row that stands for several steps, as `standing` tells, has no verdict, because the steps may have different ones.
    """
    several = {first for first, words in standing.items() if words.startswith("×")}
    sequences = [place.step.sequence for place in window.rows if place.step.sequence not in several]
    return replay_marks(queries.replay_named(session, named), sequences)


def replay_marks(chosen: Replay | None, sequences: Collection[int]) -> Mapping[int, SafeString]:
    """Return the verdicts of these steps in a replay, each as a sign and a word. One query, none without a replay."""
    if chosen is None:
        return {}
    return {each.sequence: state_mark(each) for each in queries.states_of(chosen, sequences)}


def state_mark(state: queries.StepState) -> SafeString:
    """Return the verdict of a finished step, else its status; also if only its passages or their order differ."""
    is_done = state.status == "done"
    word = (is_done and (state.verdict or state.retrieval or state.context)) or state.status
    sign = SIGNS.get(word) or ("✓" if word in SAME else "✗" if word in WRONG else "≠")
    mark = format_html(
        '<span class="verdict {}">{} {}</span>', word, "✓" if word == "done" else sign, spaced(word)
    )
    beside = BESIDE.get(state.retrieval or "") if is_done and word in SAME else None
    return (
        format_html('{} <span class="verdict passages_differ">≠ {}</span>', mark, beside) if beside else mark
    )


def drawing_of(session: Session, state: UrlState, replays: Replayed | None) -> Drawing | None:
    """Return the picture of the steps within the filter; None for a session without steps. Three queries, and one with a replay."""
    steps = state.shown.steps
    span = None if steps is None else StepRange(first=steps[0], last=steps[1])
    found = picture_over(state.axis, lambda axis: session_picture(session, axis, span))
    if found is None:
        return None
    noted = noted_steps(session, found.first, found.last, MOST_PINS + 1)
    rerun = replayed_steps(replays, found.first, found.last)
    return drawing(found, noted, rerun, asked=state.axis)


def replayed_steps(shown: Replayed | None, first: int, last: int) -> ReplayedSteps | None:
    """Return the steps of the selected replay, else of the newest running one, for the picture; None without one. One query."""
    progress = shown.looked_at if shown else None
    if progress is None:
        return None
    states = queries.states_between(progress.replay, first, last, MOST_MARKS)
    outcomes = [(each.sequence, outcome_of(each)) for each in states]
    return ReplayedSteps(outcomes=outcomes, reached=progress.reached)


def outcome_of(state: queries.StepState) -> Outcome:
    """Return how the picture draws a step of a replay."""
    if state.status != "done":
        return OUTCOMES[state.status]
    return OUTCOMES.get(state.verdict or state.retrieval or state.context or "not_recorded", Outcome.DIFFERS)

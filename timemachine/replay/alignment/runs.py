"""A run that can be compared: a session or a replay, with its steps and totals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.numbers import sum_known
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.usage.queries import reasons_of, reasons_of_session, totals_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.queries import replay_of
from timemachine.replay.runs.tallies import tally, unknown_reasons
from timemachine.text.pure.difference.steps import StepFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A session, or a replay of it."""

    session: Session
    replay: Replay | None = None

    @property
    def id(self) -> UUID:
        """Return the UUID that identifies it in a URL."""
        return self.replay.id if self.replay else self.session.id

    @property
    def kind(self) -> str:
        """Return `session` or `replay`."""
        return "replay" if self.replay else "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTotals:
    """The totals of a run's compared steps. Tokens and duration are None if none were recorded, US dollars if nothing was priced.

    `unknown_reasons` has the number of calls for each reason why a cost is unknown.
    """

    steps: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_cost_calls: int
    unknown_reasons: Mapping[str, int]
    duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A step of a run: what is compared, and what a list shows. Costs are US dollars, None if unknown or no model was called.

    `unknown_cost` distinguishes a call of unknown price from a step without a call; `not_asked` is why a
    replay made no call. A `copied` step of a session happened in another one: it is in no total.
    """

    facts: StepFacts
    label: str
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_cost: bool
    not_asked: str | None = None
    copied: bool = False

    @property
    def sequence(self) -> int:
        return self.facts.sequence


def run_of(project: Project, name: str) -> Run:
    """Return the project's session with that UUID or key, or its replay with that UUID; for a continuation, its branch.
    Raises `NotFound`."""
    try:
        return Run(session=session_of(project, name))
    except NotFound:
        pass
    try:
        replay = replay_of(project, name)
    except NotFound as why:
        raise NotFound(
            f"There is no session or replay {name[:80]!r} in this project; see the list of sessions.",
            code="run_not_found",
        ) from why
    return Run(session=replay.session, replay=replay) if replay.branch is None else Run(session=replay.branch)


def steps_before(run: Run, other: Run) -> int:
    """Return how many steps of this run the other one does not repeat, because it continues the step after them; 0 for
    other runs. At most one query."""
    branch = other.session
    if run.replay is not None or other.replay is not None or branch.parent_id != run.session.id:
        return 0
    is_continuation = Replay.objects.filter(branch=branch).exists()
    return (branch.parent_sequence or 0) if is_continuation else 0


def totals(run: Run, steps: Sequence[RunStep], *, only_replayed: bool, after: int = 0) -> RunTotals:
    """Return the totals of the steps of a run, or of those after a step. One query, four for a replay, and one more if costs
    are unknown."""
    if run.replay is not None:
        return _replay_totals(run.replay, steps)
    actions = Action.objects.filter(session=run.session, sequence__gt=after)
    if only_replayed:
        compared = actions.filter(kind__in=REPLAYED_KINDS)
        found = _sums(steps, totals_of(compared).elapsed_ms)
        return replace(found, unknown_reasons=reasons_of(compared)) if found.unknown_cost_calls else found
    whole = totals_of(actions)
    return RunTotals(
        steps=whole.actions,
        errors=whole.errors,
        input_tokens=whole.input_tokens,
        output_tokens=whole.output_tokens,
        cost_usd=whole.cost_usd,
        unknown_cost_calls=whole.unknown_cost_calls,
        unknown_reasons=reasons_of(actions) if after else reasons_of_session(run.session),
        duration_ms=whole.elapsed_ms if after else run.session.duration_ms,
    )


def frame_key(frame: object, sha256: str | None) -> str:
    """Return what identifies the passage of a hit: its text, or the frame's name if it was not hashed."""
    return sha256 or f"frame {frame}"


def _replay_totals(replay: Replay, steps: Sequence[RunStep]) -> RunTotals:
    """Return the totals with the cost as `tally` counts it, including lost attempts."""
    counts = tally(replay)
    start, end = replay.started_at, replay.finished_at
    found = _sums(steps, (end - start) / timedelta(milliseconds=1) if start and end else None)
    return replace(
        found,
        cost_usd=counts.cost_usd,
        unknown_cost_calls=counts.unknown_cost_calls,
        unknown_reasons=unknown_reasons(replay, counts),
    )


def _sums(steps: Sequence[RunStep], duration_ms: float | None) -> RunTotals:
    return RunTotals(
        steps=len(steps),
        errors=sum(step.facts.error is not None for step in steps),
        input_tokens=sum_known(*(step.input_tokens for step in steps)),
        output_tokens=sum_known(*(step.output_tokens for step in steps)),
        cost_usd=sum_known(*(step.cost_usd for step in steps)),
        unknown_cost_calls=sum(step.unknown_cost for step in steps),
        unknown_reasons={},
        duration_ms=duration_ms,
    )

"""What changes in comparisons: one is launched, cancelled, tried again, and a person marks a cell of it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.llm.queries import usable_model
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.comparison import results
from timemachine.replay.comparison.judge_queue import cancel_judges
from timemachine.replay.comparison.models import MARKS, WITHDRAWN, CellMark, Comparison, ComparisonReplay
from timemachine.replay.comparison.pure import variants as comparison_arms
from timemachine.replay.comparison.pure.variants import MOST_ANSWERS, MOST_REPLAYS, Arm
from timemachine.replay.comparison.queries import mark_by
from timemachine.replay.runs import commands as replays
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.plan import READ_TOGETHER, Planned, Planning, replayable_of
from timemachine.replay.runs.pure.options import ReplayOptions

LONGEST_NOTE = 4_000
RETRIED = ("failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be compared: these sessions' asks, with each arm, so many times; `noise_floor` asks each arm once more."""

    sessions: Sequence[Session]
    arms: Sequence[Arm]
    repeats: int = 1
    noise_floor: bool = False
    reason: str | None = None
    spend_limit_usd: float | None = None

    @property
    def runs(self) -> list[int]:
        """The numbers of the runs of each arm: 1, 2, …, and 0 for the noise floor."""
        return [*range(1, self.repeats + 1), *([0] if self.noise_floor else [])]


def create(project: Project, plan: Plan, *, by: str, comparison_id: UUID | None = None) -> Comparison:
    """Launch an audit replay for each session, arm and run, in one transaction; the caller enqueues them.

    The same `comparison_id` a second time (a form sent twice) is the same comparison. Raises `InvalidInput` (arms or sessions that
    cannot be compared, an unknown model, no reason), `Unavailable` (a model that cannot be used here), `Conflict` (that id is of
    a comparison of something else): nothing is made then.
    """
    plan = checked(project, plan)
    comparison_arms.check_reason(plan.reason)
    facts = {
        "project_id": project.id,
        "arms": [arm.as_json() for arm in plan.arms],
        "repeats": plan.repeats,
        "noise_floor": plan.noise_floor,
        "spend_limit_usd": plan.spend_limit_usd,
        "reason": plan.reason,
    }
    with transaction.atomic():
        made, new = Comparison.objects.get_or_create(
            id=comparison_id or uuid7(), defaults=facts | {"requested_by": by}
        )
        if new:
            _launch(made, plan)
        elif not _is_of(made, facts, plan):
            raise Conflict(
                "This form launched a comparison already, of something else; send it once more to launch this one as well.",
                code="form_used",
            )
    return made


def checked(project: Project, plan: Plan) -> Plan:
    """The plan with the models' resolved names, once it is clear that with a reason it can be launched. Raises as `create` does."""
    comparison_arms.check(plan.arms, plan.repeats)
    if not plan.sessions:
        raise InvalidInput(
            "Choose at least one session to compare.", code="sessions_needed", field="sessions"
        )
    resolved = [
        arm.model_copy(update={"model": str(usable_model(project.id, arm.model))}) for arm in plan.arms
    ]
    comparison_arms.check_apart(resolved)
    sessions = list({session.id: session for session in plan.sessions}.values())
    runs = len(resolved) * len(plan.runs)
    asks = Action.objects.filter(session__in=sessions, kind="ask").count()
    _check_number(len(sessions) * runs, MOST_REPLAYS, "replays", code="too_many_replays")
    _check_number(asks * runs, MOST_ANSWERS, "answers", code="too_many_answers")
    return replace(plan, sessions=sessions, arms=resolved)


@transaction.atomic
def cancel(comparison: Comparison, *, by: str | None = None) -> None:
    """Cancel every replay of it that is not over, and its judges. Raises `Conflict` where nothing of it goes on."""
    cancelled = cancel_judges(comparison)
    for replay in Replay.objects.filter(run__comparison=comparison, finished_at=None).order_by("id"):
        with suppress(Conflict):  # it came to its end meanwhile
            replays.cancel(replay, by=by)
            cancelled += 1
    if not cancelled:
        raise Conflict("This comparison is over already.", code="comparison_over")


@transaction.atomic
def retry(comparison: Comparison) -> list[UUID]:
    """Let the failed and cancelled steps of its finished replays run again; which replays are to be enqueued.

    Raises `Conflict` where one still runs, or no step failed or was cancelled.
    """
    of_it = Replay.objects.filter(run__comparison=comparison)
    if of_it.filter(finished_at=None).exists():
        raise Conflict(
            "This comparison still runs; wait for it or cancel it first.", code="comparison_running"
        )
    again = of_it.filter(steps__status__in=RETRIED).distinct().order_by("id")
    if not again:
        raise Conflict(
            "No answer of this comparison failed or was cancelled, so there is nothing to ask again.",
            code="nothing_failed",
        )
    results.try_again(comparison)
    return [replays.retry(replay).id for replay in again]


def mark(comparison: Comparison, step: ReplayStep, verdict: str, *, by: str, note: str = "") -> CellMark:
    """Keep what a person says of a cell; `withdrawn` takes the person's mark back. Raises `InvalidInput`, `Conflict`."""
    if verdict not in MARKS:
        raise InvalidInput(f"A mark is one of {', '.join(MARKS)}.", code="invalid_field", field="verdict")
    if len(note) > LONGEST_NOTE:
        raise InvalidInput(
            f"A note has at most {LONGEST_NOTE:,} characters.", code="invalid_field", field="note"
        )
    if step.output_id is None:
        raise Conflict("This cell has no answer, so there is nothing to mark.", code="no_answer")
    if verdict == WITHDRAWN and mark_by(step, by) is None:
        raise Conflict("You have no mark on this cell that could be taken back.", code="not_marked")
    return CellMark.objects.create(
        comparison=comparison, step=step, verdict=verdict, note=note.strip(), marked_by=by[:254]
    )


def _check_number(number: int, most: int, what: str, *, code: str) -> None:
    if number > most:
        raise InvalidInput(
            f"That would be {number:,} {what}, and a comparison has at most {most:,}; take fewer sessions, arms or repeats.",
            code=code,
            field="sessions",
        )


def _is_of(made: Comparison, facts: Mapping[str, Any], plan: Plan) -> bool:
    """Whether the comparison compares just this."""
    sessions = set(made.runs.values_list("replay__session_id", flat=True))
    same = all(getattr(made, name) == value for name, value in facts.items())
    return same and sessions == {session.id for session in plan.sessions}


def _launch(made: Comparison, plan: Plan) -> None:
    planning, options = Planning(made.project_id), _options(made, plan)
    for together in batched(replayable_of(plan.sessions), READ_TOGETHER):
        members = [
            (_planned(planning, session, each, actions), arm, repeat)
            for session, actions in together
            for arm, each in enumerate(options, 1)
            for repeat in plan.runs
        ]
        launched = replays.launch_planned(
            [planned for planned, _, _ in members], by=made.requested_by, spend_group=made.id
        )
        ComparisonReplay.objects.bulk_create(
            ComparisonReplay(comparison=made, replay=replay, arm=arm, repeat=repeat)
            for replay, (_, arm, repeat) in zip(launched, members, strict=True)
        )


def _options(made: Comparison, plan: Plan) -> list[ReplayOptions]:
    return [arm.options(reason=made.reason, spend_limit_usd=plan.spend_limit_usd) for arm in plan.arms]


def _planned(
    planning: Planning, session: Session, options: ReplayOptions, actions: Sequence[Action]
) -> Planned:
    try:
        return planning.plan(session, options, actions)
    except InvalidInput as why:
        if why.code != "nothing_to_replay":
            raise
        raise InvalidInput(
            f"The session {session.key} has no ask, so there is nothing to compare; leave it out.",
            code="nothing_to_compare",
            field="sessions",
        ) from why

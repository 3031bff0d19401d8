"""Commands that change comparisons: launch, cancel, retry, and rate a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.llm.queries import usable_model
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS
from timemachine.recording.sessions.queries import HAPPENED_HERE
from timemachine.replay.comparison import results
from timemachine.replay.comparison.judge_queue import cancel_judges
from timemachine.replay.comparison.models import MARKS, WITHDRAWN, CellMark, Comparison, ComparisonReplay
from timemachine.replay.comparison.pure import variants as comparison_arms
from timemachine.replay.comparison.pure.variants import MOST_ANSWERS, MOST_REPLAYS, Variant
from timemachine.replay.comparison.queries import mark_by
from timemachine.replay.runs import commands as replays
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.plan import READ_TOGETHER, PlannedReplay, Planner, check_limit, replayable_in
from timemachine.replay.runs.pure.options import ReplayOptions, check_reason

LONGEST_NOTE = 4_000
RETRIED = ("failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to compare: the asks of these sessions, with each variant, `repeats` times.

    `noise_floor` adds one more run of each variant.
    """

    sessions: Sequence[Session]
    arms: Sequence[Variant]
    repeats: int = 1
    noise_floor: bool = False
    reason: str | None = None
    spend_limit_usd: float | None = None

    @property
    def runs(self) -> list[int]:
        """Return the numbers of each variant's runs: 1, 2, …, and 0 for the noise floor."""
        return [*range(1, self.repeats + 1), *([0] if self.noise_floor else [])]


def create(project: Project, plan: Plan, *, by: str, comparison_id: UUID | None = None) -> Comparison:
    """Launch an audit replay for each session, variant and run, in one transaction. The caller enqueues them.

    Calling it again with the same `comparison_id` (a form that was sent twice) returns the same comparison.
    Nothing is stored if it raises.

    Raises: `InvalidInput` for variants or sessions that cannot be compared, an unknown model or a missing
    reason; `Unavailable` for a model that cannot be used here; `Conflict` if that id belongs to a different
    comparison.
    """
    plan = checked(project, plan)
    check_reason(plan.reason)
    facts = {
        "project_id": project.id,
        "arms": [arm.as_json() for arm in plan.arms],
        "repeats": plan.repeats,
        "noise_floor": plan.noise_floor,
        "spend_limit_usd": plan.spend_limit_usd,
        "reason": plan.reason,
    }
    with transaction.atomic():
        replays.check_form(Comparison, comparison_id, project.id)
        made, new = Comparison.objects.get_or_create(
            id=comparison_id or uuid7(), defaults=facts | {"requested_by": by}
        )
        if new:
            _launch(made, plan)
            models = [arm.model for arm in plan.arms]
            record(project, "comparison.launched", "comparison", made.id, by=by, models=models)
        elif not _is_of(made, facts, plan):
            raise replays.form_used("comparison")
    return made


def checked(project: Project, plan: Plan) -> Plan:
    """Return the plan with resolved model names if it could be launched, given a reason. Raises what `create` raises."""
    comparison_arms.check(plan.arms, plan.repeats)
    if not plan.sessions:
        raise InvalidInput(
            "Choose at least one session to compare.", code="sessions_needed", field="sessions"
        )
    models = [usable_model(project.id, arm.model) for arm in plan.arms]
    for each in models:
        check_limit(plan.spend_limit_usd, each)
    resolved = [
        arm.model_copy(update={"model": str(model)}) for arm, model in zip(plan.arms, models, strict=True)
    ]
    comparison_arms.check_distinct(resolved)
    sessions = list({session.id: session for session in plan.sessions}.values())
    runs = len(resolved) * len(plan.runs)
    asks = Action.objects.filter(HAPPENED_HERE, session__in=sessions, kind__in=MODEL_CALLS).count()
    _check_number(len(sessions) * runs, MOST_REPLAYS, "replays", code="too_many_replays")
    _check_number(asks * runs, MOST_ANSWERS, "answers", code="too_many_answers")
    return replace(plan, sessions=sessions, arms=resolved)


@transaction.atomic
def cancel(comparison: Comparison, *, by: str | None = None) -> None:
    """Cancel every running replay of the comparison, and its judges. Raises `Conflict` if none of them is running."""
    judges = cancel_judges(comparison)
    cancelled = replays.cancel_all(Replay.objects.filter(run__comparison=comparison), by=by)
    if not judges and not cancelled:
        raise Conflict("This comparison has already finished.", code="comparison_over")
    record(comparison.project_id, "comparison.cancelled", "comparison", comparison.pk, by=by or "")


@transaction.atomic
def retry(comparison: Comparison) -> list[UUID]:
    """Let the failed and cancelled steps of its finished replays run again, and return the replays to enqueue.

    Raises: `Conflict` if a replay is still running, or if no step failed or was cancelled.
    """
    of_it = Replay.objects.filter(run__comparison=comparison)
    if of_it.filter(finished_at=None).exists():
        raise Conflict(
            "This comparison is still running. Wait for it or cancel it first.", code="comparison_running"
        )
    retried = of_it.filter(steps__status__in=RETRIED).distinct().order_by("id")
    if not retried:
        raise Conflict(
            "No answer of this comparison failed or was cancelled, so there is nothing to retry.",
            code="nothing_failed",
        )
    results.allow_retry(comparison)
    record(comparison.project_id, "comparison.retried", "comparison", comparison.pk)
    return [replays.retry(replay).id for replay in retried]


def mark(comparison: Comparison, step: ReplayStep, verdict: str, *, by: str, note: str = "") -> CellMark:
    """Store a person's rating of a cell; `withdrawn` takes the rating back. Raises `InvalidInput`, `Conflict`."""
    if verdict not in MARKS:
        raise InvalidInput(
            f"A rating must be one of {', '.join(MARKS)}.", code="invalid_field", field="verdict"
        )
    if len(note) > LONGEST_NOTE:
        raise InvalidInput(
            f"A note can have at most {LONGEST_NOTE:,} characters.", code="invalid_field", field="note"
        )
    if step.output_id is None:
        raise Conflict("This cell has no answer to rate.", code="no_answer")
    if verdict == WITHDRAWN and mark_by(step, by) is None:
        raise Conflict("You have not rated this cell, so there is no rating to remove.", code="not_marked")
    return CellMark.objects.create(
        comparison=comparison, step=step, verdict=verdict, note=note.strip(), marked_by=by[:254]
    )


def _check_number(number: int, most: int, what: str, *, code: str) -> None:
    if number > most:
        raise InvalidInput(
            f"That would be {number:,} {what}, and a comparison can have at most {most:,}. Choose fewer sessions, variants or repeats.",
            code=code,
            field="sessions",
        )


def _is_of(made: Comparison, facts: Mapping[str, object], plan: Plan) -> bool:
    """Return whether the comparison has exactly this plan."""
    sessions = set(made.runs.values_list("replay__session_id", flat=True))
    same = all(getattr(made, name) == value for name, value in facts.items())
    return same and sessions == {session.id for session in plan.sessions}


def _launch(made: Comparison, plan: Plan) -> None:
    planner = Planner(made.project_id)
    options = [arm.options(reason=made.reason, spend_limit_usd=plan.spend_limit_usd) for arm in plan.arms]
    for together in batched(replayable_in(plan.sessions), READ_TOGETHER):
        members = [
            (_planned(planner, session, each, actions), arm, repeat)
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


def _planned(
    planner: Planner, session: Session, options: ReplayOptions, actions: Sequence[Action]
) -> PlannedReplay:
    try:
        return planner.plan(session, options, actions)
    except InvalidInput as why:
        if why.code != "nothing_to_replay":
            raise
        raise InvalidInput(
            f"The session {session.key} has no ask and no model call, so there is nothing to compare. Leave it out.",
            code="nothing_to_compare",
            field="sessions",
        ) from why

"""What a suite is to replay, and whether it can."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from timemachine.core.accounts.models import Project
from timemachine.core.pure.conditions import SUITE_NAMES, format_condition, parse_condition
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import is_plain
from timemachine.llm.queries import usable_model
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import SessionOptions, check
from timemachine.replay.suites.pure.matching import Matching, check_matching
from timemachine.replay.suites.pure.schedule import read_schedule, written_schedule

LONGEST_NAME: Final = 200
MOST_MODELS: Final = 8
MOST_REPLAYS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """A suite as requested: these sessions, each with each of the models (none: as the options say), and a schedule.

    The spend limit in `options` applies to a whole run. `fail_on` are conditions in text form, `schedule` is
    one of `schedule.FORMS`, and `matching` describes sessions to search for at each run. `sessions` replace
    those that a suite names, including erased ones; None leaves them unchanged.
    """

    name: str
    sessions: Sequence[Session] | None
    options: SessionOptions
    use_models: Sequence[str] = ()
    fail_on: Sequence[str] = ()
    schedule: str | None = None
    matching: Matching | None = None


def checked(
    project: Project,
    plan: SuitePlan,
    *,
    named: int = 0,
    kept_models: Collection[str] = (),
    kept_schedule: str | None = None,
    same_sessions: bool = False,
) -> SuitePlan:
    """Return the plan as it is stored: resolved model names, and conditions and schedule in their canonical form.

    What the suite already has does not prevent other changes: `kept_models` whose key is missing, a
    `kept_schedule` whose timezone is unknown, and erased sessions if they are the `same_sessions`. `named`
    counts the sessions that a plan without `sessions` leaves.

    Raises: `InvalidInput`, and `Unavailable` for another model that cannot be used here.
    """
    models = tuple(
        each if each in kept_models else str(usable_model(project.id, each)) for each in plan.use_models
    )
    sessions = plan.sessions and list({session.id: session for session in plan.sessions}.values())
    number = named if sessions is None else len(sessions)
    if not (number or plan.matching or same_sessions):
        raise InvalidInput(
            "A suite needs at least one session, or `matching` that finds one.",
            code="sessions_needed",
            field="sessions",
        )
    _check_size(plan, number, models)
    _check_options(plan.options, models)
    return replace(
        plan,
        name=_name(plan.name),
        sessions=sessions,
        use_models=models,
        fail_on=tuple(dict.fromkeys(condition_of(each) for each in plan.fail_on)),
        schedule=_schedule(plan.schedule, kept_schedule),
    )


def models_to_ask(models: Sequence[str]) -> list[str | None]:
    """Return the models to ask; None means the model of the replay options."""
    return list(models) or [None]


def options_of(stored: dict[str, Any]) -> SessionOptions:
    """Return the options that a suite or a run stores. Raises `InvalidInput` if one of them no longer exists."""
    try:
        return SessionOptions(**stored)
    except ValidationError as why:
        raise InvalidInput(
            "An option of this suite no longer exists. Set the suite's options again.",
            code="option_gone",
            field="options",
        ) from why


def _schedule(wanted: str | None, kept: str | None) -> str | None:
    return wanted if not wanted or wanted == kept else written_schedule(read_schedule(wanted))


def _name(written: str) -> str:
    name = written.strip()
    if not 0 < len(name) <= LONGEST_NAME or "/" in name or not is_plain(name):
        raise _invalid("name", f"must have 1 to {LONGEST_NAME} characters, without a slash")
    return name


def _check_size(plan: SuitePlan, named: int, models: Sequence[str]) -> None:
    if plan.matching is not None:
        check_matching(plan.matching)
    if len(models) > MOST_MODELS or len(set(models)) < len(models):
        raise _invalid("use_models", f"must name at most {MOST_MODELS} models, each once")
    sessions = named + (plan.matching.most if plan.matching else 0)
    number = sessions * len(models_to_ask(models))
    if number > MOST_REPLAYS:
        raise InvalidInput(
            f"That would be {number:,} replays a run, and a suite can have at most {MOST_REPLAYS:,}. Choose fewer sessions or models.",
            code="too_many_replays",
            field="sessions",
        )


def _check_options(options: SessionOptions, models: Sequence[str]) -> None:
    for model in models_to_ask(models):
        check(options.with_model(model))


def condition_of(text: str) -> str:
    """Return the condition in its canonical form. Raises `InvalidInput`."""
    found = parse_condition(text, SUITE_NAMES)
    if found is None:
        raise _invalid("fail_on", f"must be one of {', '.join(SUITE_NAMES)}, or cost:USD, not {text[:60]!r}")
    return format_condition(found)


def _invalid(field: str, says: str) -> InvalidInput:
    return InvalidInput(f"`{field}` {says}.", code="invalid_field", field=field)

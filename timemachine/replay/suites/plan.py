"""What a suite is to replay, and whether it can."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from timemachine.core.accounts.models import Project
from timemachine.core.pure.conditions import SUITE_NAMES, format_condition, parse_condition
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.postgres_text import is_plain
from timemachine.core.pure.schemas import Strict
from timemachine.llm.queries import usable_model
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.plan import check_limit
from timemachine.replay.runs.pure.options import SessionOptions, check, check_reason
from timemachine.replay.suites.pure.schedule import read_schedule, written_schedule

LONGEST_NAME: Final = 200
MOST_MODELS: Final = 8
MOST_REPLAYS: Final = 1_000
MOST_MATCHED: Final = 200
LONGEST_TEXT: Final = 200


class Matching(Strict):
    """The newest `most` sessions of this agent, user and tag, with `q` in their name or key. An empty text matches any."""

    q: str = ""
    agent: str = ""
    user: str = ""
    tag: str = ""
    most: int = 20

    @property
    def texts(self) -> dict[str, str]:
        return {name: value for name, value in self if name != "most" and value}

    def as_json(self) -> dict[str, object]:
        """Return the stored form: the conditions and the maximum number."""
        return {**self.texts, "most": self.most}

    def words(self) -> str:
        """Return for example `the newest 20 sessions with tag regression`."""
        texts = ", ".join(f"{name} {value}" for name, value in self.texts.items())
        return f"the newest {counted(self.most, 'session')} with {texts}"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSuite:
    """What the suite already has. None of it stops another change from being saved.

    `sessions` is how many it names, and `same_sessions` says that the plan leaves them. A model of `models` may lack its
    key, the `schedule` may have an unknown timezone, and sessions that are left may be erased.
    """

    sessions: int = 0
    models: Collection[str] = ()
    schedule: str | None = None
    same_sessions: bool = False


def checked(project: Project, plan: SuitePlan, stored: StoredSuite | None = None) -> SuitePlan:
    """Return the plan as it is stored: what `runnable` returns for it, with its name. Raises what `runnable` raises, and
    `InvalidInput` without a name, or for an audit without a reason."""
    found = replace(runnable(project, plan, stored), name=_name(plan.name))
    if plan.options.audit:
        check_reason(plan.options.reason)
    return found


def runnable(project: Project, plan: SuitePlan, stored: StoredSuite | None = None) -> SuitePlan:
    """Return the plan with resolved model names, and conditions and schedule in their canonical form.

    Raises: `InvalidInput`, and `Unavailable` for another model that cannot be used here.
    """
    stored = stored or StoredSuite()
    models = tuple(
        each if each in stored.models else _model(project, each, plan.options) for each in plan.use_models
    )
    sessions = plan.sessions and list({session.id: session for session in plan.sessions}.values())
    schedule = plan.schedule
    number = stored.sessions if sessions is None else len(sessions)
    if not (number or plan.matching or stored.same_sessions):
        raise InvalidInput(
            "A suite needs at least one session, or `matching` that finds one.",
            code="sessions_needed",
            field="sessions",
        )
    _check_size(plan, number, models)
    for model in models_to_ask(models):
        check(plan.options.with_model(model))
    return replace(
        plan,
        sessions=sessions,
        use_models=models,
        fail_on=tuple(dict.fromkeys(condition_of(each) for each in plan.fail_on)),
        schedule=schedule
        if not schedule or schedule == stored.schedule
        else written_schedule(read_schedule(schedule)),
    )


def models_to_ask(models: Sequence[str]) -> list[str | None]:
    """Return the models to ask; None means the model of the replay options."""
    return list(models) or [None]


def options_of(stored: JsonObject) -> SessionOptions:
    """Return the options that a suite or a run stores. Raises `InvalidInput` if one of them no longer exists."""
    try:
        return SessionOptions(**stored)
    except ValidationError as why:
        raise InvalidInput(
            "An option of this suite no longer exists. Set the suite's options again.",
            code="option_gone",
            field="options",
        ) from why


def matching_of(stored: JsonObject | None) -> Matching | None:
    """Return the description that `as_json` stored."""
    return None if stored is None else Matching(**stored)


def check_matching(matching: Matching) -> None:
    """Raise `InvalidInput` if there is no condition, or if the number is out of range."""
    if not any(value.strip() for value in matching.texts.values()):
        raise _invalid("matching", "needs at least one of `q`, `agent`, `user` and `tag`")
    if any(len(value) > LONGEST_TEXT for value in matching.texts.values()):
        raise _invalid("matching", f"must have values of at most {LONGEST_TEXT} characters")
    if not 1 <= matching.most <= MOST_MATCHED:
        raise _invalid("matching", f"must include the newest 1 to {MOST_MATCHED} sessions (`most`)")


def _model(project: Project, named: str, options: SessionOptions) -> str:
    model = usable_model(project.id, named)
    check_limit(options.spend_limit_usd, model)
    return str(model)


def _name(written: str) -> str:
    name = written.strip()
    if not 0 < len(name) <= LONGEST_NAME or "/" in name or not is_plain(name):
        raise _invalid("name", f"must have 1 to {LONGEST_NAME} characters and no slash")
    return name


def _check_size(plan: SuitePlan, named: int, models: Sequence[str]) -> None:
    if plan.matching is not None:
        check_matching(plan.matching)
    if len(models) > MOST_MODELS or len(set(models)) < len(models):
        raise _invalid("use_models", f"must name at most {MOST_MODELS} models, each only once")
    sessions = named + (plan.matching.most if plan.matching else 0)
    number = sessions * len(models_to_ask(models))
    if number > MOST_REPLAYS:
        raise InvalidInput(
            f"That would be {number:,} replays a run, and a suite can have at most {MOST_REPLAYS:,}. Choose fewer sessions or models.",
            code="too_many_replays",
            field="sessions",
        )


def condition_of(text: str) -> str:
    """Return the condition in its canonical form. Raises `InvalidInput`."""
    found = parse_condition(text, SUITE_NAMES)
    if found is None:
        raise _invalid("fail_on", f"must be one of {', '.join(SUITE_NAMES)}, or cost:USD, not {text[:60]!r}")
    return format_condition(found)


def _invalid(field: str, says: str) -> InvalidInput:
    return InvalidInput(f"`{field}` {says}.", code="invalid_field", field=field)

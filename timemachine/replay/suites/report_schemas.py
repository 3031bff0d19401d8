"""What changed between two runs of a suite, as the API returns it."""

from collections.abc import Mapping
from typing import cast

from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import Kind
from timemachine.replay.suites.pure.changes import StepChange, StepFact
from timemachine.replay.suites.schemas import RunStatus


class StepFactOut(Schema):
    """The result of a step in one run; `answer` and `passages` are hashes, `step` is the path of its page."""

    status: str
    verdict: str | None
    context: str | None
    retrieval: str | None
    answer: str | None
    passages: str | None
    model: str | None
    cost_usd: float | None
    took_ms: float | None
    error: str | None
    replay_id: str
    step: str

    @classmethod
    def of(cls, fact: StepFact | None) -> "StepFactOut | None":
        """The result; None if the run had no such step."""
        if fact is None:
            return None
        return cls.model_construct(
            status=fact.status,
            verdict=fact.verdict,
            context=fact.context,
            retrieval=fact.retrieval,
            answer=fact.answer,
            passages=fact.passages,
            model=fact.model,
            cost_usd=fact.cost_usd,
            took_ms=fact.took_ms,
            error=fact.error,
            replay_id=str(fact.replay),
            step=f"/replays/{fact.replay}/steps/{fact.sequence}/",
        )


class StepChangeOut(Schema):
    """A step of a run and the same step of the run before, and how they differ."""

    change: str
    session: str
    session_key: str | None
    model: str | None
    sequence: int
    kind: Kind
    label: str
    before: StepFactOut | None
    after: StepFactOut | None
    cost_change_usd: float | None
    took_change_ms: float | None

    @classmethod
    def of(cls, change: StepChange, keys: Mapping[str, str]) -> "StepChangeOut":
        """The change; `keys` are the keys of the sessions by their ids."""
        step = change.step
        return cls.model_construct(
            change=change.change,
            session=str(step.session),
            session_key=keys.get(str(step.session)),
            model=step.model,
            sequence=step.sequence,
            kind=cast("Kind", step.kind),
            label=step.label,
            before=StepFactOut.of(change.before),
            after=StepFactOut.of(change.after),
            cost_change_usd=change.cost_change,
            took_change_ms=change.took_change,
        )


class SuiteReport(Schema):
    """A page of the steps of a run, each with the same step of the `previous` run; null if there is none."""

    run: int
    status: RunStatus
    previous: int | None
    items: list[StepChangeOut]
    next: str | None

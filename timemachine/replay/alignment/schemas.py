"""Two aligned runs as the API returns them."""

from typing import Any, Literal, cast

from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import Kind, Role
from timemachine.replay.alignment.queries import Aligned, Side
from timemachine.replay.alignment.runs import RunStep


class SideOut(Schema):
    """A session or replay that is compared, and its totals. Money is US dollars."""

    kind: Literal["session", "replay"]
    id: str
    session: str
    key: str
    name: str
    replay_kind: Literal["audit", "debug", "trial"] | None
    model: str | None
    started_at: str | None
    steps: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    duration_ms: float | None

    @classmethod
    def of(cls, side: Side) -> "SideOut":
        """The side."""
        run, totals = side.run, side.totals
        return cls.model_construct(
            kind=cast("Any", run.kind),
            id=str(run.id),
            session=str(run.session.id),
            key=run.session.key,
            name=run.session.name,
            replay_kind=cast("Any", run.replay.kind) if run.replay else None,
            model=run.replay.model if run.replay else None,
            started_at=written(run.replay.started_at if run.replay else run.session.began_at),
            steps=totals.steps,
            errors=totals.errors,
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            cost_usd=dollars(totals.cost_usd),
            unknown_cost_calls=totals.unknown_cost_calls,
            duration_ms=totals.duration_ms,
        )


class SideStep(Schema):
    """A step of one side; `not_asked` says why a replay left its call out."""

    sequence: int
    kind: Kind
    tool: str | None
    name: str | None
    role: Role | None
    label: str
    model: str | None
    error: Any
    answered: bool
    not_asked: str | None
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None

    @classmethod
    def of(cls, step: RunStep) -> "SideStep":
        """The step."""
        facts = step.facts
        return cls.model_construct(
            sequence=facts.sequence,
            kind=cast("Kind", facts.kind),
            tool=facts.tool,
            name=facts.name,
            role=cast("Role | None", facts.role),
            label=step.label,
            model=facts.model,
            error=facts.error,
            answered=facts.answered,
            not_asked=step.not_asked,
            duration_ms=step.duration_ms,
            input_tokens=step.input_tokens,
            output_tokens=step.output_tokens,
            cost_usd=dollars(step.cost_usd),
        )


class StepPairOut(Schema):
    """Two steps that belong together, and in what they differ; a side is null if it has no such step.

    `moved` is the number of the step on the other side.
    """

    status: Literal["same", "modified", "moved", "only_left", "only_right", "not_asked"]
    differs_in: list[str]
    moved: int | None
    a: SideStep | None
    b: SideStep | None

    @classmethod
    def of(cls, found: Aligned, place: int) -> "StepPairOut":
        """The pair at this place."""
        pair = found.pairs[place]
        return cls.model_construct(
            status=cast("Any", pair.status),
            differs_in=list(pair.differs_in),
            moved=pair.moved,
            a=SideStep.of(found.left.steps[pair.left.sequence]) if pair.left else None,
            b=SideStep.of(found.right.steps[pair.right.sequence]) if pair.right else None,
        )


class AlignmentOut(Schema):
    """Two runs with their totals, how many pairs there are of each status, and a page of the pairs."""

    a: SideOut
    b: SideOut
    compared: Literal["finds_and_asks", "steps"]
    counts: dict[str, int]
    items: list[StepPairOut]
    next: str | None

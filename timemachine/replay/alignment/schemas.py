"""Two aligned runs as the API returns them."""

from typing import Any, Literal

from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import Kind, Role
from timemachine.replay.alignment.divergence import Divergence
from timemachine.replay.alignment.queries import Aligned, Side
from timemachine.replay.alignment.runs import RunStep
from timemachine.replay.runs.pure.options import ReplayKind


class SideOut(Schema):
    """A session or replay that is compared, and its totals. Money is US dollars.

    The steps up to `after` are left out: the other run is a continuation that goes on after them. 0: all are compared.
    """

    kind: Literal["session", "replay"]
    id: str
    session: str
    key: str
    name: str
    replay_kind: ReplayKind | None
    model: str | None
    started_at: str | None
    after: int
    steps: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    duration_ms: float | None

    @classmethod
    def of(cls, side: Side) -> "SideOut":
        run, session, replay = side.run, side.run.session, side.run.replay
        return cls.from_attributes(
            side.totals,
            kind=run.kind,
            id=run.id,
            session=session.id,
            key=session.key,
            name=session.name,
            replay_kind=replay.kind if replay else None,
            model=replay.model if replay else None,
            started_at=replay.started_at if replay else session.began_at,
            after=side.after,
        )


class SideStep(Schema):
    """A step of one side; `not_asked` says why a replay left its call out. `copied`: it happened in another session, and is in no total."""

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
    copied: bool
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None

    @classmethod
    def of(cls, step: RunStep) -> "SideStep":
        return cls.from_attributes(
            step.facts,
            label=step.label,
            not_asked=step.not_asked,
            copied=step.copied,
            duration_ms=step.duration_ms,
            input_tokens=step.input_tokens,
            output_tokens=step.output_tokens,
            cost_usd=step.cost_usd,
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
        pair = found.pairs[place]
        return cls.from_attributes(
            pair,
            a=SideStep.of(found.left.steps[pair.left.sequence]) if pair.left else None,
            b=SideStep.of(found.right.steps[pair.right.sequence]) if pair.right else None,
        )


class DivergenceOut(Schema):
    """The first pair of steps in which two runs do something else, and what differs; a side is null if it has none there."""

    a: int | None
    b: int | None
    why: str

    @classmethod
    def of(cls, found: Divergence) -> "DivergenceOut":
        return cls(a=found.left, b=found.right, why=found.why)


class AlignmentOut(Schema):
    """Two runs with their totals, where they part first, how many pairs there are of each status, and a page of the pairs.

    `first_divergence` is null if no such step is found.
    """

    a: SideOut
    b: SideOut
    first_divergence: DivergenceOut | None
    compared: Literal["finds_and_asks", "steps"]
    counts: dict[str, int]
    items: list[StepPairOut]
    next: str | None

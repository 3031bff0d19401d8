"""What a session adds up to, and what was known at a step, as the API returns it."""

from typing import Any, Literal, cast

from timemachine.core.pure.schemas import Schema, Strict
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.vocabulary import Kind, Role
from timemachine.recording.timeline.pure.aggregation import BottomUp, Line, narrowed
from timemachine.recording.timeline.pure.filter import Filter
from timemachine.recording.timeline.state import State
from timemachine.recording.usage.pure.figures import Sums

Group = Literal["kind", "tool", "model", "agent"]


class JudgingCost(Schema):
    """What was spent on judging a session's answers. It is in no total of the session."""

    count: int
    cost_usd: float
    unknown_cost_calls: int


class SessionTotals(Schema):
    """What a session adds up to: counts, tokens, cost, times, tools and models. Durations are milliseconds, money is US dollars.

    `copied_actions` of the session happened in another session or file, and are in nothing else here. `corrections` change
    what another step counted, because it was stated differently later; they are in the sums of tokens and cost and in
    `unknown_cost_calls`, and in no other count. So the session's own `actions` is the sum of the three counts.

    `started_at` is the first start of a step, and `duration_ms` runs from there to the last end of a step; if no step has a
    time, they are about the stated start and the end of the session. `steps_ms` adds up what the steps took: a step
    within another one counts in both, and steps can run at the same time. `ended_at` is when the session was ended.
    `unknown_reasons` has the number of calls for each reason why a cost is unknown.
    """

    session: str
    actions: int
    copied_actions: int
    corrections: int
    kinds: dict[Kind, int]
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    unknown_reasons: dict[str, int]
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    started_at: str | None
    ended_at: str | None
    duration_ms: float | None
    first_step_at: str | None
    last_step_ended_at: str | None
    steps_ms: float | None
    max_iteration: int | None
    tools: dict[str, int]
    models: dict[str, int]


class SummaryOut(SessionTotals):
    """The totals of a session, what judging its answers cost, and how many notes are pinned to its steps."""

    judgements: JudgingCost
    notes: int


class StateMessage(Schema):
    """A message up to a step, whole; an ask is two, its question and its answer."""

    sequence: int
    role: Role | None
    content: Any


class FrameUsed(Schema):
    """A frame that was retrieved up to a step, and the step that retrieved it first."""

    frame: int | str | None
    version: int | None
    title: str | None
    first_used: int


class TotalsSoFar(Schema):
    """What the steps up to one add up to, without copied steps. `first` is their first start, `last` their last end."""

    kinds: dict[Kind, int]
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    first: str | None
    last: str | None


class StateOut(Schema):
    """What was known at a step. `frames_existed` is how many frames the session's collection had then, null without a collection. `as_of` is null for
    imported steps without times."""

    at: int
    as_of: str | None
    messages: list[StateMessage]
    frames_used: list[FrameUsed]
    frames_existed: int | None
    totals: TotalsSoFar

    @classmethod
    def of(cls, state: State, messages: list[StateMessage]) -> "StateOut":
        used = [FrameUsed.from_attributes(each, first_used=each.sequence) for each in state.frames_used]
        return cls.from_attributes(state, at=state.sequence, messages=messages, frames_used=used)


class TotalsFilter(Strict):
    """Which steps of a session are added up (the language of the timeline's filter; an empty text for all), and by what."""

    by: str = "kind"
    filter: str = ""
    limit: int = 50
    after: str | None = None


class SumsOut(Schema):
    """What some steps add up to, without copies and corrections; `timed_actions` of them recorded how long they took, `steps_ms` together."""

    actions: int
    timed_actions: int
    steps_ms: float | None
    calls: int
    tool_calls: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int

    @classmethod
    def of(cls, sums: Sums) -> "SumsOut":
        return cls.from_attributes(sums, actions=sums.steps, timed_actions=sums.timed, steps_ms=sums.took_ms)


class _LineOut(SumsOut):
    """The steps of one group; null where they name none. `share` is of the whole time, `filter` shows these steps alone."""

    share: float | None
    filter: str | None


class KindLine(_LineOut):
    """The steps of one kind."""

    kind: Kind | None


class ToolLine(_LineOut):
    """The steps of one tool."""

    tool: str | None


class ModelLine(_LineOut):
    """The steps of one model."""

    model: str | None


class AgentLine(_LineOut):
    """The steps of one agent."""

    agent: str | None


_LINES: dict[str, type[_LineOut]] = {
    "kind": KindLine,
    "tool": ToolLine,
    "model": ModelLine,
    "agent": AgentLine,
}


class TotalsOut(Schema):
    """What the steps that `filter` shows add up to, together and by group, the group that took longest first."""

    session: str
    by: Group
    filter: str
    totals: SumsOut
    items: list[KindLine] | list[ToolLine] | list[ModelLine] | list[AgentLine]
    next: str | None

    @classmethod
    def of(
        cls, session: Session, shown: Filter, found: BottomUp, items: list[_LineOut], following: str | None
    ) -> "TotalsOut":
        return cls.model_construct(
            session=str(session.id),
            by=cast("Group", found.by),
            filter=str(shown),
            totals=SumsOut.of(found.whole),
            items=cast("Any", items),
            next=following,
        )


def line_of(line: Line, by: str, shown: Filter) -> _LineOut:
    """One group of steps: its value under the name of the grouping."""
    alone = narrowed(shown, by, line.value)
    values = {by: line.value, "share": line.share, **dict(SumsOut.of(line.sums))}
    return _LINES[by].model_construct(**values, filter=None if alone is None else str(alone))

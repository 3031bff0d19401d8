"""One complete step of a run: its values, its error, and its passages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from timemachine.core.payloads.queries import value
from timemachine.core.pure.content import check_depth
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.completion import ended_by
from timemachine.recording.sessions.models import Action, Hit
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.alignment.runs import Run, frame_key
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.queries import passages_of, step_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameAt:
    """A passage at its rank; `key` identifies it, `name` is the frame's number or own name."""

    key: str
    rank: int
    title: str | None
    name: str
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDetail:
    """A step of a run. None means not recorded; `answered` is False if a replay did not ask.

    `ended` is the provider's finish reason. `frames` is None if a replay failed before it found any.
    """

    run: Run
    sequence: int
    kind: str
    tool: str | None
    label: str
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    duration_ms: float | None
    grounding: Any
    ended: str | None
    error: str | None
    input: Any
    output: Any
    answered: bool
    frames: Sequence[FrameAt] | None


def detail_of(run: Run, sequence: int) -> StepDetail:
    """Return the complete step of that sequence. Raises `NotFound`."""
    if run.replay is None:
        action = action_of(run.session, sequence)
        return _detail(run, action, action, answered=True)
    step = step_of(run.replay, sequence)
    answered = step.model is not None or step.error_message is not None
    return _detail(run, step.action, step, answered=answered)


def written(value: Any) -> str | None:
    """Return a value as text: JSON indented, a text unchanged."""
    return (
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    )


def structure(value: Any) -> Any:
    """Return the object or list that a value is or that a text contains; None for any other, or one that is too deep to compare."""
    if isinstance(value, str):
        if value.lstrip()[:1] not in {"{", "["}:
            return None
        try:
            value = json.loads(value)
            check_depth(value)
        except (ValueError, RecursionError, InvalidInput):
            return None
    return value if isinstance(value, dict | list) else None


def _detail(run: Run, action: Action, came: Action | ReplayStep, *, answered: bool) -> StepDetail:
    """Return the step: the recorded input, and its result in the run."""
    hits = frozen.hits_of(action) if isinstance(came, Action) else passages_of(came)
    return StepDetail(
        run=run,
        sequence=action.sequence,
        kind=action.kind,
        tool=action.tool,
        label=action.label,
        model=came.model,
        input_tokens=came.input_tokens,
        output_tokens=came.output_tokens,
        cost_usd=came.cost_usd,
        duration_ms=came.duration_ms,
        grounding=came.grounding,
        ended=ended_by(came.parameters),
        error=": ".join(part for part in (came.error_type, came.error_message) if part) or None,
        input=value(action.input) if isinstance(came, Action) else _question(came),
        output=_output(action, came),
        answered=answered,
        frames=None if hits is None else [frame_at(hit) for hit in hits],
    )


def _question(step: ReplayStep) -> Any:
    """Return the question of a replay: the recorded one, or the one that a trial used instead."""
    instead = step.replay.options.get("question")
    return value(step.action.input) if instead is None else instead


def _output(action: Action, came: Action | ReplayStep) -> Any:
    """Return the result; for an ask only the answer, in whatever form it was recorded."""
    answer = frozen.answer_of(action) if came is action and action.kind == "ask" else None
    return value(came.output) if answer is None else answer


def frame_at(hit: Hit | ReplayHit) -> FrameAt:
    """Return a hit as an entry of a ranked list."""
    frame = hit.frame
    return FrameAt(
        key=frame_key(frame, hit.sha256),
        rank=hit.rank,
        title=hit.title,
        name=f"#{frame}" if isinstance(frame, int) else str(frame or ""),
        score=hit.score,
    )

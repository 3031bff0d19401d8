"""A replay and its steps as a visitor sees them: both answers of a step, and what was computed from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from timemachine.core.payloads import queries as payloads
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.deletion.erasure.queries import ErasedParts, erased_parts, erased_passages_of_each
from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.read_models.links import session_name
from timemachine.governance.sharing.read_models.steps import RETRIEVAL, hits_in, shown_of_retrieval
from timemachine.governance.sharing.redactor import Redactor, naming_fields, payload_text
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.sessions.models import Action, FrozenPassage, Hit
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.timeline.schemas.actions import HitOut
from timemachine.replay.runs import frozen
from timemachine.replay.runs.answer_lines import AnswerLines
from timemachine.replay.runs.model_calls import calls_in, text_in
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.summary import Tally
from timemachine.replay.runs.queries import passages_of
from timemachine.text.redaction.pure.marks import HASH, REPEATS, mark
from timemachine.text.redaction.pure.values import with_texts_replaced

_COUNTED_RETRIEVAL: Final = ("verdict", "gained", "lost", "moved")
_GROUNDING: Final = ("label", "score")
_SAMPLE: Final[JsonObject] = {"label": "LOW", "score": 0.0}
_NOTHING_ERASED: Final = ErasedParts()
_NO_QUOTES: Final = ("not_asked", "cut_off")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReplay:
    """How a replay was launched and how it ended, not by whom. `branch` is the name of the session that a continuation recorded into."""

    id: UUID
    kind: str
    status: str
    model: str | None
    options: Mapping[str, Any]
    reason: str | None
    created_at: datetime
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLabel:
    """The one line that names a recorded step."""

    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReplayRow:
    """A step of a replay in a list: its name and result."""

    id: int
    sequence: int
    kind: str
    action: SharedLabel
    status: str
    asked_again_at: datetime | None
    waits_because: str | None
    context: str | None
    frames: Sequence[Mapping[str, Any]]
    retrieval: Mapping[str, Any] | None
    verdict: str | None
    evidence: Mapping[str, Any] | None
    grounding: Mapping[str, Any] | None
    model: str | None
    cost_usd: Decimal | None
    duration_ms: float | None
    erased: ErasedParts
    answer_lines: AnswerLines


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFrame:
    """A passage of a replayed step with its complete text; None if no text was recorded."""

    rank: int
    frame: Any
    version: int | None
    title: str | None
    sha256: str | None
    score: float | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttempt:
    """One attempt at a step. Its error is shown only if the step itself failed."""

    number: int
    started_at: datetime
    call_intended_at: datetime | None
    outcome: str | None
    calls_made: int | None
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRecording:
    """The recorded side of a replayed step."""

    model: str | None
    parameters: Any
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    duration_ms: float | None
    grounding: Any
    retrieval: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReplayStep:
    """A step of a replay, recorded and replayed.

    `asked` is the question that a trial asked instead of the recorded one. `recorded_frames` are the frozen
    passages, `found_frames` those that the replay found, `answer_frames` those that the new answer is based
    on. `recorded_calls` and `new_calls` are the tools that a model call calls. `erased_ranks` are the ranks of frozen passages that were partly or completely erased.
    """

    id: int
    session: UUID
    sequence: int
    kind: str
    status: str
    verdict: str | None
    context: str | None
    evidence: Mapping[str, Any] | None
    frames: Sequence[Mapping[str, Any]] | None
    retrieval: Mapping[str, Any] | None
    error_message: str | None
    model: str | None
    parameters: Any
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    duration_ms: float | None
    grounding: Any
    action: SharedRecording
    question: str | None
    asked: str | None
    recorded_answer: str | None
    new_answer: str | None
    recorded_calls: Sequence[ToolCall]
    new_calls: Sequence[ToolCall]
    recorded_frames: Sequence[SharedFrame]
    found_frames: Sequence[SharedFrame]
    answer_frames: Sequence[SharedFrame]
    erased_ranks: frozenset[int]
    attempts: Sequence[SharedAttempt]
    erased: ErasedParts


def shared_replay(replay: Replay, redactor: Redactor) -> SharedReplay:
    """Return the replay with its texts and options redacted."""
    return shown_of(
        SharedReplay,
        replay,
        model=redactor.text(replay.model),
        options=redactor.value(replay.options),
        reason=redactor.text(replay.reason),
        branch=None if replay.branch is None else session_name(replay.branch.name, redactor),
    )


def shared_tally(counted: Tally, redactor: Redactor, *, only_figures: bool) -> Tally:
    """Return the counts of a replay. Errors are shown only with the steps that the link shows, and the end of a continuation
    without quotes if a profile withholds something, or if the link shows `only_figures`.
    """
    return Tally(
        kind=counted.kind,
        status=counted.status,
        model=redactor.text(counted.model),
        statuses=counted.statuses,
        asked=counted.asked,
        contexts=counted.contexts,
        verdicts=counted.verdicts,
        retrievals=counted.retrievals,
        cost_usd=counted.cost_usd,
        unknown_cost_calls=counted.unknown_cost_calls,
        recorded_cost_usd=counted.recorded_cost_usd,
        recorded_unknown_cost_calls=counted.recorded_unknown_cost_calls,
        recorded_in_whole=counted.recorded_in_whole,
        recorded_whole_usd=counted.recorded_whole_usd,
        uncertain_calls=counted.uncertain_calls,
        called=counted.called,
        cut_off=counted.cut_off,
        low_grounding=counted.low_grounding if _counted_grounding(_SAMPLE, redactor) == _SAMPLE else 0,
        opposite=counted.opposite,
        shortened=counted.shortened,
        spend_limit_usd=counted.spend_limit_usd,
        waiting=counted.waiting,
        waits_until=counted.waits_until,
        ending=_shown_ending(counted.ending, redactor, only_figures=only_figures),
        sent=counted.sent,
        diverged=counted.diverged,
        absent=counted.absent,
        inferred=counted.inferred,
        in_text=counted.in_text,
    )


def _shown_ending(ending: Ending | None, redactor: Redactor, *, only_figures: bool) -> Ending | None:
    if ending is None or not (only_figures or redactor.rules):
        return ending
    return ending.without_quotes(None if only_figures else mark(REPEATS))


def shared_replay_row(
    step: ReplayStep, redactor: Redactor, erased: ErasedParts, lines: AnswerLines
) -> SharedReplayRow:
    """Return a step of a replay for a list. If a profile withholds something, no field of it quotes an answer but `lines`,
    which are made from the redacted ones."""
    return shown_of(
        SharedReplayRow,
        step,
        action=SharedLabel(label=_label(step.action, redactor)),
        waits_because=redactor.text(step.waits_because),
        frames=redactor.measurements([{**each, "sha256": None} for each in step.frames or []]),
        retrieval=None
        if step.retrieval is None
        else {name: step.retrieval[name] for name in _COUNTED_RETRIEVAL if name in step.retrieval},
        evidence=_without_quotes(step.evidence, redactor) if redactor.rules else step.evidence,
        grounding=_counted_grounding(step.grounding, redactor),
        model=redactor.text(step.model),
        erased=erased,
        answer_lines=lines,
    )


def _counted_grounding(grounding: Any, redactor: Redactor) -> JsonObject | None:
    """Return the label and the score of a grounding, None if they are not recorded or withheld."""
    found = redactor.document({"grounding": grounding})["grounding"]
    if not isinstance(found, Mapping) or not isinstance(found.get("score"), int | float):
        return None
    return {name: found.get(name) for name in _GROUNDING}


def shared_replay_steps(steps: Sequence[ReplayStep], redactor: Redactor) -> list[SharedReplayStep]:
    """Return steps of replays with their recorded and new content, both redacted by the same rules.

    At most eight queries for any number of steps whose own passages and attempts were read.
    """
    passages = frozen.hits_of_each([step.action for step in steps])
    erased, ranks = erased_parts(steps), erased_passages_of_each(passages)
    return [
        _shared(step, redactor, hits, erased.get(step.id, _NOTHING_ERASED), frozenset(erased_ranks))
        for step, hits, erased_ranks in zip(steps, passages, ranks, strict=True)
    ]


def _shared(
    step: ReplayStep,
    redactor: Redactor,
    hits: Sequence[Hit],
    erased: ErasedParts,
    erased_ranks: frozenset[int],
) -> SharedReplayStep:
    found = list(step.hits.all())
    recorded = _recorded(step.action, hits)
    new = _new(step, recorded, found if step.retrieval is not None else hits)
    shown_recorded, shown_new = redactor.document(recorded), redactor.document(new)
    recorded_frames = _frames(hits, recorded, shown_recorded)
    found_frames = [] if step.retrieval is None else _frames(found, new, shown_new)
    withheld = _changed_hashes(hits, recorded_frames) | _changed_hashes(found, found_frames)
    touched = shown_recorded["output"] != recorded["output"] or shown_new["output"] != new["output"]
    action = step.action
    failed = action.error_type is not None or action.error_message is not None
    return shown_of(
        SharedReplayStep,
        step,
        session=action.session_id,
        evidence=_without_quotes(step.evidence, redactor) if touched else redactor.value(step.evidence),
        frames=redactor.measurements(with_texts_replaced(step.frames, withheld, mark(HASH))),
        retrieval=_new_retrieval(step, shown_new["retrieval"], withheld),
        error_message=redactor.text(step.error_message),
        model=shown_new["model"],
        parameters=shown_new["parameters"],
        grounding=shown_new["grounding"],
        action=shown_of(
            SharedRecording,
            action,
            model=shown_recorded["model"],
            parameters=shown_recorded["parameters"],
            grounding=shown_recorded["grounding"],
            retrieval=shown_of_retrieval(action, shown_recorded["retrieval"]),
        ),
        question=frozen.question_in(shown_recorded["input"]),
        asked=redactor.value(step.replay.options).get("question"),
        recorded_answer=None if failed else _answer_text(step.kind, shown_recorded["output"]),
        new_answer=_new_answer(step, new["output"], shown_new["output"]),
        recorded_calls=() if failed else calls_in(step.kind, shown_recorded["output"]),
        new_calls=calls_in(step.kind, shown_new["output"]),
        recorded_frames=recorded_frames,
        found_frames=found_frames,
        answer_frames=_answer_frames(step, recorded_frames, found_frames),
        erased_ranks=erased_ranks,
        attempts=[shown_of(SharedAttempt, each) for each in step.attempts.all()],
        erased=erased,
    )


def _answer_text(kind: str, output: Any) -> str | None:
    if kind == MODEL_CALL:
        return text_in(output)
    return frozen.answer_in(output) if kind == "ask" else None


def _new_answer(step: ReplayStep, output: Any, shown: Any) -> str | None:
    return text_in(shown) if step.kind == MODEL_CALL else payload_text(step.output, output, shown)


def _label(action: Action, redactor: Redactor) -> str:
    if redactor.rules is None:
        return action.label
    return redactor.label(action, redactor.document(naming_fields(action)))


def _recorded(action: Action, hits: Sequence[FrozenPassage]) -> JsonObject:
    """Return a recorded step in the form of the API, with the passages of the finds inside it if it has none."""
    found = action.retrieval or {}
    retrieval = {name: found.get(name) for name in RETRIEVAL} | {
        "hits": [HitOut.of(hit).model_dump() for hit in hits]
    }
    return {
        "input": payloads.value(action.input),
        "output": payloads.value(action.output),
        "model": action.model,
        "parameters": action.parameters,
        "grounding": action.grounding,
        "retrieval": retrieval if hits or action.retrieval is not None else None,
    }


def _new(step: ReplayStep, recorded: Mapping[str, Any], hits: Sequence[FrozenPassage]) -> JsonObject:
    """Return the step's result in the same form, so that the same rules apply."""
    return {
        "input": recorded["input"],
        "output": payloads.value(step.output),
        "model": step.model,
        "parameters": step.parameters,
        "grounding": step.grounding,
        "retrieval": {**(step.retrieval or {}), "hits": [HitOut.of(hit).model_dump() for hit in hits]},
    }


def _new_retrieval(step: ReplayStep, redacted: Any, withheld: set[str | None]) -> Mapping[str, Any] | None:
    """Return how the new list of passages differs; None if nothing was searched, or all of it is withheld."""
    if step.retrieval is None or not isinstance(redacted, Mapping):
        return None
    others = {name: value for name, value in redacted.items() if name != "hits"}
    found: JsonObject = with_texts_replaced(others, withheld, mark(HASH))
    return found


def _frames(
    hits: Sequence[FrozenPassage], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[SharedFrame]:
    documents = zip(hits, hits_in(before, len(hits)), hits_in(after, len(hits)), strict=True)
    return [_frame(hit, recorded, redacted) for hit, recorded, redacted in documents]


def _frame(hit: FrozenPassage, recorded: Mapping[str, Any], redacted: Mapping[str, Any]) -> SharedFrame:
    score = redacted.get("score")
    return SharedFrame(
        rank=hit.rank,
        frame=redacted.get("frame"),
        version=redacted.get("version"),
        title=redacted.get("title"),
        sha256=redacted.get("sha256"),
        score=score if isinstance(score, int | float) else None,
        text=payload_text(hit.payload, recorded.get("text"), redacted.get("text")),
    )


def _answer_frames(
    step: ReplayStep, recorded: Sequence[SharedFrame], found: Sequence[SharedFrame]
) -> Sequence[SharedFrame]:
    if step.retrieval is not None:
        return found
    return () if passages_of(step) is None else recorded


def _changed_hashes(hits: Sequence[FrozenPassage], frames: Sequence[SharedFrame]) -> set[str | None]:
    return {hit.sha256 for hit, frame in zip(hits, frames, strict=False) if hit.sha256 != frame.sha256}


def _without_quotes(evidence: Mapping[str, Any] | None, redactor: Redactor) -> JsonObject | None:
    """Return the basis of a verdict without quotes, which may contain withheld text."""
    if evidence is None:
        return None
    remaining = {
        name: redactor.value(value)
        for name, value in evidence.items()
        if name in _NO_QUOTES or isinstance(value, bool | int | float)
    }
    return remaining if len(remaining) == len(evidence) else remaining | {"withheld": mark(REPEATS)}

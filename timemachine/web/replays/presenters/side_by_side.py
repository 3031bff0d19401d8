"""One step of a replay: the two answers row by row, the two lists of frames, and the evidence in words."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from timemachine.core.payloads.queries import text, value
from timemachine.core.pure.numbers import spaced
from timemachine.governance.deletion.erasure.queries import erased_passages
from timemachine.governance.sharing.read_models.replays import (
    SharedAttempt,
    SharedFrame,
    SharedReplayStep,
)
from timemachine.llm.pure.completion import ended_by
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.sessions.models import Action, Hit
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.alignment.long_diffs import LONG, Row, is_long
from timemachine.replay.runs import frozen
from timemachine.replay.runs.model_calls import calls_in, text_in
from timemachine.replay.runs.models import ReplayAttempt, ReplayHit, ReplayStep
from timemachine.replay.runs.pure.finding import StepFinding, StepResult, finding
from timemachine.replay.runs.pure.written_calls import CallPair, paired_calls, written_arguments
from timemachine.replay.runs.queries import passages_of
from timemachine.text.pure.difference.changes import Distinctions, find_distinctions
from timemachine.text.redaction.pure.marks import OPENING_ERASED
from timemachine.web.differences import text_rows
from timemachine.web.ranked_lists import Listed, Slopes, slopes
from timemachine.web.replays.presenters.marked_rows import MarkedRow, marked_rows
from timemachine.web.replays.presenters.passages import (
    AnyStep,
    RecordedFrame,
    ReplayedFrame,
    changes_of,
    found_frame,
    listed,
    recorded_frames,
    supporting_frames,
)
from timemachine.web.replays.presenters.side_values import SideValue, side_values
from timemachine.web.replays.presenters.support import Support, support_of, supported_alike
from timemachine.web.sessions.presenters.sentences import Sentence, counted

SHOWN_EVIDENCE = 400
_COMPARED: Final = {
    "numbers_differ": "Numbers",
    "names_differ": "Names",
    "changed": "Sentences",
    **dict.fromkeys(("other_tool", "answers_instead", "calls_instead"), "Calls"),
}
_PLACES: Final = frozenset({"recorded_at", "new_at", "recorded_at_count", "new_at_count"})
_SHOWN_ELSEWHERE: Final = frozenset({"request", "tools", "differing", "differing_count", "branch", "ending"})
_EVIDENCE: Final = {
    "only_recorded": "{what} only in the recorded answer",
    "only_new": "{what} only in the new answer",
    "only_recorded_count": "{what} only in the recorded answer, total",
    "only_new_count": "{what} only in the new answer, total",
    "added": "Only the new answer says",
    "omitted": "Only the recorded answer says",
    "recorded": "The recorded answer says",
    "new": "The new answer says",
    "refusal": "Instead of an answer",
    "perhaps_names": "Possible names",
    "order": "Same words in a different order",
    "turned": "Reversed",
    "characters": "Characters in both",
    "same_prompt": "Identical prompt",
    "both_refuse": "Both decline to answer",
    "withheld": "Based on",
    "calls": "Equal calls",
    "text": "Text accompanying the calls",
    "not_asked": "Not sent",
    "new_refuses": "The new answer declines to answer",
}
BEGINNING = LONG // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call of a tool: its name, what happened to it, and its arguments, recorded next to new in `rows`, or `alone`."""

    name: str
    fate: str
    rows: Sequence[Row] = ()
    alone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What members see of a step's two answers, under the names of `SharedReplayStep`, which visitors see."""

    action: Action
    question: str | None
    asked: str | None
    recorded_answer: str | None
    new_answer: str | None
    recorded_calls: Sequence[ToolCall]
    new_calls: Sequence[ToolCall]
    recorded_frames: Sequence[SharedFrame]
    found_frames: Sequence[SharedFrame]
    answer_frames: Sequence[SharedFrame]
    erased_ranks: AbstractSet[int]
    attempts: Sequence[ReplayAttempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDiff:
    """The two answers row by row. `rows` is None if there is no answer to show, or if two are too `long` to compare here.

    `alone`: there is one text to show, the recorded answer, or both if they are `same`. `beginnings` is the number of characters of two
    long answers that `rows` cover; None if they cover everything. `…_ended` is the provider's stop reason.
    """

    rows: Sequence[MarkedRow | Row] | None
    alone: bool
    same: bool
    long: bool
    beginnings: int | None
    distinctions: Sequence[Distinctions]
    recorded_ended: str | None
    replayed_ended: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The passages of a step: those that were `verified`, out of `recorded`, and those that were `found` now."""

    verified: Sequence[RecordedFrame]
    recorded: int
    found: Sequence[ReplayedFrame]
    slopes: Slopes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A step, recorded and replayed."""

    answers: Answers | SharedReplayStep
    finding: StepFinding
    values: Sequence[SideValue]
    diff: AnswerDiff
    support: Support | None
    calls: Sequence[ShownCall]
    passages: Passages
    evidence: Sequence[tuple[str, str]]
    attempts: Sequence[ReplayAttempt | SharedAttempt]


def _answers_of(step: ReplayStep) -> Answers:
    hits = frozen.hits_of(step.action)
    recorded = frozen.model_answer_of(step.action) if step.kind == MODEL_CALL else None
    texts = _texts(step, recorded)
    return Answers(
        action=step.action,
        question=frozen.question_of(step.action),
        asked=step.replay.options.get("question"),
        recorded_answer=texts[0],
        new_answer=texts[1],
        recorded_calls=() if recorded is None else recorded.calls,
        new_calls=calls_in(step.kind, value(step.output)),
        recorded_frames=_frames_of(hits),
        found_frames=_frames_of(step.hits.all()),
        answer_frames=_frames_of(passages_of(step) or ()),
        erased_ranks=erased_passages(hits),
        attempts=list(step.attempts.all()),
    )


def _texts(step: ReplayStep, recorded: Answer | None) -> tuple[str | None, str | None]:
    """Return the recorded and the new text, None for a side without text."""
    if step.kind == MODEL_CALL:
        return None if recorded is None else recorded.text or None, text_in(value(step.output))
    answer = frozen.answer_of(step.action) if step.kind == "ask" else None
    return answer, None if step.output is None else text(step.output)


def side_by_side(step: AnyStep, *, everything: bool = False, beginnings: bool = False) -> Sides:
    """Return the step for its page; long runs without a difference are collapsed, unless everything is requested.

    Two long answers are not compared here: the page links to the one where a worker compares them. For visitors without access
    to that page, only the `beginnings` are compared.
    """
    answers = _answers_of(step) if isinstance(step, ReplayStep) else step
    recorded = answers.recorded_answer
    same = recorded is not None and recorded == answers.new_answer and OPENING_ERASED not in recorded
    support = support_of(step, answers, same=same)
    before, now = listed(answers.recorded_frames), listed(answers.found_frames)
    return Sides(
        answers=answers,
        finding=_finding(step, answers, before, now),
        values=side_values(
            answers.action, step, _recorded_ms(step, answers), with_grounding=step.kind != MODEL_CALL
        ),
        diff=_diff(step, answers, support, same=same, everything=everything, beginnings=beginnings),
        support=support,
        calls=_calls(step, answers, everything=everything),
        passages=Passages(
            verified=recorded_frames(step, answers.recorded_frames, answers.erased_ranks),
            recorded=len(answers.recorded_frames),
            found=[found_frame(step, each) for each in answers.found_frames],
            slopes=None if step.retrieval is None else slopes(before, now, _mattering(step)),
        ),
        evidence=list(_evidence(step.evidence or {}, step.verdict)),
        attempts=sorted(answers.attempts, key=lambda each: each.number),
    )


def _diff(
    step: AnyStep,
    answers: Answers | SharedReplayStep,
    support: Support | None,
    *,
    same: bool,
    everything: bool,
    beginnings: bool,
) -> AnswerDiff:
    recorded, new = answers.recorded_answer, answers.new_answer
    both = (recorded, new) if recorded is not None and new is not None else None
    if step.kind == MODEL_CALL and step.model is not None:
        both = (recorded or "", new or "")  # one of them may have calls of tools instead of a text
    long = both is not None and is_long(*both)
    alone = (same and supported_alike(support)) or (both is None and recorded is not None)
    return AnswerDiff(
        rows=_rows(
            (recorded or "", recorded or "") if alone and not long else both,
            _marks(support, alone=alone),
            long=long,
            everything=everything or alone,
            beginnings=beginnings,
        ),
        alone=alone,
        same=same,
        long=long and not beginnings,
        beginnings=BEGINNING if long and beginnings else None,
        distinctions=_one_sided(step, *both) if both and not long else [],
        recorded_ended=ended_by(answers.action.parameters),
        replayed_ended=ended_by(step.parameters),
    )


def _recorded_ms(step: AnyStep, answers: Answers | SharedReplayStep) -> float | None:
    return frozen.call_ms_of(step.kind, answers.action.parameters, answers.action.duration_ms)


def _finding(
    step: AnyStep, answers: Answers | SharedReplayStep, before: Sequence[Listed], now: Sequence[Listed]
) -> StepFinding:
    recorded, new = answers.recorded_answer, answers.new_answer
    compared = recorded is not None and new is not None and not is_long(recorded, new)
    result = StepResult(
        status=step.status,
        verdict=step.verdict,
        context=step.context,
        evidence=step.evidence or {},
        is_call=step.kind == MODEL_CALL,
        frames=len(step.frames or []),
        recorded=recorded if compared else None,
        new=new if compared else None,
        question=answers.asked or answers.question,
    )
    return finding(result, changes_of(step, before, now, answered=recorded is not None))


def _mattering(step: AnyStep) -> frozenset[Any]:
    return frozenset(supporting_frames(step.action.grounding)) | frozenset(supporting_frames(step.grounding))


def _calls(step: AnyStep, answers: Answers | SharedReplayStep, *, everything: bool) -> list[ShownCall]:
    """Return the calls of both answers in pairs; without a new answer, the recorded ones alone."""
    if step.model is None:
        recorded = [(call.name, written_arguments(call)) for call in answers.recorded_calls]
        return [ShownCall(name=name, fate="recorded", alone=arguments) for name, arguments in recorded]
    pairs = paired_calls(answers.recorded_calls, answers.new_calls)
    return [_compared_call(pair, everything=everything) for pair in pairs]


def _compared_call(pair: CallPair, *, everything: bool) -> ShownCall:
    if pair.recorded is None or pair.new is None or pair.recorded == pair.new:
        alone = pair.recorded if pair.new is None else pair.new
        return ShownCall(name=pair.name, fate=pair.fate, alone=alone)
    both = pair.recorded[:BEGINNING], pair.new[:BEGINNING]
    return ShownCall(name=pair.name, fate=pair.fate, rows=text_rows(*both, everything=everything))


def _frames_of(hits: Iterable[Hit | ReplayHit]) -> list[SharedFrame]:
    return [
        SharedFrame(
            rank=hit.rank,
            frame=hit.frame,
            version=hit.version,
            title=hit.title,
            sha256=hit.sha256,
            score=hit.score,
            text=text(hit.payload) if hit.payload is not None else None,
        )
        for hit in hits
    ]


def _rows(
    both: tuple[str, str] | None,
    marks: tuple[Sequence[Sentence], Sequence[Sentence]],
    *,
    long: bool,
    everything: bool,
    beginnings: bool,
) -> Sequence[MarkedRow | Row] | None:
    if both is None or (long and not beginnings):
        return None
    old, new = (text[:BEGINNING] if long else text for text in both)
    return marked_rows(old, new, *marks, everything=everything)


def _marks(support: Support | None, *, alone: bool) -> tuple[Sequence[Sentence], Sequence[Sentence]]:
    if support is None:
        return (), ()
    return (support.left or support.right, ()) if alone else (support.left, support.right)


def _one_sided(step: AnyStep, recorded: str, new: str) -> list[Distinctions]:
    """Return the numbers and names in only one answer, without those that the verdict's evidence lists."""
    return [each for each in find_distinctions(recorded, new) if step.verdict != f"{each.what}_differ"]


def _evidence(evidence: Mapping[str, Any], verdict: str | None) -> Iterator[tuple[str, str]]:
    """Return the evidence for the verdict in words; positions in the answers are for programs only."""
    what = _COMPARED.get(verdict or "", "Said")
    for name, found in evidence.items():
        if name == "grounding_checked_now":
            yield (
                "Recorded answer",
                f"{found['label']}, {counted(found)} by the frozen context, computed now",
            )
        elif name not in _PLACES | _SHOWN_ELSEWHERE and found not in (None, [], {}, ""):
            words = _EVIDENCE.get(name, spaced(name).capitalize())
            yield words.format(what=what), spaced(found) if name == "text" else _words(found)


def _words(found: Any) -> str:
    if isinstance(found, str):
        sentence = found
    elif isinstance(found, bool):
        sentence = "yes" if found else "no"
    elif isinstance(found, int):
        sentence = f"{found:,}"
    elif isinstance(found, list):
        sentence = " · ".join(_words(each) for each in found)
    else:
        sentence = json.dumps(found, ensure_ascii=False)
    return sentence if len(sentence) <= SHOWN_EVIDENCE else sentence[:SHOWN_EVIDENCE] + "…"

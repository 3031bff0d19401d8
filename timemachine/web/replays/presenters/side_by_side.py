"""One step of a replay: the two answers row by row, the two lists of frames, and the evidence in words."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.safestring import SafeString

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
from timemachine.replay.runs.pure.written_calls import CallPair, paired_calls, written_arguments
from timemachine.replay.runs.queries import passages_of
from timemachine.text.pure.difference.changes import Distinctions, find_distinctions
from timemachine.text.redaction.pure.marks import OPENING_ERASED
from timemachine.web.differences import text_rows
from timemachine.web.ranked_lists import lines
from timemachine.web.sessions.presenters.sentences import Sentence, counted, sentences
from timemachine.web.sessions.presenters.supporting_passages import Evidence, evidence

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
    "text": "Texts next to the calls",
    "not_asked": "Not sent",
    "new_refuses": "The new answer declines to answer",
}
BEGINNING = LONG // 2
ERASED: Final = "erased"
"""What is shown for a frame's text that was verified before it was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFrame:
    """A recorded frame: the result of verifying it, what has happened to it since, its rank now. `then` is the result before it was erased."""

    rank: int
    title: str
    name: str
    verdict: str
    since: str | None
    now: str
    fate: str
    then: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedFrame:
    """A frame that was found now, and its recorded rank."""

    rank: int
    title: str
    name: str
    score: float | None
    then: str
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """An answer of one side in its sentences, with their supporting passages. `side` is the prefix of its anchors."""

    title: str
    side: str
    live: bool
    grounding: Any
    sentences: Sequence[Sentence]
    in_answer: bool
    evidence: Sequence[Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """A call of a tool: its name, what happened to it, and its arguments, recorded next to new in `rows`, or `alone`."""

    name: str
    fate: str
    rows: Sequence[Row] = ()
    alone: str | None = None


type AnyStep = ReplayStep | SharedReplayStep


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
class Sides:
    """A step, recorded and replayed. `rows` is None if there are no two answers to compare, or if they are too `long` to compare here; `…_ended` is the provider's stop reason.

    `beginnings` is the number of characters of two long answers that `rows` cover; None if they cover everything. `frames` are those that
    were verified, out of `recorded_count`.
    """

    answers: Answers | SharedReplayStep
    rows: Sequence[Row] | None
    long: bool
    beginnings: int | None
    telling: list[Distinctions]
    same: bool
    calls: Sequence[ShownCall]
    evidence: list[tuple[str, str]]
    frames: list[RecordedFrame]
    recorded_count: int
    found: list[ReplayedFrame]
    lines: SafeString
    attempts: Sequence[ReplayAttempt | SharedAttempt]
    recorded_call_ms: float | None
    recorded_ended: str | None
    replayed_ended: str | None
    grounded: list[Grounded]


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
        recorded_frames=_passages(hits),
        found_frames=_passages(step.hits.all()),
        answer_frames=_passages(passages_of(step) or ()),
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
    recorded, new = answers.recorded_answer, answers.new_answer
    both = (recorded, new) if recorded is not None and new is not None else None
    if step.kind == MODEL_CALL and step.model is not None:
        both = (recorded or "", new or "")  # one of them may have calls of tools instead of a text
    long = both is not None and is_long(*both)
    return Sides(
        answers=answers,
        rows=_rows(both, long=long, everything=everything, beginnings=beginnings),
        long=long and not beginnings,
        beginnings=BEGINNING if long and beginnings else None,
        telling=_one_sided(step, *both) if both and not long else [],
        same=recorded is not None and recorded == new and OPENING_ERASED not in recorded,
        calls=_calls(step, answers, everything=everything),
        evidence=list(_evidence(step.evidence or {}, step.verdict)),
        frames=_recorded_frames(step, answers),
        recorded_count=len(answers.recorded_frames),
        found=[_found_frame(step, each) for each in answers.found_frames],
        lines=lines(
            [_key(frame) for frame in step.frames or []], [_found_key(each) for each in answers.found_frames]
        ),
        attempts=sorted(answers.attempts, key=lambda each: each.number),
        recorded_call_ms=frozen.call_ms_of(step.kind, answers.action.parameters, answers.action.duration_ms),
        recorded_ended=ended_by(answers.action.parameters),
        replayed_ended=ended_by(step.parameters),
        grounded=list(_grounded_sides(step, answers)),
    )


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


def _passages(hits: Iterable[Hit | ReplayHit]) -> list[SharedFrame]:
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
    both: tuple[str, str] | None, *, long: bool, everything: bool, beginnings: bool
) -> Sequence[Row] | None:
    if both is None or (long and not beginnings):
        return None
    texts = [text[:BEGINNING] for text in both] if long else both
    return text_rows(*texts, everything=everything)


def _one_sided(step: AnyStep, recorded: str, new: str) -> list[Distinctions]:
    """Return the numbers and names in only one answer, without those that the verdict's evidence lists."""
    return [each for each in find_distinctions(recorded, new) if step.verdict != f"{each.what}_differ"]


def _grounded_sides(step: AnyStep, found: Answers | SharedReplayStep) -> Iterator[Grounded]:
    sides = (
        ("Recorded", "old-", False, found.recorded_answer, found.action.grounding, found.recorded_frames),
        ("Replayed", "new-", True, found.new_answer, step.grounding, found.answer_frames),
    )
    for title, side, live, answer, grounding, passages in sides:
        shown = sentences(answer, grounding)
        if any(each.grounded is not None for each in shown):
            yield Grounded(
                title=title,
                side=side,
                live=live,
                grounding=grounding,
                sentences=shown,
                in_answer=answer is not None and "".join(each.text for each in shown) == answer,
                evidence=evidence(shown, passages),
            )


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


def _recorded_frames(step: AnyStep, answers: Answers | SharedReplayStep) -> list[RecordedFrame]:
    titles = {each.rank: each.title or "untitled" for each in answers.recorded_frames}
    return [
        replace(found, verdict=ERASED, then=found.verdict) if found.rank in answers.erased_ranks else found
        for found in (_recorded_frame(step, frame, titles) for frame in step.frames or [])
    ]


def _recorded_frame(step: AnyStep, frame: Mapping[str, Any], titles: dict[int, str]) -> RecordedFrame:
    name = _name(frame["frame"])
    now, fate = _in_other_list(step, _key(frame), frame["rank"], alone="lost", end="to")
    return RecordedFrame(
        rank=frame["rank"],
        title=titles.get(frame["rank"], "untitled"),
        name=f"{name} v{frame['version']}" if frame["version"] else name,
        verdict=frame["verdict"],
        since=frame["since"],
        now=now,
        fate=fate,
    )


def _key(frame: Mapping[str, Any]) -> Any:
    """Return the key of the frame in the comparison of the retrieval."""
    return frame["frame"] if frame["frame"] is not None else frame["sha256"] or f"rank {frame['rank']}"


def _in_other_list(step: AnyStep, frame: Any, rank: int, *, alone: str, end: str) -> tuple[str, str]:
    """Return the place of a frame in the other list, in words, and what happened to it; `alone` if it is not there."""
    retrieval = step.retrieval or {}
    if frame in retrieval.get(alone, []):
        return alone, alone
    for move in retrieval.get("moved", []):
        if move["frame"] == frame:
            return f"rank {move[end]}", "moved"
    return f"rank {rank}", "same"


def _found_frame(step: AnyStep, hit: SharedFrame) -> ReplayedFrame:
    then, fate = _in_other_list(step, _found_key(hit), hit.rank, alone="gained", end="from")
    return ReplayedFrame(
        rank=hit.rank,
        title=hit.title or "untitled",
        name=_name(hit.frame),
        score=hit.score,
        then=then,
        fate=fate,
    )


def _found_key(hit: SharedFrame) -> Any:
    return hit.frame if hit.frame is not None else hit.sha256


def _name(frame: Any) -> str:
    return f"#{frame}" if isinstance(frame, int) else str(frame or "")

"""Groundings as text, and the answers of a file to ground. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from timemachine.cli.formatting import frame_name, one_line
from timemachine.cli.source import Line
from timemachine.core.pure.numbers import counted, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types

# A request can have 200 answers and 120,000 characters; smaller ones show their progress.
MOST_ANSWERS = 50
MOST_CHARACTERS = 100_000
_EXPECTED = 'Each line must have this form: {"context": ["…", …], "answer": "…"}.'


def answer_and_context(line: Line) -> types.AnswerIn:
    """The `answer` of a line and its `context`, the passages to check it against; other fields are ignored. Raises `Failure`."""
    answer, context = line.fields.get("answer"), line.fields.get("context")
    if not isinstance(answer, str) or not isinstance(context, list):
        raise line.refused(_EXPECTED)
    if not all(isinstance(passage, str) for passage in context):
        raise line.refused("Each passage in `context` must be a string.")
    return {"answer": answer, "context": context}


def characters(item: types.AnswerIn) -> int:
    """The length of an answer with its context."""
    return len(item["answer"]) + sum(map(len, item["context"]))


def grounding_summary(grounding: Mapping[str, Any] | None) -> str:
    """A grounding in one line: `HIGH 0.83 (3 of 3 sentences supported)`; empty for None.

    A recorded grounding can have any form: missing parts are left out.
    """
    if grounding is None:
        return ""
    label = grounding.get("label", "without a label")
    if label is None:
        return "none: the answer makes no claim"
    score = grounding.get("score")
    shown = f"{score:.2f}" if isinstance(score, int | float) and not isinstance(score, bool) else ""
    return " ".join(filter(None, (one_line(str(label)), shown, _supported(grounding), _unread(grounding))))


def warning(grounding: Mapping[str, Any] | None, passages: Mapping[Any, str]) -> Iterator[str]:
    """The warning, if any, and each unsupported sentence with the reason.

    `passages` are the texts of the context by frame, to quote what a sentence conflicts with.
    """
    if grounding is None:
        return
    if grounding["has_warning"]:
        yield f"Warning: grounding is {grounding['label']}; check the answer before you rely on it."
    for sentence in grounding["sentences"]:
        if sentence["grounded"] is False:  # None makes no claim
            yield f"  {_verdict(sentence)}: {one_line(sentence['text'])}"
            missing = sentence.get("missing")
            if missing:
                yield f"    not in any passage: {one_line(', '.join(map(str, missing)))}"
            yield from _against(sentence, passages)


def number_of_warnings(groundings: Sequence[types.GroundingOut]) -> int:
    """The number of groundings with a warning."""
    return sum(1 for grounding in groundings if grounding["has_warning"])


def _verdict(sentence: Mapping[str, Any]) -> str:
    return "partly supported" if sentence.get("partly") else f"not supported ({_reason(sentence)})"


def _reason(sentence: Mapping[str, Any]) -> str:
    opposed = sentence["reason"] == "no_support" and sentence["frame"] is not None
    if sentence.get("swapped", opposed):  # cached answers can predate `swapped`
        return "reversed in the passage"
    if opposed:
        return "the passage says something different"
    return spaced(sentence["reason"] or "no reason given")


def _against(sentence: Mapping[str, Any], passages: Mapping[Any, str]) -> Iterator[str]:
    """The sentence of a passage that gave the reason, if there is one."""
    frame, start, end = (sentence[name] for name in ("frame", "passage_start", "passage_end"))
    if frame is None or start is None or end is None:
        return
    text = passages.get(frame, "")[start:end]
    quoted = f": {one_line(text)}" if text else ""
    yield f"    {frame_name(frame)}, characters {start:,} to {end:,}{quoted}"


def _supported(grounding: Mapping[str, Any]) -> str:
    supported, sentences = grounding.get("grounded_sentences"), grounding.get("sentence_count")
    if type(supported) is not int or type(sentences) is not int:
        return ""
    recorded = grounding.get("sentences")
    verdicts = recorded if isinstance(recorded, list) else []
    partly = sum(isinstance(each, dict) and each.get("partly") is True for each in verdicts)
    return f"({supported} of {counted(sentences, 'sentence')} supported{f', {partly:,} partly' if partly else ''})"


def _unread(grounding: Mapping[str, Any]) -> str:
    unread = grounding.get("unread_characters")
    counts = unread if isinstance(unread, dict) else {}
    parts = [
        f"{counted(counts[of], 'character')} of the {of}"
        for of in ("answer", "passages")
        if type(counts.get(of)) is int and counts[of]
    ]
    return f"({' and '.join(parts)} not read)" if parts else ""

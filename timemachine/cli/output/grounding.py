"""Groundings as people read them, and the lines of a file that asks for some. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from timemachine.cli.formatting import frame_name, one_line
from timemachine.cli.source import Line
from timemachine.core.pure.numbers import counted, spaced

# A request may have 200 and 120,000; smaller ones show their progress.
_MOST_ANSWERS = 50
_MOST_CHARACTERS = 100_000
_EXPECTED = 'A line has to be like {"context": ["…", …], "answer": "…"}.'


def answer_and_context(line: Line) -> dict[str, Any]:
    """The `answer` of a line and its `context`, the passages that should support it. Raises `Failure`; other fields are left out."""
    answer, context = line.fields.get("answer"), line.fields.get("context")
    if not isinstance(answer, str) or not isinstance(context, list):
        raise line.refused(_EXPECTED)
    if not all(isinstance(passage, str) for passage in context):
        raise line.refused("Each passage in `context` has to be a text.")
    return {"answer": answer, "context": context}


def requests(asked: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The answers in their order, in parts that the server grounds at once; of one that is too long it reads the beginning."""
    part: list[dict[str, Any]] = []
    room = _MOST_CHARACTERS
    for each in asked:
        size = len(each["answer"]) + sum(map(len, each["context"]))
        if part and (len(part) == _MOST_ANSWERS or size > room):
            yield part
            part, room = [], _MOST_CHARACTERS
        part.append(each)
        room -= size
    yield part


def in_short(grounding: dict[str, Any] | None) -> str:
    """A grounding in one line: `HIGH 0.83 (3 of 3 sentences supported)`; empty where there is none.

    A recorded one may have any form: what it does not hold is left out.
    """
    if grounding is None:
        return ""
    label = grounding.get("label", "without a label")
    if label is None:
        return "none: the answer claims nothing"
    score = grounding.get("score")
    shown = f"{score:.2f}" if isinstance(score, int | float) and not isinstance(score, bool) else ""
    return " ".join(filter(None, (one_line(str(label)), shown, _supported(grounding), _unread(grounding))))


def warning(grounding: dict[str, Any] | None, passages: Mapping[Any, str]) -> Iterator[str]:
    """The warning, where the grounding carries one, and each sentence that nothing supports, with the reason.

    `passages` are the texts of the context by their frames: what goes against a sentence is quoted from them.
    """
    if grounding is None:
        return
    if grounding["has_warning"]:
        yield f"Warning: grounding is {grounding['label']}; check the answer before you rely on it."
    for sentence in grounding["sentences"]:
        if sentence["grounded"] is False:  # None claims nothing
            yield f"  {_verdict(sentence)}: {one_line(sentence['text'])}"
            missing = sentence.get("missing")
            if missing:
                yield f"    no passage has: {one_line(', '.join(map(str, missing)))}"
            yield from _against(sentence, passages)


def number_of_warnings(groundings: Sequence[dict[str, Any]]) -> int:
    """How many of the groundings carry a warning."""
    return sum(1 for grounding in groundings if grounding["has_warning"])


def _verdict(sentence: dict[str, Any]) -> str:
    return "partly supported" if sentence.get("partly") else f"not supported ({_reason(sentence)})"


def _reason(sentence: dict[str, Any]) -> str:
    opposed = sentence["reason"] == "no_support" and sentence["frame"] is not None
    if sentence.get("swapped", opposed):  # an answer from the cache may be older than `swapped`
        return "the other way round"
    if opposed:
        return "something else in its place"
    return spaced(sentence["reason"] or "no reason given")


def _against(sentence: dict[str, Any], passages: Mapping[Any, str]) -> Iterator[str]:
    """Which sentence of which passage the reason was found by, where it was found by one."""
    frame, start, end = (sentence[name] for name in ("frame", "passage_start", "passage_end"))
    if frame is None or start is None or end is None:
        return
    said = passages.get(frame, "")[start:end]
    yield f"    {frame_name(frame)}, characters {start:,} to {end:,}" + (
        f": {one_line(said)}" if said else ""
    )


def _supported(grounding: dict[str, Any]) -> str:
    supported, sentences = grounding.get("grounded_sentences"), grounding.get("sentence_count")
    if type(supported) is not int or type(sentences) is not int:
        return ""
    recorded = grounding.get("sentences")
    told = recorded if isinstance(recorded, list) else []
    partly = sum(isinstance(each, dict) and each.get("partly") is True for each in told)
    return f"({supported} of {counted(sentences, 'sentence')} supported{f', {partly:,} partly' if partly else ''})"


def _unread(grounding: dict[str, Any]) -> str:
    unread = grounding.get("unread_characters")
    told = unread if isinstance(unread, dict) else {}
    parts = [
        f"{counted(told[of], 'character')} of the {of}"
        for of in ("answer", "passages")
        if type(told.get(of)) is int and told[of]
    ]
    return f"({' and '.join(parts)} not read)" if parts else ""

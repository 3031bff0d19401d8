"""Groundings as people read them, and the lines of a file that asks for some. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from timemachine.cli.source import Line
from timemachine.cli.wording import one_line, plural, words

_EXPECTED = 'A line has to be like {"context": ["…", …], "answer": "…"}.'


def answer_and_context(line: Line) -> dict[str, Any]:
    """The `answer` of a line and its `context`, the passages that should support it. Raises `Failure`; other fields are left out."""
    answer, context = line.fields.get("answer"), line.fields.get("context")
    if not isinstance(answer, str) or not isinstance(context, list):
        raise line.refused(_EXPECTED)
    if not all(isinstance(passage, str) for passage in context):
        raise line.refused("Each passage in `context` has to be a text.")
    return {"answer": answer, "context": context}


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
    return " ".join(filter(None, (one_line(str(label)), shown, _supported(grounding))))


def warning(grounding: dict[str, Any] | None) -> Iterator[str]:
    """Where the grounding carries a warning: that, and each sentence that nothing supports, with the reason."""
    if grounding is None or not grounding["has_warning"]:
        return
    yield f"Warning: grounding is {grounding['label']}; check the answer before you rely on it."
    for sentence in grounding["sentences"]:
        if sentence["grounded"] is False:  # None claims nothing
            why = words(sentence["reason"] or "no reason given")
            yield f"  not supported ({why}): {one_line(sentence['text'])}"
            missing = sentence.get("missing")
            if missing:
                yield f"    no passage has: {one_line(', '.join(map(str, missing)))}"


def number_of_warnings(groundings: Sequence[dict[str, Any]]) -> int:
    """How many of the groundings carry a warning."""
    return sum(1 for grounding in groundings if grounding["has_warning"])


def _supported(grounding: dict[str, Any]) -> str:
    supported, sentences = grounding.get("grounded_sentences"), grounding.get("sentence_count")
    if type(supported) is not int or type(sentences) is not int:
        return ""
    return f"({supported} of {plural(sentences, 'sentence')} supported)"

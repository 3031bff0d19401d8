"""Split an answer into sentences, each with its recorded support. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

from timemachine.core.pure.numbers import spaced
from timemachine.replay.runs.pure.fact_changes import stated_in
from timemachine.text.redaction.pure.marks import after_mark

_WHY: Final = {
    "no_support": "no passage says this",
    "number": "it has a number that is in no passage or differs in the passage",
    "name": "it has a name that is in no passage or differs in the passage",
    "negation": "only one side is negated, or the direction is reversed",
}
_NOWHERE: Final = {
    "number": "it has a number that is in no passage",
    "name": "it has a name that is in no passage",
}
_REPLACED: Final = {
    "number": "the passage does not have this number",
    "name": "the passage does not have this name",
}
_CHECK_REST: Final = "the passage does not say this of the number in the question"
_OTHERWISE: Final = "the passage says the opposite"
_ELSE: Final = "the passage has something different"
_PART: Final = "only part of it is in the passages"
_NOT_TOGETHER: Final = "its words are in the passages, but not next to each other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A part of an answer. `grounded` is None between sentences, and if nothing was recorded about it.

    Sentences that make a claim have a `number` from 1. `passage_start` and `passage_end` are the span in the frame's text that
    supports or contradicts it, `missing` is what no passage has, and `asked` what of it the question states; older recordings have neither, and `told` is False. `swapped`
    means that this span says the opposite (None: not recorded), `partly` that the passages have much of it.
    """

    text: str
    number: int | None = None
    grounded: bool | None = None
    frame: Any = None
    score: float | None = None
    reason: str | None = None
    passage_start: int | None = None
    passage_end: int | None = None
    missing: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    told: bool = False
    swapped: bool | None = None
    partly: bool = False

    @property
    def why(self) -> str:
        """Return the reason why no passage supports it."""
        if self.contradicts:
            return _OTHERWISE
        if self.reason == "no_support":
            return self._why_no_support
        if self.reason == "number" and self.asked and self.asked == self.missing and self.frame is not None:
            return _CHECK_REST
        if self.told and self.reason in _REPLACED:
            return _REPLACED[self.reason] if self.frame is not None else _NOWHERE[self.reason]
        return _WHY.get(str(self.reason), "not supported")

    @property
    def _why_no_support(self) -> str:
        if self.frame is not None:
            return _OTHERWISE if self.swapped is None else _ELSE
        if self.told and not self.missing:
            return _NOT_TOGETHER
        return _PART if self.partly else _WHY["no_support"]

    @property
    def contradicts(self) -> bool:
        """Return whether the passage that it names says the opposite."""
        return bool(self.swapped) or (self.reason == "negation" and self.frame is not None)

    @property
    def why_in_short(self) -> str | None:
        """Return the reason in a word or two; None if none is recorded."""
        if self.partly:
            return "partly supported"
        if self.contradicts:
            return "opposite"
        return None if self.reason is None else spaced(str(self.reason))

    @property
    def support(self) -> str:
        """Return `supported`, `partly`, `contradicted` or `unsupported`: the look of its mark."""
        if self.grounded:
            return "supported"
        if self.contradicts:
            return "contradicted"
        return "partly" if self.partly else "unsupported"

    @property
    def words(self) -> str:
        """Return the text of the mark: the supporting frame, or why no frame supports it."""
        if self.grounded:
            return "supported" if self.frame is None else f"supported by frame {self.frame}"
        if self.partly:
            return "partly supported"
        return f"not supported: {self.why_in_short}" if self.why_in_short else "not supported"


def counted(grounding: Mapping[str, Any]) -> str:
    """Return how many sentences are supported, like "0 of 1 sentence supported, 1 partly". The recorded value can have any form."""
    total = grounding.get("sentence_count")
    recorded = grounding.get("sentences")
    items = recorded if isinstance(recorded, list) else []
    partly = sum(isinstance(each, Mapping) and each.get("partly") is True for each in items)
    noun = "sentence" if total == 1 else "sentences"
    return f"{grounding.get('grounded_sentences')} of {total} {noun} supported" + (
        f", {partly} partly" if partly else ""
    )


def sentences(answer: str | None, grounding: Any, question: str | None = None) -> Sequence[Sentence]:
    """Return the whole answer in parts; only the recorded sentences if they do not occur in the answer; none without any.

    A recorded grounding can have any form; anything but a list of sentences counts as no sentences.
    """
    found = grounding.get("sentences") if isinstance(grounding, Mapping) else None
    recorded = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    if answer is not None and recorded and _lies_in(answer, recorded):
        return _numbered(_stretches(answer, recorded), question)
    return _numbered((_sentence(each, str(each.get("text") or "")) for each in recorded), question)


def _numbered(found: Iterable[Sentence], question: str | None) -> list[Sentence]:
    numbers = count(1)
    found = (
        replace(each, asked=tuple(text for text in each.missing if stated_in(question, text)))
        for each in found
    )
    return [each if each.grounded is None else replace(each, number=next(numbers)) for each in found]


def _lies_in(answer: str, recorded: Sequence[Mapping[str, Any]]) -> bool:
    end = 0
    for each in recorded:
        start, stop = each.get("start"), each.get("end")
        if not isinstance(start, int) or not isinstance(stop, int) or not end <= start <= stop <= len(answer):
            return False
        if each.get("text") not in (None, answer[start:stop]):
            return False
        end = stop
    return True


def _stretches(answer: str, recorded: Sequence[Mapping[str, Any]]) -> Iterator[Sentence]:
    end = 0
    for each in recorded:
        start, stop = (after_mark(answer, each[name]) for name in ("start", "end"))
        if start > end:
            yield Sentence(text=answer[end:start])
        yield _sentence(each, answer[start:stop])
        end = stop
    if end < len(answer):
        yield Sentence(text=answer[end:])


def _sentence(recorded: Mapping[str, Any], text: str) -> Sentence:
    missing = recorded.get("missing")
    return Sentence(
        text=text,
        grounded=recorded.get("grounded"),
        frame=recorded.get("frame"),
        score=recorded.get("score"),
        reason=recorded.get("reason"),
        passage_start=recorded.get("passage_start"),
        passage_end=recorded.get("passage_end"),
        missing=tuple(map(str, missing)) if isinstance(missing, list) else (),
        told=isinstance(missing, list),
        swapped=recorded.get("swapped"),
        partly=recorded.get("partly") is True,
    )

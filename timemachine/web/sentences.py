"""An answer in its sentences, each with what the recording says of its support. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from timemachine.base.wording import spaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A stretch of an answer. `grounded` is None between sentences, and where nothing was recorded about it."""

    text: str
    grounded: bool | None = None
    frame: Any = None
    score: float | None = None
    reason: str | None = None

    @property
    def words(self) -> str:
        """What the mark says: which frame supports it, or why none does."""
        if self.grounded:
            return "supported" if self.frame is None else f"supported by frame {self.frame}"
        return f"not supported: {spaced(str(self.reason))}" if self.reason else "not supported"


def sentences(answer: str | None, grounding: Any) -> Sequence[Sentence]:
    """The whole answer in stretches; only the recorded sentences where they do not lie in the answer; none without any.

    A recorded grounding may have any form: what is not a list of sentences is none.
    """
    found = grounding.get("sentences") if isinstance(grounding, Mapping) else None
    recorded = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    if answer is not None and recorded and _lies_in(answer, recorded):
        return list(_stretches(answer, recorded))
    return [_sentence(each, str(each.get("text") or "")) for each in recorded]


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
        if each["start"] > end:
            yield Sentence(text=answer[end : each["start"]])
        yield _sentence(each, answer[each["start"] : each["end"]])
        end = each["end"]
    if end < len(answer):
        yield Sentence(text=answer[end:])


def _sentence(recorded: Mapping[str, Any], text: str) -> Sentence:
    return Sentence(
        text=text,
        grounded=recorded.get("grounded"),
        frame=recorded.get("frame"),
        score=recorded.get("score"),
        reason=recorded.get("reason"),
    )

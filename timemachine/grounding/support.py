"""How far an answer is supported by the passages it was given, sentence by sentence. Support, not truth.

A sentence scores the share of its terms, weighed by how rare they are in the passages, and of its runs of two and three
terms, that a passage contains. A number, name or negation that goes against the passage leaves it a third of that. The
answer scores the mean of its sentences and its worst one, in equal parts, because one invented sentence is what a reader
has to hear of. Weights and bounds are fixed, not fitted: word overlap cannot tell a paraphrase from an invention, so a
correct answer in other words may score LOW, and roles that are swapped without names are not seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from timemachine.grounding.conflicts import conflict
from timemachine.grounding.passages import Passage, Place, Source
from timemachine.language.refusal import is_refusal
from timemachine.language.sentences import sentences
from timemachine.language.statement import Statement

__all__ = ["Grounding", "Passage", "Support", "ground"]

Label = Literal["HIGH", "MEDIUM", "LOW"]
Reason = Literal["no_support", "number", "name", "negation"]

HIGH: Final = 0.70
MEDIUM: Final = 0.40
_GROUNDED: Final = 0.5
_CONTRADICTED: Final = 0.35
# Of two places that contain nearly as much of a claim, the one that does not go against it is what it rests on.
_NEARLY: Final = 0.9
_LONGEST_HEADING: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """One sentence of the answer: characters `start` to before `end` of it.

    `frame` is the passage it rests on, or that speaks against it, and `passage_start` and `passage_end` the sentence there.
    A sentence that claims nothing (a refusal, a heading, a question) has neither score nor `grounded`, and is not counted.
    """

    text: str
    start: int
    end: int
    score: float | None = None
    grounded: bool | None = None
    frame: int | str | None = None
    reason: Reason | None = None
    passage_start: int | None = None
    passage_end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """The support of a whole answer: `score` from 0 to 1, None (and no label) where it claims nothing."""

    score: float | None
    sentences: tuple[Support, ...]

    @property
    def label(self) -> Label | None:
        """HIGH from 0.70, MEDIUM from 0.40, else LOW."""
        if self.score is None:
            return None
        return "HIGH" if self.score >= HIGH else "MEDIUM" if self.score >= MEDIUM else "LOW"

    @property
    def has_warning(self) -> bool:
        """Whether the support is LOW."""
        return self.label == "LOW"

    @property
    def sentence_count(self) -> int:
        """How many sentences claim something."""
        return sum(sentence.grounded is not None for sentence in self.sentences)

    @property
    def grounded_sentences(self) -> int:
        """How many of them the passages support."""
        return sum(sentence.grounded is True for sentence in self.sentences)

    def as_json(self) -> dict[str, Any]:
        """The grounding of an action, as the API answers it."""
        fields = ("text", "start", "end", "score", "grounded", "frame", "reason")
        return {
            "score": self.score,
            "label": self.label,
            "sentence_count": self.sentence_count,
            "grounded_sentences": self.grounded_sentences,
            "has_warning": self.has_warning,
            "sentences": [{name: getattr(each, name) for name in fields} for each in self.sentences],
        }


def ground(answer: str, passages: Sequence[Passage]) -> Grounding:
    """The support of an answer in its passages. Without passages every claim is `no_support`. Deterministic."""
    source = Source(passages)
    found = tuple(_support(claim, passages, source) for claim in _statements(answer))
    scores = [each.score for each in found if each.score is not None]
    score = round((sum(scores) / len(scores) + min(scores)) / 2, 4) if scores else None
    return Grounding(score=score, sentences=found)


def _statements(answer: str) -> Iterator[Statement]:
    for sentence in sentences(answer):
        text = sentence.text.strip()
        if text:
            yield Statement(text, sentence.start + sentence.text.index(text))


def _support(claim: Statement, passages: Sequence[Passage], source: Source) -> Support:
    if not _claims_something(claim):
        return Support(text=claim.text, start=claim.start, end=claim.end)
    quoted = source.quoted(claim)
    if quoted:
        return _rests_on(claim, passages, quoted, 1.0, None)
    places = source.places(claim)
    if not places:
        return _unsupported(claim, 0.0)
    place, against = _chosen(claim, places, source)
    score = max(place.containment, source.together(claim))
    if against:
        return _rests_on(claim, passages, place, score * _CONTRADICTED, against)
    return (
        _rests_on(claim, passages, place, score, None) if score >= _GROUNDED else _unsupported(claim, score)
    )


def _claims_something(claim: Statement) -> bool:
    text = claim.text.strip("*_ ")
    heading = text.startswith("#") or (text.endswith(":") and len(text) <= _LONGEST_HEADING)
    return bool(claim.keys) and not heading and not text.endswith(("?", "？", "؟")) and not is_refusal(text)


def _chosen(claim: Statement, places: Sequence[Place], source: Source) -> tuple[Place, Reason | None]:
    near = [place for place in places if place.containment >= _NEARLY * places[0].containment]
    found: list[tuple[Place, Reason | None]] = [(place, conflict(claim, place, source)) for place in near]
    return next((each for each in found if each[1] is None), found[0])


def _rests_on(
    claim: Statement, passages: Sequence[Passage], place: Place, score: float, reason: Reason | None
) -> Support:
    return Support(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        score=round(score, 4),
        grounded=reason is None,
        frame=passages[place.number].frame,
        reason=reason,
        passage_start=place.statement.start,
        passage_end=place.statement.end,
    )


def _unsupported(claim: Statement, score: float) -> Support:
    return Support(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        score=round(score, 4),
        grounded=False,
        reason="no_support",
    )

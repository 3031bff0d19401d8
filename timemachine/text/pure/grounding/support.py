"""How far an answer is supported by its passages, sentence by sentence. Support is not truth.

A sentence's score is the share of its terms, and of its runs of two and three terms, that a passage contains. If a
number, a name, a negation or the roles contradict the passage, about a third of that remains. The answer's score is the
assumed probability that none of its sentences is invented, each independently: the product over its sentences. So one
invented sentence shows, and a long answer must be better supported than a short one for the same score. Weights and
bounds are fixed, not fitted to labelled answers; docs/grounding.md lists them with the measured error of the labels.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.conflicts import Conflict, conflict
from timemachine.text.pure.grounding.missing import missing
from timemachine.text.pure.grounding.passages import MOST_TOGETHER, Passage, Place, Source
from timemachine.text.pure.language.refusal import is_refusal, without_refusal
from timemachine.text.pure.language.sentences import Sentence
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.talk import makes_no_claim

__all__ = ["Grounding", "Passage", "Support", "ground"]

Label = Literal["HIGH", "MEDIUM", "LOW"]
Reason = Literal["no_support", "number", "name", "negation"]

# Recorded with every grounding: scores of different methods are not comparable.
METHOD: Final = "terms-2"
HIGH: Final = 0.70
MEDIUM: Final = 0.40
# A sentence is supported from `_GROUNDED` on. Below `_ABOUT_IT`, a passage cannot contradict it.
_ABOUT_IT: Final = 0.3
_GROUNDED: Final = 0.55
# From here up to `_GROUNDED`, it is partly supported.
_PARTLY: Final = 0.4
# A contradicted sentence keeps this share of its support.
_CONTRADICTED: Final = 0.35
# The assumed probability that a supported sentence is invented is (1 - its support) to this power.
_STEEPNESS: Final = 2
# An unsupported sentence alone prevents HIGH, and with less support it is trusted less. A contradicted one is trusted at
# most `_AGAINST`, which alone makes an answer LOW.
_UNSUPPORTED: Final = 0.69
_AGAINST: Final = 0.39
# Of two sentences with nearly the same share of a claim, it rests on the one that does not contradict it.
_NEARLY: Final = 0.9
_LONGEST_HEADING: Final = 80
_SMALL: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A sentence of the answer, characters `start` to before `end`.

    `frame` is the passage that it rests on or that contradicts it, and `passage_start` and `passage_end` the sentence
    there. `swapped`: the passage says it with exchanged roles. `missing` is what an unsupported sentence says that no
    passage has. A sentence that makes no claim (a refusal, heading, question, courtesy) has neither score nor
    `grounded`, and does not count.
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
    missing: tuple[str, ...] = ()
    swapped: bool = False

    @property
    def partly(self) -> bool:
        """Whether the passages contain much of it, but not enough to support it, and do not contradict it."""
        return self.grounded is False and not self.against and (self.score or 0.0) >= _PARTLY

    @property
    def against(self) -> bool:
        """Whether a passage contradicts it, and not only none supports it."""
        return self.grounded is False and (self.reason != "no_support" or self.frame is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """The support of an answer: `score` from 0 to 1, None (and no label) if it makes no claim.

    `answer_unread` and `passages_unread` are the characters of long texts that were not read.
    """

    score: float | None
    sentences: tuple[Support, ...]
    answer_unread: int = 0
    passages_unread: int = 0

    @property
    def label(self) -> Label | None:
        """HIGH from 0.70, MEDIUM from 0.40, otherwise LOW."""
        if self.score is None:
            return None
        return "HIGH" if self.score >= HIGH else "MEDIUM" if self.score >= MEDIUM else "LOW"

    @property
    def has_warning(self) -> bool:
        """Whether the label is LOW."""
        return self.label == "LOW"

    @property
    def sentence_count(self) -> int:
        """The number of sentences that make a claim."""
        return sum(sentence.grounded is not None for sentence in self.sentences)

    @property
    def grounded_sentences(self) -> int:
        """The number of sentences that the passages support."""
        return sum(sentence.grounded is True for sentence in self.sentences)


def ground(answer: str, passages: Sequence[Passage]) -> Grounding:
    """Return the support of an answer in its passages. Without passages, every claim is `no_support`. Deterministic.

    Only the beginning of a long answer is judged (see `bounds`). The rest counts as one unsupported sentence, so that
    an answer that was not read completely is never HIGH.
    """
    source = _source(tuple(passages))
    read = bounds.beginning(answer, bounds.ANSWER, bounds.ANSWER_SENTENCES)
    unread = len(answer) - bounds.length(read)
    found = tuple(_support(claim, passages, source) for claim in _statements(read))
    trusted = [_trust(each) for each in found if each.score is not None] + [_UNSUPPORTED] * bool(unread)
    score = round(math.prod(trusted), 4) if trusted else None
    return Grounding(score=score, sentences=found, answer_unread=unread, passages_unread=source.unread)


def _source(passages: tuple[Passage, ...]) -> Source:
    """Return the passages as a source, cached if they are small: models are compared over the same ones."""
    small = sum(len(passage.text) for passage in passages) <= _SMALL
    return _cached_source(passages) if small else Source(passages)


@cleared_on_erasure
@lru_cache(maxsize=8)
def _cached_source(passages: tuple[Passage, ...]) -> Source:
    return Source(passages)


def _trust(sentence: Support) -> float:
    """Return the assumed probability that a sentence says nothing beyond its passages. It grows with the support."""
    support = sentence.score or 0.0
    if sentence.against:
        return min(_AGAINST, _unsupported(support / _CONTRADICTED))
    return 1 - (1 - support) ** _STEEPNESS if sentence.grounded else _unsupported(support)


def _unsupported(support: float) -> float:
    return _UNSUPPORTED * (support / _GROUNDED) ** _STEEPNESS


def _statements(read: Sequence[Sentence]) -> Iterator[Statement]:
    for sentence in read:
        text = sentence.text.strip()
        if text:
            yield Statement(text, sentence.start + sentence.text.index(text))


def _support(sentence: Statement, passages: Sequence[Passage], source: Source) -> Support:
    if not _claims_something(sentence):
        return Support(text=sentence.text, start=sentence.start, end=sentence.end)
    quoted = source.quoted(sentence)
    if quoted:
        return _judged(sentence, passages, 1.0, None, quoted)
    rest = without_refusal(sentence.text)
    claim = sentence if rest == sentence.text else Statement(rest)
    places = source.places(claim)
    if not places:
        return _judged(sentence, passages, 0.0, "no_support", None, missing(claim, source))
    place, against = _chosen(claim, places, source)
    score = max(place.containment for place in places)
    if score <= MOST_TOGETHER:
        score = max(score, source.combined_containment(claim))
    if against:
        opposing = (
            place if score >= _ABOUT_IT else None
        )  # a sentence that says little of it cannot contradict it
        lowered = score * _CONTRADICTED
        found = _judged(sentence, passages, lowered, against.kind, opposing, missing(claim, source))
        return replace(found, swapped=against.swapped and opposing is not None)
    if score >= _GROUNDED:
        return _judged(sentence, passages, score, None, place)
    return _judged(sentence, passages, score, "no_support", None, missing(claim, source))


def _claims_something(claim: Statement) -> bool:
    text = claim.text.strip("*_ ")
    heading = text.startswith("#") or (text.endswith(":") and len(text) <= _LONGEST_HEADING)
    asks = text.endswith(("?", "？", "؟"))
    return bool(claim.keys) and not (heading or asks or is_refusal(text) or makes_no_claim(text))


def _chosen(claim: Statement, places: Sequence[Place], source: Source) -> tuple[Place, Conflict | None]:
    near = [place for place in places if place.own >= _NEARLY * places[0].own]
    found: list[tuple[Place, Conflict | None]] = [(place, conflict(claim, place, source)) for place in near]
    return next((each for each in found if each[1] is None), found[0])


def _judged(
    claim: Statement,
    passages: Sequence[Passage],
    score: float,
    reason: Reason | None,
    place: Place | None,
    lacking: tuple[str, ...] = (),
) -> Support:
    return Support(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        score=round(score, 4),
        grounded=reason is None,
        frame=passages[place.number].frame if place else None,
        reason=reason,
        passage_start=place.statement.start if place else None,
        passage_end=place.statement.end if place else None,
        missing=lacking,
    )

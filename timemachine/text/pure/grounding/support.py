"""How far an answer is supported by its passages, sentence by sentence. Support is not truth.

A sentence's score is the share of its terms, and of its runs of two and three terms, that a passage contains. If a
number, a name, a negation or the roles contradict the passage, about a third of that remains. The answer's score is the
assumed probability that none of its sentences is invented, each independently: the product over its sentences. So one
invented sentence shows, and a long answer must be better supported than a short one for the same score. Weights and
bounds are fixed, not fitted to labelled answers; docs/grounding.md lists them with the measured error of the labels.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.conflicts import Conflict, conflict, missing
from timemachine.text.pure.grounding.passages import MOST_TOGETHER, Passage, Place, Source
from timemachine.text.pure.grounding.schemas import GroundingOut, Label, Reason, SentenceOut, UnreadOut
from timemachine.text.pure.language.refusal import is_refusal, without_refusal
from timemachine.text.pure.language.sentences import Sentence
from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.talk import makes_no_claim

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


def ground(answer: str, passages: Sequence[Passage]) -> GroundingOut:
    """Return the support of an answer in its passages. Without passages, every claim is `no_support`. Deterministic.

    A sentence that makes no claim (a refusal, heading, question, courtesy) has neither score nor `grounded`, and does
    not count. The label is HIGH from a score of 0.70, MEDIUM from 0.40, otherwise LOW.

    Only the beginning of a long answer is judged (see `bounds`). The rest counts as one unsupported sentence, so that
    an answer that was not read completely is never HIGH.
    """
    source = _source(tuple(passages))
    read = bounds.beginning(answer, bounds.ANSWER, bounds.ANSWER_SENTENCES)
    unread = len(answer) - bounds.length(read)
    found = [_support(claim, passages, source) for claim in _statements(read)]
    trusted = [_trust(each) for each in found if each.score is not None] + [_UNSUPPORTED] * bool(unread)
    score = round(math.prod(trusted), 4) if trusted else None
    label: Label | None = None
    if score is not None:
        label = "HIGH" if score >= HIGH else "MEDIUM" if score >= MEDIUM else "LOW"
    return GroundingOut.model_construct(
        score=score,
        label=label,
        sentence_count=sum(each.grounded is not None for each in found),
        grounded_sentences=sum(each.grounded is True for each in found),
        has_warning=label == "LOW",
        method=METHOD,
        unread_characters=UnreadOut.model_construct(answer=unread, passages=source.unread),
        sentences=found,
    )


def _source(passages: tuple[Passage, ...]) -> Source:
    """Return the passages as a source, cached if they are small: models are compared over the same ones."""
    small = sum(len(passage.text) for passage in passages) <= _SMALL
    return _cached_source(passages) if small else Source(passages)


_cached_source = cleared_on_erasure(lru_cache(maxsize=8)(Source))


def _trust(sentence: SentenceOut) -> float:
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


def _support(sentence: Statement, passages: Sequence[Passage], source: Source) -> SentenceOut:
    if not _claims_something(sentence):
        return _judged(sentence, passages, None)
    if quoted := source.quoted(sentence):
        return _judged(sentence, passages, 1.0, place=quoted)
    rest = without_refusal(sentence.text)
    claim = sentence if rest == sentence.text else Statement(rest)
    places = source.places(claim)
    if not places:
        return _judged(sentence, passages, 0.0, "no_support", missing=missing(claim, source))
    place, against = _chosen(claim, places, source)
    score = max(place.containment for place in places)
    if score <= MOST_TOGETHER:
        score = max(score, source.combined_containment(claim))
    if against:
        lowered, lacking = score * _CONTRADICTED, missing(claim, source)
        # a sentence that says little of it cannot contradict it
        opposing, exchanged = (place, against.swapped) if score >= _ABOUT_IT else (None, False)
        return _judged(
            sentence, passages, lowered, against.kind, place=opposing, missing=lacking, swapped=exchanged
        )
    if score >= _GROUNDED:
        return _judged(sentence, passages, score, place=place)
    return _judged(sentence, passages, score, "no_support", missing=missing(claim, source))


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
    score: float | None,
    reason: Reason | None = None,
    *,
    place: Place | None = None,
    missing: Sequence[str] = (),
    swapped: bool = False,
) -> SentenceOut:
    rounded = None if score is None else round(score, 4)
    frame = passages[place.number].frame if place else None
    return SentenceOut.model_construct(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        score=rounded,
        grounded=None if rounded is None else reason is None,
        frame=frame,
        reason=reason,
        passage_start=place.statement.start if place else None,
        passage_end=place.statement.end if place else None,
        swapped=swapped,
        partly=reason == "no_support" and frame is None and (rounded or 0.0) >= _PARTLY,
        missing=list(missing),
    )

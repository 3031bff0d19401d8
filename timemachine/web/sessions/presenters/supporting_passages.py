"""The passages that support or contradict the sentences of an answer, with the relevant spans marked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from timemachine.governance.sharing.read_models.replays import SharedFrame
from timemachine.governance.sharing.read_models.steps import SharedPassage
from timemachine.recording.timeline.step import Head, Passage
from timemachine.text.redaction.pure.marks import after_mark
from timemachine.web.sessions.presenters.sentences import Sentence, sentences

# A longer passage is shown only around its marks, with this many characters on either side.
_WHOLE: Final = 700
_AROUND: Final = 160
NOWHERE: Final[Mapping[int, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A recorded passage for display: `text` is None if it, or all but its beginning, was not recorded."""

    frame: Any
    rank: int | None = None
    title: str | None = None
    version: int | None = None
    text: str | None = None
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a passage: `marked` if it supports a sentence, `against` if it only contradicts one.

    `rest` are the numbers of the sentences supported by the span that begins here, `oppose` of those contradicted by it.
    """

    text: str
    marked: bool = False
    against: bool = False
    rest: tuple[int, ...] = ()
    oppose: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage with its marked parts. `elsewhere` are sentences that name it without a visible span."""

    source: Source | SharedFrame
    pieces: tuple[Piece, ...]
    elsewhere: tuple[int, ...]


def evidence(sentences: Sequence[Sentence], sources: Sequence[Source | SharedFrame]) -> list[Evidence]:
    """Return the passages that sentences name, in order, then the named frames that are not among the passages."""
    named = [each for each in sentences if each.number is not None and each.frame is not None]
    found: list[Evidence] = []
    seen: list[Any] = []
    for source in [*sources, *(Source(frame=each.frame) for each in named)]:
        here = [each for each in named if each.frame == source.frame]
        if here and source.frame not in seen:
            seen.append(source.frame)
            found.append(_marked(source, here))
    return found


def supported_answer(output: Head | None, grounding: Any, sources: Sequence[Source]) -> dict[str, object]:
    """Return the sentences of a recorded answer with their passages, and whether they make up the whole answer."""
    answer = output.text if output and output.media_type == "text/plain" and not output.cut else None
    shown = sentences(answer, grounding)
    return {
        "sentences": shown,
        "evidence": evidence(shown, sources),
        "sentences_in_answer": answer is not None and "".join(each.text for each in shown) == answer,
    }


def sources_of(passages: Iterable[Passage], addresses: Mapping[int, str] = NOWHERE) -> list[Source]:
    """Return the frozen passages of a step, with the text that the page has, and the URLs of their frames."""
    return [source_of(each, addresses.get(each.hit.stored_frame_id or 0, "")) for each in passages]


def source_of(passage: Passage | SharedPassage, address: str = "") -> Source:
    """Return a recorded passage for display."""
    return Source(
        frame=passage.hit.frame,
        rank=passage.hit.rank,
        title=passage.hit.title,
        version=passage.hit.version,
        text=passage.text.text if passage.text else None,
        address=address,
    )


def _marked(source: Source | SharedFrame, named: Sequence[Sentence]) -> Evidence:
    text = source.text or ""
    spans = [(each, span) for each in named if (span := _span(each, text)) is not None]
    placed = {each.number for each, _ in spans}
    return Evidence(
        source=source,
        pieces=tuple(_excerpt(list(_pieces(text, spans)))),
        elsewhere=tuple(
            each.number for each in named if each.number is not None and each.number not in placed
        ),
    )


def _span(sentence: Sentence, text: str) -> tuple[int, int] | None:
    start, end = sentence.passage_start, sentence.passage_end
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        return None
    start, end = after_mark(text, start), after_mark(text, end)
    return (start, end) if start < end else None


def _pieces(text: str, spans: Sequence[tuple[Sentence, tuple[int, int]]]) -> Iterator[Piece]:
    """Return the text split wherever a span starts or ends."""
    cuts = sorted({0, len(text), *(at for _, span in spans for at in span)})
    for start, end in pairwise(cuts):
        over = [each for each, span in spans if span[0] <= start and end <= span[1]]
        begun = [each for each, span in spans if span[0] == start and each.number is not None]
        yield Piece(
            text=text[start:end],
            marked=bool(over),
            against=bool(over) and not any(each.grounded for each in over),
            rest=tuple(each.number for each in begun if each.number is not None and each.grounded),
            oppose=tuple(each.number for each in begun if each.number is not None and not each.grounded),
        )


def _excerpt(pieces: list[Piece]) -> Iterator[Piece]:
    """Return the pieces of a short passage; for a long one only the marked pieces and the text around them."""
    long = sum(len(piece.text) for piece in pieces) > _WHOLE
    for at, piece in enumerate(pieces):
        if piece.marked or not long:
            yield piece
        else:
            yield Piece(text=_shortened(piece.text, first=at == 0, last=at == len(pieces) - 1))


def _shortened(text: str, *, first: bool, last: bool) -> str:
    head = "" if first else text[:_AROUND]
    tail = "" if last else text[-_AROUND:]
    return text if len(text) <= len(head) + len(tail) else f"{head} … {tail}"

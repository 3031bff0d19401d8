"""The hits of a find as text: each passage with its scores and the words that matched. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from timemachine.cli.formatting import cut_off_rule, frame_name, one_line, score, shortened
from timemachine.cli.output.table import aligned, width
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

_EXCERPT: Final = 100
_INDENT: Final = " " * 5
_MOST_WORDS: Final = 12
_RETRIEVERS: Final = ("lexical", "semantic", "identifier")
_NO_SCORE: Final = "–"


def hit_lines(collection: str, found: types.FindOut) -> Iterator[str]:
    """The passages and why each matched, then how the search ran; or why nothing matched."""
    yield from unembedded_lines(found)
    if found["hits"]:
        yield from _hits(found["hits"], found["mode"])
        yield f"{counted(len(found['hits']), 'passage')} by {found['mode']} search, {cut_off_rule(found['cut_by'])}."
    else:
        yield from _empty(collection, found)
    if found["sequence"] is not None:
        yield f"Recorded as step {found['sequence']:,}."


def unembedded_lines(found: types.FindOut | types.AskOut) -> Iterator[str]:
    """How many frames have no vector, if any."""
    if found["not_embedded"]:
        yield f"{counted(found['not_embedded'], 'frame')} had no vector and could be found by keyword only."


def _empty(collection: str, found: types.FindOut) -> Iterator[str]:
    rule = "" if found["cut_by"] in (None, "all") else f", {cut_off_rule(found['cut_by'])}"
    yield f"No results in {one_line(collection)} by {found['mode']} search{rule}."
    if found["empty"] is not None:
        yield _why_empty(found["empty"])


def _why_empty(empty: types.EmptyOut) -> str:
    if empty["why"] == "no_frames_then":
        return f"The collection was empty at that time. Its first frame was added at {local(empty['first_frame_at'])}."
    return one_line(empty["message"])


def _hits(hits: Sequence[types.FrameHitOut], mode: str) -> Iterator[str]:
    widths = _score_widths(hits)
    reasons = [_why(hit, mode, widths) for hit in hits]
    longest = max(width(name) for pairs in reasons for name, _ in pairs)
    for hit, pairs in zip(hits, reasons, strict=True):
        title = f"  {one_line(hit['title'])}" if hit["title"] else ""
        yield f"{hit['rank']:>3}  {score(hit['score'])}  {frame_name(hit['frame'])} version {hit['version']}{title}"
        yield f"{_INDENT}{shortened(hit['text'], _EXCERPT)}"
        for name, value in pairs:
            yield f"{_INDENT}{aligned(name, longest)}  {value}"


def _score_widths(hits: Sequence[types.FrameHitOut]) -> dict[str, int]:
    """The retrievers that scored any passage, each with the width of its widest score."""
    scores = {
        name: [score(hit["scores"][name]) for hit in hits if name in hit["scores"]] for name in _RETRIEVERS
    }
    return {name: max(map(len, shown)) for name, shown in scores.items() if shown}


def _why(hit: types.FrameHitOut, mode: str, widths: dict[str, int]) -> list[tuple[str, str]]:
    matched = hit["matched"] or {}
    words = _parts(matched.get("terms", {}))
    if not matched and mode == "hybrid" and "lexical" not in hit["scores"]:
        words = "none in common; found by meaning"
    pairs = [
        ("scores", _scores(hit["scores"], widths)),
        ("words", words),
        ("identifiers", _parts(matched.get("identifiers", {}))),
    ]
    return [(name, value) for name, value in pairs if value]


def _scores(scores: dict[str, float], widths: dict[str, int]) -> str:
    """The score of each retriever, aligned with those of the other passages."""
    cells = [
        f"{name} {(score(scores[name]) if name in scores else _NO_SCORE):>{size}}"
        for name, size in widths.items()
    ]
    return "  ".join(cells)


def _parts(parts: dict[str, float]) -> str:
    """Words or identifiers with their parts of the score, the largest first."""
    shown = [f"{one_line(name)} {score(part)}" for name, part in list(parts.items())[:_MOST_WORDS]]
    more = [f"… and {len(parts) - _MOST_WORDS:,} more"] if len(parts) > _MOST_WORDS else []
    return ", ".join(shown + more)

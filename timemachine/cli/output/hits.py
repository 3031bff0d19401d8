"""What a find came to, as people read it: each passage with its score per leg and the words that it was found by. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from timemachine.cli.formatting import ending, frame_name, one_line, score, shortened
from timemachine.cli.output.table import aligned, width
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted

_EXCERPT: Final = 100
_INDENT: Final = " " * 5
_MOST_WORDS: Final = 12
_LEGS: Final = ("lexical", "semantic", "identifier")
_NO_SCORE: Final = "–"


def found_lines(collection: str, found: dict[str, Any]) -> Iterator[str]:
    """The passages with why each was found, then how they were looked for; where there are none, why."""
    yield from lacking(found)
    if found["hits"]:
        yield from _hits(found["hits"], found["mode"])
        yield f"{counted(len(found['hits']), 'passage')} by {found['mode']} search, {ending(found['cut_by'])}."
    else:
        yield from _nothing(collection, found)
    if found["sequence"] is not None:
        yield f"Recorded as step {found['sequence']:,}."


def lacking(found: dict[str, Any]) -> Iterator[str]:
    """How many frames could not be found by meaning, where there are some."""
    if found["not_embedded"]:
        yield f"{counted(found['not_embedded'], 'frame')} had no vector and could not be found by meaning."


def _nothing(collection: str, found: dict[str, Any]) -> Iterator[str]:
    rule = "" if found["cut_by"] in (None, "all") else f", {ending(found['cut_by'])}"
    yield f"Nothing was found in {one_line(collection)} by {found['mode']} search{rule}."
    if found["empty"] is not None:
        yield _why_empty(found["empty"])


def _why_empty(empty: dict[str, Any]) -> str:
    if empty["why"] == "no_frames_then":
        return f"The collection had no frames then; its first came at {local(empty['first_frame_at'])}."
    return one_line(empty["message"])


def _hits(hits: Sequence[dict[str, Any]], mode: str) -> Iterator[str]:
    legs = _legs(hits)
    told = [_why(hit, mode, legs) for hit in hits]
    longest = max(width(name) for pairs in told for name, _ in pairs)
    for hit, pairs in zip(hits, told, strict=True):
        title = f"  {one_line(hit['title'])}" if hit["title"] else ""
        yield f"{hit['rank']:>3}  {score(hit['score'])}  {frame_name(hit['frame'])} version {hit['version']}{title}"
        yield f"{_INDENT}{shortened(hit['text'], _EXCERPT)}"
        for name, value in pairs:
            yield f"{_INDENT}{aligned(name, longest)}  {value}"


def _legs(hits: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The legs that scored any of the passages, each with the width of its widest score."""
    scores = {leg: [score(hit["scores"][leg]) for hit in hits if leg in hit["scores"]] for leg in _LEGS}
    return {leg: max(map(len, shown)) for leg, shown in scores.items() if shown}


def _why(hit: dict[str, Any], mode: str, legs: dict[str, int]) -> list[tuple[str, str]]:
    matched = hit["matched"] or {}
    words = _parts(matched.get("terms", {}))
    if not matched and mode == "hybrid" and "lexical" not in hit["scores"]:
        words = "none in common; found by its meaning"
    pairs = [
        ("scores", _scores(hit["scores"], legs)),
        ("words", words),
        ("identifiers", _parts(matched.get("identifiers", {}))),
    ]
    return [(name, value) for name, value in pairs if value]


def _scores(scores: dict[str, float], legs: dict[str, int]) -> str:
    """Each leg's score under those of the other passages; a passage that a leg did not find has none of it."""
    cells = [
        f"{leg} {(score(scores[leg]) if leg in scores else _NO_SCORE):>{size}}" for leg, size in legs.items()
    ]
    return "  ".join(cells)


def _parts(parts: dict[str, float]) -> str:
    """Words, or identifiers, each with its part of the score, the largest first."""
    shown = [f"{one_line(name)} {score(part)}" for name, part in list(parts.items())[:_MOST_WORDS]]
    more = [f"… and {len(parts) - _MOST_WORDS:,} more"] if len(parts) > _MOST_WORDS else []
    return ", ".join(shown + more)

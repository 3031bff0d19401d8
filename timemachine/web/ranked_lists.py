"""Two ranked lists of passages side by side, and the chart of their ranks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.replay.alignment.details import FrameAt
from timemachine.text.pure.difference.ranking import Ranked, compare_rankings

MOST: Final = 200
MOST_DRAWN: Final = 40
ROW: Final = 24
WIDTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFrame:
    """A passage in one list, and its state in the other: `same`, `moved`, `gained` or `lost`, as text in `other`."""

    frame: FrameAt
    fate: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeEnd:
    """A passage in one of the two lists. `fate` is `same`, `moved`, `gained` or `lost`; `last_kept` is the last one above the other list's cut."""

    rank: int
    title: str
    name: str
    fate: str
    mattered: bool
    last_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """A line from a recorded rank to a rank now, in SVG units; a passage in only one list has a stub that ends in a dot."""

    fate: str
    mattered: bool
    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slopes:
    """The chart of the ranks: both lists, the lines between them, and the cut as text and in SVG units. `more` is not drawn."""

    left: Sequence[SlopeEnd]
    right: Sequence[SlopeEnd]
    lines: Sequence[Slope]
    height: int
    width: int
    cut: int | None
    cut_words: str
    more: int
    words: str

    @property
    def has_marks(self) -> bool:
        """Return whether a drawn passage is marked as one that supports the answer."""
        return any(end.mattered for end in (*self.left, *self.right))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A passage of one list: its key in the comparison, its rank and its name."""

    key: Any
    rank: int
    title: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLists:
    """Both lists, how they compare, and the drawing between them. `more` is the number of passages not shown."""

    verdict: str
    overlap: float | None
    left: Sequence[ShownFrame]
    right: Sequence[ShownFrame]
    slopes: Slopes | None
    more: int


def ranked_lists(left: Sequence[FrameAt] | None, right: Sequence[FrameAt] | None) -> RankedLists | None:
    """Return the two lists; None if neither has a passage, or if one side failed before it had any."""
    if left is None or right is None or not (left or right):
        return None
    k = max(len(left), len(right))
    compared = compare_rankings(_ranked(left), _ranked(right), k)
    ranks = (
        {frame.key: frame.rank for frame in reversed(left)},
        {frame.key: frame.rank for frame in reversed(right)},
    )
    return RankedLists(
        verdict=compared.verdict,
        overlap=compared.overlap,
        left=[_shown(frame, ranks[1], "lost") for frame in left[:MOST]],
        right=[_shown(frame, ranks[0], "gained") for frame in right[:MOST]],
        slopes=slopes(_listed(left), _listed(right), frozenset(), "cut on the left"),
        more=max(k - MOST, 0),
    )


def _ranked(frames: Sequence[FrameAt]) -> list[Ranked]:
    return [Ranked(key=frame.key, rank=frame.rank) for frame in frames]


def _shown(frame: FrameAt, others: Mapping[str, int], alone: str) -> ShownFrame:
    rank = others.get(frame.key)
    if rank is None:
        return ShownFrame(frame=frame, fate=alone, other=alone)
    return ShownFrame(frame=frame, fate="same" if rank == frame.rank else "moved", other=f"rank {rank}")


def _listed(frames: Sequence[FrameAt]) -> list[Listed]:
    return [
        Listed(key=each.key, rank=each.rank, title=each.title or "untitled", name=each.name)
        for each in frames
    ]


def slopes(
    recorded: Sequence[Listed],
    now: Sequence[Listed],
    mattering: frozenset[Any],
    cut_words: str = "recorded cut",
) -> Slopes | None:
    """Return the chart of two ranked lists; None if one of them is empty, because then nothing moved."""
    if not recorded or not now:
        return None
    before, after = ({each.key: each for each in reversed(side)} for side in (recorded, now))
    left = [_end(each, after, mattering, "lost", len(now)) for each in recorded[:MOST_DRAWN]]
    right = [_end(each, before, mattering, "gained", len(recorded)) for each in now[:MOST_DRAWN]]
    return Slopes(
        left=left,
        right=right,
        lines=_lines(recorded, now, mattering),
        height=ROW * max(len(left), len(right)),
        width=WIDTH,
        cut=ROW * len(recorded) if len(recorded) < len(right) else None,
        cut_words=f"{cut_words}: {len(recorded)}",
        more=max(len(recorded), len(now)) - max(len(left), len(right)),
        words=_words(left, right),
    )


def _end(
    each: Listed, others: Mapping[Any, Listed], mattering: frozenset[Any], alone: str, cut: int
) -> SlopeEnd:
    other = others.get(each.key)
    fate = alone if other is None else "same" if other.rank == each.rank else "moved"
    return SlopeEnd(
        rank=each.rank,
        title=each.title,
        name=each.name,
        fate=fate,
        mattered=each.key in mattering,
        last_kept=each.rank == cut,
    )


def _lines(recorded: Sequence[Listed], now: Sequence[Listed], mattering: frozenset[Any]) -> list[Slope]:
    places = {each.key: place for place, each in reversed(list(enumerate(now)))}
    known = {each.key for each in recorded}
    drawn = []
    for here, each in enumerate(recorded[:MOST_DRAWN]):
        there, mattered = places.get(each.key), each.key in mattering
        if there is None:
            drawn.append(_slope("lost", (0, here), (WIDTH // 4, here), mattered=mattered))
        elif there < MOST_DRAWN:
            fate = "same" if here == there else "moved"
            drawn.append(_slope(fate, (0, here), (WIDTH, there), mattered=mattered))
    drawn += [
        _slope("gained", (WIDTH - WIDTH // 4, place), (WIDTH, place), mattered=each.key in mattering)
        for place, each in enumerate(now[:MOST_DRAWN])
        if each.key not in known
    ]
    return sorted(drawn, key=lambda each: each.mattered)


def _slope(fate: str, start: tuple[int, int], end: tuple[int, int], *, mattered: bool) -> Slope:
    return Slope(
        fate=fate, mattered=mattered, x1=start[0], y1=_middle(start[1]), x2=end[0], y2=_middle(end[1])
    )


def _middle(place: int) -> int:
    return ROW * place + ROW // 2


def _words(left: Sequence[SlopeEnd], right: Sequence[SlopeEnd]) -> str:
    counts = Counter(each.fate for each in left)
    counts["gained"] = sum(each.fate == "gained" for each in right)
    said = [f"{counts[fate]} {words}" for fate, words in _FATES.items() if counts[fate]]
    return f"Ranks recorded and now: {', '.join(said)}"


_FATES: Final = {"same": "at the same rank", "moved": "moved", "lost": "lost", "gained": "came in"}

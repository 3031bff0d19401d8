"""Two ranked lists of passages side by side, with lines that show what moved."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.replay.alignment.details import FrameAt
from timemachine.text.pure.difference.ranking import Ranked, compare_rankings

ROW, WIDTH = 32, 64
MOST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFrame:
    """A passage in one list, and its state in the other: `same`, `moved`, `gained` or `lost`, as text in `other`."""

    frame: FrameAt
    fate: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLists:
    """Both lists, how they compare, and the drawing between them. `more` is the number of passages not shown."""

    verdict: str
    overlap: float | None
    left: Sequence[ShownFrame]
    right: Sequence[ShownFrame]
    lines: SafeString
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
        lines=lines([frame.key for frame in left[:MOST]], [frame.key for frame in right[:MOST]]),
        more=max(k - MOST, 0),
    )


def lines(left: Sequence[Hashable], right: Sequence[Hashable]) -> SafeString:
    """Return a line from each passage in the left list to its place in the right one; rows and the header are `ROW` high."""
    places = {key: place for place, key in reversed(list(enumerate(right)))}
    drawn = [
        ("same" if here == places[key] else "moved", _middle(here), _middle(places[key]))
        for here, key in enumerate(left)
        if key in places
    ]
    height = ROW * (1 + max(len(left), len(right)))
    return format_html(
        '<svg class="moves" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">{2}</svg>',
        WIDTH,
        height,
        format_html_join(
            "", '<path class="{}" d="M0 {} C24 {} 40 {} 64 {}"/>', [(c, a, a, b, b) for c, a, b in drawn]
        ),
    )


def _ranked(frames: Sequence[FrameAt]) -> list[Ranked]:
    return [Ranked(key=frame.key, rank=frame.rank) for frame in frames]


def _shown(frame: FrameAt, others: Mapping[str, int], alone: str) -> ShownFrame:
    rank = others.get(frame.key)
    if rank is None:
        return ShownFrame(frame=frame, fate=alone, other=alone)
    return ShownFrame(frame=frame, fate="same" if rank == frame.rank else "moved", other=f"rank {rank}")


def _middle(place: int) -> int:
    return ROW * (place + 1) + ROW // 2

"""Compares two texts side by side: rows of sentences or lines with what was removed, added, changed and moved."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final, Literal, NamedTuple

from timemachine.text.pure.difference.edits import Piece
from timemachine.text.pure.difference.pieces import moving_key, pieces, with_gaps_joined
from timemachine.text.pure.language.sentences import sentences

Kind = Literal["same", "changed", "removed", "added", "moved"]
Mark = Literal["same", "removed", "added", "moved"]


_STRAIGHT: Final[dict[Mark, Mark]] = {"same": "same", "removed": "removed", "added": "added"}
_TURNED: Final[dict[Mark, Mark]] = {"same": "same", "removed": "added", "added": "removed"}


# The usual piece by its length: replaced words, with unchanged ones before, between and after.
_PUT_FOR: Final = {3 * n + 1: [*(("same", "removed", "added") * n), "same"] for n in range(1, 20)}


# Spans and rows are tuples: a long diff has thousands, and creating dataclasses takes twice as long.
class Span(NamedTuple):
    """Text with its mark. `removed` and `moved` from here are on the left, `added` and `moved` to here on the right."""

    text: str
    mark: Mark


class DiffRow(NamedTuple):
    """A row of the comparison. A `moved` row has one side only; the other place has another row of that kind."""

    kind: Kind
    left: tuple[Span, ...]
    right: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDiff:
    """The rows of a diff. The left spans joined are the old text, the right spans the new one."""

    rows: tuple[DiffRow, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each kind. A moved sentence counts once."""
        found = Counter[str](row.kind for row in self.rows)
        found["moved"] //= 2
        return {kind: found[kind] for kind in ("same", "changed", "removed", "added", "moved")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """`count` unchanged rows that are not shown, from the row with index `start`."""

    count: int
    start: int


def text_diff(old: str, new: str) -> TextDiff:
    """Compare two texts sentence by sentence, and changed sentences word by word.

    For texts of any length. Swapping the texts gives the same rows mirrored. All rows are `same` exactly if the texts
    are equal.
    """
    if old == new:
        return TextDiff(rows=tuple(_same(each.text) for each in sentences(old)))
    turned = (len(old), old) > (len(new), new)
    found = with_gaps_joined(list(pieces(new, old) if turned else pieces(old, new)))
    return TextDiff(rows=tuple(_paired(_with_moves([_row(piece, turned=turned) for piece in found]))))


def fold(rows: Sequence[DiffRow], context: int = 2) -> tuple[DiffRow | Folded, ...]:
    """Return the rows with long unchanged parts folded, keeping `context` rows next to each difference."""
    shown: list[DiffRow | Folded] = []
    start = 0
    for same, group in groupby(rows, key=lambda row: row.kind == "same"):
        stretch = list(group)
        before = context if same and start > 0 else 0
        after = context if start + len(stretch) < len(rows) else 0
        hidden = len(stretch) - before - after
        if same and hidden > 1:
            shown += stretch[:before]
            shown.append(Folded(count=hidden, start=start + before))
            shown += stretch[len(stretch) - after :]
        else:
            shown += stretch
        start += len(stretch)
    return tuple(shown)


def _row(piece: Piece, *, turned: bool) -> DiffRow:
    """Return the row of a piece. `turned`: the pieces lead from the new text to the old one."""
    if piece.fate() == "same":
        return _same("".join([text for _, text in piece.edits]))
    marks = _TURNED if turned else _STRAIGHT
    spans = [Span(text, marks[mark]) for mark, text in piece.edits]
    if [mark for mark, _ in piece.edits] == _PUT_FOR.get(len(spans)):
        old, new = spans.copy(), spans
        del old[2::3], new[1::3]
        left, right = (tuple(new), tuple(old)) if turned else (tuple(old), tuple(new))
        return DiffRow("changed", left, right)
    left = _joined([span for span in spans if span.mark != "added"])
    right = _joined([span for span in spans if span.mark != "removed"])
    return DiffRow(_kind(left, right), left, right)


def _joined(spans: list[Span]) -> tuple[Span, ...]:
    """Merge neighbouring spans with the same mark."""
    before = ""
    for span in spans:
        if span.mark == before:
            groups = groupby(spans, key=lambda each: each.mark)
            return tuple(Span("".join([each.text for each in group]), mark) for mark, group in groups)
        before = span.mark
    return tuple(spans)


def _same(text: str) -> DiffRow:
    shared = (Span(text, "same"),)
    return DiffRow("same", shared, shared)


def _kind(left: Sequence[Span], right: Sequence[Span]) -> Kind:
    """Return the kind of a row that is not `same`. Shared white space alone does not make it a change of words."""
    if len(left) > 1 < len(right):
        return "changed"
    if _is_only_shared_space(left):
        return "added"
    return "removed" if _is_only_shared_space(right) else "changed"


def _is_only_shared_space(spans: Sequence[Span]) -> bool:
    return not spans or (len(spans) == 1 and spans[0].mark == "same" and spans[0].text.isspace())


def _with_moves(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """Mark each sentence that only changed its place as moved, in both places."""
    taken_out: dict[str, deque[int]] = defaultdict(deque)
    for place, row in enumerate(rows):
        if row.kind == "removed" and (key := _moving_key(row.left)):
            taken_out[key].append(place)
    moved = list(rows)
    for place, row in enumerate(rows):
        if row.kind == "added" and taken_out.get(key := _moving_key(row.right)):
            for each in (taken_out[key].popleft(), place):
                moved[each] = DiffRow(
                    "moved", _marked_moved(rows[each].left), _marked_moved(rows[each].right)
                )
    return moved


def _moving_key(spans: Sequence[Span]) -> str:
    return moving_key("".join(span.text for span in spans)) or ""


def _marked_moved(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(span if span.mark == "same" else Span(span.text, "moved") for span in spans)


def _paired(rows: Iterable[DiffRow]) -> Iterator[DiffRow]:
    """Put sentences that were removed and added in one place side by side."""
    for alone, group in groupby(rows, key=_stands_alone):
        if not alone:
            yield from group
            continue
        stretch = list(group)
        left = [row.left for row in stretch if row.kind == "removed"]
        right = [row.right for row in stretch if row.kind == "added"]
        for one, other in zip_longest(left, right, fillvalue=()):
            yield DiffRow(_kind(one, other), one, other)


def _stands_alone(row: DiffRow) -> bool:
    return (row.kind == "removed" and not row.right) or (row.kind == "added" and not row.left)

"""Two texts side by side: rows of sentences or lines, with what was removed, added, changed and moved."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Literal

from timemachine.difference.edits import Piece
from timemachine.difference.gaps import with_gaps_joined
from timemachine.difference.pieces import moving_key, pieces
from timemachine.language.sentences import sentences

Kind = Literal["same", "changed", "removed", "added", "moved"]
Mark = Literal["same", "removed", "added", "moved"]


@dataclass(frozen=True, slots=True)
class Span:
    """Text with its mark. `removed` and `moved` away stand on the left, `added` and `moved` here on the right."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class DiffRow:
    """What stands side by side. A `moved` row is on one side only; its other place has another row of that kind."""

    kind: Kind
    left: tuple[Span, ...]
    right: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDiff:
    """The rows of a diff. Their left spans joined are the old text, their right spans the new one."""

    rows: tuple[DiffRow, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows of each kind there are; a sentence that moved counts once."""
        found = Counter[str](row.kind for row in self.rows)
        found["moved"] //= 2
        return {kind: found[kind] for kind in ("same", "changed", "removed", "added", "moved")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """`count` rows of no difference that are not shown, from the row of index `start`."""

    count: int
    start: int


def text_diff(old: str, new: str) -> TextDiff:
    """How `new` differs from `old`, sentence by sentence and inside a changed sentence word by word.

    Texts of any length; comparing the other way round gives the same rows mirrored. No row is other than `same` exactly
    when the texts are equal.
    """
    if old == new:
        return TextDiff(rows=tuple(_same(each.text) for each in sentences(old)))
    turned = (len(old), old) > (len(new), new)
    found = with_gaps_joined(list(pieces(new, old) if turned else pieces(old, new)))
    return TextDiff(rows=tuple(_paired(_with_moves([_row(piece, turned=turned) for piece in found]))))


def fold(rows: Sequence[DiffRow], context: int = 2) -> tuple[DiffRow | Folded, ...]:
    """The rows with long stretches of no difference folded, `context` rows of them kept beside each difference."""
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
    """The row of a piece; `turned` says that the pieces lead from the new text to the old one."""
    if piece.fate() == "same":
        return _same("".join([text for _, text in piece.edits]))
    left: list[Span] = []
    right: list[Span] = []
    for mark, text in piece.edits:
        if mark == "same":
            _put_same(left, right, Span(text, "same"))
        elif (mark == "removed") is turned:
            _put(right, Span(text, "added"))
        else:
            _put(left, Span(text, "removed"))
    return DiffRow(_kind(left, right), tuple(left), tuple(right))


def _put_same(left: list[Span], right: list[Span], span: Span) -> None:
    for side in (left, right):
        if side and side[-1].mark == "same":
            side[-1] = Span(side[-1].text + span.text, "same")
        else:
            side.append(span)


def _put(spans: list[Span], span: Span) -> None:
    if spans and spans[-1].mark == span.mark:
        spans[-1] = Span(spans[-1].text + span.text, span.mark)
    else:
        spans.append(span)


def _same(text: str) -> DiffRow:
    shared = (Span(text, "same"),)
    return DiffRow("same", shared, shared)


def _kind(left: Sequence[Span], right: Sequence[Span]) -> Kind:
    """The kind of a row that is not `same`; white space that both share does not make it a change of words."""
    if _is_only_shared_space(left):
        return "added"
    return "removed" if _is_only_shared_space(right) else "changed"


def _is_only_shared_space(spans: Sequence[Span]) -> bool:
    return not spans or (len(spans) == 1 and spans[0].mark == "same" and spans[0].text.isspace())


def _with_moves(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """The rows with each sentence that only went from one place to another marked as moved in both."""
    taken_out: dict[str, deque[int]] = defaultdict(deque)
    for place, row in enumerate(rows):
        if row.kind == "removed" and (key := _moving_key(row.left)):
            taken_out[key].append(place)
    moved = list(rows)
    for place, row in enumerate(rows):
        if row.kind == "added" and taken_out.get(key := _moving_key(row.right)):
            for each in (taken_out[key].popleft(), place):
                moved[each] = _as_moved(rows[each])
    return moved


def _moving_key(spans: Sequence[Span]) -> str:
    return moving_key("".join(span.text for span in spans)) or ""


def _as_moved(row: DiffRow) -> DiffRow:
    return DiffRow("moved", _marked_moved(row.left), _marked_moved(row.right))


def _marked_moved(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(span if span.mark == "same" else replace(span, mark="moved") for span in spans)


def _paired(rows: Iterable[DiffRow]) -> Iterator[DiffRow]:
    """The rows with sentences removed and sentences added in one place set side by side."""
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

"""Attaches the white space between two sentences of a diff to the sentence with the same mark."""

from collections.abc import Sequence

from timemachine.text.pure.difference.edits import Piece


def with_gaps_joined(found: Sequence[Piece]) -> list[Piece]:
    """Return the pieces in order, none of them only white space if there is a sentence to attach it to."""
    if not any(map(_is_gap, found)):
        return list(found)
    joined: list[Piece] = []
    waiting: Piece | None = None
    settled = _slid(list(found))
    for place, piece in enumerate(settled):
        current = Piece([*waiting.edits, *piece.edits]) if waiting else piece
        waiting = None
        if not _is_gap(current):
            joined.append(current)
        elif joined and _goes_back(current, joined[-1], settled[place + 1 : place + 2]):
            joined[-1].edits.extend(current.edits)
        else:
            waiting = current
    return [*joined, waiting] if waiting else joined


def _slid(found: list[Piece]) -> list[Piece]:
    """Shift "white space, sentence" before equal white space to "sentence, white space"."""
    start = 0
    for place, piece in enumerate(found):
        fate, first = piece.fate(), found[start]
        if fate != "same":
            if fate is None or fate != first.fate():
                start = place
            continue
        if start < place and _is_gap(piece) and _is_gap(first) and _text(first) == _text(piece):
            found[start], found[place] = _with_fate(piece, first), _with_fate(first, piece)
        start = place + 1
    return found


def _with_fate(text: Piece, fate: Piece) -> Piece:
    return Piece([(fate.edits[0][0], _text(text))])


def _text(piece: Piece) -> str:
    return "".join(text for _, text in piece.edits)


def _is_gap(piece: Piece) -> bool:
    return piece.edits[0][1].isspace() and all(text.isspace() for _, text in piece.edits)


def _goes_back(gap: Piece, before: Piece, following: Sequence[Piece]) -> bool:
    """Return whether a gap belongs to the piece before it rather than to the following one."""
    if not following or gap.fate() == before.fate():
        return True
    if gap.fate() == "same":
        return before.fate() is None
    return gap.fate() != following[0].fate()

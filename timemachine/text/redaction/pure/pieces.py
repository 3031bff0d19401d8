"""Secrets that are spread over the entries of a list: the arguments of a command, the lines of a private key."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.text.redaction.pure.engine import readable
from timemachine.text.redaction.pure.passwords import arguments_in

_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LINE_OF_KEY: Final = re.compile(
    r"\s*[0-9]{0,6}[→\t: ]*(?:[A-Za-z0-9+/]{4,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment): .*)?\s*"
)
_MOST_ARGUMENTS: Final = 500
SHORTEST_LINE: Final = 16
"""The characters of a line of a key that is not its last."""

Piece = tuple[int, int, int]
"""The number of an entry, and the span in it."""


def pieces_in(entries: Sequence[str]) -> list[Piece]:
    """Return what belongs to a secret that is spread over several entries of a list of texts, in order. No two overlap."""
    pieces: list[Piece] = []
    for nth, start, end in sorted({*_of_command(entries), *_of_keys(entries)}):
        if pieces and pieces[-1][0] == nth and start < pieces[-1][2]:
            pieces[-1] = (nth, pieces[-1][1], max(end, pieces[-1][2]))
        else:
            pieces.append((nth, start, end))
    return pieces


def _of_command(entries: Sequence[str]) -> Iterator[Piece]:
    if len(entries) > _MOST_ARGUMENTS or not any(each.startswith("-") or each == "login" for each in entries):
        return
    begins, place = [], 0
    for each in entries:
        begins.append(place)
        place += len(each) + 1
    found = sorted(start for start, *_ in arguments_in(readable(" ".join(entries))))
    nth = 0
    for start in found:
        while nth + 1 < len(begins) and begins[nth + 1] <= start:
            nth += 1
        yield nth, start - begins[nth], len(entries[nth])


def _of_keys(entries: Sequence[str]) -> Iterator[Piece]:
    """Yield the lines of private keys: after a begin, and before an end whose begin is missing."""
    within = False
    for nth, text in enumerate(entries):
        begins, ends = [each.end() for each in _BEGIN.finditer(text)], _END.search(text)
        if within and ends:
            yield nth, 0, ends.end()
        elif within and _LINE_OF_KEY.fullmatch(text):
            if text.strip():
                yield nth, 0, len(text)
            continue
        elif ends and not begins:
            yield from ((each, 0, len(entries[each])) for each in _before(entries, nth))
        within = bool(begins) and _END.search(text, begins[-1]) is None


def _before(entries: Sequence[str], end: int) -> Iterator[int]:
    """Yield the numbers of the lines of a key before its end. All but its last line are long."""
    for nth in range(end - 1, -1, -1):
        line = entries[nth].strip()
        short = nth < end - 1 and len(line) < SHORTEST_LINE
        if not line or short or _LINE_OF_KEY.fullmatch(line) is None:
            return
        yield nth

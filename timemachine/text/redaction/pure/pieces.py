"""Secrets that are spread over the entries of a list: the arguments of a command, the lines of a private key."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.text.redaction.pure.engine import readable
from timemachine.text.redaction.pure.passwords import arguments_in

_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LINE_OF_KEY: Final = re.compile(r"\s*[0-9]{0,6}[→\t: ]*(?:[A-Za-z0-9+/]{4,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment): .*)?\s*")
_MOST_ARGUMENTS: Final = 500

Piece = tuple[int, int, int]
"""The number of an entry, and the span in it."""


def pieces_in(entries: Sequence[str]) -> list[Piece]:
    """Return what belongs to a secret that is spread over several entries of a list of texts, in order."""
    return sorted({*_of_command(entries), *_of_keys(entries)})


def _of_command(entries: Sequence[str]) -> Iterator[Piece]:
    if len(entries) > _MOST_ARGUMENTS or not any(each.startswith("-") or each == "login" for each in entries):
        return
    begins, place = [], 0
    for each in entries:
        begins.append(place)
        place += len(each) + 1
    found = sorted((start, end) for start, end, _ in arguments_in(readable(" ".join(entries))))
    nth = 0
    for start, end in found:
        while nth + 1 < len(begins) and begins[nth + 1] <= start:
            nth += 1
        if end <= begins[nth] + len(entries[nth]):
            yield nth, start - begins[nth], len(entries[nth])


def _of_keys(entries: Sequence[str]) -> Iterator[Piece]:
    """Yield the lines of private keys: after a begin, and before an end whose begin is missing."""
    within, before = False, 0
    for nth, text in enumerate(entries):
        ends = _END.search(text)
        if within and ends:
            yield from [(nth, 0, ends.end())] if ends.end() else []
        elif within and _LINE_OF_KEY.fullmatch(text):
            yield from [(nth, 0, len(text))] if text.strip() else []
        elif ends and not _BEGIN.search(text):
            yield from ((each, 0, len(entries[each])) for each in range(before, nth) if entries[each].strip())
        else:
            within = False
        begins = [each.end() for each in _BEGIN.finditer(text)]
        if begins:
            within = not _END.search(text, begins[-1])
        elif ends:
            within = False
        if within or _LINE_OF_KEY.fullmatch(text) is None or not text.strip():
            before = nth + 1

"""What identifies a person: e-mail addresses, phone numbers, card numbers."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import phonenumbers

from timemachine.text.redaction.pure.engine import ESCAPE_BEFORE, compiled, spans

_EMAIL: Final = r"[\pL\pN_][\pL\pN._%+'-]*(?:@|%40)(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+[\pL]{2,}"
_INTERNATIONAL: Final = r"(?:[+＋]|\b00)[\s().-]{0,3}[0-9][0-9\s().\-/~\x{a0}\x{2010}-\x{2015}\x{3000}]{5,40}"
_DIALLED: Final = r"\(?[0-9](?:[0-9\s().\-/~\x{a0}\x{2010}-\x{2015}\x{3000}]*[0-9])?"
_CARD: Final = r"[0-9](?:[ .\x{a0}-]?[0-9]){11,}"
_HEX_BEFORE: Final = re.compile(r"[0-9A-Fa-f]+\Z")
_HEX_AFTER: Final = re.compile(r"[0-9A-Fa-f]+")
_SHORTEST_HASH, _LONGEST_HASH = 32, 128
_UUID: Final = r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b"
_TIMED_UUID: Final = (
    r"\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}\b"
)
"""UUIDs of version 7, which steps have as IDs. One of version 4 may be a key."""
_RUN_AFTER: Final = re.compile(r"(?!(?:x|ext)\.?\s?[0-9])[A-Za-z\u00c0-\u024f]")
"""A letter that continues a run of letters and digits and does not start an extension (`x12`)."""
_RUN_BEFORE: Final = re.compile(r"(?<!\\)(?<!%)(?<!%[0-9A-Fa-f])[A-Za-z\u00c0-\u024f]\Z")
_LEADING_GROUP: Final = re.compile(r"[0-9]+[^0-9]+(?=[0-9])")
_AFTER: Final = 12
_LEAST_DIALLED, _MOST_DIALLED = 7, 15
_WINDOW, _STEP = 120, 80
_PREFIX: Final = 4
"""Digits that identify the issuer of a card."""
_ISSUERS: Final = (
    (4, 4, (13, 16, 19)),
    (51, 55, (16,)),
    (2221, 2720, (16,)),
    (34, 34, (15,)),
    (37, 37, (15,)),
    (300, 305, (14, 16)),
    (36, 36, (14, 16)),
    (38, 39, (14, 16)),
    (6011, 6011, (16, 19)),
    (644, 659, (16, 19)),
    (3528, 3589, (16, 19)),
    (62, 62, (16, 17, 18, 19)),
    (50, 50, (12, 13, 14, 15, 16, 17, 18, 19)),
    (56, 58, (12, 13, 14, 15, 16, 17, 18, 19)),
    (6, 6, (12, 13, 14, 15, 16, 17, 18, 19)),
)
"""Ranges of the first digits of card issuers, with the lengths of their numbers (ISO/IEC 7812)."""


def emails_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of e-mail addresses, also with the @ as `%40`. `text` must be readable for the engine."""
    if "@" in text or "%40" in text:
        yield from spans(compiled(_EMAIL), text)


def phones_in(text: str, regions: Sequence[str] = ()) -> Iterator[tuple[int, int]]:
    """Yield the spans of valid phone numbers: international (`+49 …`, `0049 …`), or as dialled in one of the regions.

    Hashes, UUIDs and other runs of letters and digits contain none.
    """
    taken = list(spans(compiled(_UUID), text))
    for start, end in _numbers_in(text, regions):
        if not any(low < end and start < high for low, high in taken):
            yield start, end


def _numbers_in(text: str, regions: Sequence[str]) -> Iterator[tuple[int, int]]:
    for start, end in spans(compiled(_INTERNATIONAL), text):
        digits = [place for place in range(start, end) if text[place].isdigit()]
        last = _last_dialled(text, digits[2:] if text[start] == "0" else digits)
        if last is not None:
            yield start, last + 1
    for begin, end in spans(compiled(_DIALLED), text) if regions else ():
        start = _after_a_run(text, begin, end)
        if sum(each.isdigit() for each in text[start : min(end, start + _WINDOW)]) >= _LEAST_DIALLED:
            yield from _dialled_within(text, start, end, regions)


def cards_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of card numbers, in one piece or in groups, with an issuer's length and a valid check digit (Luhn).

    Hashes and the IDs of steps contain none.
    """
    taken: list[tuple[int, int]] | None = None
    for start, end in spans(compiled(_CARD), text):
        if _is_in_a_hash(text, start, end):
            continue
        for low, high in _cards_within(text, start, end):
            if taken is None:  # most texts have no card, and need no search for UUIDs
                taken = list(spans(compiled(_TIMED_UUID), text))
            if not any(low < uuid_end and uuid_start < high for uuid_start, uuid_end in taken):
                yield low, high


def _is_in_a_hash(text: str, start: int, end: int) -> bool:
    """Return whether the digits are part of a hexadecimal number that is as long as a hash."""
    before = _HEX_BEFORE.search(text, max(0, start - _LONGEST_HASH), start)
    after = _HEX_AFTER.match(text, end, end + _LONGEST_HASH)
    begin, finish = before.start() if before else start, after.end() if after else end
    run = text[begin:finish]
    return len(run) >= _SHORTEST_HASH and (begin, finish) != (start, end) and run.isalnum()


def is_region(code: str) -> bool:
    """Return whether phone numbers of this region (ISO 3166, two letters) are known."""
    return code in phonenumbers.SUPPORTED_REGIONS


def _last_dialled(text: str, places: Sequence[int]) -> int | None:
    """Return the last position of the longest valid international number that starts with the first of these digits."""
    number = "".join(text[place] for place in places[:_MOST_DIALLED])
    for length in range(len(number), _LEAST_DIALLED - 1, -1):
        last = places[length - 1]
        if length < len(places) and places[length] == last + 1:
            continue  # in the middle of a group
        if _RUN_AFTER.match(text, last + 1):
            continue  # in the middle of a run of letters and digits
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(f"+{number[:length]}")):
                return last
        except phonenumbers.NumberParseException:
            return None
    return None


def _after_a_run(text: str, start: int, end: int) -> int:
    """Return where digits without a letter before them begin: in `b71 030 901820`, after the first group."""
    if not _RUN_BEFORE.search(text, max(0, start - 3), start):
        return start
    rest = _LEADING_GROUP.match(text, start, end)
    return rest.end() if rest else start


def _dialled_within(text: str, start: int, end: int, regions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Read long runs of digits in windows that overlap by more than a phone number, so that each costs the same.

    The characters around a window are read with it: digits next to a letter are not a number.
    """
    for low in range(start, max(start + 1, end - _WINDOW + _STEP), _STEP):
        begin = low - (low > 0 and not ESCAPE_BEFORE.search(text, max(0, low - 3), low))
        piece = text[begin : min(end, low + _WINDOW) + _AFTER]
        for region in regions:
            for match in phonenumbers.PhoneNumberMatcher(piece, region):
                yield begin + match.start, begin + match.end


def _cards_within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    places = [place for place in range(start, end) if text[place].isdigit()]
    digits = "".join(text[place] for place in places)
    for first in range(len(digits)):
        if first and places[first] == places[first - 1] + 1:
            continue  # in the middle of a group
        for length in _lengths_for(digits[first : first + _PREFIX]):
            last = first + length - 1
            if last >= len(digits) or (last + 1 < len(digits) and places[last + 1] == places[last] + 1):
                continue
            if _luhn(digits[first : last + 1]):
                yield places[first], places[last] + 1
                break


@lru_cache(maxsize=10**_PREFIX)
def _lengths_for(prefix: str) -> tuple[int, ...]:
    """Return the lengths of card numbers with this prefix, longest first."""
    found = {
        length
        for low, high, lengths in _ISSUERS
        if low <= int(prefix[: len(str(low))]) <= high
        for length in lengths
    }
    return tuple(sorted(found, reverse=True))


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(each - 9 if each > 9 else each for each in doubled)) % 10 == 0  # noqa: PLR2004

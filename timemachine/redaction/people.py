"""What leads to a person: e-mail addresses, phone numbers, numbers of payment cards. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

import phonenumbers

from timemachine.redaction.engine import compiled, spans

_EMAIL: Final = r"[\pL\pN_][\pL\pN._%+'-]*(?:@|%40)(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+[\pL]{2,}"
_INTERNATIONAL: Final = r"(?:[+＋]|\b00)[\s().-]{0,3}[0-9][0-9\s().\-/~\x{a0}\x{2010}-\x{2015}\x{3000}]{5,40}"
_DIALLED: Final = r"\(?[0-9](?:[0-9\s().\-/~\x{a0}\x{2010}-\x{2015}\x{3000}]*[0-9])?"
_CARD: Final = r"[0-9](?:[ .\x{a0}-]?[0-9]){11,}"
_LEAST_DIALLED, _MOST_DIALLED = 7, 15
_WINDOW, _STEP = 120, 80
_LENGTHS: Final = range(19, 11, -1)
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
"""The first digits of who issues cards, and how many digits theirs have (ISO/IEC 7812)."""


def emails_in(text: str) -> Iterator[tuple[int, int]]:
    """Where an e-mail address stands, also with its @ as `%40`. `text` is readable for the engine."""
    if "@" in text or "%40" in text:
        yield from spans(compiled(_EMAIL), text)


def phones_in(text: str, regions: Sequence[str] = ()) -> Iterator[tuple[int, int]]:
    """Where a valid phone number stands: written internationally (`+49 …`, `0049 …`), or as it is dialled in one of the regions."""
    for start, end in spans(compiled(_INTERNATIONAL), text):
        digits = [place for place in range(start, end) if text[place].isdigit()]
        last = _last_dialled(text, digits[2:] if text[start] == "0" else digits)
        if last is not None:
            yield start, last + 1
    for start, end in spans(compiled(_DIALLED), text) if regions else ():
        if sum(each.isdigit() for each in text[start : min(end, start + _WINDOW)]) >= _LEAST_DIALLED:
            yield from _dialled_within(text, start, end, regions)


def cards_in(text: str) -> Iterator[tuple[int, int]]:
    """Where a card's number stands, in one piece or in groups: of an issuer's length, and with the check digit right (Luhn)."""
    for start, end in spans(compiled(_CARD), text):
        yield from _cards_within(text, start, end)


def is_region(code: str) -> bool:
    """Whether phone numbers of that region (ISO 3166, two letters) are known."""
    return code in phonenumbers.SUPPORTED_REGIONS


def _last_dialled(text: str, places: Sequence[int]) -> int | None:
    """Where the last digit of the longest valid international number stands that begins with the first of these digits."""
    number = "".join(text[place] for place in places[:_MOST_DIALLED])
    for length in range(len(number), _LEAST_DIALLED - 1, -1):
        last = places[length - 1]
        if length < len(places) and places[length] == last + 1:
            continue  # in the middle of a group
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(f"+{number[:length]}")):
                return last
        except phonenumbers.NumberParseException:
            return None
    return None


def _dialled_within(text: str, start: int, end: int, regions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Long runs of digits are read in windows that overlap by more than a phone number has, so that each costs the same."""
    for begin in range(start, max(start + 1, end - _WINDOW + _STEP), _STEP):
        piece = text[begin : min(end, begin + _WINDOW)]
        for region in regions:
            for match in phonenumbers.PhoneNumberMatcher(piece, region):
                yield begin + match.start, begin + match.end


def _cards_within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    places = [place for place in range(start, end) if text[place].isdigit()]
    digits = "".join(text[place] for place in places)
    for first in range(len(digits)):
        if first and places[first] == places[first - 1] + 1:
            continue  # in the middle of a group
        for length in _LENGTHS:
            last = first + length - 1
            if last >= len(digits) or (last + 1 < len(digits) and places[last + 1] == places[last] + 1):
                continue
            if _issued(digits[first : last + 1]) and _luhn(digits[first : last + 1]):
                yield places[first], places[last] + 1
                break


def _issued(digits: str) -> bool:
    return any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths
        for low, high, lengths in _ISSUERS
    )


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(each - 9 if each > 9 else each for each in doubled)) % 10 == 0  # noqa: PLR2004

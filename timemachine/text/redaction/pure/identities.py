"""Numbers of accounts and people: IBANs, and US social security numbers."""

import re
from collections.abc import Iterator
from typing import Final

from timemachine.text.redaction.pure.engine import ESCAPE_BEFORE, compiled, spans

_REGISTRY: Final = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 "
    "FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 "
    "LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
    "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
"""Countries with IBANs, each with the length of theirs (ISO 13616, the registry of SWIFT)."""
_LENGTHS: Final = {each[:2]: int(each[2:]) for each in _REGISTRY.split()}
_IBAN_BEGINS: Final = rf"(?i)(?:{'|'.join(_LENGTHS)})[0-9]{{2}}"
_IBAN_NEXT: Final = re.compile("[ \u00a0\u202f-]?([A-Za-z0-9])")
_IBAN_REMAINDER: Final = 1
_SSN: Final = r"[0-9]{3}-[0-9]{2}-[0-9]{4}"
_SSN_NAMED: Final = (
    r"(?i)(?:\bssn|social[ _-]?security(?:[ _-]?(?:number|no|nr|num))?)[^0-9A-Za-z]{1,6}(?:is[^0-9A-Za-z]{1,3})?"
    r"([0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4})"
)
_NO_AREAS: Final = ("000", "666")
_FIRST_OF_NO_AREA: Final = "9"
_RUN_BEFORE: Final = re.compile(r"[A-Za-z0-9]\Z|[0-9]-\Z")
_RUN_AFTER: Final = re.compile(r"[A-Za-z0-9]|-[0-9]")


def ibans_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of IBANs, in one piece or in groups, with their country's length and valid check digits (ISO 7064, 97-10)."""
    for start, _ in spans(compiled(_IBAN_BEGINS), text):
        length = _LENGTHS.get(text[start : start + 2].upper())
        if length and not _continues_before(text, start):
            end = _read(text, start, length)
            if end is not None and _checks(text[start:end]):
                yield start, end


def social_security_numbers_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of valid social security numbers: with hyphens, or in any form after their name."""
    for pattern in (_SSN, _SSN_NAMED):
        for start, end in spans(compiled(pattern), text):
            alone = not _continues_before(text, start) and not _RUN_AFTER.match(text, end)
            if alone and _is_assignable("".join(filter(str.isdigit, text[start:end]))):
                yield start, end


def _continues_before(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start]
    return _RUN_BEFORE.search(before) is not None and ESCAPE_BEFORE.search(before) is None


def _read(text: str, start: int, length: int) -> int | None:
    """Return the end of `length` letters and digits with at most one space or hyphen between. None if fewer, or more follow."""
    place = start
    for _ in range(length):
        found = _IBAN_NEXT.match(text, place)
        if found is None:
            return None
        place = found.end()
    return None if text[place : place + 1].isascii() and text[place : place + 1].isalnum() else place


def _checks(written: str) -> bool:
    plain = "".join(filter(str.isalnum, written)).upper()
    return int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97 == _IBAN_REMAINDER


def _is_assignable(digits: str) -> bool:
    """Return whether the number can exist: no area 000, 666 or from 900, no group 00, no serial 0000."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in _NO_AREAS and area[0] != _FIRST_OF_NO_AREA and group != "00" and serial != "0000"

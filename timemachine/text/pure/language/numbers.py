"""The numbers in a text in a normal form: amounts, money, percentages, measures, dates, times, versions."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, cast

from timemachine.core.pure.text_caches import cleared_on_erasure
from timemachine.text.pure.language.spelled import COUNTED, ORDINAL, PORTION, SHARE, value_of
from timemachine.text.pure.language.spelled import OPENERS as SPELLED_OPENERS
from timemachine.text.pure.language.units import CURRENCIES, MONTHS, SCALES, UNITS, WEEKDAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as written (`text`, from `start` to before `end` in characters) and its meaning.

    `key` is its value in the base unit of its kind ("2000000000 USD", "300 s", "date 2026-11-20"). `bare` is its value
    before units ("2000000000", "5") and `unit` the base unit, None if it has none. `certain` is False for the word
    "one", which usually does not count anything.
    """

    text: str
    start: int
    end: int
    key: str
    bare: str | None = None
    unit: str | None = None
    certain: bool = True


# Longer ones are compared as written.
_LONGEST: Final = 100
_INDENT: Final = 40
_MONTHS_IN_YEAR: Final = 12
_LAST_HOUR: Final = 24
_LAST_MINUTE: Final = 59


@dataclass(frozen=True, slots=True)
class _Meaning:
    key: str
    bare: str | None = None
    unit: str | None = None
    certain: bool = True


def _any(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_MONTH: Final = _any(MONTHS)
_SYMBOLS: Final = _any(name for name in CURRENCIES if not name.isalpha())
_CODES: Final = _any(set(CURRENCIES.values()))
_LONG_SCALES: Final = _any(name for name in SCALES if len(name) > 1)
_LONG_UNITS: Final = _any([*(name for name in UNITS if len(name) > 1), "per cent", "percentage points"])
_ORDINAL: Final = r"(?:st|nd|rd|th)"
_SIGNS: Final = "¼½¾⅓⅔⅛"
_GAP: Final = r"[ \u00a0\u202f-]?"
_UNIT: Final = rf"(?:{_GAP}(?i:{_LONG_UNITS})|[ ]?[smghwSGHW%]|[xX])"

# What looks like a number but is not one: citations, "passage 2".
CITATION: Final = r"\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]"
_REFERENCES: Final = ("passage", "document", "source", "frame", "chunk", "excerpt", "context", "step")
_REFERENCE: Final = rf"(?i:(?:{'|'.join(_REFERENCES[:-1])})s?\s#?\d{{1,3}}\b|steps?\s\d{{1,3}}(?:(?:,|\sand|\sor|\sto|\s?[–-])\s?\d{{1,3}})*\b)"
_RANGES: Final = frozenset(("-", "–", "—", " - ", " – ", " to ", " or "))
_MARKER: Final = re.compile(r"\d{1,3}[.)][ \t]")
_FORMS: Final = {
    "iso": r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[T ](?P<clock>\d\d:\d\d)(?::(?P<seconds>\d\d)(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?",
    "month_first": rf"(?P<month>{_MONTH})\.?\s(?P<day>\d{{1,2}}){_ORDINAL}?(?:,?\s(?P<year>\d{{4}}))?",
    "month_year": rf"(?P<month>{_MONTH})\.?,?\s(?P<year>\d{{4}})",
    "day_first": rf"(?P<day>\d{{1,2}}){_ORDINAL}?\s(?:of\s)?(?P<month>{_MONTH})\.?(?:,?\s(?P<year>\d{{4}}))?",
    "weekday": rf"(?P<weekday>{_any(WEEKDAYS)})s?",
    "month": _any(MONTHS.keys() - {"March", "Sept", *(name[:3] for name in MONTHS)}),
    # May and March are also ordinary words, unless one of these precedes them.
    "may": rf"(?:{'|'.join(f'(?<={word} )' for word in ('in', 'of', 'last', 'next', 'this', 'since', 'until', 'by'))})"
    r"(?:May|March)",
    "slashed": r"(?P<first>\d{1,2})[/.](?P<second>\d{1,2})[/.](?P<year>\d{4})",
    "time": r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\s?(?P<half>[AaPp])\.?[Mm])?",
    "hour": r"(?P<hour>\d{1,2})\s?(?P<half>[AaPp])\.?[Mm]",
    "part": r"\d{1,2}/[1-9]\d?(?=\sof\b)",
    "fraction": rf"(?P<whole>\d{{1,3}}[ ])?(?P<over>\d{{1,2}})/(?P<under>[1-9]\d?)(?P<unit>{_UNIT})?(?![./\d])",
    "dotted": r"\d+(?:\.\d+){2,}|\d{1,4}/\d{1,4}",
    "amount": rf"(?P<sign>[-−+](?=[\d.]|{_SYMBOLS}|US\$))?"
    rf"(?P<money>(?:US\$|{_SYMBOLS}|(?:{_CODES})(?=[ \d]))[ ]?)?(?P<inner>-)?"
    rf"(?P<digits>(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+|[ ]?[{_SIGNS}])?|\.\d+|[{_SIGNS}])"
    rf"(?P<scale>{_GAP}(?i:{_LONG_SCALES})\b|[kKmMbBtT]\b)?(?P<unit>{_UNIT})?{_ORDINAL}?",
    "share": SHARE,
    "portion": PORTION,
    "ordinal": ORDINAL,
    "spelled": rf"(?P<words>{COUNTED})(?P<unit>[ -](?i:{_LONG_UNITS}))?",
}


def numbers_beside(text: str, identifiers: Iterable[tuple[int, int]]) -> tuple[Number, ...]:
    """Return the numbers of a text in order. Its identifiers are known, as spans in order.

    List markers, citations and digits of identifiers are not numbers.
    """
    found = list(_read(text, iter(identifiers)))
    for at, (first, last) in enumerate(pairwise(found)):
        if text[first.end : last.start] in _RANGES:
            found[at] = _of_scale(first, last)
    return tuple(found)


def missing_numbers(stated: Iterable[Number], elsewhere: Iterable[Number]) -> tuple[Number, ...]:
    """Return the certain numbers of `stated` that `elsewhere` does not have, each once.

    "$2 billion" has "2,000,000,000": a unit that one side omits is no difference, but a percent sign is. "May 5, 2026"
    has "in May", but not the other way round.
    """
    others = NumberSet(elsewhere)
    once = {number.key: number for number in stated if number.certain and not others.contains(number)}
    return tuple(once.values())


class NumberSet:
    """A set of numbers that can tell whether it contains another, however that is written."""

    __slots__ = ("_bare", "_keys", "_unitless")

    def __init__(self, found: Iterable[Number]) -> None:
        all_found = tuple(found)
        keys = {number.key for number in all_found}
        self._keys = keys.union(*map(_coarser, keys))
        self._bare = {number.bare for number in all_found if number.bare is not None and number.unit != "%"}
        self._unitless = {
            number.bare for number in all_found if number.bare is not None and number.unit is None
        }

    def contains(self, number: Number) -> bool:
        """Return whether the number is in the set: with the same unit, or with the unit omitted on one side."""
        if number.key in self._keys:
            return True
        if number.bare is None or number.unit == "%":
            return False
        return number.bare in (self._bare if number.unit is None else self._unitless)


def _coarser(key: str) -> set[str]:
    """Return the keys of less exact forms of a date: its month, its day without the year, its year."""
    parts = _DATE.match(key)
    if not parts:
        return set()
    year, month, day = parts.groups()
    coarser = {f"date --{month}", f"date --{month}{day or ''}"}
    exact = {f"date {year}-{month}", f"date {year}-{month}{day or ''}", year} if year != "-" else set()
    return coarser | exact


def _read(text: str, identifiers: Iterator[tuple[int, int]]) -> Iterator[Number]:
    taken = next(identifiers, None)
    for found in _matches(text):
        while taken and taken[1] <= found.start():
            taken = next(identifiers, None)
        inside = taken is not None and taken[0] < found.end()
        if not inside and found.lastgroup in _FORMS and not _marks_an_item(found):
            yield _number(found)


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of numbers, citations and references, as a search would, but much faster."""
    end = 0
    for start in _START.finditer(text):
        run = start[0]
        if start.start() < end or (run.isascii() and run.isalpha() and run.lower() not in _OPENERS):
            continue
        found = _NUMBER.match(text, start.start())
        if found:
            end = found.end()
            yield found


def _marks_an_item(found: re.Match[str]) -> bool:
    """Return whether this is the "1." or "(1)" of a list: first in its line, and followed by white space."""
    start, text = found.start(), found.string
    if not _MARKER.fullmatch(text, start, min(found.end() + 2, len(text))):
        return False
    before = text[max(0, start - _INDENT) : start].rpartition("\n")
    return not before[2].strip(" \t(") and (bool(before[1]) or start <= _INDENT)


def _of_scale(first: Number, last: Number) -> Number:
    """Return the first number of a range ("1.5–2 million") in the scale that is written only after the last one."""
    one, other = (_COMPILED["amount"].fullmatch(number.text) for number in (first, last))
    if not one or not other or one["scale"] or one["unit"] or not other["scale"]:
        return first
    if other["money"] and not one["money"]:
        return first
    value = _valued(one["digits"].replace(",", "")) * SCALES[_lower(other["scale"])]
    meaning = _measured(value, _lower(one["money"]))
    return replace(first, key=meaning.key, bare=meaning.bare, unit=meaning.unit)


def _number(found: re.Match[str]) -> Number:
    written = found[0]
    meaning = _Meaning(written) if len(written) > _LONGEST else _short_meaning(str(found.lastgroup), written)
    return Number(
        text=written,
        start=found.start(),
        end=found.end(),
        key=meaning.key,
        bare=meaning.bare,
        unit=meaning.unit,
        certain=meaning.certain,
    )


@cleared_on_erasure
@lru_cache(maxsize=16_384)
def _short_meaning(form: str, written: str) -> _Meaning:
    return _MEANINGS[form](cast("re.Match[str]", _COMPILED[form].fullmatch(written)))


def _date(parts: re.Match[str]) -> _Meaning:
    named = parts.groupdict()
    month = named["month"]
    year, day = named.get("year") or "", named.get("day") or ""
    number = int(month) if month.isdecimal() else MONTHS[month]
    date = f"{year or '-'}-{number:02}" + (f"-{int(day):02}" if day else "")
    return _Meaning(f"date {date}{_clock_of(named)}")


def _clock_of(named: dict[str, str | None]) -> str:
    if not named.get("clock"):
        return ""
    seconds = named["seconds"] or "00"
    return f" {named['clock']}" + ("" if seconds == "00" else f":{seconds}") + (named["zone"] or "")


def _slashed(parts: re.Match[str]) -> _Meaning:
    """Return the meaning of a date in digits. If both numbers could be the month, it is not guessed."""
    first, second = int(parts["first"]), int(parts["second"])
    if first > _MONTHS_IN_YEAR >= second:
        first, second = second, first
    if second > _MONTHS_IN_YEAR >= first:
        return _Meaning(f"date {parts['year']}-{first:02}-{second:02}")
    return _Meaning(f"date {parts['year']} {first}/{second}")


def _time(parts: re.Match[str]) -> _Meaning:
    named = parts.groupdict()
    hour, minute = int(named["hour"]), named.get("minute") or "00"
    if hour > _LAST_HOUR or int(minute) > _LAST_MINUTE:
        return _Meaning(parts[0])
    if named["half"]:
        hour = hour % 12 + (12 if named["half"] in "pP" else 0)
    second = named.get("second") or "00"
    return _Meaning(f"time {hour:02}:{minute}" + ("" if second == "00" else f":{second}"))


def _amount(parts: re.Match[str]) -> _Meaning:
    value = _valued(parts["digits"].replace(",", ""))
    scale, unit = _lower(parts["scale"]), _lower(parts["unit"])
    if scale == "m" and parts["scale"] == "m" and not (parts["money"] or unit in CURRENCIES):
        scale, unit = "", unit or "m"
    if parts["sign"] in ("-", "−") or parts["inner"]:
        value = -value
    return _measured(value * SCALES.get(scale, 1), _lower(parts["money"]) or unit)


def _valued(digits: str) -> Fraction:
    """Return the value of digits with a fraction sign after or instead of them ("1½")."""
    whole, sign = (digits[:-1].strip(), digits[-1]) if digits[-1] in _SIGNS else (digits, "")
    part = Fraction(unicodedata.numeric(sign)).limit_denominator(8) if sign else Fraction(0)
    return Fraction(whole or 0) + part


def _fraction(parts: re.Match[str]) -> _Meaning:
    over, under = int(parts["over"]), int(parts["under"])
    if not over < under:
        return _Meaning(parts[0])
    value = int(parts["whole"] or 0) + Fraction(over, under)
    return _measured(value, _lower(parts["unit"]))


def _spelled(parts: re.Match[str]) -> _Meaning:
    return _measured(value_of(parts["words"]), _lower(parts["unit"]), certain=_lower(parts[0]) != "one")


def _measured(value: Fraction, unit: str, *, certain: bool = True) -> _Meaning:
    bare = _decimal(value)
    if not unit:
        return _Meaning(bare, bare, certain=certain)
    base, factor = UNITS.get(unit, ("%", Fraction(1)))
    return _Meaning(f"{_decimal(value * factor)} {base}", bare, base, certain)


def _decimal(value: Fraction) -> str:
    """Return a number in a normal form: its shortest decimal, or a fraction if that does not end."""
    if value.denominator == 1:
        return str(value.numerator)
    decimal = f"{value:.15f}".rstrip("0")
    return decimal if Fraction(decimal) == value else str(value)


def _lower(written: str | None) -> str:
    return (written or "").lower().strip(" \u00a0\u202f-")


_MEANINGS: Final[dict[str, Callable[[re.Match[str]], _Meaning]]] = {
    "iso": _date,
    "weekday": lambda parts: _Meaning(f"date {parts['weekday']}"),
    "month": lambda parts: _Meaning(f"date --{MONTHS[parts[0]]:02}"),
    "may": lambda parts: _Meaning(f"date --{MONTHS[parts[0]]:02}"),
    "month_first": _date,
    "month_year": _date,
    "day_first": _date,
    "slashed": _slashed,
    "time": _time,
    "hour": _time,
    "part": lambda parts: _measured(100 * Fraction(parts[0]), "%"),
    "fraction": _fraction,
    "share": lambda parts: _measured(100 * value_of(parts[0]), "%"),
    "portion": lambda parts: _measured(value_of(parts[0]), ""),
    "ordinal": lambda parts: _measured(value_of(parts[0]), ""),
    "dotted": lambda parts: _Meaning(parts[0]),
    "amount": _amount,
    "spelled": _spelled,
}
_DATE: Final = re.compile(r"date (\d{4}|-)-(\d\d)(-\d\d)?")
# A number is parsed from its own text, in which required context before or after it is absent.
_ALONE: Final = {
    **_FORMS,
    "part": r"\d+/\d+",
    "share": ".+",
    "spelled": rf"(?P<words>.+?)(?P<unit>[ -](?i:{_LONG_UNITS}))?",
    "portion": ".+",
    "ordinal": ".+",
}
_COMPILED: Final = {
    name: re.compile(re.sub(r"[(][?]<=[a-z]+ [)]", "", form).replace("(?![./\\d])", ""))
    for name, form in _ALONE.items()
}
_ALTERNATIVES: Final = "|".join(
    f"(?P<{name}>{re.sub(r'[?]P<[a-z]+>', '?:', form)})" for name, form in _FORMS.items()
)
# Tried only where a number can start: trying every alternative at every word takes most of the time.
_NUMBER: Final = re.compile(
    rf"(?<!\w)(?=\w|[.+−$€£¥₹-]{{1,4}}[ U\d])(?:(?P<reference>{_REFERENCE})|(?:{_ALTERNATIVES})(?!\w))"
    rf"|(?P<citation>{CITATION})"
)
_START: Final = re.compile(r"\w+|[.+−$€£¥₹-](?=[.+−$€£¥₹-]{0,3}[ U\d])|\[(?=[\^\d])")
_OPENERS: Final = frozenset(
    word.lower()
    for word in (
        *SPELLED_OPENERS,
        *(name + plural for name in _REFERENCES for plural in ("", "s")),
        *MONTHS,
        *(name + plural for name in WEEKDAYS for plural in ("", "s")),
        *CURRENCIES.values(),
        "US",
    )
)

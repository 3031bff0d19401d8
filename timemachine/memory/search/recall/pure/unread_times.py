"""Explain why words that look like a time are not read as one. Pure."""

import re
from calendar import monthrange
from datetime import datetime
from typing import Final

from timemachine.memory.search.recall.pure.time_spans import DAY, MONTH, PART, SHORT, SHORT_DAY, month_of

NO_SUCH_DAY: Final = "this day does not exist"
AHEAD: Final = "it is in the future"
BACKWARDS: Final = "it ends before it begins"
EITHER: Final = "day and month are ambiguous"
UNKNOWN: Final = "it has no exact date"

FAR: Final = 10
"""A number later than this many years from now is not a year."""
_LEAP: Final = 2_024
_ISO: Final = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_SLASHED: Final = re.compile(r"(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})")
_NAMED: Final = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?\b(?P<month>{MONTH}|{SHORT})\b(?: (?P<behind>\d{{1,2}})(?:st|nd|rd|th)?\b)?",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_MONTHS: Final = 12

FUTURE: Final = "|".join(
    (
        "(?:the )?day after tomorrow",
        f"tomorrow(?: {PART})?",
        f"(?:next|coming|upcoming) (?:{DAY}(?: {PART})?|{SHORT_DAY}|{MONTH}|week|weekend|month|year|quarter)",
        r"\d{1,3} (?:days|weeks|months|years) from now",
    )
)
"""Expressions of a future time."""
VAGUE: Final = (
    "(?:last|this|past|previous) (?:quarter|spring|summer|autumn|fall|winter|sprint|semester|decade|century)"
)
"""Expressions of a time without exact dates."""


def why_unread(words: str, now: datetime) -> str | None:
    """Return why the words, which look like a time, are not a past time; None if they are more likely a number."""
    text = " ".join(words.split())
    years = [int(year) for year in _YEAR.findall(text)]
    if slashed := _SLASHED.search(text):
        return _of_slashed(int(slashed["one"]), int(slashed["two"]), int(slashed["year"]), now)
    if written := _ISO.search(text):
        return _of_day(int(written["day"] or 1), int(written["month"]), int(written["year"]), now)
    for named in _NAMED.finditer(text):
        day = named["day"] or named["behind"]
        if day and not _is_day(int(day), month_of(named["month"]), years[0] if years else _LEAP):
            return NO_SUCH_DAY
    if years and max(years) >= now.year:
        return AHEAD if max(years) <= now.year + FAR else None
    return UNKNOWN


def _of_slashed(one: int, two: int, year: int, now: datetime) -> str:
    """Explain a date with slashes. If only one number can be the month, or both are equal, its day is known."""
    if one != two and min(one, two) >= 1 and max(one, two) <= _MONTHS:
        return EITHER
    day, month = (one, two) if two <= _MONTHS else (two, one)
    return _of_day(day, month, year, now)


def _of_day(day: int, month: int, year: int, now: datetime) -> str:
    if not _is_day(day, month, year):
        return NO_SUCH_DAY
    return AHEAD if (year, month, day) > (now.year, now.month, now.day) else UNKNOWN


def _is_day(day: int, month: int, year: int) -> bool:
    return 1 <= month <= _MONTHS and year > 0 and 1 <= day <= monthrange(year, month)[1]

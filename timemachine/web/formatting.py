"""Durations, sizes, times and the beginnings of long texts. Pure.

Counts and money are written in `core.pure.numbers`, recorded text in `core.pure.safe_text`.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import floor
from typing import Final

from timemachine.core.pure.numbers import NOT_RECORDED, counted, exact_money

ABSENT: Final = NOT_RECORDED

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MILLISECONDS: Final = 1_000
_THOUSAND: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The beginning of a text, whether it was cut, and the number of characters of the whole."""

    text: str
    cut: bool
    size: int


def duration(milliseconds: float | None) -> str:
    """Return a duration with its unit: `12 ms`, `1.9 s`, `2 min 03 s`, `2 h 03 min`, `3 d 4 h`; "not recorded" for None."""
    if milliseconds is None:
        return ABSENT
    if milliseconds < 1:
        return f"{milliseconds:.2g} ms"
    if round(milliseconds) < _MILLISECONDS:
        return f"{milliseconds:.0f} ms"
    return _long_duration(milliseconds / _MILLISECONDS)


def price(value: object) -> str:
    """Return a unit price as recorded, not rounded, with a dollar sign if it is a number."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return exact_money(value)
    return str(value)


def compact(number: int | None) -> str:
    """Return a count in few characters: `812`, `48.1 k`, `1.2 M`; "not recorded" for None."""
    if number is None:
        return ABSENT
    size = float(number)
    for unit in ("", " k", " M", " G"):
        if abs(size) < _THOUSAND - 0.05 or unit == " G":
            return f"{size:.0f}" if unit == "" else f"{size:.1f}{unit}"
        size /= _THOUSAND
    return str(number)


def size(count: int) -> str:
    """Return a number of bytes: `812 bytes`, `32.0 KB`, `5.1 MB` (1 KB is 1,024 bytes)."""
    if count < 1024:  # noqa: PLR2004
        return counted(count, "byte")
    kilobytes = count / 1024
    return f"{kilobytes:,.1f} KB" if kilobytes < 1024 else f"{kilobytes / 1024:,.1f} MB"  # noqa: PLR2004


def exact(moment: datetime) -> str:
    """Return a time like `2026-11-20 09:00:00.123 UTC`."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // _MILLISECONDS:03} UTC"


def relative(moment: datetime, now: datetime) -> str:
    """Return how long ago (`just now`, `3 min ago`, `5 d ago`), or how long until then, to the nearest unit (`in 2 h`); a date if it is more than four weeks away."""
    seconds = (now - moment).total_seconds()
    distance = abs(seconds)
    if distance < 10:  # noqa: PLR2004
        return "just now"
    if distance >= 28 * _DAY:
        return f"{moment.astimezone(UTC):%d %b %Y}".lstrip("0")
    return f"{_one_unit(distance)} ago" if seconds > 0 else f"in {_nearest_unit(distance)}"


def until(moment: datetime, now: datetime) -> str:
    """Return the remaining time like `relative`; `in under a minute` if it is that short."""
    left = (moment - now).total_seconds()
    return "in under a minute" if 0 < left < _MINUTE else relative(moment, now)


def pace(done: int, total: int | None, seconds: float) -> str:
    """Return the rate since the start and the time left: `4.0 per second, about 3 min left`. Empty without a rate: nothing done
    yet, everything done, no known total, or less than two seconds."""
    if total is None or not 0 < done < total or seconds < 2:  # noqa: PLR2004
        return ""
    rate = done / seconds
    words = f"{rate:,.1f} per second" if rate >= 1 else f"{rate * _MINUTE:,.1f} per minute"
    return f"{words}, about {_nearest_unit(max(1.0, (total - done) / rate))} left"


def _long_duration(seconds: float) -> str:
    if seconds < 59.95:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02} min"
    return f"{whole // _DAY:,} d {whole % _DAY // _HOUR} h"


def _one_unit(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    return f"{seconds // _HOUR:.0f} h" if seconds < _DAY else f"{seconds // _DAY:.0f} d"


def _nearest_unit(seconds: float) -> str:
    """Return a duration in its largest unit, rounded half up, so that seven days minus a second is still 7 d."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    for unit, name, most in ((_MINUTE, "min", 60), (_HOUR, "h", 24)):
        if (whole := floor(seconds / unit + 0.5)) < most:
            return f"{whole} {name}"
    return f"{floor(seconds / _DAY + 0.5)} d"


def excerpt(text: str, most: int) -> Excerpt:
    """Return as much of a text as is shown."""
    return Excerpt(text=text[:most], cut=len(text) > most, size=len(text))


def json_excerpt(document: object, most: int) -> Excerpt:
    """Return the beginning of a document as indented JSON."""
    return excerpt(json.dumps(document, ensure_ascii=False, indent=2), most)

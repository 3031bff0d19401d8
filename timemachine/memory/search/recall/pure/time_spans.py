"""The time span that an expression like "last Tuesday", "3 days ago" or "the week of 16 November" means. Pure.

Dates are parsed by `dateparser`, always as past dates. The span has the length of the unit: a day, a week from
Monday, a month, a year.
"""

import re
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_SATURDAY: Final = 5
_UNITS: Final = {"h": "hours", "d": "days"}
_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}
_VAGUE: Final = {"a couple of": "2", "a few": "3", "few": "3", "couple of": "2"}

DAY: Final = f"(?:{'|'.join(_DAYS)})"
MONTH: Final = f"(?:{'|'.join(_MONTHS)})"
SHORT: Final = "(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
SHORT_DAY: Final = "(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
SHORT_MONTH: Final = "(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
"""These must be capitalised like names: `sat`, `sun` and `mar` are also words."""
YEAR: Final = r"(?:19|20)\d\d"
UNIT: Final = "(?:minute|hour|day|week|month|year)"
NUMBER: Final = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a couple of|couple of|a few|few)"
)
NTH: Final = r"\d{1,2}(?:st|nd|rd|th)"
PART: Final = "(?:morning|afternoon|evening|night)"
CLOCK: Final = r"(?: at \d{1,2}(?::\d\d\s?(?:am|pm)?|\s?(?:am|pm)))"

_OF_A_WEEK: Final = re.compile(rf"\b(?:{DAY}|{SHORT_DAY})\b", re.IGNORECASE)
_OF_A_YEAR: Final = re.compile(rf"\b(?:{MONTH}|{SHORT})\b", re.IGNORECASE)
_WEEK: Final = timedelta(days=7)
_MONTH: Final = timedelta(days=31)
_YEAR: Final = timedelta(days=364)
FROM_NOW: Final = re.compile(r"\b(?:last|past|previous|ago|yesterday|today|tonight|this)\b", re.IGNORECASE)
"""Expressions that are relative to now."""

type Span = tuple[datetime, datetime]


def span_of(words: str, now: datetime) -> Span | None:
    """Return the local span that the words mean, or None if they mean no existing time."""
    text = _plainly(words)
    ways = (_of_a_time, _slashed, _weekend, _lasting, _ago, _weekday_of_last_week, _part, _date)
    try:
        return next(filter(None, (way(text, now) for way in ways)), None)
    except (OverflowError, ValueError):
        return None


def span_between(first: str, second: str, now: datetime, *, before: bool = False) -> Span | None:
    """Return the span from the first time until the second, or before it. If the end precedes the begin, the next
    one after it is taken.

    That end may be in the future. Returns None if either time does not exist or the end still precedes the
    begin.
    """
    start, end = span_of(first, now), span_of(second, now)
    if start is None:
        return None
    for found in (end, _behind(start[0], first, second)):
        until = found and found[0 if before else 1]
        if until and start[0] < until:
            return start[0], until
    return None


def _behind(begin: datetime, first: str, second: str) -> Span | None:
    """Return the second time in the week, month or year after the begin: within the same month, it is a day of
    that month.
    """
    if FROM_NOW.search(second):
        return None
    one, other = (_OF_A_YEAR.search(words) for words in (first, second))
    in_one_month = one and other and month_of(one[0]) == month_of(other[0])
    turn = _WEEK if _OF_A_WEEK.search(second) else _MONTH if in_one_month else _YEAR
    try:
        return span_of(second, begin + turn)
    except OverflowError:
        return None


def month_of(name: str) -> int:
    """Return the number of a month by its full or short name."""
    return 1 + next(place for place, month in enumerate(_MONTHS) if month.startswith(name[:3].lower()))


def _plainly(words: str) -> str:
    """Return the words in lower case, with full names of days and months."""
    text = " ".join(words.lower().split()).removeprefix("the ").removeprefix("earlier ")
    text = text.replace("half an hour ago", "30 minutes ago")
    text = re.sub(
        rf"^(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({MONTH}|{SHORT})$", r"\2 \1", text
    )  # else the parser reads 18 as a year
    text = re.sub(r"(\d)\s?([hd])$", lambda found: f"{found[1]} {_UNITS[found[2]]}", text)
    return re.sub(
        r"\b(mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs)?$",
        lambda found: next(day for day in _DAYS if day.startswith(found[1])),
        text,
    )


def _of_a_time(text: str, now: datetime) -> Span | None:
    """Read `week of 16 November`, `first week of May`, `end of October`: its week, seven days of it, its last or
    first third.
    """
    found = re.fullmatch(
        r"(?:(first|second|third|fourth|last) )?(week|end|beginning|start) of (?:the )?(.+)", text
    )
    whole = span_of(found[3], now) if found else None
    if found is None or whole is None:
        return None
    begin, until = whole
    if found[2] == "week":
        return _week_of(found[1], begin, until)
    third = (until - begin) / 3
    return (until - third, until) if found[2] == "end" else (begin, begin + third)


def _week_of(nth: str | None, begin: datetime, until: datetime) -> Span | None:
    """Return the week of a day, or of a longer time its first, second or last seven days; None if no number is
    given.
    """
    if until - begin <= timedelta(days=1):
        return _whole(begin, "week")
    if nth is None:
        return None
    if nth == "last":
        return until - timedelta(days=7), until
    first = begin + timedelta(days=7 * ("first", "second", "third", "fourth").index(nth))
    return first, first + timedelta(days=7)


def _slashed(text: str, now: datetime) -> Span | None:
    """Read `20/11/2026` if only one of its numbers can be the month."""
    found = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4})", text)
    if found is None:
        return None
    day, month, year = map(int, found.groups())
    months = len(_MONTHS)
    if day <= months and month <= months and day != month:
        return None
    day, month = (day, month) if month <= months else (month, day)
    begin = now.replace(year=year, month=month, day=day)
    return _whole(begin, "day") if begin <= now else None


def _weekend(text: str, now: datetime) -> Span | None:
    """Read `last weekend` (of the week before), `this weekend` (the last that has begun) and `week before last`."""
    monday = _midnight(now) - timedelta(days=now.weekday())
    if text == "week before last":
        return monday - timedelta(days=14), monday - timedelta(days=7)
    if text not in {"last weekend", "past weekend", "this weekend"}:
        return None
    until = monday + timedelta(days=7 if text == "this weekend" and now.weekday() >= _SATURDAY else 0)
    return until - timedelta(days=2), until


def _lasting(text: str, now: datetime) -> Span | None:
    """Read `last 3 days`, `past hour`, `past week`: up to now."""
    found = re.fullmatch(rf"(?:last|past) ({NUMBER}) ({UNIT})s?|(?:past ()|last ()(?=hour))({UNIT})", text)
    if found is None:
        return None
    begin = _parsed(f"{_number(found[1] or '1')} {found[2] or found[5]}s ago", now, "current")
    return None if begin is None else (begin[0], now)


def _ago(text: str, now: datetime) -> Span | None:
    """Read `2 hours ago` with a quarter of that, at least one unit, on both sides; days and longer units last as
    dates do.
    """
    found = re.fullmatch(rf"({NUMBER}) ({UNIT})s? ago( today)?", text)
    if found is None:
        return None
    parsed = _parsed(f"{_number(found[1])} {found[2]}s ago", now, "current" if found[3] else "first")
    if parsed is None or found[2] not in {"minute", "hour"}:
        return None if parsed is None else _whole(parsed[0], "day" if found[3] else found[2])
    about = max(timedelta(**{f"{found[2]}s": 1}), (now - parsed[0]) / 4)
    return parsed[0] - about, min(parsed[0] + about, now)


def _weekday_of_last_week(text: str, now: datetime) -> Span | None:
    found = re.fullmatch(rf"({DAY}) (?:of )?last week", text)
    if found is None:
        return None
    monday = _midnight(now) - timedelta(days=now.weekday() + 7)
    return _whole(monday + timedelta(days=_DAYS.index(found[1])), "day")


def _part(text: str, now: datetime) -> Span | None:
    """Read `yesterday morning`, `last Tuesday evening`, `tonight`; a night lasts until six."""
    if text == "last night":
        midnight = _midnight(now)
        return midnight - timedelta(hours=6), midnight + timedelta(hours=6)
    found = re.fullmatch(rf"(?:(.+) )?({PART})", text.replace("tonight", "this night"))
    day = None if found is None else _date({"this": "today"}.get(found[1], found[1]), now)
    if found is None or day is None:
        return None
    begin, until = (day[0] + timedelta(hours=hour) for hour in _PARTS[found[2]])
    return begin, until + timedelta(hours=6) if found[2] == "night" and found[1] != "this" else until


def _date(text: str, now: datetime) -> Span | None:
    """Read a date, a month, a year, a week, or a time of day (an hour, or a minute if given)."""
    nth = re.fullmatch(rf"({NTH}) of (last|this) month", text)
    if nth:
        month_before = _whole(_midnight(now).replace(day=1) - timedelta(days=nth[2] == "last"), "month")
        return _whole(month_before[0].replace(day=int(nth[1][:-2])), "day")
    month = re.fullmatch(rf"last ({MONTH}|{SHORT})", text)
    plain = re.sub(rf"^(?:last|this|past|previous) (?={MONTH}|{SHORT}|{DAY})", "", text)
    found = _parsed(re.sub(r"^(?:past|previous) ", "last ", plain), now)
    if found is None or _misread(text, found[1]):
        return None
    moment, period = found
    if period == "time":
        return moment, moment + (timedelta(minutes=1) if ":" in text else timedelta(hours=1))
    begin, until = _whole(moment, period)
    if begin > now:  # a future year
        return None
    if month and until > now:  # "last November" in November
        return _whole(begin.replace(year=begin.year - 1), period)
    return begin, until


def _misread(text: str, period: str) -> bool:
    """Return whether a given day or month was not understood: the parser reads "31 June" as a June in 1931, and
    2026-13 as a year.
    """
    no_day = bool(re.search(r"\d", text)) and not re.search(YEAR, text) and period in {"month", "year"}
    return no_day or "/" in text or bool(re.fullmatch(r"\d{4}-(?:00|1[3-9]|[2-9]\d)", text))


def _parsed(text: str, now: datetime, day: str = "first") -> tuple[datetime, str] | None:
    found = _parser(now, day).get_date_data(text)
    moment: datetime | None = found.date_obj
    return None if moment is None else (moment.replace(tzinfo=None), str(found.period))


def _parser(now: datetime, day: str) -> Any:
    dateparser = _dateparser()
    return dateparser(
        languages=["en"],
        settings={
            "RELATIVE_BASE": now,
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": day,
            "PREFER_MONTH_OF_YEAR": day,
            "RETURN_TIME_AS_PERIOD": True,
            "DATE_ORDER": "YMD",
        },
    )


@cache
def _dateparser() -> Any:
    """Import the parser on first use, because it reads its languages for a tenth of a second."""
    from dateparser.date import DateDataParser

    return DateDataParser


def _number(word: str) -> str:
    return _VAGUE.get(word, word)


def _whole(moment: datetime, period: str) -> Span:
    """Return the day, week, month or year that contains the moment."""
    day = _midnight(moment)
    if period == "week":
        begin = day - timedelta(days=day.weekday())
        return begin, begin + timedelta(days=7)
    if period == "month":
        begin = day.replace(day=1)
        return begin, (begin + timedelta(days=32)).replace(day=1)
    if period == "year":
        begin = day.replace(month=1, day=1)
        return begin, begin.replace(year=begin.year + 1)
    return day, day + timedelta(days=1)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)

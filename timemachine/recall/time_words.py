"""Words of time in a question: "last Tuesday", "in May", "yesterday", "since 3 March", "last session". Pure.

What is read as a time has to stand as one: behind a preposition, beside "last" or "ago", or as a whole date. So `may`, `second` and
`march` stay words of the question, as does all that stands in quotation marks or in an identifier. A date is read by `dateparser`, always
as one that has passed; how long it lasts is what it was said in: a day, a week from Monday, a month, a year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}
_VAGUE: Final = {"a couple of": "2", "a few": "3", "few": "3", "couple of": "2"}

_DAY: Final = f"(?:{'|'.join(_DAYS)})"
_MONTH: Final = f"(?:{'|'.join(_MONTHS)})"
_SHORT: Final = "(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_YEAR: Final = r"(?:19|20)\d\d"
_UNIT: Final = "(?:minute|hour|day|week|month|year)"
_NUMBER: Final = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a couple of|couple of|a few|few)"
)
_NTH: Final = r"\d{1,2}(?:st|nd|rd|th)"
_PART: Final = "(?:morning|afternoon|evening|night)"
_CLOCK: Final = r"(?: at \d{1,2}(?::\d\d\s?(?:am|pm)?|\s?(?:am|pm)))"

_STRONG: Final = "|".join(
    (
        "the day before yesterday",
        f"yesterday(?: {_PART})?",
        "(?:earlier )?today",
        "tonight",
        "last night",
        "(?:earlier )?this (?:morning|afternoon|evening|week|month|year)",
        "(?:last|past|previous) (?:week|month|year)",
        f"{_DAY} (?:of )?last week",
        f"(?:last|this|past) {_DAY}(?: {_PART})?",
        f"last {_MONTH}",
        f"{_NUMBER} {_UNIT}s? ago",
        f"the (?:last|past) {_NUMBER} {_UNIT}s",
        f"(?:last|past) {_NUMBER} {_UNIT}s",
        "the (?:last|past) (?:hour|24 hours)",
        f"(?:{_NTH}|\\d{{1,2}}) (?:of )?(?:{_MONTH}|{_SHORT}),? {_YEAR}",
        f"(?:{_MONTH}|{_SHORT}) (?:{_NTH}|\\d{{1,2}}),? {_YEAR}",
        f"{_NTH} (?:of )?{_MONTH}",
        f"{_MONTH} {_NTH}",
        f"{_MONTH},? {_YEAR}",
    )
)
"""What says a time by itself."""
_COUNTED: Final = (
    r"(?:ms|seconds?|minutes?|hours?|days?|tokens?|steps?|turns?|bytes|characters|lines|rows|files|items|users|words|"
    r"requests?|times|[km]b|px|iterations|cases|ways|places)"
)
_WEAK: Final = "|".join(
    (
        f"{_DAY}(?: {_PART})?",
        rf"{_MONTH}(?! (?:be|have|not|to|\d))",
        r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?",
        r"\d{4}-\d\d(?!-)",
        rf"\d{{1,2}} (?:{_MONTH}|{_SHORT})",
        rf"(?:{_MONTH}|{_SHORT}) \d{{1,2}}(?! {_COUNTED}\b)",
    )
)
"""What says a time only behind a preposition."""
_BARE_YEAR: Final = rf"{_YEAR}(?! (?:{_COUNTED}\b|(?!(?:was|is|has|does|this|us|as|its|his)\b)[a-z]+s\b))"
_IN_A_YEAR: Final = "(?:in|since|before|until|during)"
"""Behind these a number is a year; elsewhere, or before what is counted, it is one of many numbers."""
_ATOM: Final = f"(?:{_STRONG}|{_WEAK})(?:{_CLOCK})?"
_PREPOSITION: Final = "(?:on|in|during|from|of|since|before|after|until|till|through|up to|within|over)"
_SESSION: Final = "(?:(?:in|during|from|at|of|on|about) )?(?:(?:the|our|my|your) )?(?:last|previous) (?:session|meeting|conversation|chat)"
_BEFORE: Final = r"(?<![\w./:@#'’=+-])"
_AFTER: Final = r"(?:['’]s\b)?(?![\w:/@#=-]|\.\w|['’]\w)"
_SAID: Final = re.compile(
    f"{_BEFORE}(?:"
    f"(?P<session>{_SESSION})"
    f"|(?:between|from|since) (?:the )?(?P<first>{_ATOM}) (?P<to>and|to|until|till|through|before) (?:the )?(?P<second>{_ATOM})"
    f"|(?P<preposition>{_PREPOSITION}) (?P<the>the )?(?P<within>{_ATOM})"
    f"|(?P<of_year>{_IN_A_YEAR}) (?P<year>{_BARE_YEAR})"
    f"|(?P<alone>(?:{_STRONG})(?:{_CLOCK})?)"
    f"){_AFTER}".replace(" ", r"\s+"),
    re.IGNORECASE,
)
_ROLLING: Final = frozenset(["in", "within", "over", "during"])
"""Behind these, "the last week" runs up to now; elsewhere it is the one that began a Monday ago or more."""
MOST_READINGS: Final = 8
"""How many times of one question are read: its first ones. What follows stays words."""
MOST_TRIED: Final = 32
"""How many places of a question that look like a time are looked at."""
_LOOKS_BACK: Final = re.compile(r"\b(?:last|past|previous|ago|yesterday)\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r'"[^"]*"|`[^`]*`')


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Words of a question that say a time: which characters they are, and from when until when, in UTC; `until` is the first moment behind it.

    None where it is open. `previous_session`: they name the session before, whose times are still to be found.
    """

    words: str
    start: int
    end: int
    begin: datetime | None = None
    until: datetime | None = None
    previous_session: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A question, read: what is left of it to be looked for, and its words of time."""

    text: str
    readings: tuple[Reading, ...]


def read(question: str, now: datetime, zone: ZoneInfo, *, only_past: bool = False) -> Spoken:
    """The words of time in a question that is asked now, in that time zone. A question without any is left as it is.

    `only_past`: only those that look back, as "last week" and "2 days ago" do, and "May 20th" need not.
    """
    found = _readings(question, now.astimezone(zone).replace(tzinfo=None), zone)
    meant = (each for each in found if not only_past or _LOOKS_BACK.search(each.words))
    readings = tuple(islice(meant, MOST_READINGS))
    if not readings:
        return Spoken(text=question, readings=())
    left, at = [], 0
    for reading in readings:
        left.append(question[at : reading.start])
        at = reading.end
    left.append(question[at:])
    return Spoken(text=" ".join(" ".join(left).split()), readings=readings)


def _readings(question: str, now: datetime, zone: ZoneInfo) -> Iterator[Reading]:
    bare = _QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), question)
    for said in islice(_SAID.finditer(bare), MOST_TRIED):
        place = {"words": question[said.start() : said.end()], "start": said.start(), "end": said.end()}
        if said["session"]:
            yield Reading(**place, previous_session=True)  # type: ignore[arg-type]
        elif span := _span(said, now):
            begin, until = (None if each is None else _in_utc(each, zone) for each in span)
            yield Reading(**place, begin=begin, until=until)  # type: ignore[arg-type]


type _Open = tuple[datetime | None, datetime | None]
type _Span = tuple[datetime, datetime]


def _span(said: re.Match[str], now: datetime) -> _Open | None:
    if said["first"]:
        first, second = _read(said["first"], now), _read(said["second"], now)
        if first is None or second is None:
            return None
        return first[0], second[0] if said["to"].lower() == "before" else second[1]
    how = " ".join((said["preposition"] or said["of_year"] or "in").lower().split())
    words = said["within"] or said["year"] or said["alone"]
    if how in _ROLLING and said["the"]:
        words = re.sub(r"(?i)^last(?=\s+(?:week|month|year)\b)", "past", words)
    found = _read(words, now)
    if found is None:
        return None
    begin, until = found
    open_ended: dict[str, _Open] = {
        "since": (begin, None),
        "after": (until, None),
        "before": (None, begin),
        "until": (None, until),
        "till": (None, until),
        "through": (None, until),
        "up to": (None, until),
    }
    return open_ended.get(how, found)


def _read(words: str, now: datetime) -> _Span | None:
    """From when until when the words say, in the time of where they were said; None where they say no time that there is."""
    text = " ".join(words.lower().split()).removeprefix("the ").removeprefix("earlier ")
    ways = (_lasting, _ago, _weekday_of_last_week, _part, _date)
    try:
        return next(filter(None, (way(text, now) for way in ways)), None)
    except (OverflowError, ValueError):
        return None


def _lasting(text: str, now: datetime) -> _Span | None:
    """`last 3 days`, `past hour`, `past week`: up to now."""
    found = re.fullmatch(rf"(?:last|past) ({_NUMBER}) ({_UNIT})s?|(?:past ()|last ()(?=hour))({_UNIT})", text)
    if found is None:
        return None
    begin = _parsed(f"{_number(found[1] or '1')} {found[2] or found[5]}s ago", now, "current")
    return None if begin is None else (begin[0], now)


def _ago(text: str, now: datetime) -> _Span | None:
    """`2 hours ago`: a quarter of that to both sides, at least a unit; days and longer last as dates do."""
    found = re.fullmatch(rf"({_NUMBER}) ({_UNIT})s? ago", text)
    if found is None:
        return None
    parsed = _parsed(f"{_number(found[1])} {found[2]}s ago", now)
    if parsed is None or found[2] not in {"minute", "hour"}:
        return None if parsed is None else _whole(parsed[0], found[2])
    about = max(timedelta(**{f"{found[2]}s": 1}), (now - parsed[0]) / 4)
    return parsed[0] - about, min(parsed[0] + about, now)


def _weekday_of_last_week(text: str, now: datetime) -> _Span | None:
    found = re.fullmatch(rf"({_DAY}) (?:of )?last week", text)
    if found is None:
        return None
    monday = _midnight(now) - timedelta(days=now.weekday() + 7)
    return _whole(monday + timedelta(days=_DAYS.index(found[1])), "day")


def _part(text: str, now: datetime) -> _Span | None:
    """`yesterday morning`, `last Tuesday evening`, `tonight`; a night goes on until six."""
    if text == "last night":
        midnight = _midnight(now)
        return midnight - timedelta(hours=6), midnight + timedelta(hours=6)
    found = re.fullmatch(rf"(?:(.+) )?({_PART})", text.replace("tonight", "this night"))
    day = None if found is None else _date({"this": "today"}.get(found[1], found[1]), now)
    if found is None or day is None:
        return None
    begin, until = (day[0] + timedelta(hours=hour) for hour in _PARTS[found[2]])
    return begin, until + timedelta(hours=6) if found[2] == "night" and found[1] != "this" else until


def _date(text: str, now: datetime) -> _Span | None:
    """A date, a month, a year, a week, or a time of a day (then its hour, or its minute where one is said)."""
    month = re.fullmatch(rf"last ({_MONTH})", text)
    plain = re.sub(rf"^(?:last|this|past|previous) (?={_MONTH}|{_DAY})", "", text)
    found = _parsed(re.sub(r"^(?:past|previous) ", "last ", plain), now)
    if found is None or _misread(text, found[1]):
        return None
    moment, period = found
    if period == "time":
        return moment, moment + (timedelta(minutes=1) if ":" in text else timedelta(hours=1))
    begin, until = _whole(moment, period)
    if begin > now:  # a year that is still to come
        return None
    if month and until > now:  # "last November", said in November
        return _whole(begin.replace(year=begin.year - 1), period)
    return begin, until


def _misread(text: str, period: str) -> bool:
    """Whether a day was said and none was found: the parser takes "31 June" for a June in 1931."""
    return bool(re.search(r"\d", text)) and not re.search(_YEAR, text) and period in {"month", "year"}


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
    """Loaded where it is used first: it reads its languages, which takes a tenth of a second."""
    from dateparser.date import DateDataParser

    return DateDataParser


def _number(word: str) -> str:
    return _VAGUE.get(word, word)


def _whole(moment: datetime, period: str) -> _Span:
    """The day, week, month or year that a moment is in."""
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


def _in_utc(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.replace(tzinfo=zone).astimezone(UTC)

"""Words of time in a question: "last Tuesday", "in May", "yesterday", "since 3 March", "last session". Pure.

What is read as a time has to stand as one: behind a preposition, beside "last" or "ago", or as a whole date. So `may`, `second` and
`march` stay words of the question, as does all that stands in quotation marks or in an identifier. A date is read by `dateparser`, always
as one that has passed; what looks like a time and says none that is over (31 February, next Friday) stays words, and it is said why. How long it lasts is what it was said in: a day, a week from Monday, a month, a year.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MINYEAR, UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from timemachine.memory.recall.pure.time_spans import (
    CLOCK,
    DAY,
    FROM_NOW,
    MONTH,
    NTH,
    NUMBER,
    PART,
    SHORT,
    SHORT_DAY,
    SHORT_MONTH,
    UNIT,
    YEAR,
    Span,
    span_between,
    span_of,
)
from timemachine.memory.recall.pure.unread_times import AHEAD, BACKWARDS, FUTURE, UNKNOWN, VAGUE, why_unread

_STRONG: Final = "|".join(
    (
        "(?:the )?day before yesterday",
        "(?:the )?week before last",
        "(?:last|this|past) weekend",
        "half an hour ago",
        f"{NUMBER} (?:week|month|year)s? ago today",
        f"{NTH} of (?:last|this) month",
        r"(?:last|past) \d{1,3}\s?[hd]",
        f"(?:last|past) {SHORT_DAY}",
        f"(?:last|past) {SHORT_MONTH}",
        f"yesterday(?: {PART})?",
        "(?:earlier )?today",
        "tonight",
        "last night",
        "(?:earlier )?this (?:morning|afternoon|evening|week|month|year)",
        "(?:last|past|previous) (?:week|month|year)(?! of )",
        f"{DAY} (?:of )?last week",
        f"(?:last|this|past) {DAY}(?: {PART})?",
        f"last {MONTH}",
        f"{NUMBER} {UNIT}s? ago",
        f"the (?:last|past) {NUMBER} {UNIT}s",
        f"(?:last|past) {NUMBER} {UNIT}s",
        "the (?:last|past) (?:hour|24 hours)",
        f"(?:{NTH}|\\d{{1,2}}) (?:of )?(?:{MONTH}|{SHORT}),? {YEAR}",
        f"(?:{MONTH}|{SHORT}) (?:{NTH}|\\d{{1,2}}),? {YEAR}",
        f"{NTH} (?:of )?{MONTH}",
        f"{MONTH} {NTH}",
        f"{MONTH},? {YEAR}",
    )
)
"""What says a time by itself."""
_COUNTED: Final = (
    r"(?:ms|seconds?|minutes?|hours?|days?|tokens?|steps?|turns?|bytes|characters|lines|rows|files|items|users|words|"
    r"requests?|times|[km]b|px|iterations|cases|ways|places)"
)
_WEAK: Final = "|".join(
    (
        f"{DAY}(?: {PART})?",
        rf"{MONTH}(?! (?:(?:be|have|not)\b|to\b(?! {MONTH})|\d))",
        SHORT_DAY,
        rf"{SHORT_MONTH}(?! \d)",
        rf"\d{{1,2}}/\d{{1,2}}/{YEAR}",
        r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?",
        r"\d{4}-\d\d(?!-)",
        rf"\d{{1,2}} (?:{MONTH}|{SHORT})",
        rf"(?:{MONTH}|{SHORT}) \d{{1,2}}(?! {_COUNTED}\b)",
    )
)
"""What says a time only behind a preposition."""
_BARE_YEAR: Final = rf"{YEAR}(?! (?:{_COUNTED}\b|(?!(?:was|is|has|does|this|us|as|its|his)\b)[a-z]+s\b))"
_IN_A_YEAR: Final = "(?:in|since|before|until|during)"
"""Behind these a number is a year; elsewhere, or before what is counted, it is one of many numbers."""
_PLAIN: Final = f"(?:{_STRONG}|{_WEAK})(?:{CLOCK})?"
_ATOM: Final = (
    f"(?:(?:(?:first |second |third |fourth |last )?week|end|beginning|start) of (?:the )?)?{_PLAIN}"
)
_PREPOSITION: Final = "(?:on|in|during|from|of|since|before|after|until|till|through|up to|within|over)"
_BEHIND_A_SESSION: Final = (
    "about|and|or|but|we|i|you|they|it|he|she|did|do|does|was|were|is|are|had|has|have|with|on|in|at|for|that|which|when|where|what|why|how|who|"
    "to|the|a|an|as|of|by|because|said|say|please|so|if|again|too|then|there|this|our|my|your"
)
_TALK: Final = "(?:session|meeting|conversation|chat)"
_COUNTS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "a couple of": 2, "couple of": 2, "a few": 3, "few": 3,
}  # fmt: skip
_SESSION: Final = (
    "(?:(?:in|during|from|at|of|on|about|over|across|(?P<how>before|since|after)) )?(?:(?:the|our|my|your) )?"
    f"(?:(?:last|past|previous) (?P<count>[1-9]\\d{{0,2}}|{'|'.join(_COUNTS)}) {_TALK}s?"
    f"|(?P<last_but_one>{_TALK} before (?:the )?last(?: one)?|(?:second|next)[ -]to[ -]last {_TALK})"
    f"|(?:last|previous) {_TALK})"
    rf"(?! (?!(?:{_BEHIND_A_SESSION})\b)\w)"
)
"""Not where another word follows: a "session cookie" is no session, nor is one that "expired"."""
_NUMBERED: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH_AT_LAST: Final = rf"(?:(?!may\b){MONTH}|(?-i:May)|{SHORT})"
_DAYS_OF: Final = (
    f"(?:between|from) (?:the )?(?P<day>{_NUMBERED}) (?:and|to|until|till|through) (?:the )?(?P<last_day>{_NUMBERED}) "
    f"(?:of )?(?P<month>{_MONTH_AT_LAST}(?:,? {YEAR})?)"
)
_BEFORE: Final = r"(?<![\w./:@#'’=+-])"
_AFTER: Final = r"(?:['’]s\b)?(?![\w:/@#=-]|\.\w|['’]\w)"
_SAID: Final = re.compile(
    f"{_BEFORE}(?P<negated>(?:not|except) )?(?:"
    f"(?P<session>{_SESSION})"
    f"|{_DAYS_OF}"
    f"|(?:between|from|since) (?:the )?(?P<first>{_ATOM}) (?P<to>and|to|until|till|through|before) (?:the )?(?P<second>{_ATOM})"
    f"|(?P<preposition>{_PREPOSITION}) (?P<the>the )?(?P<within>{_ATOM})"
    f"|(?P<of_year>{_IN_A_YEAR}) (?P<year>{_BARE_YEAR})"
    f"|(?P<alone>(?:week of (?:the )?{_PLAIN})|(?:{_STRONG})(?:{CLOCK})?)"
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
_NOT_READ: Final = re.compile(
    f"{_BEFORE}(?:(?P<future>{FUTURE})|{VAGUE}){_AFTER}".replace(" ", r"\s+"), re.IGNORECASE
)
_PLAIN_LETTERS: Final = str.maketrans("ſ\N{KELVIN SIGN}ıİ", "skiI")
"""The letters that an expression which looks at no case takes for others, and that no table of words has."""
_QUOTED: Final = re.compile(r'"[^"]*"|`[^`]*`')


type _Open = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Words of a question that say a time: which characters they are, and from when until when, in UTC; `until` is the first moment behind it.

    None where it is open. `previous_session`: they name the session before, or so many `sessions` behind those that are `passed_over`, whose times
    are still to be found; `how` is `before` or `after` where they say the time before or after it, else empty; `of_any_kind`: they say a meeting, a chat
    or a conversation, for which any session stands.
    """

    words: str
    start: int
    end: int
    begin: datetime | None = None
    until: datetime | None = None
    previous_session: bool = False
    how: str = ""
    sessions: int = 1
    passed_over: int = 0
    of_any_kind: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Words of a question that look like a time and are not read as one: which characters they are, and why. They stay words."""

    words: str
    start: int
    end: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A question, read: what is left of it to be looked for, its words of time, and those that look like a time and are none that can be read."""

    text: str
    readings: tuple[Reading, ...]
    unread: tuple[Unread, ...] = ()


def read(question: str, now: datetime, zone: ZoneInfo, *, only_past: bool = False) -> Spoken:
    """The words of time in a question that is asked now, in that time zone. A question without any is left as it is.

    `only_past`: only those that look back, as "last week" and "2 days ago" do, and "May 20th" need not.
    """
    here = _moved(now, zone).replace(tzinfo=None)
    bare = _QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), question.translate(_PLAIN_LETTERS))
    said, failed = _joined(bare, here, zone)
    readings = _meant(_readings(question, said, zone), only_past=only_past)
    unread = _meant(_unread(question, bare, [*said, *failed]), only_past=only_past)
    if not readings:
        return Spoken(text=question, readings=(), unread=unread)
    left, at = [], 0
    for reading in readings:
        left.append(question[at : reading.start])
        at = reading.end
    left.append(question[at:])
    return Spoken(text=" ".join(" ".join(left).split()), readings=readings, unread=unread)


def _meant[T: (Reading, Unread)](found: Iterator[T], *, only_past: bool) -> tuple[T, ...]:
    """The first ones; with `only_past` of those that look back."""
    meant = (each for each in found if not only_past or _LOOKS_BACK.search(each.words))
    return tuple(islice(meant, MOST_READINGS))


def _unread(question: str, bare: str, looked_at: Sequence["_Said"]) -> Iterator[Unread]:
    """What looks like a time and is none, in the order of the question."""
    found = {(said.start, said.end): said.why for said in looked_at if said.why}
    for match in islice(_NOT_READ.finditer(bare), MOST_TRIED):
        start, end = match.span()
        if not any(said.start < end and start < said.end for said in looked_at):
            found[start, end] = AHEAD if match["future"] else UNKNOWN
    for (start, end), why in sorted(found.items()):
        yield Unread(words=question[start:end], start=start, end=end, why=why)


def _readings(question: str, found: Sequence["_Said"], zone: ZoneInfo) -> Iterator[Reading]:
    for said in found:
        place = {"words": question[said.start : said.end], "start": said.start, "end": said.end}
        if said.session is not None:
            yield replace(said.session, **place)  # type: ignore[arg-type]
        else:
            begin, until = (
                None if each is None else _in_utc(each, zone) for each in (said.begin, said.until)
            )
            yield Reading(**place, begin=begin, until=until)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A time as it was said, in the time of where it was: `words` are those of one closed time, `session` is a reading of the session before.

    `why`: why it is none that can be read.
    """

    start: int
    end: int
    words: str = ""
    begin: datetime | None = None
    until: datetime | None = None
    session: Reading | None = None
    why: str | None = None


def _joined(bare: str, now: datetime, zone: ZoneInfo) -> tuple[list[_Said], list[_Said]]:
    """The times that were said, those that stand side by side and are one within the other as one; and what looks like one and is none."""
    found: list[_Said] = []
    failed: list[_Said] = []
    for match in islice(_SAID.finditer(bare), MOST_TRIED):
        if match["negated"]:
            continue
        said = _said(match, now)
        if said is None or _is_empty(said, zone):
            start, end = match.span()
            failed.append(_Said(start=start, end=end, why=_why(match, now)))
            continue
        one = _as_one(found[-1], said, bare[found[-1].end : said.start], now) if found else None
        if one:
            found[-1] = one
        else:
            found.append(said)
    return found, failed


def _said(match: re.Match[str], now: datetime) -> _Said | None:
    start, end = match.span()
    if match["session"]:
        return _Said(start=start, end=end, session=_session(match))
    span = _span(match, now)
    if span is None:
        return None
    words = match["within"] or match["year"] or match["alone"] or ""
    closed = words if None not in span else ""
    return _Said(start=start, end=end, words=closed, begin=span[0], until=span[1])


def _is_empty(said: _Said, zone: ZoneInfo) -> bool:
    """Whether nothing lies between its ends: an hour that the clock leaves out in spring, "the last 0 days"."""
    if said.begin is None or said.until is None:
        return False
    return _in_utc(said.begin, zone) >= _in_utc(said.until, zone)


def _session(said: re.Match[str]) -> Reading:
    """Which of the sessions before is named, its place still to be said."""
    how = (said["how"] or "").lower()
    count = " ".join((said["count"] or "1").lower().split())
    return Reading(
        words="",
        start=0,
        end=0,
        previous_session=True,
        how="after" if how == "since" else how,
        sessions=_COUNTS.get(count) or int(count),
        passed_over=1 if said["last_but_one"] else 0,
        of_any_kind="session" not in said["session"].lower(),
    )


def _why(said: re.Match[str], now: datetime) -> str | None:
    """Why a time that was said is none, by the first part of it that is none."""
    ends = _ends(said)
    parts = ends or (said["within"] or said["year"] or said["alone"],)
    otherwise = BACKWARDS if ends else UNKNOWN
    return next((why_unread(part, now) for part in parts if span_of(part, now) is None), otherwise)


def _ends(said: re.Match[str]) -> tuple[str, str] | None:
    """The two ends of a time that has two: `between 3 and 5 May` has the third and the fifth."""
    if said["day"]:
        first, last = (said[day].rstrip("stndrhSTNDRH") for day in ("day", "last_day"))
        return f"{first} {said['month']}", f"{last} {said['month']}"
    return (said["first"], said["second"]) if said["first"] else None


def _as_one(first: _Said, second: _Said, between: str, now: datetime) -> _Said | None:
    """Both as one time, where they are: "in May of last year", "after 3 May and before 5 May"; None where each is one for itself."""
    span = None
    if first.words and second.words and not between.strip(" \t\n,"):
        span = _nested(first, second, now) or _nested(second, first, now)
    elif between.strip(" \t\n,").lower() in {"", "and", "but"}:
        span = _both_ends(first, second) or _both_ends(second, first)
    return None if span is None else _Said(start=first.start, end=second.end, begin=span[0], until=span[1])


def _nested(outer: _Said, inner: _Said, now: datetime) -> Span | None:
    """The inner time as it lies within the outer one, read from that one's end; None where it does not."""
    if outer.begin is None or outer.until is None or outer.begin >= now:
        return None
    from_then = min(now, outer.until - timedelta(seconds=1))
    span = span_of(inner.words, now if FROM_NOW.search(inner.words) else from_then)
    return span if span and outer.begin <= span[0] and span[1] <= outer.until else None


def _both_ends(first: _Said, second: _Said) -> Span | None:
    begin, until = first.begin, second.until
    if begin is None or until is None or first.until is not None or second.begin is not None:
        return None
    return (begin, until) if begin < until else None


def _span(said: re.Match[str], now: datetime) -> _Open | None:
    if ends := _ends(said):
        return span_between(*ends, now, before=(said["to"] or "").lower() == "before")
    how = " ".join((said["preposition"] or said["of_year"] or "in").lower().split())
    words = said["within"] or said["year"] or said["alone"]
    if how in _ROLLING and said["the"]:
        words = re.sub(r"(?i)^last(?=\s+(?:week|month|year)$)", "past", words)
    found = span_of(words, now)
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


def _in_utc(moment: datetime, zone: ZoneInfo) -> datetime:
    return _moved(moment.replace(tzinfo=zone), UTC)


def _moved(moment: datetime, zone: tzinfo) -> datetime:
    """The moment in another zone, in which it may lie beyond the first or last day of all calendars: then it is that."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return (
            datetime.min.replace(tzinfo=zone) if moment.year == MINYEAR else datetime.max.replace(tzinfo=zone)
        )

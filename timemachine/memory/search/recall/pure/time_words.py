"""Time expressions in a question: "last Tuesday", "in May", "yesterday", "since 3 March", "last session". Pure.

An expression must be recognisable as a time: after a preposition, with "last" or "ago", or as a complete date.
So `may`, `second` and `march` stay words of the question, as does everything in quotation marks or in an
identifier. Dates are parsed by `dateparser`, always as past dates. What looks like a time but is not a past one
(31 February, next Friday) stays words, with the reason. The span has the length of the unit: a day, a week from
Monday, a month, a year.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MINYEAR, UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from timemachine.memory.search.recall.pure.time_spans import (
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
from timemachine.memory.search.recall.pure.unread_times import (
    AHEAD,
    BACKWARDS,
    FUTURE,
    UNKNOWN,
    VAGUE,
    why_unread,
)

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
"""Expressions that are a time by themselves."""
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
"""Expressions that are a time only after a preposition."""
_BARE_YEAR: Final = rf"{YEAR}(?! (?:{_COUNTED}\b|(?!(?:was|is|has|does|this|us|as|its|his)\b)[a-z]+s\b))"
_IN_A_YEAR: Final = "(?:in|since|before|until|during)"
"""After these a number is a year; elsewhere, or before something counted, it is just a number."""
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
"""Not before another word: a "session cookie" is not a session, nor is one that "expired"."""
_NUMBERED: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH_AT_LAST: Final = rf"(?:(?!may\b){MONTH}|(?-i:May)|{SHORT})"
_DAYS_OF: Final = (
    f"(?:between|from) (?:the )?(?P<day>{_NUMBERED}) (?:and|to|until|till|through) (?:the )?(?P<last_day>{_NUMBERED}) "
    f"(?:of )?(?P<month>{_MONTH_AT_LAST}(?:,? {YEAR})?)"
)
_BEFORE: Final = r"(?<![\w./:@#'’=+-])"
_AFTER: Final = r"(?:['’]s\b)?(?![\w:/@#=-]|\.\w|['’]\w)"
_EXPRESSIONS: Final = re.compile(
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
"""After these, "the last week" lasts until now; elsewhere it is the calendar week before."""
MOST_READINGS: Final = 8
"""How many time expressions of a question are read; later ones stay words."""
MOST_TRIED: Final = 32
"""How many places of a question that look like a time are tried."""
_LOOKS_BACK: Final = re.compile(r"\b(?:last|past|previous|ago|yesterday)\b", re.IGNORECASE)
_NOT_READ: Final = re.compile(
    f"{_BEFORE}(?:(?P<future>{FUTURE})|{VAGUE}){_AFTER}".replace(" ", r"\s+"), re.IGNORECASE
)
_PLAIN_LETTERS: Final = str.maketrans("ſ\N{KELVIN SIGN}ıİ", "skiI")
"""Letters that case-insensitive patterns equate with others but word tables do not have."""
_QUOTED: Final = re.compile(r'"[^"]*"|`[^`]*`')


type _Open = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A time expression: its characters, and from when until when it lasts, in UTC; `until` is the first moment
    after it.

    None means open. `previous_session`: it names the previous session, or `sessions` of them after
    `passed_over` more recent ones, whose times are looked up later. `how` is `before` or `after` if it means
    the time before or after it, else empty. `of_any_kind`: it says a meeting, chat or conversation, which means
    any session.
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
    """Words of a question that look like a time but are not read as one, and why. They stay words."""

    words: str
    start: int
    end: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """A parsed question: the remaining text to search for, its time expressions, and those that could not be read."""

    text: str
    readings: tuple[Reading, ...]
    unread: tuple[Unread, ...] = ()


def parse_question(
    question: str, now: datetime, zone: ZoneInfo, *, only_past: bool = False
) -> ParsedQuestion:
    """Return the question parsed as of `now` in that time zone; unchanged if it has no time expressions.

    `only_past`: only expressions that look back, such as "last week" and "2 days ago", but not "May 20th".
    """
    here = _moved(now, zone).replace(tzinfo=None)
    bare = _QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), question.translate(_PLAIN_LETTERS))
    expressions, failed = _expressions(bare, here, zone)
    readings = _first_readings(_readings(question, expressions, zone), only_past=only_past)
    unread = _first_readings(_unread(question, bare, [*expressions, *failed]), only_past=only_past)
    if not readings:
        return ParsedQuestion(text=question, readings=(), unread=unread)
    left, at = [], 0
    for reading in readings:
        left.append(question[at : reading.start])
        at = reading.end
    left.append(question[at:])
    return ParsedQuestion(text=" ".join(" ".join(left).split()), readings=readings, unread=unread)


def _first_readings[T: (Reading, Unread)](found: Iterator[T], *, only_past: bool) -> tuple[T, ...]:
    """Return the first ones; with `only_past`, of those that look back."""
    meant = (each for each in found if not only_past or _LOOKS_BACK.search(each.words))
    return tuple(islice(meant, MOST_READINGS))


def _unread(question: str, bare: str, looked_at: Sequence["_Expression"]) -> Iterator[Unread]:
    """Yield what looks like a time but is not one, in order."""
    found = {(expression.start, expression.end): expression.why for expression in looked_at if expression.why}
    for match in islice(_NOT_READ.finditer(bare), MOST_TRIED):
        start, end = match.span()
        if not any(expression.start < end and start < expression.end for expression in looked_at):
            found[start, end] = AHEAD if match["future"] else UNKNOWN
    for (start, end), why in sorted(found.items()):
        yield Unread(words=question[start:end], start=start, end=end, why=why)


def _readings(question: str, found: Sequence["_Expression"], zone: ZoneInfo) -> Iterator[Reading]:
    for each in found:
        place = {"words": question[each.start : each.end], "start": each.start, "end": each.end}
        if each.session is not None:
            yield replace(each.session, **place)  # type: ignore[arg-type]
        else:
            begin, until = (
                None if moment is None else _in_utc(moment, zone) for moment in (each.begin, each.until)
            )
            yield Reading(**place, begin=begin, until=until)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expression:
    """A time expression in local time. `words` are those of a closed span, `session` is a reading of a previous
    session.

    `why`: why it could not be read.
    """

    start: int
    end: int
    words: str = ""
    begin: datetime | None = None
    until: datetime | None = None
    session: Reading | None = None
    why: str | None = None


def _expressions(bare: str, now: datetime, zone: ZoneInfo) -> tuple[list[_Expression], list[_Expression]]:
    """Return the time expressions, with adjacent and nested ones joined, and those that could not be read."""
    found: list[_Expression] = []
    failed: list[_Expression] = []
    for match in islice(_EXPRESSIONS.finditer(bare), MOST_TRIED):
        if match["negated"]:
            continue
        expression = _expression(match, now)
        if expression is None or _is_empty(expression, zone):
            start, end = match.span()
            failed.append(_Expression(start=start, end=end, why=_why(match, now)))
            continue
        one = _as_one(found[-1], expression, bare[found[-1].end : expression.start], now) if found else None
        if one:
            found[-1] = one
        else:
            found.append(expression)
    return found, failed


def _expression(match: re.Match[str], now: datetime) -> _Expression | None:
    start, end = match.span()
    if match["session"]:
        return _Expression(start=start, end=end, session=_session(match))
    span = _span(match, now)
    if span is None:
        return None
    words = match["within"] or match["year"] or match["alone"] or ""
    closed = words if None not in span else ""
    return _Expression(start=start, end=end, words=closed, begin=span[0], until=span[1])


def _is_empty(expression: _Expression, zone: ZoneInfo) -> bool:
    """Return whether the span is empty: an hour that is skipped in spring, or "the last 0 days"."""
    if expression.begin is None or expression.until is None:
        return False
    return _in_utc(expression.begin, zone) >= _in_utc(expression.until, zone)


def _session(match: re.Match[str]) -> Reading:
    """Return which previous session is named, without its place."""
    how = (match["how"] or "").lower()
    count = " ".join((match["count"] or "1").lower().split())
    return Reading(
        words="",
        start=0,
        end=0,
        previous_session=True,
        how="after" if how == "since" else how,
        sessions=_COUNTS.get(count) or int(count),
        passed_over=1 if match["last_but_one"] else 0,
        of_any_kind="session" not in match["session"].lower(),
    )


def _why(match: re.Match[str], now: datetime) -> str | None:
    """Return why an expression is not a time, by its first part that is not one."""
    ends = _ends(match)
    parts = ends or (match["within"] or match["year"] or match["alone"],)
    otherwise = BACKWARDS if ends else UNKNOWN
    return next((why_unread(part, now) for part in parts if span_of(part, now) is None), otherwise)


def _ends(match: re.Match[str]) -> tuple[str, str] | None:
    """Return the two ends of a range: `between 3 and 5 May` has the third and the fifth."""
    if match["day"]:
        first, last = (match[day].rstrip("stndrhSTNDRH") for day in ("day", "last_day"))
        return f"{first} {match['month']}", f"{last} {match['month']}"
    return (match["first"], match["second"]) if match["first"] else None


def _as_one(first: _Expression, second: _Expression, between: str, now: datetime) -> _Expression | None:
    """Return both as one span: "in May of last year", "after 3 May and before 5 May"; None if they are separate."""
    span = None
    if first.words and second.words and not between.strip(" \t\n,"):
        span = _nested(first, second, now) or _nested(second, first, now)
    elif between.strip(" \t\n,").lower() in {"", "and", "but"}:
        span = _both_ends(first, second) or _both_ends(second, first)
    return (
        None if span is None else _Expression(start=first.start, end=second.end, begin=span[0], until=span[1])
    )


def _nested(outer: _Expression, inner: _Expression, now: datetime) -> Span | None:
    """Return the inner time within the outer one, read as of its end; None if it is not within."""
    if outer.begin is None or outer.until is None or outer.begin >= now:
        return None
    from_then = min(now, outer.until - timedelta(seconds=1))
    span = span_of(inner.words, now if FROM_NOW.search(inner.words) else from_then)
    return span if span and outer.begin <= span[0] and span[1] <= outer.until else None


def _both_ends(first: _Expression, second: _Expression) -> Span | None:
    begin, until = first.begin, second.until
    if begin is None or until is None or first.until is not None or second.begin is not None:
        return None
    return (begin, until) if begin < until else None


def _span(match: re.Match[str], now: datetime) -> _Open | None:
    if ends := _ends(match):
        return span_between(*ends, now, before=(match["to"] or "").lower() == "before")
    how = " ".join((match["preposition"] or match["of_year"] or "in").lower().split())
    words = match["within"] or match["year"] or match["alone"]
    if how in _ROLLING and match["the"]:
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
    """Return the moment in another zone, limited to the first and last day of the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return (
            datetime.min.replace(tzinfo=zone) if moment.year == MINYEAR else datetime.max.replace(tzinfo=zone)
        )

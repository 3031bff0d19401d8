"""Explain why a question has no results."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from timemachine.memory.search.recall.queries import QueryResult, TimeRead
from timemachine.memory.search.recall.questions import RecallOptions

_FILTERS: Final = {
    "agent": "agent",
    "user": "user",
    "session": "session",
    "besides": "outside the session",
    "tags": "tag",
    "kinds": "kind",
    "significances": "significance",
    "min_importance": "importance from",
    "since": "since",
    "until": "until",
}
_LOOKED_FOR: Final = {
    "hybrid": "contains one of the words or has a similar meaning",
    "text": "contains one of the words",
    "semantic": "has a similar meaning",
}
_LONGEST: Final = 80
_MOST: Final = 5
"""How many sessions are named."""
_UTC: Final = {"UTC", "UCT", "Universal", "Zulu"}


def explain_no_results(answer: QueryResult, options: RecallOptions) -> str | None:
    """Return whether the words, the time expressions or the filters are the cause, as a sentence, or None if there
    are results.
    """
    if answer.results:
        return None
    filters = ", ".join(_filters(options))
    if answer.has_candidates:
        among = " within these limits" if filters or answer.times else ""
        return f"No step{among} {_LOOKED_FOR[options.mode]}. Try other words."
    before = [time.session for time in answer.times if time.reading.previous_session]
    if before and not any(before):
        return "There is no earlier session."
    looked_at = [time for time in answer.times if time.session or not time.reading.previous_session]
    times = " or ".join(_span(time, ZoneInfo(options.time_zone)) for time in looked_at)
    if times:
        what = f"Nothing that matches the filter ({filters})" if filters else "Nothing"
        return f"{what} was recorded in that time: {times}."
    return f"No step matches the filter: {filters}." if filters else "Nothing is recorded yet."


def _filters(options: RecallOptions) -> Iterator[str]:
    for field, words in _FILTERS.items():
        given = getattr(options, field)
        if given not in ("", (), None):
            yield f"{words} {_written(given)}"[:_LONGEST]


def _written(given: str | tuple[str, ...] | float) -> str:
    if isinstance(given, tuple):
        return " or ".join(given)
    return f"{given:g}" if isinstance(given, float) else str(given)


def _span(time: TimeRead, zone: ZoneInfo) -> str:
    if time.is_within_session and time.session is not None:
        names = [session.name[:_LONGEST] for session in time.sessions]
        return f"the session{'s' if len(names) > 1 else ''} {', '.join(names[:_MOST])}{' …' if names[_MOST:] else ''}"
    begin, until = _at(time.begin, zone), _at(time.until, zone)
    if begin and until:
        return f"{begin} to {until} ({_name(zone)})"
    return f"from {begin} on ({_name(zone)})" if begin else f"before {until} ({_name(zone)})"


def _name(zone: ZoneInfo) -> str:
    """Return the zone's name. UTC has several, and machines differ in the one they use."""
    return "UTC" if zone.key.removeprefix("Etc/") in _UTC else zone.key


def _at(moment: datetime | None, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" if moment else ""

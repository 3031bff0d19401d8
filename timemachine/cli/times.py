"""Times for people, in local time and UTC, and expiry times that people write. Pure."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from timemachine.core.pure.clock import parse_typed_time, written
from timemachine.core.pure.errors import InvalidInput

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6})([mhdw])")


def local(text: str | None, zone: tzinfo | None = None, *, seconds: bool = False) -> str:
    """An RFC 3339 time in the zone (default: this machine's), followed by UTC; empty for None."""
    clock = "%H:%M:%S" if seconds else "%H:%M"
    if text is None:
        return ""
    moment = datetime.fromisoformat(text)
    here, there = moment.astimezone(zone), moment.astimezone(UTC)
    if here.utcoffset() == timedelta(0):
        return f"{there:%Y-%m-%d {clock}} UTC"
    same_day = here.date() == there.date()
    return f"{here:%Y-%m-%d {clock}} ({there:{clock if same_day else f'%Y-%m-%d {clock}'}} UTC)"


def expiry_time(text: str, now: datetime) -> str:
    """The RFC 3339 time of a span from now (`30m`, `12h`, `14d`, `2w`), a time or a date. Raises `InvalidInput`."""
    span = _SPAN.fullmatch(text)
    if span is None:
        return written(_time(text)) or text
    try:
        return written(now + timedelta(**{_UNITS[span[2]]: int(span[1])})) or text
    except OverflowError as why:
        raise _not_a_time(text) from why


def _time(text: str) -> datetime:
    try:
        return parse_typed_time(text)
    except InvalidInput as why:
        raise _not_a_time(text) from why


def _not_a_time(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:60]!r} is not an expiry time. Use 30m, 12h, 14d or 2w from now, or a time like 2026-12-04T09:00:00Z.",
        code="not_a_time",
    )

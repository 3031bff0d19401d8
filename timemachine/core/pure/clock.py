"""Times: aware, in UTC, written as RFC 3339."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Final, overload

from timemachine.core.pure.errors import InvalidInput

_UTC: Final = re.compile(r"\s*(?:UTC|Z)$", re.IGNORECASE)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 time and return it in UTC. Raises `InvalidInput` if the text is not a time, or has no offset."""
    try:
        found = datetime.fromisoformat(text)
        in_utc = found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError) as why:
        raise InvalidInput(
            f"{text!r} is not a time; write it like 2026-11-20T09:00:00Z.", code="not_a_time"
        ) from why
    if in_utc is None:
        raise InvalidInput(f"The time {text!r} has no UTC offset; end it with Z for UTC.", code="not_a_time")
    return in_utc


def parse_typed_time(text: str) -> datetime:
    """Parse a time as people type it and return it in UTC.

    Accepts RFC 3339, also with a space for the T, with "UTC" at the end, or without an offset, which means UTC. A date
    alone means the end of that day, or now if the day is today. Raises `InvalidInput` if the text is not a time.
    """
    bare = _UTC.sub("", text.strip())
    if is_date(bare):
        begin, end = (datetime.combine(date.fromisoformat(bare), at, UTC) for at in (time.min, time.max))
        present = now()
        return present if begin <= present < end else end
    try:
        found = datetime.fromisoformat(bare)
    except ValueError as why:
        raise _no_time(text) from why
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC)
    if bare != text.strip():
        raise _no_time(text)
    return parse_time(bare)


def parse_typed_start(text: str) -> datetime:
    """Parse the start of a time span as people type it. A date alone means the beginning of that day. Raises
    `InvalidInput` if the text is not a time.
    """
    bare = _UTC.sub("", text.strip())
    return (
        datetime.combine(date.fromisoformat(bare), time.min, UTC) if is_date(bare) else parse_typed_time(text)
    )


def parse_field(field: str, text: str, read: Callable[[str], datetime]) -> datetime:
    """Parse the time in a named field with `read`. Raises `InvalidInput`, which names the field, if the text is not a
    time.
    """
    try:
        return read(text)
    except InvalidInput as why:
        raise InvalidInput(f"`{field}`: {why.message}", code=why.code, field=field) from why


def is_date(text: str) -> bool:
    """Return whether the text is a date without a time. "UTC" may follow."""
    try:
        date.fromisoformat(_UTC.sub("", text.strip()))
    except ValueError:
        return False
    return True


def _no_time(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:60]!r} is not a time; write it like 2026-11-20T09:00:00Z.", code="not_a_time"
    )


@overload
def written(moment: datetime) -> str: ...
@overload
def written(moment: datetime | None) -> str | None: ...
def written(moment: datetime | None) -> str | None:
    """Format a time as RFC 3339 in UTC with a Z. None stays None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

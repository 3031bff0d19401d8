"""Time: aware, in UTC, and written as RFC 3339."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Final, overload

from timemachine.core.pure.errors import InvalidInput

_UTC: Final = re.compile(r"\s*(?:UTC|Z)$", re.IGNORECASE)


def now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


def parse_time(text: str) -> datetime:
    """An RFC 3339 time, in UTC. Raises `InvalidInput` for anything else, a time without an offset included."""
    try:
        found = datetime.fromisoformat(text)
        in_utc = found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError) as why:
        raise InvalidInput(
            f"{text!r} is not a time; write it like 2026-11-20T09:00:00Z.", code="not_a_time"
        ) from why
    if in_utc is None:
        raise InvalidInput(f"The time {text!r} has no offset; end it with Z for UTC.", code="not_a_time")
    return in_utc


def time_as_written(text: str) -> datetime:
    """A time as people write it, in UTC: RFC 3339, also with a space for the T, with "UTC", or without an offset, which means UTC.

    A date alone is the end of that day, or now while the day is not over. Raises `InvalidInput`.
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


def begin_as_written(text: str) -> datetime:
    """The same for where a span of time begins: a date alone is the begin of that day."""
    bare = _UTC.sub("", text.strip())
    return (
        datetime.combine(date.fromisoformat(bare), time.min, UTC) if is_date(bare) else time_as_written(text)
    )


def of_field(field: str, text: str, read: Callable[[str], datetime]) -> datetime:
    """The time that `read` finds in what a field says. Raises `InvalidInput`, which names the field."""
    try:
        return read(text)
    except InvalidInput as why:
        raise InvalidInput(f"`{field}`: {why.message}", code=why.code, field=field) from why


def is_date(text: str) -> bool:
    """Whether this is a date and no time of it; "UTC" may stand behind it."""
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
    """The moment in RFC 3339, in UTC with a Z; None stays None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

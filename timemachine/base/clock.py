"""Time: aware, in UTC, and written as RFC 3339."""

from datetime import UTC, datetime

from timemachine.base.errors import InvalidInput


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


def written(moment: datetime | None) -> str | None:
    """The moment in RFC 3339, in UTC with a Z; None stays None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

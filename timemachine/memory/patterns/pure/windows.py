"""The windows in which a rule counts: the calendar day, week (from Monday) and month, in UTC. Pure."""

from datetime import UTC, datetime, timedelta


def window_of(moment: datetime, window: str) -> tuple[datetime, datetime]:
    """Return the begin and the end of the day, week or month that contains the moment."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if window == "day":
        return day, day + timedelta(days=1)
    if window == "week":
        begin = day - timedelta(days=day.weekday())
        return begin, begin + timedelta(days=7)
    begin = day.replace(day=1)
    return begin, (begin + timedelta(days=32)).replace(day=1)

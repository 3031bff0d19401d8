"""Resolve an `as_of` moment: a time, `now`, or `SESSION:SEQUENCE`, the time of a recorded step."""

import re
from datetime import datetime
from typing import Final

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, parse_typed_time
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import whole_number
from timemachine.knowledge.collection_time import check_not_in_future
from timemachine.recording.sessions.queries import action_of, session_of

# An invalid or incomplete time with an hour. A session's key may look like a date, but a text with an hour is meant as a time.
_DAY_AND_HOUR: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?: |T\d).*", re.IGNORECASE | re.DOTALL)


def resolve_moment(project: Project, text: str | None) -> datetime | None:
    """Return the moment that the text names, as `parse_typed_time` reads it; None for `now` and for an empty text.

    `X:N` is a step of a session unless X begins a time. Raises `InvalidInput`, also for a time in the future, and
    `NotFound`.
    """
    if text is None or text in ("", "now"):
        return None
    try:
        found = parse_typed_time(text)
    except InvalidInput as why:
        session, colon, sequence = text.rpartition(":")
        step = whole_number(sequence)
        if colon and step is not None and not _DAY_AND_HOUR.fullmatch(session):
            return action_of(session_of(project, session), step).recorded_at
        raise InvalidInput(
            f"`as_of` cannot be {text[:60]!r}. Write a time like 2026-11-20 09:00 (UTC unless it has an offset), a date (its end), "
            "`now`, or SESSION:STEP.",
            code="not_a_time",
            field="as_of",
        ) from why
    check_not_in_future(found, now())
    return found

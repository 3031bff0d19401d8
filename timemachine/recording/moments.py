"""WHEN, as it is written: RFC 3339, `now`, or `SESSION:SEQUENCE`, the moment of a recorded step."""

from datetime import datetime

from timemachine.accounts.models import Project
from timemachine.base.clock import parse_time
from timemachine.base.errors import InvalidInput
from timemachine.base.numbers import whole_number
from timemachine.recording.queries import action_of, session_of


def moment(project: Project, text: str | None) -> datetime | None:
    """The moment that the text names; None for `now` and for nothing. Raises `InvalidInput`, `NotFound`."""
    if text is None or text in ("", "now"):
        return None
    session, colon, sequence = text.rpartition(":")
    step = whole_number(sequence)
    if colon and step is not None and not _is_time(text):
        return action_of(session_of(project, session), step).recorded_at
    try:
        return parse_time(text)
    except InvalidInput as why:
        raise InvalidInput(
            f"`as_of` cannot be {text[:60]!r}; write a time like 2026-11-20T09:00:00Z, `now`, or SESSION:STEP.",
            code="not_a_time",
            field="as_of",
        ) from why


def _is_time(text: str) -> bool:
    try:
        parse_time(text)
    except InvalidInput:
        return False
    return True

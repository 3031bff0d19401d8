"""The contents of a shared session: the pages of its timeline, and its first failed steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import FAILED

PAGE: Final = 200
MOST_PARTS: Final = 12
MOST_FAILED: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedContents:
    """The first and last steps of the parts of a timeline, none if it is one part; and its first failed steps."""

    parts: Sequence[tuple[int, int]]
    failed: Sequence[int]


def contents_of(actions: QuerySet[Action], last: int) -> SharedContents:
    """Return the contents of the actions up to the `last`. One query."""
    failed = actions.filter(FAILED).order_by("sequence").values_list("sequence", flat=True)
    return SharedContents(parts=_parts(last), failed=list(failed[:MOST_FAILED]))


def _parts(last: int) -> list[tuple[int, int]]:
    """Return at most `MOST_PARTS` parts of whole pages."""
    pages = -(-last // PAGE)
    steps = -(-pages // MOST_PARTS) * PAGE
    return [(first, min(first + steps - 1, last)) for first in range(1, last + 1, steps)] if pages > 1 else []

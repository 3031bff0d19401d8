"""What one page alone is to say once, after a form that was sent from it; any other page that is opened meanwhile does not."""

from dataclasses import asdict, dataclass
from typing import Final

from django.http import HttpRequest

_KEY: Final = "notes"
_MOST: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence, and whether it is of something that went wrong."""

    text: str
    bad: bool = False


def leave(request: HttpRequest, page: str, note: Note) -> None:
    """Leave a note for that page; of those that nobody reads the latest twenty are kept."""
    left = dict(request.session.get(_KEY, {}))
    left.pop(page, None)
    kept = [*left.items(), (page, asdict(note))]
    request.session[_KEY] = dict(kept[-_MOST:])


def taken(request: HttpRequest, page: str) -> Note | None:
    """The note that was left for that page, which is gone then; None where there is none."""
    left = dict(request.session.get(_KEY, {}))
    if page not in left:
        return None
    note = Note(**left.pop(page))
    request.session[_KEY] = left
    return note

"""Messages that only one page shows once, after a form was submitted from it; other pages opened in the meantime do not."""

from dataclasses import asdict, dataclass
from typing import Final

from django.http import HttpRequest

_KEY: Final = "notes"
_MOST: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A message, and whether it is an error."""

    text: str
    bad: bool = False


def leave(request: HttpRequest, page: str, note: Note) -> None:
    """Leave a message for that page; only the latest twenty unread ones are kept."""
    left = dict(request.session.get(_KEY, {}))
    left.pop(page, None)
    kept = [*left.items(), (page, asdict(note))]
    request.session[_KEY] = dict(kept[-_MOST:])


def taken(request: HttpRequest, page: str) -> Note | None:
    """Return the message for that page and remove it; None if there is none."""
    left = dict(request.session.get(_KEY, {}))
    if page not in left:
        return None
    note = Note(**left.pop(page))
    request.session[_KEY] = left
    return note

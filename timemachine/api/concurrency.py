"""A limit on the requests that record at the same time in one process, so that pages are answered while many agents record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from threading import BoundedSemaphore
from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

from timemachine.api.errors import refusal
from timemachine.core.pure.errors import TooManyRequests

SMALL: Final = 64 * 1024
"""Spans in at most this many bytes mostly wait for those of others, and hold no connection to the database while they do."""
AT_ONCE: Final = 5
SMALL_AT_ONCE: Final = 10
"""Threads of the twenty of a server process; the others are reserved for people."""
PATIENCE: Final = 2.0
"""Seconds that a request waits for a free place: fifty that arrive together are all served."""
_places: Final = BoundedSemaphore(AT_ONCE)
_places_of_small: Final = BoundedSemaphore(SMALL_AT_ONCE)


@contextmanager
def place(*, small: bool = False) -> Iterator[None]:
    """A place among the requests that record, or among the `small` ones that share a transaction.

    Raises `TooManyRequests`, which says when to try again, if none becomes free.
    """
    places = _places_of_small if small else _places
    if not places.acquire(timeout=PATIENCE):
        raise TooManyRequests(
            "The server is busy and did not record this request. Send it again in a second.",
            code="busy",
            retry_after_seconds=1,
        )
    try:
        yield
    finally:
        places.release()


def limited(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Mark an operation as recording: without a free place it is refused before its body is parsed."""

    @wraps(run)
    def within(request: HttpRequest, **named: Any) -> HttpResponse:
        with suppress(RequestDataTooBig):  # reported when the body is parsed
            request.body  # noqa: B018  # read whole first, so that a slow sender takes no place
        try:
            with place():
                return run(request, **named)
        except TooManyRequests as why:
            return refusal(why)

    return within

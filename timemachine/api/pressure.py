"""Back-pressure: so many recorders at once in one process, so that pages are answered while agents pour in."""

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
"""Spans in so many bytes at most mostly wait for those of others, and hold no connection to the database meanwhile."""
AT_ONCE: Final = 5
SMALL_AT_ONCE: Final = 10
"""Of the twenty threads that a server process has; the others are left to people."""
PATIENCE: Final = 2.0
"""For so many seconds who finds no place waits for one: fifty who come at once are no reason to send anybody away."""
_places: Final = BoundedSemaphore(AT_ONCE)
_places_of_small: Final = BoundedSemaphore(SMALL_AT_ONCE)


@contextmanager
def one_more(*, small: bool = False) -> Iterator[None]:
    """A place among those who record, or among those whose `small` requests share a transaction.

    Raises `TooManyRequests` with when to come again, where none comes free.
    """
    places = _places_of_small if small else _places
    if not places.acquire(timeout=PATIENCE):
        raise TooManyRequests(
            "More is being recorded than this server can take at once, and nothing of this was; send it again in a second.",
            code="busy",
            retry_after_seconds=1,
        )
    try:
        yield
    finally:
        places.release()


def in_a_place(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """An operation of the API that records, and is refused before its body is understood where there is no place."""

    @wraps(run)
    def within(request: HttpRequest, **named: Any) -> HttpResponse:
        with suppress(RequestDataTooBig):  # said where the body is understood
            request.body  # noqa: B018  # a slow sender holds no place, and one who is refused has been heard to the end
        try:
            with one_more():
                return run(request, **named)
        except TooManyRequests as why:
            return refusal(why)

    return within

"""Back-pressure: so many recorders at once in one process, so that pages are answered while agents pour in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from threading import BoundedSemaphore
from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

from timemachine.api.errors import refusal
from timemachine.base.errors import TooManyRequests

AT_ONCE: Final = 5
"""Of the eight threads that a server process has; who finds no place is told so at once, so that the others are left to people."""
_places: Final = BoundedSemaphore(AT_ONCE)


@contextmanager
def one_more() -> Iterator[None]:
    """A place among those who record. Raises `TooManyRequests` with when to come again, where there is none."""
    if not _places.acquire(blocking=False):
        raise TooManyRequests(
            "More is being recorded than this server can take at once, and nothing of this was; send it again in a second.",
            code="busy",
            retry_after_seconds=1,
        )
    try:
        yield
    finally:
        _places.release()


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

"""A request sees no project's rows until it is known who asks (`timemachine.core.row_security`)."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import cast

from django.http import HttpRequest
from django.http.response import FileResponse, HttpResponseBase, StreamingHttpResponse

from timemachine.core.row_security import (
    called_with_the_same_rows,
    no_rows,
    rows_of_every_project,
    with_the_same_rows,
)

type View[**P] = Callable[P, HttpResponseBase]


class RowSecurity:
    """Middleware: begin without rows. What is streamed later sees what the view saw."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with no_rows():
            response = self.get_response(request)
            if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
                _stream_with_the_same_rows(response)
            return response


def _stream_with_the_same_rows(response: StreamingHttpResponse) -> None:
    parts = cast("Iterator[bytes]", response.streaming_content)  # no view streams asynchronously
    response.streaming_content = with_the_same_rows(parts)
    response.close = called_with_the_same_rows(response.close)  # type: ignore[method-assign]  # also if the client leaves


def for_every_project[**P](view: View[P]) -> View[P]:
    """Decorate a view that belongs to no project: signing in, or the state of the server."""

    @wraps(view)
    def seeing(*args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        with rows_of_every_project():
            return view(*args, **kwargs)

    return seeing

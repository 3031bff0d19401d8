"""Receiving files: never more of a request is kept than the limit, and what was refused is said in a sentence."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.web.formatting import size
from timemachine.web.uploads import UploadedText

_KEPT_AS = "timemachine.upload"


class _Limit(FileUploadHandler):
    """Counts what comes in as files, and stops at the limit; the rest is read and thrown away, so that an answer arrives."""

    def __init__(self, request: HttpRequest, largest: int) -> None:
        super().__init__(request)
        self.left = largest
        self.over = False

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002 - Django's signature
        """Pass the bytes on to the next handler, as long as there is room."""
        self.left -= len(raw_data)
        if self.left < 0:
            self.over = True
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The next handler makes the file."""


def receives_files[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """The view with `settings.MAX_REQUEST_BYTES` kept to while its files come in; its CSRF check happens after that.

    The form has to carry its CSRF token before its files. Raises `InvalidInput` for a request that cannot be read.
    """
    return _receiving(view, "MAX_REQUEST_BYTES")


def receives_imports[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """The same with `settings.MAX_IMPORT_BYTES`."""
    return _receiving(view, "MAX_IMPORT_BYTES")


def _receiving[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse], limit: str
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    protected = csrf_protect(view)

    @csrf_exempt  # only until the handler stands: reading the token reads the whole request
    @wraps(view)
    def receive(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method == "POST":
            _read(request, getattr(settings, limit))
        return protected(request, *args, **kwargs)

    return receive


def received(request: HttpRequest, field: str) -> list[UploadedText]:
    """The files of a form's field, read whole. Raises `TooLarge` where the limit was reached."""
    return [
        UploadedText(name=file.name or "a file", data=file.read()) for file in received_files(request, field)
    ]


def received_files(request: HttpRequest, field: str) -> list[UploadedFile[Any]]:
    """The files of a form's field; a large one lies on a disk. Raises `TooLarge` where the limit was reached."""
    if largest := request.META.get(_KEPT_AS):
        raise TooLarge(
            f"This is more than {size(largest)}, the most that can be sent at once; send it in parts.",
            limit_bytes=largest,
        )
    return request.FILES.getlist(field)


def _read(request: HttpRequest, largest: int) -> None:
    limit = _Limit(request, largest)
    handlers: list[Any] = [limit, *request.upload_handlers]
    request.upload_handlers = handlers
    try:
        request.POST  # noqa: B018 - the first look at it reads the request
    except TooManyFilesSent as why:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        raise TooLarge(f"These are too many files; send at most {most} at once.", limit=most) from why
    except (RequestDataTooBig, TooManyFieldsSent, MultiPartParserError) as why:
        raise InvalidInput(
            f"This form cannot be read: {why} Go back and send less at once.", code="unreadable"
        ) from why
    request.META[_KEPT_AS] = largest if limit.over else None

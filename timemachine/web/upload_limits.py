"""Receive uploaded files up to a limit, with a clear error beyond it."""

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
    """Counts the bytes of uploaded files and stops storing at the limit; the rest is read and discarded, so that the response arrives."""

    def __init__(self, request: HttpRequest, largest: int) -> None:
        super().__init__(request)
        self.left = largest
        self.over = False

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002 - Django's signature
        """Pass the bytes to the next handler while the limit is not reached."""
        self.left -= len(raw_data)
        if self.left < 0:
            self.over = True
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the next handler."""


def receives_files[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Decorate a view to enforce `settings.MAX_REQUEST_BYTES` on uploads; its CSRF check happens afterwards.

    The form must send its CSRF token before its files. Raises `InvalidInput` for an unreadable request.
    """
    return _receiving(view, "MAX_REQUEST_BYTES")


def receives_imports[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Decorate a view to enforce `settings.MAX_IMPORT_BYTES` on uploads."""
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
    """Return the files of a form field with their content. Raises `TooLarge` if the limit was reached."""
    return [
        UploadedText(name=file.name or "a file", data=file.read()) for file in received_files(request, field)
    ]


def received_files(request: HttpRequest, field: str) -> list[UploadedFile[Any]]:
    """Return the files of a form field; large ones are on disk. Raises `TooLarge` if the limit was reached."""
    if largest := request.META.get(_KEPT_AS):
        raise TooLarge(
            f"The upload exceeds the limit of {size(largest)}. Upload it in parts.",
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
        raise TooLarge(f"Too many files. Upload at most {most} at once.", limit=most) from why
    except (RequestDataTooBig, TooManyFieldsSent, MultiPartParserError) as why:
        raise InvalidInput(
            f"The form cannot be read: {why} Go back and upload less at once.", code="unreadable"
        ) from why
    request.META[_KEPT_AS] = largest if limit.over else None

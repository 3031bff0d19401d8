"""Uploaded files of a form, and files with the text of a passage."""

from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.knowledge.commands import LARGEST_FRAME
from timemachine.text.pure.documents.decoding import decoded
from timemachine.web.access import View
from timemachine.web.errors import page_message
from timemachine.web.formatting import size


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedText:
    """An uploaded file: its name and its bytes."""

    name: str
    data: bytes


def text_of(file: UploadedText) -> str:
    """Return the text of a file with one passage. Raises `InvalidInput` if it is not text or empty, `TooLarge`."""
    try:
        text = decoded(file.data)
    except InvalidInput as why:
        raise InvalidInput(f"{file.name}: {page_message(why)}", code=why.code) from why
    if not text.strip():
        raise InvalidInput(f"{file.name}: the file contains no text.", code="no_text")
    size = len(text.encode())
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"{file.name}: the passage has {size:,} bytes; the limit is {LARGEST_FRAME:,}. Split it into parts.",
            limit_bytes=LARGEST_FRAME,
        )
    return text


_STORED_AS = "timemachine.upload"


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
    view: View[P],
) -> View[P]:
    """Decorate a view to enforce `settings.MAX_REQUEST_BYTES` on uploads; its CSRF check happens afterwards.

    The form must send its CSRF token before its files. Raises `InvalidInput` for an unreadable request.
    """
    return _receiving(view, "MAX_REQUEST_BYTES")


def receives_imports[**P](
    view: View[P],
) -> View[P]:
    """Decorate a view to enforce `settings.MAX_IMPORT_BYTES` on uploads."""
    return _receiving(view, "MAX_IMPORT_BYTES")


def _receiving[**P](view: View[P], limit: str) -> View[P]:
    protected = csrf_protect(view)

    @csrf_exempt  # only until the handler stands: reading the token reads the whole request
    @wraps(view)
    def receive(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
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
    if largest := request.META.get(_STORED_AS):
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
        raise TooLarge(f"Too many files. Upload at most {most} at a time.", limit=most) from why
    except (RequestDataTooBig, TooManyFieldsSent, MultiPartParserError) as why:
        raise InvalidInput(
            f"The form cannot be read: {why} Go back and upload fewer or smaller files at a time.",
            code="unreadable",
        ) from why
    request.META[_STORED_AS] = largest if limit.over else None

"""Files of a collection: upload, progress, the text with a marked passage, and download."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.payloads.queries import text
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.safe_text import shown
from timemachine.knowledge.models import Source, SourcePassage
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.sources import source_of
from timemachine.recording.intake.commands import dismiss
from timemachine.recording.intake.models import DONE, FAILED
from timemachine.recording.intake.queries import edited_beside_it, ended_by, intake_of
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.knowledge.forms.collections import FilesForm
from timemachine.web.knowledge.presenters.uploads import edited_warning, handed_in, report_upload, take
from timemachine.web.knowledge.views.collections import collection_page
from timemachine.web.redirects import see_other
from timemachine.web.upload_limits import receives_files

WINDOW: Final = 16_000
BEFORE: Final = 2_000
SHOWN_FRAMES: Final = 200
SHOWN_PUTS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A part of a text around a marked passage: characters `start` up to `end` of `length`."""

    before: str
    marked: str
    after: str
    start: int
    end: int
    length: int


@receives_files
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, name: str) -> HttpResponse:
    """Store the passages of files, all or none; large files are processed in the background."""
    if request.method != "POST":
        return see_other("collection", name)
    access = of(request)
    access.require(OPERATOR)
    found = collection_of(access.project, name)
    form = FilesForm(request.POST)
    if not form.is_valid():
        return collection_page(request, access, found, status=422, files_form=form)
    try:
        said = form.cleaned_data
        files = handed_in(request, replace=said["replace"], uri=said["uri"])
        taken = take(files, lambda: found, by=access.user.email)
    except TimeMachineError as why:
        return collection_page(request, access, found, status=form.refuse(why), files_form=form)
    if len(taken.intakes) == 1:  # its page says itself how far it is
        return see_other("intake", taken.intakes[0].id)
    report_upload(request, taken)
    return see_other("collection", found.name, part="files" if taken.intakes else "")


@never_cache
@require_safe
def intake(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/intakes/{id}/`: progress and result of an upload. Polling gets 204 if nothing changed."""
    access = of(request)
    found = intake_of(access.project, id)
    if request.GET.get("rev") == str(found.revision) and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    edited = edited_beside_it(found)
    context = {
        "intake": found,
        "collection": found.collection,
        "over": found.finished_at is not None,
        "complete": found.status == DONE,
        "ended_frames": ended_by(found),
        "edited": edited_warning(edited) if edited else "",
        "may_dismiss": found.status == FAILED and found.dismissed_at is None and access.may(OPERATOR),
    }
    return page(request, "collections/intake.html", context, parts=("progress",))


@never_cache
@require_POST
def dismiss_intake(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Remove a failed upload from the list of its collection; its page stays."""
    access = of(request)
    access.require(OPERATOR)
    found = intake_of(access.project, id)
    dismiss(found, by=access.user.email)
    messages.success(request, f"{shown(found.name) or 'The file'} removed from the list.")
    return see_other("collection", found.collection.name, part="files")


@never_cache
@require_safe
def source(request: HttpRequest, name: str, id: str) -> HttpResponse:  # noqa: A002
    """`/collections/{name}/sources/{id}/`: the file's text; `frame` and `version` mark a passage in it, `at` is the position."""
    found = _source(request, name, id)
    place = _marked(found, request)
    window = _shown(text(found.text), place, request.GET.get("at", ""))
    current = found.passages.filter(frame__valid_until=None)
    passages = current.select_related("frame").order_by("start", "frame_id")
    context: dict[str, Any] = {
        "collection": found.collection,
        "source": found,
        "size": found.original.size,
        "frame": None if place is None else place.frame,
        "shown": window,
        "earlier": max(0, window.start - WINDOW) if window.start else None,
        "later": window.end if window.end < window.length else None,
        "passages": list(passages[:SHOWN_FRAMES]),
        "passage_count": current.count(),
        "puts": found.puts.order_by("-at")[:SHOWN_PUTS],
        "frame_count": current.values("frame").distinct().count(),
        "here": {name: request.GET[name] for name in ("frame", "version") if name in request.GET},
    }
    return page(request, "collections/source.html", context)


@require_safe
def source_file(request: HttpRequest, name: str, id: str) -> HttpResponse:  # noqa: A002
    """Download the original file, in a way that no browser interprets."""
    found = _source(request, name, id)
    return HttpResponse(
        bytes(found.original.data),
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(_file_name(found), safe='')}",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


def _source(request: HttpRequest, name: str, source_id: str) -> Source:
    project = of(request).project
    found = source_of(project, source_id)
    if found.collection_id != collection_of(project, name).id:
        raise NotFound("There is no such file in this collection.", code="source_not_found")
    return found


def _file_name(found: Source) -> str:
    return found.name.encode("utf-8", "replace").decode().replace("/", "_").replace("\\", "_") or "file"


def _marked(found: Source, request: HttpRequest) -> SourcePassage | None:
    """Return the position in this file of the frame version in the URL, if it occurs."""
    number = whole_number(request.GET.get("frame", ""))
    version = whole_number(request.GET.get("version", ""))
    if number is None:
        return None
    places = found.passages.filter(frame__number=number).select_related("frame")
    chosen = places if version is None else places.filter(frame__version=version)
    return chosen.order_by("-frame__version", "start").first()


def _shown(whole: str, place: SourcePassage | None, at: str) -> Shown:
    start, end = (0, 0) if place is None else (place.start, place.end)
    asked = whole_number(at)
    first = max(0, start - BEFORE) if asked is None else min(asked, len(whole))
    last = min(len(whole), first + WINDOW)
    begin, stop = min(max(start, first), last), min(max(end, first), last)
    return Shown(
        before=whole[first:begin],
        marked=whole[begin:stop],
        after=whole[stop:last],
        start=first,
        end=last,
        length=len(whole),
    )

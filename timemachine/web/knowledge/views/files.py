"""Files of a collection: upload, progress, the text with a marked passage, and download."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.payloads.queries import text
from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.safe_text import shown
from timemachine.knowledge.models import Collection, Source, SourcePassage
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.sources import source_of
from timemachine.recording.importing.models import DONE, FAILED
from timemachine.recording.intake.commands import Taken, dismiss
from timemachine.recording.intake.queries import edited_beside_it, ended_by, intake_of
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.http import download, is_unchanged, page, see_other
from timemachine.web.knowledge.forms import FilesForm
from timemachine.web.knowledge.uploads import edited_warning, handed_in, report_upload, take
from timemachine.web.knowledge.views.collections import collection_page
from timemachine.web.uploads import receives_files

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
@post_view(OPERATOR)
def upload(request: HttpRequest, access: Access, name: str) -> HttpResponse:
    """Store the passages of files, all or none; large files are processed in the background."""
    found = collection_of(access.project, name)
    form = FilesForm(request.POST)
    taken = form.run(lambda: _taken(request, access, found, form.cleaned_data))
    if taken is None:
        return collection_page(request, access, found, files_form=form)
    if len(taken.intakes) == 1:  # its page says itself how far it is
        return see_other("intake", taken.intakes[0].id)
    report_upload(request, taken)
    return see_other("collection", found.name, part="files" if taken.intakes else "")


def _taken(request: HttpRequest, access: Access, collection: Collection, data: Mapping[str, Any]) -> Taken:
    files = handed_in(request, replace=data["replace"], uri=data["uri"])
    return take(files, lambda: collection, by=access.user.email)


@get_view(fresh=True)
def intake(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/intakes/{id}/`: progress and result of an upload. Polling gets 204 if nothing changed."""
    found = intake_of(access.project, id)
    if is_unchanged(request, found.revision):
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


@post_view(OPERATOR)
def dismiss_intake(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Remove a failed upload from the list of its collection; its page stays."""
    found = intake_of(access.project, id)
    dismiss(found, by=access.user.email)
    messages.success(request, f"{shown(found.name) or 'The file'} removed from the list.")
    return see_other("collection", found.collection.name, part="files")


@get_view(fresh=True)
def source(request: HttpRequest, access: Access, name: str, id: str) -> HttpResponse:
    """`/collections/{name}/sources/{id}/`: the file's text; `frame` and `version` mark a passage in it, `at` is the position."""
    found = source_of(access.project, name, id)
    place = _marked(found, request)
    window = _shown(text(found.text), place, request.GET.get("at", ""))
    current = found.passages.filter(frame__valid_until=None)
    passages = current.select_related("frame").order_by("start", "frame_id")
    context: dict[str, object] = {
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


@get_view()
def source_file(_request: HttpRequest, access: Access, name: str, id: str) -> HttpResponse:
    """Download the original file, in a way that no browser interprets."""
    found = source_of(access.project, name, id)
    name = found.name.encode("utf-8", "replace").decode().replace("/", "_").replace("\\", "_") or "file"
    return download(found.original.data, name, "application/octet-stream")


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
    number = whole_number(at)
    first = max(0, start - BEFORE) if number is None else min(number, len(whole))
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

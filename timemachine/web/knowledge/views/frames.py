"""One frame of a collection: its versions, the text of one of them, and forms to update and delete it."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.payloads.queries import text
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.postgres_text import searchable
from timemachine.jobs.queue import enqueue
from timemachine.knowledge import commands
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.models import Collection, Frame, SourcePut
from timemachine.knowledge.queries import collection_of, versions_of
from timemachine.knowledge.sources import places_of, put_that_ended
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.sessions.frames import frame_usage
from timemachine.recording.timeline.step import FIRST_BYTES, MORE_BYTES, heads
from timemachine.web.access import Access, of
from timemachine.web.http import page
from timemachine.web.knowledge.forms.collections import NewVersionForm
from timemachine.web.redirects import see_other
from timemachine.web.upload_limits import received, receives_files
from timemachine.web.uploads import text_of

EDITED_BYTES: Final = 256 * 1024
SHOWN_FILES: Final = 20
VERSION: Final = (
    "id",
    "version",
    "title",
    "uri",
    "metadata",
    "sha256",
    "payload_id",
    "source_id",
    "put_by",
    "valid_from",
    "valid_until",
    "ended_by",
    "deleted_by",
)


@never_cache
@require_safe
def frame(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """`/collections/{name}/frames/{number}/`: its versions; `version` selects one, `more` shows more of its text."""
    access = of(request)
    return _page(request, access, collection_of(access.project, name), number)


@receives_files
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def update(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Add a version to a frame."""
    if request.method != "POST":
        return see_other("frame", name, number)
    access = of(request)
    access.require(OPERATOR)
    collection = collection_of(access.project, name)
    current = _current(collection, number)
    form = NewVersionForm(request.POST, files=request.FILES)
    if not form.is_valid():
        return _page(request, access, collection, number, form=form, status=422)
    try:
        new = _new_version(request, current, form)
        done = commands.put_frames(collection, [new], by=access.user.email)[0]
    except TimeMachineError as why:
        return _page(request, access, collection, number, form=form, status=form.refuse(why))
    enqueue(embed_backlog, collection.id)
    said = "is unchanged. Nothing was added" if done.already_there else "is now current"
    messages.success(request, f"Version {done.frame.version} of frame {number} {said}.")
    return see_other("frame", collection.name, number)


@never_cache
@require_POST
def delete(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Delete a frame; its versions stay in the history."""
    access = of(request)
    access.require(OPERATOR)
    collection = collection_of(access.project, name)
    ended = commands.delete_frame(collection, number, by=access.user.email)
    stays = "its one version stays" if ended.version == 1 else f"its {ended.version:,} versions stay"
    messages.success(request, f"Frame {number} deleted; {stays} in the history.")
    return see_other("frame", collection.name, number)


@require_safe
def download(request: HttpRequest, name: str, number: int, version: int) -> HttpResponse:
    """Download the full text of one version, in a way that no browser interprets."""
    found = _version(collection_of(of(request).project, name), number, version)
    return HttpResponse(
        bytes(found.payload.data),
        content_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="frame-{number}-version-{version}.txt"',
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


def _page(
    request: HttpRequest,
    access: Access,
    collection: Collection,
    number: int,
    *,
    form: NewVersionForm | None = None,
    status: int = 200,
) -> HttpResponse:
    versions = list(versions_of(collection, number).select_related(None).values(*VERSION))
    chosen = _chosen(versions, request.GET.get("version", ""))
    more = request.GET.get("more") == "1"
    may_record = access.may(OPERATOR)
    ended = versions[-1]["valid_until"] is not None
    first_bytes = MORE_BYTES if more else FIRST_BYTES
    context: dict[str, Any] = {
        "collection": collection,
        "number": number,
        "versions": versions,
        "chosen": chosen,
        "places": list(places_of([chosen["id"]])[:SHOWN_FILES]),
        "metadata": list(chosen["metadata"].items()),
        "head": heads([chosen["payload_id"]], first_bytes)[chosen["payload_id"]],
        "first_bytes": first_bytes,
        "more": more,
        "ended": ended,
        "last": versions[-1],
        "replacement": _replacement(collection, versions[-1]),
        "may_record": may_record,
        "form": None if ended or not may_record else form or _form(_current(collection, number)),
        "usage": frame_usage([each["id"] for each in versions]),
        "here": {"version": chosen["version"] if chosen is not versions[-1] else None},
    }
    return page(request, "collections/frame.html", context, status=status)


def _replacement(collection: Collection, last: dict[str, Any]) -> SourcePut | None:
    """Return the upload that ended the last version."""
    replaced = last["ended_by"] == "replace"
    return put_that_ended(collection, last["valid_until"]) if replaced else None


def _chosen(versions: list[dict[str, Any]], written: str) -> dict[str, Any]:
    """Return the version in the URL, by default the latest. Raises `NotFound`."""
    if not written:
        return versions[-1]
    found = next((each for each in versions if str(each["version"]) == written), None)
    if found is None:
        raise NotFound(
            f"This frame has no version {written[:20]}; it has {len(versions)}.", code="no_such_version"
        )
    return found


def _form(current: Frame) -> NewVersionForm:
    """Return the form with the current version; a text that is too long is left out, and a file can be uploaded instead."""
    initial = {"title": searchable(current.title), "uri": searchable(current.uri)}
    fits = current.payload.size <= EDITED_BYTES
    form = NewVersionForm(initial=initial | {"text": searchable(text(current.payload)) if fits else ""})
    if not fits:
        form.fields[
            "text"
        ].help_text = "This text is too long to edit here. Upload the next version as a file."
    return form


def _new_version(request: HttpRequest, current: Frame, form: NewVersionForm) -> NewFrame:
    """Return the submitted version, with the metadata of the current one. Unedited fields stay byte-identical."""
    said = form.cleaned_data
    files = received(request, "file")
    return NewFrame(
        number=current.number,
        title=_unless_same(current.title, said["title"]),
        uri=_unless_same(current.uri, said["uri"]),
        text=text_of(files[0])
        if files
        else _unless_same(text(current.payload), form.sent_text, stripped=False),
        metadata=current.metadata,
    )


def _unless_same(before: str, sent: str, *, stripped: bool = True) -> str:
    """Return the submitted value, or the stored one if it reads the same: forms do not preserve CR and characters that cannot be stored."""
    read = searchable(before).replace("\r\n", "\n").replace("\r", "\n")
    return before if sent == (read.strip() if stripped else read) else sent


def _current(collection: Collection, number: int) -> Frame:
    current = versions_of(collection, number).filter(valid_until=None).first()
    if current is None:
        raise NotFound(
            f"Frame {number} of {collection.name} is deleted or ended and cannot get a new version.",
            code="frame_deleted",
        )
    return current


def _version(collection: Collection, number: int, version: int) -> Frame:
    found = versions_of(collection, number).filter(version=version).first()
    if found is None:
        raise NotFound(f"Frame {number} has no version {version}.", code="no_such_version")
    return found

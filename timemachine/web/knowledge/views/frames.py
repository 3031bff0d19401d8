"""One frame of a collection: its versions, the text of one of them, and forms to update and delete it."""

from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.payloads.queries import text
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.postgres_text import searchable
from timemachine.jobs.queue import enqueue
from timemachine.knowledge import commands
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import collection_of, versions_of
from timemachine.knowledge.sources import places_of, put_that_ended
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.sessions.frames import frame_usage
from timemachine.recording.timeline.step import FIRST_BYTES, MORE_BYTES, heads
from timemachine.web.access import Access, get_view, post_view
from timemachine.web.http import download as download_of
from timemachine.web.http import page, see_other
from timemachine.web.knowledge.forms import NewVersionForm
from timemachine.web.uploads import received, receives_files, text_of

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


@get_view(fresh=True)
def frame(request: HttpRequest, access: Access, name: str, number: int) -> HttpResponse:
    """`/collections/{name}/frames/{number}/`: its versions; `version` selects one, `more` shows more of its text."""
    return _page(request, access, collection_of(access.project, name), number)


@receives_files
@post_view(OPERATOR)
def update(request: HttpRequest, access: Access, name: str, number: int) -> HttpResponse:
    """Add a version to a frame."""
    collection = collection_of(access.project, name)
    current = _current(collection, number)
    form = NewVersionForm(request.POST, files=request.FILES)
    puts = form.run(
        lambda: commands.put_frames(collection, [_new_version(request, current, form)], by=access.user.email)
    )
    if puts is None:
        return _page(request, access, collection, number, form=form)
    (done,) = puts
    enqueue(embed_backlog, collection.id)
    result = "is unchanged. Nothing was added" if done.already_there else "is now current"
    messages.success(request, f"Version {done.frame.version} of frame {number} {result}.")
    return see_other("frame", collection.name, number)


@post_view(OPERATOR)
def delete(request: HttpRequest, access: Access, name: str, number: int) -> HttpResponse:
    """Delete a frame; its versions stay in the history."""
    collection = collection_of(access.project, name)
    ended = commands.delete_frame(collection, number, by=access.user.email)
    stays = "its one version stays" if ended.version == 1 else f"its {ended.version:,} versions stay"
    messages.success(request, f"Frame {number} deleted; {stays} in the history.")
    return see_other("frame", collection.name, number)


@get_view()
def download(_request: HttpRequest, access: Access, name: str, number: int, version: int) -> HttpResponse:
    """Download the full text of one version, in a way that no browser interprets."""
    versions = versions_of(collection_of(access.project, name), number)
    if (found := versions.filter(version=version).first()) is None:
        raise NotFound(f"Frame {number} has no version {version}.", code="no_such_version")
    return download_of(found.payload.data, f"frame-{number}-version-{version}.txt")


def _page(
    request: HttpRequest,
    access: Access,
    collection: Collection,
    number: int,
    *,
    form: NewVersionForm | None = None,
) -> HttpResponse:
    versions = list(versions_of(collection, number).select_related(None).only(*VERSION))
    chosen = _chosen(versions, request.GET.get("version", ""))
    first_bytes = MORE_BYTES if request.GET.get("more") == "1" else FIRST_BYTES
    last = versions[-1]
    ended, may_record = last.valid_until is not None, access.may(OPERATOR)
    replaced_at = last.valid_until if last.ended_by == "replace" else None
    return page(
        request,
        "collections/frame.html",
        status=form.http_status if form else 200,
        collection=collection,
        number=number,
        versions=versions,
        chosen=chosen,
        places=list(places_of([chosen.id])[:SHOWN_FILES]),
        metadata=list(chosen.metadata.items()),
        head=heads([chosen.payload_id], first_bytes)[chosen.payload_id],
        first_bytes=first_bytes,
        more=first_bytes == MORE_BYTES,
        ended=ended,
        last=last,
        replacement=put_that_ended(collection, replaced_at) if replaced_at else None,
        may_record=may_record,
        form=None if ended or not may_record else form or _form(_current(collection, number)),
        usage=frame_usage([each.id for each in versions]),
        here={"version": chosen.version if chosen is not last else None},
    )


def _chosen(versions: list[Frame], written: str) -> Frame:
    """Return the version in the URL, by default the latest. Raises `NotFound`."""
    if not written:
        return versions[-1]
    found = next((each for each in versions if str(each.version) == written), None)
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
        field = form.fields["text"]
        field.help_text = "This text is too long to edit here. Upload the next version as a file."
    return form


def _new_version(request: HttpRequest, current: Frame, form: NewVersionForm) -> NewFrame:
    """Return the submitted version, with the metadata of the current one. Unedited fields stay byte-identical."""
    data = form.cleaned_data
    files = received(request, "file")
    return NewFrame(
        number=current.number,
        title=_unless_same(current.title, data["title"]),
        uri=_unless_same(current.uri, data["uri"]),
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
            f"Frame {number} of {collection.name} was deleted or has ended, so it cannot get a new version.",
            code="frame_deleted",
        )
    return current

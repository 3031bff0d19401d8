"""The collections of a project, and a single collection: its frames, now or as of a time, its files, a trial search, and forms to add passages."""

from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Length
from django.http import HttpRequest, HttpResponse, QueryDict

from timemachine.core.accounts.models import ADMIN, OPERATOR
from timemachine.core.pure.clock import is_date
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import whole_number
from timemachine.core.pure.postgres_text import is_plain
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import INDEXED_CHARACTERS, create_collection
from timemachine.knowledge.commands import put_frames as put_passages
from timemachine.knowledge.find import FindResult, Query, find
from timemachine.knowledge.models import Collection, Frame, Source, SourcePut
from timemachine.knowledge.queries import (
    collection_of,
    collections_of,
    deleted_frames,
    empty_reason,
    frames_at,
)
from timemachine.knowledge.reembedding import embedding_progress, reembed
from timemachine.knowledge.sources import replaced_by, sources_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.importing.models import DONE
from timemachine.recording.intake.queries import intakes_of, with_the_next
from timemachine.recording.sessions.frames import session_count
from timemachine.recording.sessions.queries import resolve_moment
from timemachine.web.access import Access, form_view, get_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.form_parts import RecordForm, sent
from timemachine.web.hits import of_found, retrieval_json
from timemachine.web.http import first_rows, page, requested_part, see_other
from timemachine.web.knowledge.forms import (
    CollectionForm,
    EmbeddingForm,
    FilesForm,
    FindForm,
    PassageForm,
)
from timemachine.web.knowledge.uploads import stored_sentence

PAGE: Final = 100
PAGE_FILES: Final = 25
SHOWN_INTAKES: Final = 10
COLUMNS: Final = ("number", "version", "title", "uri", "put_by", "valid_from")
DELETED: Final = "deleted"
DELETED_COLUMNS: Final = ("number", "version", "title", "uri", "ended_by", "valid_until")
FIND_DEFAULTS: Final = {"mode": "hybrid", "top_k": "8"}
PARAMETERS: Final = ("q", "mode", "top_k", "adaptive", "relative", "cliff", "min_score")


@form_view(fresh=True)
def collections(request: HttpRequest, access: Access) -> HttpResponse:
    """`/collections/`: the project's collections by name; POST creates one."""
    if request.method == "POST":
        access.require(OPERATOR)
    form = CollectionForm(sent(request))
    made = form.run(
        lambda: create_collection(access.project, form.cleaned_data["name"], by=access.user.email)
    )
    if made is not None:
        return see_other("collection", made.name)
    after = request.GET.get("after", "")
    if not is_plain(after):
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    found, last = first_rows(collections_of(access.project).filter(name__gt=after), PAGE)
    context = {
        "form": form,
        "collections": with_the_next(found),
        "after": after,
        "next": last and last.name,
        "here": {},
        "may_record": access.may(OPERATOR),
    }
    return page(request, "collections/list.html", context, parts=("more",), status=form.http_status)


@get_view(fresh=True)
def collection(request: HttpRequest, access: Access, name: str) -> HttpResponse:
    """`/collections/{name}/`: its frames, `as_of` a time, or `frames=deleted`; `q` tries a search; `after` is the page cursor."""
    return collection_page(request, access, collection_of(access.project, name))


@post_view(OPERATOR)
def put(request: HttpRequest, access: Access, name: str) -> HttpResponse:
    """Store one passage."""
    found = collection_of(access.project, name)
    form = PassageForm(request.POST)
    done = form.run(lambda: put_passages(found, [form.frame], by=access.user.email))
    if done is None:
        return collection_page(request, access, found, passage_form=form)
    enqueue(embed_backlog, found.id)
    messages.success(request, stored_sentence(done))
    return see_other("collection", found.name)


def collection_page(
    request: HttpRequest, access: Access, found: Collection, **refused: RecordForm
) -> HttpResponse:
    """Return the page of a collection; forms that were `refused` are shown again with their errors."""
    as_of, at, wrong = _moment(access, request.GET.get("as_of", "").strip())
    form, findings = _tried(request, found, at)
    context: dict[str, object] = {
        "collection": with_the_next([found])[0],
        "as_of": as_of,
        "at": at,
        "end_of_day": is_date(as_of),
        "wrong_as_of": wrong,
        "find_form": form,
        "findings": findings,
        "retrieval": retrieval_json(findings) if findings else None,
        "hits": [of_found(found, hit) for hit in findings.hits] if findings else [],
        "empty": empty_reason(found, findings.as_of) if findings and not findings.hits else None,
        "passage_form": PassageForm(),
        "files_form": FilesForm(),
        "embedding": embedding_progress(found),
        "embedding_form": EmbeddingForm() if access.administers else None,
        "may_record": access.may(OPERATOR),
        "here": _here(request, as_of),
        "session_count": session_count(found),
    }
    context |= _files(found, request.GET.get("files", "")) | _frames(found, at, request.GET) | refused
    forms = (form, *refused.values())
    status = 422 if wrong else max(each.http_status for each in forms)
    return page(request, "collections/collection.html", context, parts=("found", "more"), status=status)


def _moment(access: Access, written: str) -> tuple[str, datetime | None, str]:
    """Return the time as written, parsed (None is now), and its error."""
    try:
        return written, resolve_moment(access.project, written), ""
    except (InvalidInput, NotFound) as why:
        return written, None, page_message(why, {"as_of": "As of"})


def _here(request: HttpRequest, as_of: str) -> dict[str, str]:
    values = {name: request.GET.get(name, "") for name in PARAMETERS}
    shown = {"as_of": as_of, "frames": DELETED if request.GET.get("frames") == DELETED else ""}
    return values | shown if values["q"] else shown


def _tried(
    request: HttpRequest, found: Collection, at: datetime | None
) -> tuple[FindForm, FindResult | None]:
    """Return the search form, and its results at the chosen time if there is a query."""
    if "q" not in request.GET:
        return FindForm(), None
    form = FindForm(FIND_DEFAULTS | request.GET.dict())
    if not form.is_valid():
        return form, None
    data = form.cleaned_data
    query = Query(
        text=data["q"],
        mode=data["mode"],
        top_k=data["top_k"],
        adaptive=data["adaptive"],
        as_of=at,
        **form.thresholds(),
    )
    try:
        return form, find(found, query)
    except InvalidInput as why:
        form.refuse(why)
        return form, None


def _frames(found: Collection, at: datetime | None, parameters: QueryDict) -> dict[str, object]:
    """Return a page of the current or deleted frames at a time, after the number in the URL, and the totals of both."""
    after, shows_deleted = whole_number(parameters.get("after", "")), parameters.get("frames") == DELETED
    frames, deleted = frames_at(found, at), deleted_frames(found, at)
    listed = _deleted_rows(found, deleted) if shows_deleted else _rows(frames)
    rows, last = first_rows(listed.filter(number__gt=-1 if after is None else after), PAGE)
    return {
        "frames": rows,
        "frame_count": frames.count(),
        "deleted_count": deleted.count(),
        "shows_deleted": shows_deleted,
        "after": after,
        "next": last and last.number,
        "most_characters": INDEXED_CHARACTERS,
    }


def _files(found: Collection, written: str) -> dict[str, object]:
    """Return a page of `PAGE_FILES` files of the collection, and pending and failed uploads."""
    before = uuid_of(written)
    sources = sources_of(found)
    rows, last = first_rows(sources.filter(id__lt=before) if before else sources, PAGE_FILES)
    intakes = (
        intakes_of(found).filter(dismissed_at=None).exclude(status=DONE).defer("skipped")[:SHOWN_INTAKES]
    )
    return {
        "sources": _standing(found, rows),
        "more_sources": last and last.id,
        "earlier_sources": before,
        "intakes": list(intakes),
    }


def _standing(found: Collection, sources: list[Source]) -> list[Source]:
    """Return the files, each with the upload that replaced it, and the numbers of its current and edited frames."""
    replacing = replaced_by(found, sources)
    for source in sources:
        counts: Any = source
        counts.replacing = replacing.get(source.id)
        counts.now_count = counts.frame_count + counts.edited_count
    return sources


def _rows(frames: QuerySet[Frame]) -> QuerySet[Frame]:
    # The indexed text is as long as the text, up to its limit; the text itself can be megabytes.
    return frames.select_related(None).annotate(characters=Length("search_text")).only(*COLUMNS)


def _deleted_rows(found: Collection, frames: QuerySet[Frame]) -> QuerySet[Frame]:
    """Return the rows of deleted frames, with `who` deleted them or uploaded the file that ended them."""
    puts = SourcePut.objects.filter(source__collection=found, at=OuterRef("valid_until"), ended__gt=0)
    who = Coalesce("deleted_by", Subquery(puts.values("put_by")[:1]))
    return frames.select_related(None).annotate(who=who).only(*DELETED_COLUMNS)


@form_view(fresh=True)
def embedding(request: HttpRequest, access: Access, name: str) -> HttpResponse:
    """`/collections/{name}/embedding/`: the progress as a part of the collection's page; POST changes the model."""
    found = collection_of(access.project, name)
    if request.method != "POST":
        if requested_part(request, ("embedded",)) is None:
            return see_other("collection", name)
        context = {"collection": found, "embedding": embedding_progress(found)}
        return page(request, "collections/embedding.html", context, parts=("embedded",))
    access.require(ADMIN)
    form = EmbeddingForm(request.POST)
    replacement = form.run(lambda: reembed(found, form.chosen_model, by=access.user.email))
    if replacement is None:
        return collection_page(request, access, found, embedding_form=form)
    enqueue(embed_backlog, found.id)
    target = replacement.target.model if replacement.target else replacement.model
    messages.success(request, f"Embedding with {target} started. The collection stays searchable.")
    return see_other("collection", found.name)

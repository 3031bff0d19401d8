"""The workbench of an open session: run and record find, ask and put, and show the last recorded step."""

from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.queries import model_choices, resolved_model
from timemachine.recording.answering import commands as doing
from timemachine.recording.answering.running_asks import asks_of
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.sessions.commands import require_open
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.provenance import origin_of
from timemachine.recording.timeline.rows import rows_before
from timemachine.recording.timeline.step import Step, step
from timemachine.web.access import Access, of
from timemachine.web.form_parts import RecordForm
from timemachine.web.hits import of_passage
from timemachine.web.http import page
from timemachine.web.knowledge.presenters.uploads import handed_in, report_upload, stored_sentence, take
from timemachine.web.redirects import see_other
from timemachine.web.sessions.forms.sessions import WorkFilesForm, WorkForm, WorkPassageForm
from timemachine.web.sessions.presenters.sentences import sentences
from timemachine.web.sessions.presenters.supporting_passages import evidence, sources_of
from timemachine.web.sessions.views.asking import asked
from timemachine.web.upload_limits import receives_files

LAST_STEPS: Final = 20
SHOWN_HITS: Final = 10
MOST_UNDER_WAY: Final = 5
END: Final = 2**62
DEFAULTS: Final = {"do": "ask", "mode": "hybrid", "top_k": 8}
KEPT: Final = (*DEFAULTS, "adaptive", "relative", "cliff", "min_score", "model", "other_model", "collection")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def work(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/work/`: `step` shows a recorded step; POST runs and records a find or an ask."""
    access = of(request)
    session = session_of(access.project, id)
    if request.method != "POST":
        return _page(request, access, session)
    access.require(OPERATOR)
    form = _work_form(session, request.POST)
    if not form.is_valid():
        return _page(request, access, session, status=422, work_form=form)
    try:
        return _done(request, access, session, form)
    except TimeMachineError as why:
        recorded = why.facts.get("sequence")  # a call that failed is a step too
        return _page(request, access, session, status=form.refuse(why), step=recorded, work_form=form)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def put(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Store a passage and record it."""
    if request.method != "POST":
        return see_other("work", id)
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    form = WorkPassageForm(request.POST, has_collection=session.collection is not None)
    if not form.is_valid():
        return _page(request, access, session, status=422, passage_form=form)
    said = form.cleaned_data
    frame = NewFrame(text=form.sent_text, title=said["title"], uri=said["uri"])
    try:
        return _put(request, access, session, [frame], said.get("collection", ""))
    except TimeMachineError as why:
        return _page(request, access, session, status=form.refuse(why), passage_form=form)


@receives_files
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """Store the passages of files, all or none, and record each; large files are processed in the background."""
    if request.method != "POST":
        return see_other("work", id)
    access = of(request)
    access.require(OPERATOR)
    session = session_of(access.project, id)
    form = WorkFilesForm(request.POST, has_collection=session.collection is not None)
    if not form.is_valid():
        return _page(request, access, session, status=422, files_form=form)
    try:
        said = form.cleaned_data
        files = handed_in(request, replace=said["replace"], uri=said["uri"])
        return _take(request, access, session, files, said.get("collection", ""))
    except TimeMachineError as why:
        return _page(request, access, session, status=form.refuse(why), files_form=form)


def _page(
    request: HttpRequest,
    access: Access,
    session: Session,
    *,
    status: int = 200,
    step: int | None = None,
    **forms: RecordForm,
) -> HttpResponse:
    session.refresh_from_db()
    has_collection = session.collection is not None
    context: dict[str, Any] = {
        "session": session,
        "window": rows_before(session, END, limit=LAST_STEPS),
        "work_form": _work_form(session, initial=DEFAULTS | _kept(request.GET.dict())),
        "passage_form": WorkPassageForm(has_collection=has_collection),
        "files_form": WorkFilesForm(has_collection=has_collection),
        "may_record": access.may(OPERATOR),
        "open": session.status == Session.RECORDING,
        "here": {},
    }
    context["under_way"] = asks_of(access.project).filter(session=session)[:MOST_UNDER_WAY]
    context |= _shown(session, request.GET.get("step", "") if step is None else str(step)) | forms
    return page(request, "record/work.html", context, status=status)


def _work_form(session: Session, data: Any = None, **options: Any) -> WorkForm:
    return WorkForm(
        data,
        models=model_choices(session.project_id),
        default=str(resolved_model(session.project_id, "")),
        has_collection=session.collection is not None,
        **options,
    )


def _done(request: HttpRequest, access: Access, session: Session, form: WorkForm) -> HttpResponse:
    """Run a find or an ask, and redirect to the recorded step. An ended session is refused first."""
    require_open(session)
    said = form.cleaned_data
    collection = session.collection or collection_of(access.project, said["collection"])
    query = Query(
        text=said["text"],
        mode=said["mode"],
        top_k=said["top_k"],
        adaptive=said["adaptive"],
        **form.thresholds(),
    )
    if said["do"] == "find":
        found = doing.find(collection, query, session=session)
        return see_other(_address(session, found.sequence, form), part="done")

    def make(audience: doing.AskObserver) -> doing.AskDone:
        return doing.ask(
            access.project,
            collection,
            query,
            use_model=form.chosen_model,
            session=session,
            no_cache=said["no_cache"],
            observer=audience,
        )

    return asked(request, session, query.text, make, lambda sequence: _address(session, sequence, form))


def _put(
    request: HttpRequest, access: Access, session: Session, frames: list[NewFrame], collection_name: str
) -> HttpResponse:
    require_open(session)
    with transaction.atomic():  # a passage that cannot be recorded is not put either
        by = access.user.email
        collection = session.collection or get_or_create_collection(access.project, collection_name, by=by)
        done = doing.put(collection, frames, by=by, session=session)
    enqueue(embed_backlog, collection.id)
    messages.success(request, stored_sentence(done.puts))
    return see_other(reverse("work", args=[session.id], query={"step": done.sequences[-1]}), part="done")


def _take(
    request: HttpRequest, access: Access, session: Session, files: list[HandedIn], collection_name: str
) -> HttpResponse:
    require_open(session)
    by = access.user.email

    def into() -> Collection:
        return session.collection or get_or_create_collection(access.project, collection_name, by=by)

    taken = take(files, into, by=by, session=session)
    report_upload(request, taken)
    if taken.intakes:
        return see_other("intake", taken.intakes[0].id)
    return see_other(reverse("work", args=[session.id], query={"step": taken.sequences[-1]}), part="done")


def _address(session: Session, sequence: int | None, form: WorkForm) -> str:
    """Return the URL of the workbench with that step, and the form as it was used."""
    return reverse("work", args=[session.id], query={"step": sequence, **_kept(form.cleaned_data)})


def _kept(said: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: said.get(name) for name in KEPT}
    return {
        name: value for name, value in chosen.items() if _is_chosen(value) and value != DEFAULTS.get(name)
    }


def _is_chosen(value: Any) -> bool:
    """Return whether a value was set: a threshold of 0 is, an empty field or an unchecked box is not."""
    return value is not None and value is not False and value != ""


def _shown(session: Session, written: str) -> dict[str, Any]:
    """Return the recorded step that the URL names; empty if it names none."""
    sequence = int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0  # noqa: PLR2004
    if not 1 <= sequence <= session.last_sequence:
        return {"sequence": None}
    found = step(session, sequence)
    answer = _text_of(found)
    said = sentences(answer, found.action.grounding)
    return {
        "sequence": sequence,
        "found": found,
        "partial_text": found.partial_text,
        "action": found.action,
        "hits": [of_passage(session.collection, each) for each in found.passages[:SHOWN_HITS]],
        "more_hits": len(found.passages) - SHOWN_HITS,
        "origin": origin_of(session.project_id, found.action.cached_from),
        "sentences": said,
        "evidence": evidence(said, sources_of(found.passages)),
        "sentences_in_answer": answer is not None and "".join(each.text for each in said) == answer,
    }


def _text_of(found: Step) -> str | None:
    """Return the recorded output's text if it is text and complete."""
    output = found.output
    return (
        output.text if output is not None and output.media_type == "text/plain" and not output.cut else None
    )

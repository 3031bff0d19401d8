"""The workbench of an open session: run and record find, ask and put, and show the last recorded step."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import TimeMachineError
from timemachine.core.pure.numbers import counted, whole_number
from timemachine.core.pure.safe_text import shown
from timemachine.core.pure.server_sent import KEEP_ALIVE, MEDIA_TYPE, event_bytes
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import FindResult, Query
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.tasks import embed_backlog
from timemachine.llm.pure.cancellation import Listening, RetryWait
from timemachine.llm.queries import model_choices, resolved_model
from timemachine.recording.answering import commands as doing
from timemachine.recording.answering import running_asks
from timemachine.recording.answering.commands import AskDone, AskObserver
from timemachine.recording.answering.running_asks import asks_of
from timemachine.recording.answering.streaming import AskEvent, Begun, Quiet, Written, after_start, ask_events
from timemachine.recording.intake.commands import Taken
from timemachine.recording.sessions.commands import require_open
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.provenance import origin_of
from timemachine.recording.timeline.rows import rows_before
from timemachine.recording.timeline.step import step
from timemachine.recording.usage.queries import models_of
from timemachine.web.access import Access, form_view, post_view
from timemachine.web.errors import page_message
from timemachine.web.form_parts import RecordForm
from timemachine.web.hits import of_passage
from timemachine.web.http import page, see_other
from timemachine.web.knowledge.uploads import handed_in, report_upload, stored_sentence, take
from timemachine.web.sessions.forms import WorkFilesForm, WorkForm, WorkPassageForm
from timemachine.web.sessions.presenters.supporting_passages import sources_of, supported_answer
from timemachine.web.uploads import receives_files

LAST_STEPS: Final = 20
SHOWN_HITS: Final = 10
MOST_UNDER_WAY: Final = 5
END: Final = 2**62
DEFAULTS: Final = {"do": "ask", "mode": "hybrid", "top_k": 8}
OPTIONS: Final = (
    *DEFAULTS,
    "adaptive",
    "relative",
    "cliff",
    "min_score",
    "model",
    "collection",
)


@form_view(fresh=True)
def work(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/work/`: `step` shows a recorded step; POST runs and records a find or an ask."""
    session = session_of(access.project, id)
    if request.method != "POST":
        return _page(request, access, session)
    access.require(OPERATOR)
    form = _work_form(session, request.POST)
    if not form.is_valid():
        return _page(request, access, session, work_form=form)
    try:
        return _done(request, access, session, form)
    except TimeMachineError as why:
        form.refuse(why)
        recorded = why.facts.get("sequence")  # a call that failed is a step too
        return _page(request, access, session, step=recorded, work_form=form)


@post_view(OPERATOR)
def put(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Store a passage and record it."""
    session = session_of(access.project, id)
    form = WorkPassageForm(request.POST, has_collection=session.collection is not None)
    done = form.run(lambda: _put(access, session, form.frame, form.cleaned_data.get("collection", "")))
    if done is None:
        return _page(request, access, session, passage_form=form)
    messages.success(request, stored_sentence(done.puts))
    return see_other(reverse("work", args=[session.id], query={"step": done.sequences[-1]}), part="done")


@receives_files
@post_view(OPERATOR)
def upload(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """Store the passages of files, all or none, and record each; large files are processed in the background."""
    session = session_of(access.project, id)
    form = WorkFilesForm(request.POST, has_collection=session.collection is not None)
    taken = form.run(lambda: _take(request, access, session, form.cleaned_data))
    if taken is None:
        return _page(request, access, session, files_form=form)
    report_upload(request, taken)
    if taken.intakes:
        return see_other("intake", taken.intakes[0].id)
    return see_other(reverse("work", args=[session.id], query={"step": taken.sequences[-1]}), part="done")


def _page(
    request: HttpRequest,
    access: Access,
    session: Session,
    *,
    step: int | None = None,
    **refused: RecordForm,
) -> HttpResponse:
    session.refresh_from_db()
    has_collection = session.collection is not None
    context = {
        "session": session,
        "window": rows_before(session, END, limit=LAST_STEPS),
        "work_form": _work_form(session, initial=DEFAULTS | _changed_options(request.GET.dict())),
        "passage_form": WorkPassageForm(has_collection=has_collection),
        "files_form": WorkFilesForm(has_collection=has_collection),
        "may_record": access.may(OPERATOR),
        "open": session.status == Session.RECORDING,
        "here": {},
        "under_way": asks_of(access.project).filter(session=session)[:MOST_UNDER_WAY],
        **_shown(session, request.GET.get("step", "") if step is None else str(step)),
        **refused,
    }
    status = max((form.http_status for form in refused.values()), default=200)
    return page(request, "record/work.html", context, status=status)


def _work_form(session: Session, data: Any = None, **options: Any) -> WorkForm:
    return WorkForm(
        data,
        models=model_choices(session.project_id, models_of([session])),
        default=str(resolved_model(session.project_id, "")),
        has_collection=session.collection is not None,
        **options,
    )


def _done(request: HttpRequest, access: Access, session: Session, form: WorkForm) -> HttpResponse:
    """Run a find or an ask, and redirect to the recorded step. An ended session is refused first."""
    require_open(session)
    data = form.cleaned_data
    collection = session.collection or collection_of(access.project, data["collection"])
    query = Query(
        text=data["text"],
        mode=data["mode"],
        top_k=data["top_k"],
        adaptive=data["adaptive"],
        **form.thresholds(),
    )
    if data["do"] == "find":
        found = doing.find(collection, query, session=session)
        return see_other(_address(session, found.sequence, form), part="done")

    def make(audience: doing.AskObserver) -> doing.AskDone:
        return doing.ask(
            access.project,
            collection,
            query,
            use_model=form.chosen_model,
            session=session,
            no_cache=data["no_cache"],
            observer=audience,
        )

    return ask_and_redirect(
        request, session, query.text, make, lambda sequence: _address(session, sequence, form)
    )


def _put(access: Access, session: Session, frame: NewFrame, collection_name: str) -> doing.PutDone:
    require_open(session)
    with transaction.atomic():  # a passage that cannot be recorded is not put either
        by = access.user.email
        collection = session.collection or get_or_create_collection(access.project, collection_name, by=by)
        done = doing.put(collection, [frame], by=by, session=session)
    enqueue(embed_backlog, collection.id)
    return done


def _take(request: HttpRequest, access: Access, session: Session, data: Mapping[str, Any]) -> Taken:
    files = handed_in(request, replace=data["replace"], uri=data["uri"])
    require_open(session)
    by = access.user.email

    def into() -> Collection:
        return session.collection or get_or_create_collection(
            access.project, data.get("collection", ""), by=by
        )

    return take(files, into, by=by, session=session)


def _address(session: Session, sequence: int | None, form: WorkForm) -> str:
    """Return the URL of the workbench with that step, and the form as it was used."""
    return reverse("work", args=[session.id], query={"step": sequence, **_changed_options(form.cleaned_data)})


def _changed_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that were set: a threshold of 0 is, an empty field, an unchecked box or a default is not."""
    chosen = {name: data.get(name) for name in OPTIONS}
    return {
        name: value
        for name, value in chosen.items()
        if value is not None and value is not False and value not in ("", DEFAULTS.get(name))
    }


def _shown(session: Session, written: str) -> dict[str, object]:
    """Return the recorded step that the URL names; empty if it names none."""
    sequence = whole_number(written) or 0
    if not 1 <= sequence <= session.last_sequence:
        return {"sequence": None}
    found = step(session, sequence)
    return {
        "sequence": sequence,
        "found": found,
        "partial_text": found.partial_text,
        "action": found.action,
        "hits": [of_passage(session.collection, each) for each in found.passages[:SHOWN_HITS]],
        "more_hits": len(found.passages) - SHOWN_HITS,
        "origin": origin_of(session.project_id, found.action.cached_from),
        **supported_answer(found.output, found.action.grounding, sources_of(found.passages)),
    }


type Make = Callable[[AskObserver], AskDone]
type Address = Callable[[int | None], str]


def ask_and_redirect(
    request: HttpRequest, session: Session, question: str, make: Make, address: Address
) -> HttpResponse:
    """Ask, and redirect to the recorded step; for a script, stream the events until then."""
    if MEDIA_TYPE in request.headers.get("Accept", ""):
        stream = after_start(ask_events(session.project, question, make, session=session))
        events = (_event(session, happening, address) for happening in stream)
        headers = {"X-Accel-Buffering": "no"}
        return StreamingHttpResponse(events, content_type=MEDIA_TYPE, headers=headers)  # type: ignore[return-value]  # its content has another form
    with running_asks.active_ask(session.project, question, session=session) as mine:
        done = make(AskObserver(listening=Listening(cancellation=mine.cancellation), ask=mine.id))
    return see_other(address(done.sequence), part="done")


@post_view(OPERATOR)
def cancel(request: HttpRequest, access: Access, id: str, ask: UUID) -> HttpResponse:
    """Cancel an ask of this session."""
    session = session_of(access.project, id)
    running_asks.cancel(access.project, ask)
    messages.success(request, "The ask is being cancelled. Reload the page to see what was recorded.")
    return see_other("work", session.id)


def _event(session: Session, happening: AskEvent, address: Address) -> bytes:
    match happening:
        case Quiet():
            return KEEP_ALIVE
        case Begun():
            return event_bytes("begun", {"cancel": reverse("cancel_ask", args=[session.id, happening.id])})
        case FindResult():
            return event_bytes("found", {"says": f"{counted(len(happening.hits), 'passage')} found."})
        case RetryWait():
            return event_bytes("waiting", {"says": shown(happening.message)})
        case Written():
            return event_bytes("text", {"text": shown(happening.text)})
    return _end(happening, address)


def _end(outcome: AskDone | TimeMachineError, address: Address) -> bytes:
    if isinstance(outcome, AskDone):
        says = f"The answer is complete, recorded as step {outcome.sequence:,}."
        return event_bytes("end", {"says": says, "address": address(outcome.sequence)})
    sequence = outcome.facts.get("sequence")
    where = None if sequence is None else address(sequence)
    return event_bytes("end", {"says": shown(page_message(outcome)), "address": where, "failed": True})

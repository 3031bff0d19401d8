"""The actions of a session over HTTP: append, list, read and delete; significance, suggestions and notes."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Status
from ninja.decorators import decorate_view

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.concurrency import limited
from timemachine.api.requests import IdempotencyKey
from timemachine.api.sessions import router as sessions_router
from timemachine.core.pure.content import sha256_hex
from timemachine.governance.deletion.erasure.commands import delete_turn as delete_turn_of
from timemachine.governance.deletion.erasure.models import DONE
from timemachine.governance.deletion.erasure.queries import as_given, erased_fields_of
from timemachine.governance.deletion.erasure.schemas import ErasureOut, StepDeletion
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.llm.prices import recorded_price_if_known
from timemachine.memory.tasks import index_steps
from timemachine.memory.transcripts.proposing import accept, decline, proposals_for
from timemachine.memory.transcripts.schemas import ProposalAnswer, ProposalOut, ProposalPage
from timemachine.recording.annotations.notes import commands as notes
from timemachine.recording.annotations.notes.queries import note_of, notes_after
from timemachine.recording.annotations.notes.schemas import NoteDeleted, NoteIn, NoteOut, NotePage
from timemachine.recording.annotations.significance.commands import UNCHANGED
from timemachine.recording.annotations.significance.commands import change as change_significance
from timemachine.recording.annotations.significance.queries import IMPORTANCE, SIGNIFICANCE, changes_before
from timemachine.recording.annotations.significance.schemas import (
    SignificanceChangeOut,
    SignificanceChanges,
    SignificanceIn,
)
from timemachine.recording.model_calls.queries import request_of
from timemachine.recording.model_calls.schemas import FrozenRequestOut, RequestForm
from timemachine.recording.sessions import commands
from timemachine.recording.sessions.duplicates import changed_places, repeated
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.payload_sizes import size_of_action
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.recording.timeline.filter_sql import has_metadata
from timemachine.recording.timeline.schemas.actions import (
    ActionPage,
    AppendedOut,
    ReadAction,
    with_everything,
)
from timemachine.recording.timeline.schemas.requests import ActionFilter, ActionsIn

PATH = "/{session_id}/actions"
ONE = "/{session_id}/actions/{sequence}"


@decorate_view(limited)
@sessions_router.post(PATH, response={201: AppendedOut}, summary="Append actions", exclude_unset=True)
def append(
    request: HttpRequest, session_id: str, payload: ActionsIn, idempotency_key: IdempotencyKey = None
) -> Status[AppendedOut]:
    """One action, or up to 1,000 in `actions`: all are recorded, durably and in order, or none.

    An action whose `id` the session has already is that action, and the same `Idempotency-Key` again gets the first answer: both
    can be sent again. If one differs from the action of its id, the recorded one stays, and `differing` lists the places in the request,
    from 0, of those that were therefore not recorded. A call with a model and tokens but no cost is priced. 429 (`busy`) says that nothing was recorded, and `Retry-After` when to send it again.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    drafts = payload.drafts()
    sequences = commands.append(
        session.id,
        priced(drafts, recorded_price_if_known),
        idempotency_key=idempotency_key,
        request_sha256=sha256_hex(request.body),
    )
    enqueue(index_steps, who.project.id)
    others = _others(session, drafts, sequences)
    if others:
        return Status(201, AppendedOut.model_construct(sequences=sequences, differing=others))
    return Status(201, AppendedOut.model_construct(sequences=sequences))


@sessions_router.get(PATH, response=ActionPage, summary="List a session's actions", exclude_unset=True)
def index(request: HttpRequest, session_id: str, wanted: Query[ActionFilter]) -> ActionPage:
    """The session's actions in order, in full. `metadata` is a field (`env`, `customer.id`) or a field and its value (`env=prod`)."""
    session = session_of(caller(request, "read").project, session_id)
    rows = Action.objects.filter(session=session, **wanted.exactly())
    if wanted.significance:
        rows = rows.annotate(now_significance=SIGNIFICANCE).filter(now_significance=wanted.significance)
    if wanted.tag:
        rows = rows.filter(tags__contains=[wanted.tag])
    if wanted.metadata:
        rows = rows.filter(has_metadata(wanted.metadata))
    if wanted.min_importance is not None:
        rows = rows.annotate(weighed=IMPORTANCE).filter(weighed__gte=wanted.min_importance)
    found, following = paging.sized_rows(
        with_everything(rows), wanted.limit, wanted.after, "sequence", size_of_action()
    )
    items = as_given(session, [ReadAction.of(row) for row in found])
    return ActionPage.model_construct(items=items, next=following)


@sessions_router.get(ONE, response=ReadAction, summary="One action", exclude_unset=True)
def read(request: HttpRequest, session_id: str, sequence: int) -> ReadAction:
    """One action, whole; `erased` lists its fields that were erased, if any.

    Its significance and importance are those in force; if they were changed, `recorded` has the recorded ones.
    """
    return _action(session_of(caller(request, "read").project, session_id), sequence)


@sessions_router.get(
    ONE + "/request", response=FrozenRequestOut, summary="The request of a model call", exclude_unset=True
)
def read_request(
    request: HttpRequest, session_id: str, sequence: int, form: RequestForm = "openai_chat"
) -> FrozenRequestOut:
    """What the model was sent: as it was recorded, or put together from the steps before it, with what is absent.

    `form` is the API whose form the `body` has. 422 (`not_a_model_call`) for any other step.
    """
    step = action_of(session_of(caller(request, "read").project, session_id), sequence)
    return FrozenRequestOut.of(sequence, request_of(step), form)


@sessions_router.delete(
    ONE,
    tags=["forgetting"],
    response={200: ErasureOut, 202: ErasureOut},
    summary="Delete a step",
    exclude_unset=True,
)
def delete(
    request: HttpRequest, session_id: str, sequence: int, payload: StepDeletion | None = None
) -> Status[ErasureOut]:
    """Delete all that a step says, for a `reason`: a tombstone with who, when and why replaces it. This cannot be undone.

    What repeats it word for word in the session, its replays and what was made of them is deleted, too. The answer is the erasure: `done`, or 202
    and `erasing` while a worker processes a long session. The step's place, kind, times and numbers stay, and the seal stays verifiable.
    """
    who = caller(request, "admin")
    session = session_of(who.project, session_id)
    step = action_of(session, sequence)
    made = delete_turn_of(step, reason=payload.reason if payload else "", by=who.by)
    if made.status != DONE:
        enqueue(run_erasure, made.id)
    return Status(200 if made.status == DONE else 202, ErasureOut.of(made))


@sessions_router.patch(
    ONE,
    tags=["memory"],
    response=ReadAction,
    summary="Change the significance of an action",
    exclude_unset=True,
)
def change(request: HttpRequest, session_id: str, sequence: int, payload: SignificanceIn) -> ReadAction:
    """Change the significance or the importance of an action without changing the record or its seal. The change is stored with its author.

    The answer is the action with what is in force, and `recorded`.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    given = payload.model_dump(exclude_unset=True)
    change_significance(
        session,
        sequence,
        by=who.by,
        significance=given.get("significance", UNCHANGED),
        importance=given.get("importance", UNCHANGED),
    )
    return _action(session, sequence)


@sessions_router.get(
    "/{session_id}/weights",
    tags=["memory"],
    response=SignificanceChanges,
    summary="List changes of significance in a session",
)
def changes(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> SignificanceChanges:
    """Every change of a step's significance and importance, newest first: to what (null means back to what was recorded), by whom and when."""
    session = session_of(caller(request, "read").project, session_id)
    found = changes_before(session, None if after is None else paging.read(after, paging.identity))
    rows, following = paging.first_rows(found, limit)
    return SignificanceChanges.model_construct(
        items=[SignificanceChangeOut.of(each) for each in rows], next=following
    )


@sessions_router.get(
    "/{session_id}/proposals",
    tags=["memory"],
    response=ProposalPage,
    summary="List significance suggestions",
)
def proposals(request: HttpRequest, session_id: str) -> ProposalPage:
    """The significance that rules suggest for steps without one, each with its rule and its reason.

    The rules: `first_error`, `error_gone` (what the agent did last before a call that had failed succeeded and failed no more), and by wording
    `decision`, `hypothesis`, `root_cause`, `solved`. `read` is how many steps were looked at, the first of the session.
    """
    session = session_of(caller(request, "read").project, session_id)
    found = proposals_for(session)
    items = [ProposalOut.from_attributes(each) for each in found.proposals]
    return ProposalPage.model_construct(
        items=items, next=None, read=found.read, recorded=session.last_sequence
    )


@sessions_router.post(
    "/{session_id}/proposals",
    tags=["memory"],
    response=ReadAction,
    summary="Accept or dismiss a suggestion",
    exclude_unset=True,
)
def answer(request: HttpRequest, session_id: str, payload: ProposalAnswer) -> ReadAction:
    """With `accept` the step gets the suggested significance; without it, the suggestion is dismissed permanently. The answer is the action."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    (accept if payload.accept else decline)(session, payload.sequence, payload.rule, by=who.by)
    return _action(session, payload.sequence)


def _action(session: Session, sequence: int) -> ReadAction:
    """Return an action with its current significance and its erased fields. Raises `NotFound`."""
    row = action_of(session, sequence)
    whole = with_everything(Action.objects.filter(id=row.id)).get()
    (found,) = as_given(session, [ReadAction.of(whole)])
    return found


def _others(session: Session, drafts: list[ActionDraft], sequences: list[int]) -> list[int]:
    """The places of those that came under the id of another action, if any; what was erased since is not compared."""
    repeats = repeated(session, drafts, sequences)
    erased = erased_fields_of(session, sorted(set(repeats.values()))) if repeats else {}
    return changed_places(session, drafts, {place: at for place, at in repeats.items() if at not in erased})


NOTES = "/{session_id}/notes"


@sessions_router.post(NOTES, response={201: NoteOut}, summary="Pin a note to a step")
def add_note(request: HttpRequest, session_id: str, payload: NoteIn) -> Status[NoteOut]:
    """Add a note of 1 to 2,000 characters to a step; the recorded session is not changed."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    return Status(201, NoteOut.of(notes.add(session, payload.sequence, payload.text, by=who.by)))


@sessions_router.get(NOTES, response=NotePage, summary="List a session's notes")
def list_notes(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> NotePage:
    """The session's notes in the order of their steps, and the notes of one step oldest first."""
    session = session_of(caller(request, "read").project, session_id)
    found = notes_after(session, None if after is None else paging.read(after, paging.identity))
    rows, following = paging.first_rows(found, limit)
    return NotePage.model_construct(items=[NoteOut.of(each) for each in rows], next=following)


@sessions_router.delete(f"{NOTES}/{{uuid:note_id}}", response=NoteDeleted, summary="Delete a note")
def delete_note(request: HttpRequest, session_id: str, note_id: UUID) -> NoteDeleted:
    """Delete a note's text. Who deleted it and when is stored. A key can delete its own notes, a key with `admin` any note."""
    who = caller(request, "record")
    note = note_of(session_of(who.project, session_id), note_id)
    deleted = notes.delete(note, by=who.by, administers="admin" in who.key.scopes)
    return NoteDeleted.from_attributes(deleted, deleted=deleted.id)

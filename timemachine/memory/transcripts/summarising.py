"""Summarise a session as a frame of a collection, by a model or by quoting its most important turns, with
references to its steps. Copied turns are in the summary of the session in which they happened.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, ModelFailed, NotFound
from timemachine.knowledge.commands import NewFrame, check_name, get_or_create_collection, put_frames
from timemachine.knowledge.models import Collection, Frame
from timemachine.llm.calling import complete
from timemachine.llm.concurrency import call_slot, release_connection
from timemachine.llm.prices import price_if_known
from timemachine.llm.pure.catalogue import LOCAL, ModelName, sentences_of
from timemachine.llm.pure.completion import Completion, Message, ModelRequest
from timemachine.llm.queries import connection_of, usable_model
from timemachine.memory.transcripts.pure.summary_prompt import (
    SYSTEM_PROMPT,
    TEMPLATE,
    cited_steps,
    quoted_summary,
    summary_prompt,
)
from timemachine.memory.transcripts.transcript import SelectedTurn, TurnFilter, transcript_of
from timemachine.memory.transcripts.turn_rows import rows
from timemachine.recording.annotations.significance.queries import IMPORTANCE
from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import content_of, omission_mark, text_of
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.recording.sessions.queries import HAPPENED_HERE

TOKENS: Final = 6_000
"""How many tokens of the session a model gets: the most important turns that fit, in order."""
EXTRACTIVE: Final = "local:extractive-5"
"""The default summariser, which quotes this many of the most important turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A summary with the steps that it cites, and what it used."""

    text: str
    steps: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    facts: dict[str, object]


def summarise(
    session: Session, *, by: str, collection: str = "", use_model: str = EXTRACTIVE
) -> SessionSummary:
    """Put a summary of the session into a collection (default: its own), as one frame per session with versions.

    Raises `InvalidInput` for a session without turns, a missing collection or an unknown model; `ModelFailed`
    and `Unavailable` like an ask. Nothing is stored then.
    """
    name = collection.strip() or (session.collection.name if session.collection else "")
    if not name:
        raise InvalidInput(
            "This session has no collection. Choose one for the summary.",
            code="collection_needed",
            field="collection",
        )
    check_name(name)
    if not session.actions.filter(HAPPENED_HERE).exists():
        raise InvalidInput(
            f"The session {session.key} has no steps of its own to summarise.", code="nothing_to_summarise"
        )
    model = usable_model(session.project_id, use_model or EXTRACTIVE)
    made = _quoted(session, model) if model.provider == LOCAL else _written(session, model)
    return _stored(session, get_or_create_collection(session.project, name, by=by), model, made, by)


def summaries_of(session: Session) -> QuerySet[SessionSummary]:
    """Return the summaries of a session, latest first."""
    return SessionSummary.objects.filter(session=session).select_related("collection").order_by("-id")


def _quoted(session: Session, model: ModelName) -> _Draft:
    """Return the beginnings of the most important turns, the latest among equals, in order."""
    erased = ErasedTurn.objects.filter(session=session).values("sequence")
    weighed = (
        Action.objects.filter(HAPPENED_HERE, session=session)
        .exclude(sequence__in=erased)
        .annotate(now=IMPORTANCE)
    )
    best = weighed.order_by(F("now").desc(nulls_last=True), "-sequence").values_list("sequence", flat=True)
    chosen = sorted(best[: sentences_of(model)])
    found = rows(session.id, 0, session.last_sequence, chosen)
    text = quoted_summary((each.turn.sequence, content_of(each.turn)) for each in found)
    return _Draft(text=text, steps=cited_steps(text, chosen).known, facts={})


def _written(session: Session, model: ModelName) -> _Draft:
    """Return the model's summary of the turns that fit."""
    found = list(transcript_of(session, TurnFilter(budget=TOKENS, own=True)).turns())
    prompt = summary_prompt(_lines(found))
    messages = (Message(role="system", content=SYSTEM_PROMPT), Message(role="user", content=prompt))
    request = ModelRequest(
        model=model,
        connection=connection_of(session.project_id, model),
        question="",
        passages=(),
        messages=messages,
        temperature=0,
    )
    with call_slot():
        release_connection()
        completion = complete(request)
    if not completion.whole:
        raise ModelFailed(
            f"{model} did not finish the summary (finish reason: {completion.finish_reason or 'unknown'}). Nothing was stored.",
            code="no_whole_answer",
        )
    names = cited_steps(completion.text, [each.turn.sequence for each in found])
    return _Draft(
        text=completion.text.strip(),
        steps=names.known,
        unknown=names.unknown,
        facts=_facts(model, completion),
    )


def _lines(found: list[SelectedTurn]) -> list[str]:
    lines = list[str]()
    for each in found:
        if each.left_out:
            lines.append(omission_mark(each.left_out))
        lines.append(text_of(each.turn))
    return lines


def _facts(model: ModelName, completion: Completion) -> dict[str, object]:
    priced = price_if_known(model, completion.usage, now(), used=completion.model)
    return {
        "prompt_template": TEMPLATE,
        "usage": None if completion.usage is None else asdict(completion.usage),
        "cost_usd": None if priced.cost_usd is None else round(priced.cost_usd, COST_DIGITS),
        "prices": priced.prices,
        "duration_ms": completion.duration_ms,
    }


def _stored(
    session: Session, collection: Collection, model: ModelName, made: _Draft, by: str
) -> SessionSummary:
    at: datetime = now()
    frame = NewFrame(
        title=f"Summary of {session.name}",
        uri=f"{settings.PUBLIC_URL}/sessions/{session.id}/",
        text=made.text,
        metadata={
            "summary_of": session.key,
            "through": session.last_sequence,
            "steps": list(made.steps),
            "model": str(model),
        },
        number=_current_frame(session, collection),
    )
    try:
        with transaction.atomic():
            (done,) = put_frames(collection, [frame], by=by)
            return _remembered(session, collection, done.frame, model, made, by, at)
    except IntegrityError as why:
        raise NotFound(
            "The session was deleted while it was being summarised. Nothing was stored; the call may have been billed.",
            code="session_not_found",
        ) from why


def _remembered(
    session: Session,
    collection: Collection,
    frame: Frame,
    model: ModelName,
    made: _Draft,
    by: str,
    at: datetime,
) -> SessionSummary:
    return SessionSummary.objects.create(
        session=session,
        collection=collection,
        number=frame.number,
        version=frame.version,
        model=str(model),
        through=session.last_sequence,
        steps=list(made.steps),
        unknown_steps=list(made.unknown),
        by=by[:254],
        at=at,
        **made.facts,
    )


def _current_frame(session: Session, collection: Collection) -> int | None:
    """Return the number of the current frame with the session's summary in that collection, or None."""
    earlier = SessionSummary.objects.filter(session=session, collection=collection).order_by("-id").first()
    if earlier is None:
        return None
    stands = Frame.objects.filter(collection=collection, number=earlier.number, valid_until=None).exists()
    return earlier.number if stands else None

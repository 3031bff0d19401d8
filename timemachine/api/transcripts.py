"""Sessions as memory over HTTP: transcripts, summaries, and compression."""

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Status

from timemachine.api.access import caller
from timemachine.api.openapi import JSON, file_answer
from timemachine.api.sessions import router as sessions_router
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.tasks import embed_backlog
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.rendering import streamed
from timemachine.memory.transcripts.schemas import (
    CompressionOut,
    SessionSummaries,
    SessionSummaryOut,
    SummaryIn,
    TranscriptFilter,
    TranscriptMessages,
    TranscriptOut,
)
from timemachine.memory.transcripts.summarising import summaries_of, summarise
from timemachine.memory.transcripts.transcript import compression_effect, transcript_of
from timemachine.recording.annotations.significance import compression
from timemachine.recording.annotations.significance.queries import compression_of, compressions_of
from timemachine.recording.annotations.significance.schemas import (
    CompressedOut,
    CompressionRuleIn,
    CompressionRuleOut,
    CompressOlderIn,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of

compressions = Router(tags=["memory"])
SUMMARIES = "/{session_id}/summaries"
COMPRESSION = "/{session_id}/compression"
MOST_SUMMARIES = 200
MOST_HISTORY = 50


@sessions_router.get(
    "/{session_id}/transcript",
    tags=["memory"],
    response=TranscriptOut | TranscriptMessages,
    summary="The transcript of a session",
    openapi_extra=file_answer(JSON, "text/plain; charset=utf-8"),
)
def transcript(
    request: HttpRequest, session_id: str, wanted: Query[TranscriptFilter]
) -> StreamingHttpResponse:
    """Every turn in its order, at any length, or those that match: by significance, role, kind, tag, least importance. `assistant` and `model` are the
    role `agent`, `human` is `user` and `developer` is `system`.

    `budget` is the maximum number of tokens: the most important turns that fit, in their order. `as` is `json` (the turns as they were
    recorded), `text` (for a prompt) or `messages` (for a chat model). The answer says how many turns and tokens of those recorded it has, and
    in `tokens.marks` how many more the marks in the text take, which are in the budget: `kept` and `marks` together are no more than it, except that if no
    turn fits, the one mark that reports this is returned alone. Marks show where turns are left out. If it cannot be sent to its end, its last line is `cut off`, which makes JSON invalid.
    """
    session = session_of(caller(request, "read").project, session_id)
    return streamed(transcript_of(session, turn_filter(**wanted.model_dump(exclude={"form"}))), wanted.form)


@sessions_router.post(
    SUMMARIES,
    response={201: SessionSummaryOut},
    tags=["memory"],
    summary="Put a summary of a session into a collection",
    exclude_unset=True,
)
def summarise_session(request: HttpRequest, session_id: str, payload: SummaryIn) -> Status[SessionSummaryOut]:
    """Create a frame that is searchable like any other, with the steps it cites. `local:extractive-5` quotes the most important turns; a named
    model is given the turns that fit into 6,000 tokens; the call is paid. Repeated, it becomes a new version of the same frame. It needs the scopes `run` and `record`.
    """
    caller(request, "record")
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    made = summarise(session, by=who.by, collection=payload.collection, use_model=payload.use_model)
    enqueue(embed_backlog, made.collection_id)
    return Status(201, SessionSummaryOut.of(made))


@sessions_router.get(
    SUMMARIES,
    tags=["memory"],
    response=SessionSummaries,
    summary="List a session's summaries",
    exclude_unset=True,
)
def summaries(request: HttpRequest, session_id: str) -> SessionSummaries:
    """The frames that are summaries of the session, newest first."""
    session = session_of(caller(request, "read").project, session_id)
    items = [SessionSummaryOut.of(each) for each in summaries_of(session)[:MOST_SUMMARIES]]
    return SessionSummaries.model_construct(items=items, next=None)


@sessions_router.get(
    COMPRESSION,
    tags=["memory"],
    response=CompressionOut,
    summary="The effect of compressing a session",
)
def read_compression(request: HttpRequest, session_id: str) -> CompressionOut:
    """How many steps and tokens keep their importance and how many drop to 0.30, whether the session is compressed, and its compression history."""
    return _compression(session_of(caller(request, "read").project, session_id))


@sessions_router.post(COMPRESSION, tags=["memory"], response=CompressionOut, summary="Compress a session")
def compress(request: HttpRequest, session_id: str) -> CompressionOut:
    """Lower the importance of its exploratory turns to 0.30; its decisions, solutions and breakthroughs stay as they are, and so does the record.

    The session must have ended. Sent again it changes nothing.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    compression.compress(session, by=who.by)
    return _compression(session)


@sessions_router.delete(
    COMPRESSION, tags=["memory"], response=CompressionOut, summary="Undo the compression of a session"
)
def undo(request: HttpRequest, session_id: str) -> CompressionOut:
    """Restore the previous importance of every step. The project's rule will not compress this session again."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    compression.undo(session, by=who.by)
    return _compression(session)


@compressions.post("", response=CompressedOut, summary="Compress older sessions")
def compress_older(request: HttpRequest, payload: CompressOlderIn) -> CompressedOut:
    """Compress every session of the project that ended this many days ago or more, except those whose compression was undone."""
    who = caller(request, "admin")
    if payload.preview:
        found = compression.older_than(who.project, payload.older_than_days)
        return CompressedOut.model_construct(sessions=found.count(), compressed=False)
    done = compression.compress_older(who.project, payload.older_than_days, by=who.by)
    return CompressedOut.model_construct(sessions=done, compressed=True)


@compressions.get("/rule", response=CompressionRuleOut, summary="The compression rule of the project")
def rule(request: HttpRequest) -> CompressionRuleOut:
    """How many days after they end the project's sessions are compressed; null means never."""
    return CompressionRuleOut.of(compression.rule_of(caller(request, "read").project))


@compressions.put("/rule", response=CompressionRuleOut, summary="Set the compression rule of the project")
def set_rule(request: HttpRequest, payload: CompressionRuleIn) -> CompressionRuleOut:
    """A worker applies it within the hour. Compressed sessions stay compressed when the rule is removed."""
    who = caller(request, "admin")
    compression.set_rule(who.project, payload.days, by=who.by)
    return CompressionRuleOut.of(compression.rule_of(who.project))


def _compression(session: Session) -> CompressionOut:
    history = list(compressions_of(session)[:MOST_HISTORY])
    return CompressionOut.of(compression_of(session), compression_effect(session), history)

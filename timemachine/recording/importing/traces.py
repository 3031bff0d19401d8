"""Keep a trace together whose spans are in several files, in whatever order they are imported."""

from dataclasses import replace

from timemachine.core.accounts.models import Project
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.otel.models import Trace
from timemachine.recording.otel.moving import move_actions
from timemachine.recording.otel.sql import insert_traces, lock_project
from timemachine.recording.sessions.models import Session


def in_session_of_trace(project: Project, draft: SessionDraft, format_name: str) -> SessionDraft:
    """Return the draft; if none of its spans names a session, with the key of the one that an earlier file named."""
    if draft.traces is None or draft.key not in draft.traces:
        return draft
    sessions = Session.objects.of(project).filter(traces__trace=draft.key, imported_as=format_name)
    found = sessions.values_list("key", flat=True).first()
    return draft if found is None else replace(draft, key=found)


def gather_traces(session: Session, draft: SessionDraft, *, by: str) -> None:
    """Store that the traces of a draft belong to its session. What an earlier file brought of them, without a name of a
    session, moves to it."""
    if not draft.traces:
        return
    new = insert_traces(session.project_id, dict.fromkeys(draft.traces, session.id))
    traces = Trace.objects.filter(project=session.project_id)
    traces.filter(trace__in=new & {draft.key}).update(own=True)
    earlier = traces.filter(trace__in=draft.traces, own=True).exclude(session=session)
    if not earlier.filter(session__isnull=False).exists():
        return
    lock_project(session.project, exclusively=True)
    for trace in earlier.select_related("session").order_by("trace"):
        if trace.session is not None:
            move_actions(trace, trace.session, session, by=by)

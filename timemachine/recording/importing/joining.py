"""Find the session to which the other file of a task was imported."""

from datetime import timedelta
from typing import Final

from timemachine.core.accounts.models import Project
from timemachine.recording.importing.pure.joining import joined
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import HAPPENED_HERE

_APART: Final = timedelta(minutes=5)
"""Both files of a task begin within seconds: before the first request, the tool waits for the editor and its terminals."""


def with_other_part(project: Project, draft: SessionDraft, format_name: str) -> SessionDraft:
    """Return the draft as a part of the session that has the other file, if one has it and this draft is not a session yet.

    That is the one that began at nearly the same time with the same words; without times, the only one.
    """
    part = draft.part
    sessions = Session.objects.of(project)
    if part is None or sessions.filter(key=draft.key).exists():
        return draft
    others = sessions.filter(imported_as=format_name, key__startswith=part.begins)
    found = [each for each in others if each.metadata.get("file") != part.name]
    if draft.started_at is not None:
        dated = [each for each in found if each.started_at is not None and not each.is_undated]
        near = [(abs(each.started_at - draft.started_at), each) for each in dated]
        undated = [each for each in found if each.is_undated]
        found = [each for apart, each in sorted(near, key=lambda pair: pair[0]) if apart <= _APART][
            :1
        ] or undated
    if len(found) != 1:
        return draft
    calls = found[0].actions.filter(HAPPENED_HERE, kind="llm_call").order_by("sequence")
    times = [(str(name), began) for name, began in calls.values_list("client_id", "started_at")]
    return joined(draft, part, found[0].key, times)

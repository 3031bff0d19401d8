"""Helpers for tests of the workbench: its address, the data of its form, and what was recorded."""

from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action, Session


def work(session: Session) -> str:
    """Return the address of a session's workbench."""
    return f"/sessions/{session.id}/work/"


def work_form(text: str, **more: Any) -> dict[str, Any]:
    """Return the data of the workbench's form."""
    return {"do": "ask", "text": text, "mode": "hybrid", "top_k": "3", "model": "", **more}


def kinds(session: Session) -> list[str]:
    """Return the kinds of the recorded actions of a session, in order."""
    return list(Action.objects.filter(session=session).order_by("sequence").values_list("kind", flat=True))


def open_session(project: Project, collection: Collection) -> Session:
    """Start a session with the collection."""
    return start_session(project, name="Fragen 🕰", key="fragen", by="test", collection=collection)

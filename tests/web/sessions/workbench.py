"""The workbench that tests record on: its address, what its form sends, and what was recorded."""

from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.knowledge.models import Collection
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action, Session


def work(session: Session) -> str:
    """The address of a session's workbench."""
    return f"/sessions/{session.id}/work/"


def asked(text: str, **more: Any) -> dict[str, Any]:
    """What the workbench's form sends."""
    return {"do": "ask", "text": text, "mode": "hybrid", "top_k": "3", "model": "", "other_model": "", **more}


def kinds(session: Session) -> list[str]:
    """The kinds of what was recorded in a session, in order."""
    return list(Action.objects.filter(session=session).order_by("sequence").values_list("kind", flat=True))


def open_session(project: Project, collection: Collection) -> Session:
    """An open session over the collection."""
    return start_session(project, name="Fragen 🕰", key="fragen", by="test", collection=collection)

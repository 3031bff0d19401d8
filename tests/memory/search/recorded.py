"""Sessions to search, indexed as a worker does it."""

from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing
from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.queries import SearchResult, search
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def message(text: Any, **fields: Any) -> ActionDraft:
    """Return a message with this text."""
    return ActionDraft(**{"kind": "message", "role": "user", "output": text, **fields})


def session_of(project: Project, *drafts: ActionDraft, name: str = "a run", **fields: Any) -> Session:
    """Return a session with these steps, not yet indexed."""
    session = start_session(project, name=name, by="test", **fields)
    append(session.id, drafts)
    session.refresh_from_db()
    return session


def index(project: Project) -> None:
    """Index everything that the project recorded."""
    while indexing.index_new_steps(project.id):
        pass


def found(
    project: Project, q: str, *, limit: int = 50, after: str | None = None, **options: Any
) -> SearchResult:
    return search(project, SearchOptions(q=q, **options), limit=limit, after=after)


def steps(project: Project, q: str, mode: str = "text", **options: Any) -> list[tuple[str, int]]:
    """Return the matching steps, as session names and sequences, best first."""
    groups = found(project, q, mode=mode, **options).groups
    return [(group.session.name, hit.action.sequence) for group in groups for hit in group.hits]

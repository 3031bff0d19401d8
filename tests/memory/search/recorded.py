"""Sessions to search, indexed as a worker does it."""

from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing
from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.queries import SearchResult, search
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def said(text: Any, **fields: Any) -> ActionDraft:
    """A message that says this."""
    return ActionDraft(**{"kind": "message", "role": "user", "output": text, **fields})


def session_of(project: Project, *drafts: ActionDraft, name: str = "a run", **fields: Any) -> Session:
    """A session that recorded these steps; they are not indexed yet."""
    session = start_session(project, name=name, by="test", **fields)
    append(session.id, drafts)
    session.refresh_from_db()
    return session


def index(project: Project) -> None:
    """Index what the project recorded, to its end."""
    while indexing.index_new_steps(project.id):
        pass


def found(
    project: Project, q: str, *, limit: int = 50, after: str | None = None, **wanted: Any
) -> SearchResult:
    return search(project, SearchOptions(q=q, **wanted), limit=limit, after=after)


def steps(project: Project, q: str, mode: str = "text", **wanted: Any) -> list[tuple[str, int]]:
    """The steps that are found, as the names of their sessions and their sequences, best first."""
    groups = found(project, q, mode=mode, **wanted).groups
    return [(group.session.name, hit.action.sequence) for group in groups for hit in group.hits]

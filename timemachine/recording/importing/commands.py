"""Importing: a file of another tool becomes sessions, all of it or none, and a report that accounts for every line."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict
from timemachine.recording.importing.already_recorded import already_recorded
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.registry import FORMATS, chosen
from timemachine.recording.importing.pure.report import ImportReport, SessionDraft
from timemachine.recording.importing.session_names import cut_to_limit
from timemachine.recording.sessions.changes import end_imported
from timemachine.recording.sessions.commands import MOST_ACTIONS, append, locked, start_session
from timemachine.recording.sessions.deletions import deleted_before
from timemachine.recording.sessions.models import ErasedSession, Session
from timemachine.recording.sessions.parents import Parent
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.validation import KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """A session of the file: how many actions the file has for it, and how many of them stood here already.

    `deleted_before` is the deletion after which it came again; `deleted_turns` how many of its steps were deleted here, and stay so.
    """

    session: Session
    actions: int
    already_there: int
    deleted_before: ErasedSession | None = None
    deleted_turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDone:
    """What an import came to."""

    sessions: tuple[ImportedSession, ...]
    report: ImportReport


def import_file(
    project: Project,
    data: Contents,
    *,
    by: str,
    format_name: str | None = None,
    filename: str | None = None,
    tell: Callable[[int, int], None] = lambda _done, _total: None,
) -> ImportDone:
    """Import a file. The same file again adds nothing; one that has grown adds what is new.

    `tell` is told how many of how many actions are recorded.

    Raises `InvalidInput` for a file that is no transcript or an unknown format, `Conflict` where one of its sessions has the
    key of a session that was not imported; nothing is kept then.
    """
    name = chosen(format_name, data, filename)
    found = cut_to_limit(FORMATS[name].read(data))
    with transaction.atomic():
        told = _Told(tell, total=sum(len(draft.actions) for draft in found.sessions))
        sessions = tuple(_import_session(project, draft, name, by, told) for draft in found.sessions)
    undated = [
        _stays_undated(draft.key)
        for draft, here in zip(found.sessions, sessions, strict=True)
        if here.session.is_undated and draft.started_at is not None
    ]
    return ImportDone(sessions=sessions, report=replace(found.report, notes=(*found.report.notes, *undated)))


def _stays_undated(key: str) -> str:
    return (
        f"The session {key!r} was imported before from a file without times: when it began stays not recorded, as its sealed record says. "
        "Delete the session and import the file again to have its times."
    )


class _Told:
    """How far an import is: so many of all its actions."""

    def __init__(self, tell: Callable[[int, int], None], *, total: int) -> None:
        self._tell, self._done, self._total = tell, 0, total
        tell(0, total)

    def add(self, actions: int) -> None:
        """So many more are recorded."""
        if not actions:
            return
        self._done += actions
        self._tell(self._done, self._total)


def _import_session(
    project: Project, draft: SessionDraft, format_name: str, by: str, told: _Told
) -> ImportedSession:
    is_new = not Session.objects.filter(project=project, key=draft.key).exists()
    deleted = deleted_before(project, draft.key) if is_new else None
    session = _begun(project, draft, format_name, by)
    if session.imported_as is None:
        raise Conflict(
            f"A session with the key {draft.key!r} was recorded here; it cannot be imported over. Delete it first to import it anew.",
            code="key_taken",
        )
    if session.imported_as != format_name:
        raise Conflict(
            f"A session with the key {draft.key!r} was imported here from another format ({session.imported_as}): this file may tell the "
            "same steps again. Import the file of that format, or delete the session first.",
            code="key_taken",
        )
    before = locked([session.id])[session.id].last_sequence
    there = already_recorded(session, draft) if draft.numbered else 0
    told.add(there)
    for start in range(there, len(draft.actions), MOST_ACTIONS):
        some = draft.actions[start : start + MOST_ACTIONS]
        own = draft.numbered
        append(session.id, some if own else priced(some), imported=True, as_it_is=own)
        told.add(len(some))
    ended = end_imported(session.id, ended=draft.ended_at)
    added = ended.last_sequence - before
    return ImportedSession(
        session=ended,
        actions=len(draft.actions),
        already_there=len(draft.actions) - added,
        deleted_before=deleted,
        deleted_turns=0 if is_new else ended.erased_turns.count(),
    )


def _begun(project: Project, draft: SessionDraft, format_name: str, by: str) -> Session:
    """The session of this key, started where there is none; one that another import started meanwhile is through when this returns."""
    there = Session.objects.filter(project=project, key=draft.key)
    try:
        return there.first() or _start(project, draft, format_name, by)
    except Conflict:
        found = there.first()
        if found is None:
            raise
        return found


def _start(project: Project, draft: SessionDraft, format_name: str, by: str) -> Session:
    return start_session(
        project,
        name=draft.name,
        key=draft.key,
        agent=draft.agent,
        user=draft.user,
        metadata=draft.metadata,
        tags=draft.tags,
        started_at=draft.started_at,
        by=by,
        imported_as=format_name,
        parent=_parent(project, draft),
    )


def _parent(project: Project, draft: SessionDraft) -> Parent | None:
    """The session that it goes on from, its key where it is not here yet or its id where it was deleted, and the step at which it left it, where the file says so."""
    if draft.forked_from is None:
        return draft.forked_from_deleted, draft.forked_at
    if draft.forked_from == draft.key:
        return None
    found = Session.objects.of(project).filter(key=draft.forked_from).first()
    if found is None and not KEY.fullmatch(draft.forked_from):
        return None
    return found or draft.forked_from, draft.forked_at

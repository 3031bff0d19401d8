"""Import the file of another tool: all of its sessions or none, with a report that accounts for every line."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict
from timemachine.recording.importing.already_recorded import already_recorded
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.registry import FORMATS, choose_format
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
    """A session of the file: how many actions the file has for it, and how many of them were recorded here before.

    `deleted_before` is the deletion of an earlier session with this key. `deleted_turns` counts steps of the session
    that were deleted here and stay deleted.
    """

    session: Session
    actions: int
    already_there: int
    deleted_before: ErasedSession | None = None
    deleted_turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDone:
    """The sessions that an import recorded, and its report."""

    sessions: tuple[ImportedSession, ...]
    report: ImportReport


def import_file(
    project: Project,
    data: Contents,
    *,
    by: str,
    format_name: str | None = None,
    filename: str | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ImportDone:
    """Import a file. Importing the same file again adds nothing; a file that has grown adds what is new.

    `on_progress` is called with the number of actions recorded so far and the total.

    Raises `InvalidInput` if the file is not a transcript or the format is unknown, and `Conflict` if a session with
    the same key was not imported from this format. Nothing is recorded then.
    """
    name = choose_format(format_name, data, filename)
    parsed = cut_to_limit(FORMATS[name].read(data))
    with transaction.atomic():
        progress = _Progress(on_progress, total=sum(len(draft.actions) for draft in parsed.sessions))
        sessions = tuple(_import_session(project, draft, name, by, progress) for draft in parsed.sessions)
    undated = [
        _stays_undated(draft.key)
        for draft, here in zip(parsed.sessions, sessions, strict=True)
        if here.session.is_undated and draft.started_at is not None
    ]
    return ImportDone(
        sessions=sessions, report=replace(parsed.report, notes=(*parsed.report.notes, *undated))
    )


def _stays_undated(key: str) -> str:
    return (
        f"The session {key!r} was imported before from a file without times: its start time stays unknown, because its record is sealed. "
        "To get the times, delete the session and import the file again."
    )


class _Progress:
    """Counts the recorded actions and reports each change."""

    def __init__(self, report: Callable[[int, int], None], *, total: int) -> None:
        self._report, self._done, self._total = report, 0, total
        report(0, total)

    def add(self, actions: int) -> None:
        """Add newly recorded actions."""
        if not actions:
            return
        self._done += actions
        self._report(self._done, self._total)


def _import_session(
    project: Project, draft: SessionDraft, format_name: str, by: str, progress: _Progress
) -> ImportedSession:
    is_new = not Session.objects.filter(project=project, key=draft.key).exists()
    deleted = deleted_before(project, draft.key) if is_new else None
    session = _get_or_start(project, draft, format_name, by)
    if session.imported_as is None:
        raise Conflict(
            f"A session with the key {draft.key!r} was recorded here, so it cannot be replaced by an import. Delete it first, then import the file.",
            code="key_taken",
        )
    if session.imported_as != format_name:
        raise Conflict(
            f"A session with the key {draft.key!r} was imported from another format ({session.imported_as}). Importing this file "
            "could record the same steps twice. Import a file of that format, or delete the session first.",
            code="key_taken",
        )
    before = locked([session.id])[session.id].last_sequence
    known = already_recorded(session, draft) if draft.numbered else 0
    progress.add(known)
    for start in range(known, len(draft.actions), MOST_ACTIONS):
        batch = draft.actions[start : start + MOST_ACTIONS]
        own = draft.numbered
        append(session.id, batch if own else priced(batch), imported=True, as_it_is=own)
        progress.add(len(batch))
    ended = end_imported(session.id, ended=draft.ended_at)
    added = ended.last_sequence - before
    return ImportedSession(
        session=ended,
        actions=len(draft.actions),
        already_there=len(draft.actions) - added,
        deleted_before=deleted,
        deleted_turns=0 if is_new else ended.erased_turns.count(),
    )


def _get_or_start(project: Project, draft: SessionDraft, format_name: str, by: str) -> Session:
    """Return the session with this key, started if there is none.

    If another import is starting it at the same time, that import has finished when this returns.
    """
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
    """Return the session that the file names as its origin, and the step at which it branched off.

    The origin is a session, the key of one that is not here yet, or the id of one that was deleted.
    """
    if draft.forked_from is None:
        return draft.forked_from_deleted, draft.forked_at
    if draft.forked_from == draft.key:
        return None
    found = Session.objects.of(project).filter(key=draft.forked_from).first()
    if found is None and not KEY.fullmatch(draft.forked_from):
        return None
    return found or draft.forked_from, draft.forked_at

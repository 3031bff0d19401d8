"""Import a file while it grows: the lines that are new, after those that explain them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.leases import Progress
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import (
    ImportedSession,
    import_session,
    within_limits,
)
from timemachine.recording.importing.pure.growing import GROWTHS
from timemachine.recording.importing.pure.growing.parts import joined_metadata, new_actions, with_free_ids
from timemachine.recording.importing.pure.growing.settling import (
    SETTLED_AFTER,
    good_lines,
    read_lines,
    settled_lines,
)
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ImportReportOut, SessionDraft
from timemachine.recording.sessions.commands import describe, known_ids, locked
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesImported:
    """What lines became. The first `lines` of them are recorded; the others must be sent again, with what follows them, after
    the lines with the numbers `needed`, from 1. `position` is the last step that the file has in each session, by its key.
    """

    sessions: tuple[ImportedSession, ...]
    report: ImportReportOut
    lines: int
    needed: tuple[int, ...]
    position: Mapping[str, int]


def import_lines(
    project: Project,
    lines: Sequence[str],
    *,
    format_name: str,
    by: str,
    repeated: int = 0,
    position: Mapping[str, int] | None = None,
    idle: float = 0.0,
) -> LinesImported:
    """Import the lines of a growing file that no later line can change. The first `repeated` lines were recorded before; they and
    `position` are what the answer to the lines before asked for. `idle` is how many seconds ago the file last grew.

    Sent from its beginning or from any such place, also after an answer was lost, the file becomes what it becomes if it is
    imported when it is complete.

    Raises `InvalidInput` for a format whose files do not grow by lines, and `Conflict` as `import_file` does.
    """
    growth = GROWTHS.get(format_name)
    if growth is None:
        raise InvalidInput(
            f"Files of the format {format_name!r} cannot be imported line by line. Formats: {', '.join(GROWTHS)}.",
            code="unknown_format",
            known=list(GROWTHS),
        )
    if not 0 <= repeated <= len(lines):
        raise InvalidInput(
            "`repeated` is the number of lines at the beginning that were sent before.",
            code="invalid_field",
            field="repeated",
        )
    written = FORMATS[format_name]
    settled = settled_lines(written, growth, lines, repeated=repeated, idle=idle)
    parsed = read_lines(written, lines[:settled])
    if not repeated and idle < SETTLED_AFTER and _begins_unnamed(project, parsed.sessions):
        settled, parsed = 0, read_lines(written, [])  # until the first request names the session
    before = {each.key: each for each in read_lines(written, lines[:repeated]).sessions}
    places = dict(position or {})
    sessions = []
    with transaction.atomic():
        for draft in parsed.sessions if settled > repeated else ():
            done = _import(project, draft, before.get(draft.key), format_name, by, places.get(draft.key, 0))
            sessions.append(done)
            places[done.session.key] = max(done.last, places.get(done.session.key, 0))
    good = good_lines(lines[:settled])
    return LinesImported(
        sessions=tuple(sessions),
        report=parsed.report,
        lines=settled,
        needed=tuple(good[at].number for at in sorted(growth.needed(good))),
        position=places,
    )


def _begins_unnamed(project: Project, drafts: Sequence[SessionDraft]) -> bool:
    """Return whether none of the sessions has a name, and none is recorded already, as that of a sub-agent is."""
    keys = [each.key for each in drafts]
    named = any(each.name != each.key for each in drafts)
    return not named and not Session.objects.filter(project=project, key__in=keys).exists()


def _import(
    project: Project, draft: SessionDraft, before: SessionDraft | None, format_name: str, by: str, after: int
) -> ImportedSession:
    """Import what the new lines add to a session. `before` is what the repeated lines become, `after` the last step of the lines
    before."""
    draft = within_limits(draft)
    new, again = new_actions(draft.actions, before.actions if before else ())
    session = Session.objects.filter(project=project, key=draft.key).first()
    if session is not None:
        new = with_free_ids(new, lambda ids: _recorded(locked([session.id])[session.id], ids, after))
    done = import_session(project, replace(draft, actions=(*again, *new)), format_name, by, Progress())
    if session is not None:
        _describe(done.session, draft)
    return replace(done, actions=len(new), already_there=max(done.already_there - len(again), 0))


def _recorded(session: Session, ids: Sequence[str], after: int) -> frozenset[str]:
    """Return which of the ids steps of the lines before have. Later steps are those of these lines: they were recorded, and the
    answer was lost."""
    found = known_ids([(session.id, each) for each in ids])
    return frozenset(name for (_, name), (sequence, _) in found.items() if sequence <= after)


def _describe(session: Session, draft: SessionDraft) -> None:
    metadata: dict[str, Any] = joined_metadata(session.metadata, draft.metadata)
    if metadata != session.metadata:
        describe(session, metadata=metadata)

"""Export a session to a file as it is at one moment, even while it is recording."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Final

from django.db.models import Q
from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.streams import marked_if_cut_off
from timemachine.recording.importing.pure import exports
from timemachine.recording.importing.pure.exports import Exported, Step
from timemachine.recording.importing.pure.formats.timemachine import FORMAT, VERSION
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.payload_sizes import size_of_action
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything
from timemachine.text.redaction.pure.marks import DELETED_TURN

AT_ONCE: Final = 200
"""Maximum number of actions that are read together."""
BYTES_AT_ONCE: Final = 16 * 1024 * 1024
"""Maximum payload bytes that are read together, unless a single action has more."""
FIRST_PART, PART = 1024, 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export format: its name, its title, and its kind of file."""

    name: str
    title: str
    ending: str
    media_type: str
    parts: Callable[[Exported], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file in parts that are read on demand. `through` is the last sequence in it.

    If it cannot be completed, the last part is `CUT_OFF`, and the iterator then raises: `Conflict`
    (`erased_meanwhile`) if the session was erased.
    """

    parts: Iterator[bytes]
    name: str
    media_type: str
    through: int


def _load_exports() -> dict[str, Export]:
    modules = [import_module(f"{exports.__name__}.{each.name}") for each in iter_modules(exports.__path__)]
    found = {
        module.NAME: Export(
            name=module.NAME,
            title=module.TITLE,
            ending=module.ENDING,
            media_type=module.MEDIA_TYPE,
            parts=module.parts,
        )
        for module in modules
    }
    return {OWN: found.pop(OWN), **found}


OWN: Final = "timemachine"
EXPORTS: Final = _load_exports()


def export_named(name: str | None) -> Export:
    """Return the format with that name, by default our own. Raises `InvalidInput` (`unknown_format`)."""
    found = EXPORTS.get(name or OWN)
    if found is None:
        raise InvalidInput(
            f"Unknown export format {name!r}. Known formats: {', '.join(EXPORTS)}.",
            code="unknown_format",
            known=list(EXPORTS),
        )
    return found


def export_session(session: Session, format_name: str | None = None) -> ExportedFile:
    """Export the session up to its current last step. Memory use does not depend on its length, and no transaction is
    held.

    Recorded steps never change, so several statements read the same as one; an erasure in the meantime removes what
    it removes. The first part is read immediately. Raises `InvalidInput` (`unknown_format`), and `NotFound` if it was
    erased in the meantime.
    """
    way = export_named(format_name)
    now = session_of(session.project, str(session.id))
    parts = _in_parts(way.parts(Exported(about=about(now), steps=_steps(now))))
    first = next(parts)
    return ExportedFile(
        parts=chain([first], marked_if_cut_off(parts)),
        name=f"{now.key}{way.ending}",
        media_type=way.media_type,
        through=now.last_sequence,
    )


def sent(session: Session, format_name: str | None) -> StreamingHttpResponse:
    """Return the export as a download, streamed while it is written; a header gives its last sequence. Raises as `export_session`.

    If it cannot be completed, its last line reports this, and the file cannot be imported.
    """
    file = export_session(session, format_name)
    record(session.project_id, "session.exported", "session", session.pk, format=format_name or "default")
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=file.name)
        or "attachment",
        "Last-Sequence": str(file.through),
    }
    return StreamingHttpResponse(file.parts, content_type=file.media_type, headers=headers)


def _in_parts(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join the pieces to parts of a reasonable size; yields one empty part if there are no pieces."""
    held: list[bytes] = []
    size, enough = 0, FIRST_PART
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= enough:
            yield b"".join(held)
            held, size, enough = [], 0, PART
    yield b"".join(held)


def about(session: Session) -> JsonObject:
    """Return the first line of an export: the session by names that are valid elsewhere, without ids of this server."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "key": session.key,
        "name": session.name,
        "agent": session.agent,
        "user": session.user,
        "status": session.status,
        "collection": session.collection.name if session.collection else None,
        "parent": _parent_of(session),
        "imported_as": session.imported_as,
        "metadata": session.metadata,
        "tags": session.tags,
        "started_at": written(session.stated_start),
        "ended_at": written(session.ended_at),
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "through": session.last_sequence,
    }


def _parent_of(session: Session) -> JsonObject | None:
    """Return the key of the session it branched from, and the step. For a deleted one, only its id, if known."""
    if session.has_lost_parent:
        erased = session.parent_erased
        return {
            "key": None,
            "sequence": session.parent_sequence,
            "deleted": None if erased is None else str(erased),
        }
    key = session.parent.key if session.parent else session.parent_key
    return None if key is None else {"key": key, "sequence": session.parent_sequence}


def exact(action: Action) -> JsonObject:
    """Return the action's document with exact amounts of money as text."""
    return {
        **ActionOut.of(action).model_dump(),
        "cost_usd": None if action.cost_usd is None else f"{action.cost_usd:f}",
        "saved_usd": None if action.saved_usd is None else f"{action.saved_usd:f}",
        "recorded_at": written(action.recorded_at),
    }


def _steps(session: Session) -> Iterator[Step]:
    """Yield every action up to the last sequence.

    They are read in batches, with four queries each, five if a step was deleted. A deleted step says when, by whom
    and why.
    """
    every = Action.objects.filter(session=session).order_by("sequence")
    after = 0
    while after < session.last_sequence:
        last = _last_that_fits(session, after)
        some = list(with_everything(every.filter(sequence__gt=after, sequence__lte=last)))
        if len(some) < last - after:
            raise _erased(session)
        parents = _parents(session, some)
        deleted = deletions_of(
            session, [each.sequence for each in some if each.label.startswith(DELETED_TURN)]
        )
        for action in some:
            given = action.parent_id_given if action.parent_id_given is not None else action.parent_sequence
            deletion = {"deleted": deleted[action.sequence].as_json()} if action.sequence in deleted else {}
            yield Step(action=exact(action) | deletion, parent=None if given is None else parents.get(given))
        after = last


def _last_that_fits(session: Session, after: int) -> int:
    """Return the last of the next actions whose payloads fit into `BYTES_AT_ONCE`, at least the first."""
    until = min(after + AT_ONCE, session.last_sequence)
    next_ones = Action.objects.filter(session=session, sequence__gt=after, sequence__lte=until)
    last, held = after, 0
    for sequence, size in next_ones.order_by("sequence").values_list("sequence", size_of_action()):
        held += size
        if last > after and held > BYTES_AT_ONCE:
            break
        last = sequence
    if last == after:
        raise _erased(session)
    return last


def _erased(session: Session) -> Conflict:
    return Conflict(
        f"The session {session.key} was deleted during the export. The file is incomplete.",
        code="erased_meanwhile",
    )


def _parents(session: Session, actions: list[Action]) -> dict[str | int, tuple[int, str | None]]:
    """Return the parents of these actions by the ids and sequences that name them."""
    ids = {each.parent_id_given for each in actions if each.parent_id_given is not None}
    sequences = {each.parent_sequence for each in actions if each.parent_sequence is not None}
    if not ids and not sequences:
        return {}
    named = Q(client_id__in=ids) | Q(sequence__in=sequences)
    there = Action.objects.filter(named, session=session, sequence__lte=session.last_sequence)
    rows = there.values_list("sequence", "client_id")
    found: dict[str | int, tuple[int, str | None]] = {}
    for sequence, client_id in rows:
        found[sequence] = (sequence, client_id)
        if client_id is not None:
            found[client_id] = (sequence, client_id)
    return found

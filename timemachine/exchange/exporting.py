"""Exporting: a session as a file, as it stands at one moment, also while it is recorded."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import IO, Any, Final

from django.db.models import Q

from timemachine.base.clock import written
from timemachine.base.errors import InvalidInput
from timemachine.exchange import exports
from timemachine.exchange.exported import Exported, Step
from timemachine.exchange.formats.timemachine import FORMAT, VERSION
from timemachine.recording.models import Action, Session
from timemachine.recording.queries import session_of
from timemachine.recording.snapshot import snapshot
from timemachine.timeline.document import action_json, with_everything

AT_ONCE: Final = 200
IN_MEMORY: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One way to write a session out: its name, what people call it, and what its file is."""

    name: str
    title: str
    ending: str
    media_type: str
    write: Callable[[IO[bytes], Exported], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file that is whole, from its begin; whoever reads it closes it. `through` is the last sequence in it."""

    content: IO[bytes]
    name: str
    media_type: str
    through: int


def _found() -> dict[str, Export]:
    modules = [import_module(f"{exports.__name__}.{each.name}") for each in iter_modules(exports.__path__)]
    found = {
        module.NAME: Export(
            name=module.NAME,
            title=module.TITLE,
            ending=module.ENDING,
            media_type=module.MEDIA_TYPE,
            write=module.write,
        )
        for module in modules
    }
    return {OWN: found.pop(OWN), **found}


OWN: Final = "timemachine"
EXPORTS: Final = _found()


def export_named(name: str | None) -> Export:
    """The way to write of that name; our own without one. Raises `InvalidInput` (`unknown_format`)."""
    found = EXPORTS.get(name or OWN)
    if found is None:
        raise InvalidInput(
            f"There is no format {name!r} to export to; known formats: {', '.join(EXPORTS)}.",
            code="unknown_format",
            known=list(EXPORTS),
        )
    return found


def export_session(session: Session, format_name: str | None = None) -> ExportedFile:
    """The session as it stands at this moment. Memory does not grow with it: what is large goes through a temporary file.

    Raises `InvalidInput` (`unknown_format`), and `NotFound` where it was erased meanwhile.
    """
    way = export_named(format_name)
    target = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    try:
        with snapshot():
            now = session_of(session.project, str(session.id))
            through = now.last_sequence
            way.write(target, Exported(about=about(now), steps=_steps(now)))
    except BaseException:
        target.close()
        raise
    target.seek(0)
    return ExportedFile(
        content=target, name=f"{now.key}{way.ending}", media_type=way.media_type, through=through
    )


def about(session: Session) -> dict[str, Any]:
    """The first line of an export: the session by names that mean the same elsewhere, no id of this server."""
    parent = session.parent.key if session.parent else session.parent_key
    return {
        "format": FORMAT,
        "version": VERSION,
        "key": session.key,
        "name": session.name,
        "agent": session.agent,
        "user": session.user,
        "status": session.status,
        "collection": session.collection.name if session.collection else None,
        "parent": None if parent is None else {"key": parent, "sequence": session.parent_sequence},
        "imported_as": session.imported_as,
        "metadata": session.metadata,
        "tags": session.tags,
        "started_at": written(session.started_at),
        "ended_at": written(session.ended_at),
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "through": session.last_sequence,
    }


def exact(action: Action) -> dict[str, Any]:
    """The action's document with money as it is kept, to the last digit, as a text."""
    return {
        **action_json(action),
        "cost_usd": None if action.cost_usd is None else f"{action.cost_usd:f}",
        "saved_usd": None if action.saved_usd is None else f"{action.saved_usd:f}",
        "recorded_at": written(action.recorded_at),
    }


def _steps(session: Session) -> Iterator[Step]:
    """Every action, so many at a time: three queries for these."""
    every = Action.objects.filter(session=session).order_by("sequence")
    for after in range(0, session.last_sequence, AT_ONCE):
        some = list(with_everything(every.filter(sequence__gt=after, sequence__lte=after + AT_ONCE)))
        parents = _parents(session, some)
        for action in some:
            given = action.parent_id_given if action.parent_id_given is not None else action.parent_sequence
            yield Step(action=exact(action), parent=None if given is None else parents.get(given))


def _parents(session: Session, actions: list[Action]) -> dict[str | int, tuple[int, str | None]]:
    """The actions that these are under, by what they are named by."""
    ids = {each.parent_id_given for each in actions if each.parent_id_given is not None}
    sequences = {each.parent_sequence for each in actions if each.parent_sequence is not None}
    if not ids and not sequences:
        return {}
    named = Q(client_id__in=ids) | Q(sequence__in=sequences)
    rows = Action.objects.filter(named, session=session).values_list("sequence", "client_id")
    found: dict[str | int, tuple[int, str | None]] = {}
    for sequence, client_id in rows:
        found[sequence] = (sequence, client_id)
        if client_id is not None:
            found[client_id] = (sequence, client_id)
    return found

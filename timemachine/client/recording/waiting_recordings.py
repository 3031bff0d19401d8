"""List, send and drop the recordings in a spool folder that wait for a server or were refused."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from timemachine.client.errors import ClientError, NotFound, Refused
from timemachine.client.recording.lines import END, is_end
from timemachine.client.recording.outbox import Outbox
from timemachine.client.recording.recording import Recording, Shortfall
from timemachine.client.recording.spool import Row, Spool, Stored
from timemachine.client.recording.spool_database import DAMAGED, SUFFIX, remove
from timemachine.client.recording.traces import outbox_of
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.connection import Connection

IN_USE: Final = "in use"
WAITS: Final = "waits"
REFUSED: Final = "refused"
UNREADABLE: Final = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """The waiting or refused actions of a recording. `name` identifies them, `stored` is their position in the database `path`.

    `state` is `waits`, `in use` by a recording process, `refused` (`why` is the last reason of the server), or `unreadable` (`why` is the
    reason of the system; session and actions are unknown then). `url` and `key_id` name the server and key it was recorded for, or None.
    """

    name: str
    path: Path
    state: str
    why: str | None
    session: JsonObject = field(default_factory=dict)
    actions: int | None = None
    url: str | None = None
    key_id: str | None = None
    stored: Stored | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The result of sending: the session, how many actions arrived, still wait or were refused, and why."""

    name: str
    session: str
    arrived: int
    waiting: int
    refused: int
    why: str | None

    @property
    def undelivered(self) -> int:
        """The number of actions that were not delivered."""
        return self.waiting + self.refused


def remaining_in(folder: Path) -> list[Remaining]:
    """The recordings in a folder, oldest first. Raises `ClientError` if the folder cannot be read."""
    with _client_errors(folder):
        paths = sorted(folder.iterdir()) if folder.exists() else []
    return [
        each
        for path in paths
        if path.name.endswith((SUFFIX, SUFFIX + DAMAGED))
        for each in _remaining(path)
        if each.actions != 0 or each.state == WAITS
    ]


def named_in(folder: Path, names: Sequence[str]) -> list[Remaining]:
    """The recordings with these names. Raises `NotFound`."""
    there = {each.name: each for each in remaining_in(folder)}
    for name in names:
        if name not in there:
            raise NotFound(
                f"There is no recording {name} in {folder}. List them with `timemachine spool list`."
            )
    return [there[name] for name in dict.fromkeys(names)]


def send(remaining: Remaining, connection: "Connection", *, key: str | None = None) -> Sent:
    """Send a recording, optionally to a session with another `key`, which then ends.

    Actions that were delivered before are not duplicated. What is not delivered stays, with the latest reason. Raises `NotFound` if a
    process has the recording, `ClientError` if the spool cannot be read or written.
    """
    with _taken(remaining) as (spool, stored):
        rows = spool.lines(stored.id, refused=stored.is_refused)
        actions = {place for place, line in rows if not is_end(line)}
        copy = _Copy(spool, stored, rows, key)
        outbox = outbox_of(copy, shortfall=Shortfall(), strict=key is not None, adopted=key is None)
        why = _delivered(outbox, connection) or outbox.shortfall.why
        waiting = {place for place in actions if place > copy.settled}
        stays = waiting | copy.refusals.keys()
        if key is None:
            arrived = {place for place, _ in rows if place <= copy.settled} - stays
        elif stays or (copy.has_waiting and not actions):
            arrived = actions - stays
        else:
            arrived = {place for place, _ in rows}
            if copy.has_waiting:
                _leave_end(remaining.path.parent, copy.header)
        try:
            spool.settle(stored.id, arrived, copy.marked, why=why, of_refused=stored.is_refused)
        except OSError:
            if key is not None:  # sending it again under its own key would duplicate it
                raise
        return Sent(
            name=remaining.name,
            session=outbox.key,
            arrived=len(actions - stays),
            waiting=len(waiting),
            refused=len(copy.refusals),
            why=why,
        )


def drop(remaining: Remaining) -> None:
    """Delete a recording permanently. Raises `NotFound` if a process has it, `ClientError` if it cannot be removed."""
    if remaining.stored is None:
        with _client_errors(remaining.path):
            remaining.path.unlink(missing_ok=True)
        remove(remaining.path)
        return
    with _taken(remaining) as (spool, stored):
        places = [place for place, _ in spool.lines(stored.id, refused=stored.is_refused)]
        spool.settle(stored.id, places, {}, of_refused=stored.is_refused)


class _Copy(Recording):
    """A recording in memory while it is sent; with a `key`, to another session, followed by that session's end.

    `refusals` are the places of refused lines with reasons; `marked` are those to mark in the spool. Lines that another session refuses
    still wait for their own.
    """

    def __init__(self, spool: Spool, stored: Stored, rows: Sequence[Row], key: str | None) -> None:
        header = stored.header
        if key is not None:
            header = header | {"session": header["session"] | {"key": key}}
            rows = [*(row for row in rows if not is_end(row[1])), (stored.last + 1, END)]
        super().__init__(header, spool.path.parent, lambda: spool)
        self._memory.extend(rows)
        self.end = rows[-1][0]
        self.refusals: dict[int, str] = {}
        self.marked = self.refusals if key is None or stored.is_refused else {}
        self._spool_of = spool, stored

    def refuse(self, row: Row, why: str) -> bool:
        """Note the refusal; the line stays where it is."""
        self.refusals[row[0]] = why
        return True

    def save_refusals(self) -> bool:
        """Mark refused lines in the spool; returns whether all are marked."""
        spool, stored = self._spool_of
        try:
            spool.settle(stored.id, (), self.marked, why=stored.why, of_refused=stored.is_refused)
        except OSError:
            return not self.marked
        return True


def _leave_end(folder: Path, header: JsonObject) -> None:
    """Store the end of a session alone, if only that was not delivered. Raises `OSError`."""
    spool = Spool.begin(folder)
    try:
        spool.add(None, header, [(1, END)])
    finally:
        spool.close()


def _delivered(outbox: Outbox, connection: "Connection") -> str | None:
    """Deliver everything; returns the reason if that failed."""
    try:
        while outbox.has_work:
            time.sleep(max(0.0, outbox.not_before - time.monotonic()))
            outbox.deliver(connection)
    except ClientError as why:
        return f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message
    return None


def _remaining(path: Path) -> list[Remaining]:
    """The recordings in one database."""
    if path.suffix == DAMAGED:
        return [Remaining(name=path.name, path=path, state=UNREADABLE, why="it is damaged")]
    spool, waits = None, WAITS
    try:
        spool = Spool.take_over(path)
        if spool is None and path.exists():
            waits = IN_USE
            spool = Spool.look(path)
        return [_of_stored(each, waits) for each in (spool.stored() if spool else [])]
    except OSError as why:
        state = UNREADABLE if waits == WAITS else IN_USE
        return [Remaining(name=path.name, path=path, state=state, why=str(why))]
    finally:
        if spool is not None:
            spool.close()


def _of_stored(stored: Stored, waits: str) -> Remaining:
    return Remaining(
        name=f"{stored.path.stem}:{stored.id}{':refused' if stored.is_refused else ''}",
        path=stored.path,
        state=REFUSED if stored.is_refused else waits,
        why=stored.why,
        session=stored.header["session"],
        actions=stored.actions,
        url=stored.header["url"],
        key_id=stored.header["key_id"],
        stored=stored,
    )


@contextmanager
def _taken(remaining: Remaining) -> Iterator[tuple[Spool, Stored]]:
    """The locked spool and the recording in it. Refused lines can also be taken from a spool that a process has."""
    if remaining.stored is None:
        raise ClientError(f"Cannot read or write {remaining.path} ({remaining.why}).")
    with _client_errors(remaining.path):
        spool = Spool.take_over(remaining.path)
        if spool is None and remaining.state == REFUSED and remaining.path.exists():
            spool = Spool.look(remaining.path)
        if spool is None:
            raise NotFound(f"{remaining.name} is in use by a running process. End it first.")
        try:
            is_it = (remaining.stored.id, remaining.stored.is_refused)
            found = [each for each in spool.stored() if (each.id, each.is_refused) == is_it]
            if not found:
                raise NotFound(f"{remaining.name} no longer exists.")
            yield spool, found[0]
        finally:
            with suppress(OSError):
                spool.kept = {(each.id, each.is_refused) for each in spool.stored()}
            spool.close()


@contextmanager
def _client_errors(path: Path) -> Iterator[None]:
    """Raise `OSError` as `ClientError`."""
    try:
        yield
    except OSError as why:
        raise ClientError(
            f"Cannot read or write {path} ({why.strerror or why}). Its content is unchanged."
        ) from why

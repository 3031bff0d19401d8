"""What remains in a spool folder: recordings that wait for a server, and what one refused of them; list it, send it, or drop it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import ClientError, NotFound, Refused
from timemachine.client.recording.lines import END, is_end
from timemachine.client.recording.outbox import Outbox
from timemachine.client.recording.recording import Recording
from timemachine.client.recording.shortfall import Shortfall
from timemachine.client.recording.spool import Row, Spool, Stored
from timemachine.client.recording.spool_database import DAMAGED, SUFFIX, remove

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.connection import Connection

IN_USE: Final = "in use"
WAITS: Final = "waits"
REFUSED: Final = "refused"
UNREADABLE: Final = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """So many actions of a recording that wait, or were refused. `name` names them, `path` is the database and `id` the recording in it.

    `state` is `waits`, `in use` by a process that records, `refused` (`why` is the server's last reason), or `unreadable` (`why` is the
    system's reason; of which session and how many actions is not known then). `url` and `key_id` say for which server and key it was
    recorded, None where none was known.
    """

    name: str
    path: Path
    id: int | None = None
    session: dict[str, Any]
    actions: int | None
    state: str
    why: str | None
    url: str | None = None
    key_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of what remained: in which session its actions arrived, how many did, how many still wait, were refused or are lost, and why."""

    name: str
    session: str
    arrived: int
    waiting: int
    refused: int
    lost: int
    why: str | None

    @property
    def short(self) -> int:
        """How many did not arrive."""
        return self.waiting + self.refused + self.lost


def remaining_in(folder: Path) -> list[Remaining]:
    """What remains in a folder, in the order in which it was begun. Raises `ClientError` where the folder cannot be read."""
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
    """What remains under these names. Raises `NotFound`."""
    there = {each.name: each for each in remaining_in(folder)}
    for name in names:
        if name not in there:
            raise NotFound(
                f"There is no recording {name} in {folder}; `timemachine spool list` shows those that remain."
            )
    return [there[name] for name in dict.fromkeys(names)]


def send(remaining: Remaining, connection: "Connection", *, key: str | None = None) -> Sent:
    """Send what remains of a recording, to a session of another `key` where one is given, which ends with it.

    What arrived before counts once. What was refused, or is for another key, leaves the spool only where it arrived: the rest stays
    under its name and as its session's, with the reason of the last try with another key. Raises `NotFound` where a process has it,
    `ClientError` where the spool cannot be read or written.
    """
    with _taken(remaining) as (spool, stored):
        if key is not None or remaining.state == REFUSED:
            return _sent_copy(remaining, spool, stored, connection, key)
        rows = spool.lines(stored.id, refused=False)
        recording = Recording.of(spool, stored)
        outbox = Outbox(recording, shortfall=Shortfall(), adopted=True)
        why = _delivered(outbox, connection)
        recording.save_refusals()
        short = outbox.shortfall
        waiting = sum(place > recording.settled and not is_end(line) for place, line in rows)
        return Sent(
            name=remaining.name,
            session=outbox.key,
            arrived=stored.actions - waiting - short.refused - short.lost,
            waiting=waiting,
            refused=short.refused,
            lost=short.lost,
            why=why or short.why,
        )


def drop(remaining: Remaining) -> None:
    """Remove what remains for good. Raises `NotFound` where a process has it, `ClientError` where it cannot be removed."""
    if remaining.state == UNREADABLE:
        with _client_errors(remaining.path):
            remaining.path.unlink(missing_ok=True)
        remove(remaining.path)
        return
    with _taken(remaining) as (spool, stored):
        lines = spool.lines(stored.id, refused=remaining.state == REFUSED)
        spool.replace(stored.id, [place for place, _ in lines], {})


class _Copy(Recording):
    """Lines of a recording, in memory while they are sent; `refusals` are the places of those that were refused, and why."""

    def __init__(self, header: dict[str, Any], rows: Sequence[Row], folder: Path) -> None:
        super().__init__(header, folder, self._no_spool)
        self.refusals: dict[int, str] = {}
        self._memory.extend(rows)
        self.end = rows[-1][0] if rows else 0

    def refuse(self, row: Row, why: str) -> bool:
        """Note that it was refused: it stays where it is."""
        self.refusals[row[0]] = why
        return True

    def _no_spool(self) -> Spool:
        raise OSError("it is a copy")


def _sent_copy(
    remaining: Remaining, spool: Spool, stored: Stored, connection: "Connection", key: str | None
) -> Sent:
    """Send a copy of what remains, and delete from the spool what arrived. Raises `OSError`."""
    rows = spool.lines(stored.id, refused=remaining.state == REFUSED)
    actions = [row for row in rows if not is_end(row[1])]
    header = stored.header
    if key is not None:
        header = header | {"session": header["session"] | {"key": key}}
    end = [] if key is None else [(stored.last + 1, END)]
    copy = _Copy(header, [*actions, *end], remaining.path.parent)
    outbox = Outbox(copy, shortfall=Shortfall(), strict=key is not None, adopted=key is None)
    why = _delivered(outbox, connection)
    short = outbox.shortfall
    pending = {place for place, _ in actions if place > copy.settled}
    stays = pending | copy.refusals.keys()
    is_end_pending = bool(end) and copy.has_waiting
    if stays or (is_end_pending and not actions):
        arrived = {place for place, _ in actions} - stays
        spool.replace(
            stored.id, arrived, copy.refusals if remaining.state == REFUSED and key is not None else {}
        )
        if remaining.state != REFUSED:
            spool.note(stored.id, why or short.why)
    else:
        if is_end_pending:  # it waits by itself, as the other session's
            own = Spool.begin(remaining.path.parent)
            own.add(None, header, [(1, END)])
            own.close()
        spool.replace(stored.id, {place for place, _ in rows}, {})
    return Sent(
        name=remaining.name,
        session=outbox.key,
        arrived=len(actions) - len(stays),
        waiting=len(pending),
        refused=short.refused,
        lost=0,
        why=why or short.why,
    )


def _delivered(outbox: Outbox, connection: "Connection") -> str | None:
    """Deliver all of it; why that did not go."""
    try:
        while outbox.has_work:
            time.sleep(max(0.0, outbox.not_before - time.monotonic()))
            outbox.deliver(connection)
    except ClientError as why:
        return f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message
    return None


def _remaining(path: Path) -> list[Remaining]:
    """What remains in one database."""
    in_use = False
    try:
        if path.suffix == DAMAGED:
            raise OSError("it is damaged")  # noqa: TRY301
        spool = Spool.take_over(path)
        in_use = spool is None and path.exists()
        if in_use:
            spool = Spool.look(path)
        if spool is None:
            return []
        try:
            recordings = spool.recordings()
        finally:
            spool.release()
    except OSError as why:
        state = IN_USE if in_use else UNREADABLE
        return [Remaining(name=path.name, path=path, session={}, actions=None, state=state, why=str(why))]
    return [each for stored in recordings for each in _of_recording(path, stored, in_use=in_use)]


def _of_recording(path: Path, stored: Stored, *, in_use: bool) -> Iterator[Remaining]:
    waiting = Remaining(
        name=f"{path.stem}:{stored.id}",
        path=path,
        id=stored.id,
        session=stored.header["session"],
        actions=stored.actions,
        state=IN_USE if in_use else WAITS,
        why=stored.why,
        url=stored.header["url"],
        key_id=stored.header["key_id"],
    )
    if stored.waits:
        yield waiting
    if stored.refused:
        name = f"{waiting.name}:{REFUSED}"
        yield replace(waiting, name=name, actions=stored.refused, state=REFUSED, why=stored.refused_why)


@contextmanager
def _taken(remaining: Remaining) -> Iterator[tuple[Spool, Stored]]:
    """The spool and the recording in it. No other process has it then; what was refused may be taken from one that has."""
    with _client_errors(remaining.path):
        if remaining.state == UNREADABLE:
            raise OSError(remaining.why)
        spool = Spool.take_over(remaining.path)
        if spool is None and remaining.state == REFUSED and remaining.path.exists():
            spool = Spool.look(remaining.path)
        if spool is None:
            raise NotFound(f"A process that still runs has {remaining.name}; end it first.")
        try:
            found = [each for each in spool.recordings() if each.id == remaining.id]
            if not found:
                raise NotFound(f"{remaining.name} is not there any more.")
            yield spool, found[0]
        finally:
            spool.close()


@contextmanager
def _client_errors(path: Path) -> Iterator[None]:
    """Raise what the system refuses as `ClientError`."""
    try:
        yield
    except OSError as why:
        raise ClientError(
            f"{path} cannot be read or written ({why.strerror or why}); what is in it stays there."
        ) from why

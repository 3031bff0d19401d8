"""What is left in a spool folder: recordings that wait for a server, and actions that one refused; listing, sending and dropping them."""

import fcntl
import io
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from timemachine.client.errors import ClientError, NotFound, Refused
from timemachine.client.recording.lines import END, is_end
from timemachine.client.recording.outbox import Outbox
from timemachine.client.recording.outcome import Course
from timemachine.client.recording.spool import REFUSED, WHY, Spool, files_in
from timemachine.client.recording.spool_file import ENDING, alone, read_all, write_all

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.connection import Connection

IN_USE: Final = "in use"
WAITS: Final = "waits"
SET_ASIDE: Final = "refused"
UNREADABLE: Final = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A file with so many actions of a session. `state` is `waits`, `refused` (`why` is the server's last reason), `in use` by a process or

    `unreadable` (`why` is the system's reason; of which session and how many actions is not known then). `url` and `key_id` say for which
    server and key it was recorded, None where none was known.
    """

    path: Path
    session: dict[str, Any]
    actions: int | None
    state: str
    why: str | None
    url: str | None
    key_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of a file: under which key its actions arrived, how many did, how many wait still, were refused or are lost, and why."""

    path: Path
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


def left_in(folder: Path) -> list[Left]:
    """What is left in a folder, in the order in which it was begun. Raises `ClientError` where the folder cannot be read."""
    with _told(folder):
        if not folder.exists():
            return []
        os.scandir(folder).close()
    found = (_left(path) for path in files_in(folder, {ENDING, REFUSED}))
    return [each for each in found if each is not None and (each.actions != 0 or each.state == WAITS)]


def named_in(folder: Path, names: Sequence[str]) -> list[Left]:
    """The files of these names. Raises `NotFound`."""
    there = {each.path.name: each for each in left_in(folder)}
    for name in names:
        if name not in there:
            raise NotFound(
                f"There is no file {name} with recordings in {folder}; `timemachine spool list` names them."
            )
    return [there[name] for name in dict.fromkeys(names)]


def send(left: Left, connection: "Connection", *, key: str | None = None) -> Sent:
    """Send what is left of a session, to a session of another `key` where one is given, which ends with it.

    What arrived before counts once. What was refused, or is for another key, leaves its file only where it arrived: the rest stays there
    under its name and as its session's, with the reason of the last try with another key. Raises `NotFound` where a process has it,
    `ClientError` where the file cannot be read or written.
    """
    with _told(left.path):
        spool = _taken(left)
        if key is not None or left.path.suffix == REFUSED:
            try:
                return _sent_of(left, spool, connection, key)
            finally:
                spool.forget()
    before = _actions_of(spool)
    course = Course(left.session["key"])
    outbox = Outbox(spool, course, adopted=True)
    why = _delivered(outbox, connection)
    waiting = _actions_of(spool)
    spool.remove()
    short = course.shortfall
    return Sent(
        path=left.path,
        session=course.key,
        arrived=before - waiting - short.refused - short.lost,
        waiting=waiting,
        refused=short.refused,
        lost=short.lost,
        why=why or short.why,
    )


class _Again(Spool):
    """Actions of a file, in memory while they are sent; `still` are those that are refused, and why."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.still: dict[bytes, str] = {}

    def set_aside(self, line: bytes, why: str) -> bool:
        """Leave it where it stands."""
        self.still[line] = why
        return True


def _sent_of(left: Left, spool: Spool, connection: "Connection", key: str | None) -> Sent:
    """Send a copy of what is in a file; what arrived is left out of it then. Raises `OSError`."""
    header, lines = _copied(left, spool)
    course = Course(key or left.session["key"], strict=key is not None)
    copy = _Again.in_memory(header | {"session": header["session"] | {"key": course.key}})
    copy.append([*lines, *([] if key is None else [END])], anyway=True)
    why = _delivered(Outbox(copy, course, adopted=key is None), connection)
    pending = copy.waiting(copy.end - copy.settled)
    waiting = [each for each in pending if not is_end(each)]
    rest = {*copy.still, *waiting, *([] if lines else pending)}
    if pending and not rest:
        _leave_end(left.path.parent, copy.header)
    short = course.shortfall
    if left.path.suffix == REFUSED:
        arrived, still = set(lines) - rest, {} if key is None else copy.still
        if arrived or still:
            _leave_refused(left.path, arrived, still)
    else:
        spool.note((why or short.why) if rest else None)
        _leave_waiting(left.path, set(lines) - rest if rest else None)
    return Sent(
        path=left.path,
        session=course.key,
        arrived=len(lines) - len(waiting) - short.refused,
        waiting=len(waiting),
        refused=short.refused,
        lost=0,
        why=why or short.why,
    )


def _copied(left: Left, spool: Spool) -> tuple[dict[str, Any], list[bytes]]:
    """What a file says of itself, and the actions in it. Raises `OSError`."""
    if left.path.suffix != REFUSED:
        return spool.header, [each for each in spool.waiting(spool.end) if not is_end(each)]
    heads = _heads(_lines_of(left.path))
    header = {name: heads[-1][name] for name in heads[-1] if name not in {"why", "line"}}
    return header, [_compact(each["line"]) for each in heads]


def _leave_end(folder: Path, header: dict[str, Any]) -> None:
    """Have the end of a session, which alone did not arrive, wait in a file of its own. Raises `OSError`."""
    spool = Spool.in_file(folder, header)
    try:
        spool.append([END], sync=True)
    finally:
        spool.remove()


def _leave_refused(path: Path, arrived: AbstractSet[bytes], still: Mapping[bytes, str]) -> None:
    """Have in a file of refused actions those that did not arrive, with why they are `still` refused. Raises `OSError`.

    What a process that records sets aside meanwhile stays.
    """
    with suppress(FileNotFoundError), alone(path) as file:
        kept = []
        for head in _heads(read_all(file, os.fstat(file.fileno()).st_size).split(b"\n")[:-1]):
            action = _compact(head["line"])
            if action not in arrived:
                kept.append(_compact(head | {"why": still.get(action, head.get("why"))}))
        _replace(path, kept)


def _leave_waiting(path: Path, arrived: AbstractSet[bytes] | None) -> None:
    """Have in a spool, whose lock we have, what did not arrive: nothing where that is None. Raises `OSError`."""
    if arrived is None:
        path.unlink(missing_ok=True)
    elif arrived:
        _replace(path, [each for each in _lines_of(path) if each not in arrived])


def _replace(path: Path, lines: Sequence[bytes]) -> None:
    """Have these lines in a file; without any it goes. Raises `OSError`."""
    if not lines:
        path.unlink(missing_ok=True)
        return
    new = path.with_name(f"{path.name}.new")
    with io.FileIO(os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        write_all(file, b"".join(line + b"\n" for line in lines))
        os.fsync(file.fileno())
    new.replace(path)


def _compact(action: Any) -> bytes:
    return json.dumps(action, separators=(",", ":")).encode()


def drop(left: Left) -> None:
    """Remove a file for good. Raises `NotFound` where a process has it, `ClientError` where it cannot be removed."""
    with _told(left.path):
        spool = None if left.state == UNREADABLE else _taken(left)
        left.path.unlink(missing_ok=True)
        if left.path.suffix != REFUSED:
            left.path.with_suffix(WHY).unlink(missing_ok=True)
        if spool is not None:
            spool.forget()


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses, as a sentence."""
    try:
        yield
    except OSError as why:
        raise ClientError(
            f"{path} cannot be read or written ({why.strerror or why}); what stands in it stays there."
        ) from why


def _left(path: Path) -> Left | None:
    is_aside = path.suffix == REFUSED
    try:
        lines = _lines_of(path)
    except OSError as why:
        unknown: dict[str, None] = dict.fromkeys(("actions", "url", "key_id"))
        return Left(path=path, session={}, state=UNREADABLE, why=why.strerror or str(why), **unknown)
    heads = _heads(lines if is_aside else lines[:1])
    if not heads:
        return None
    used = _is_used(path.with_suffix(ENDING))
    return Left(
        path=path,
        session=heads[-1]["session"],
        actions=len(heads) if is_aside else sum(not is_end(line) for line in lines[1:]),
        state=IN_USE if used else SET_ASIDE if is_aside else WAITS,
        why=heads[-1].get("why") or _noted(path),
        url=heads[-1].get("url"),
        key_id=heads[-1].get("key_id"),
    )


def _noted(path: Path) -> str | None:
    """Why the file waits, where the process that recorded it was told."""
    with suppress(OSError, ValueError):
        return path.with_suffix(WHY).read_text()
    return None


def _lines_of(path: Path) -> list[bytes]:
    """The lines of a file; what follows the last line end was cut off by a crash. Raises `OSError`."""
    return path.read_bytes().split(b"\n")[:-1]


def _heads(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Those of the lines that name a session, as they are read; one that a crash cut in half names none."""
    found = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            head = json.loads(line)
            if isinstance(head, dict) and "key" in (head.get("session") or ()):
                found.append(head)
    return found


def _is_used(path: Path) -> bool:
    """Whether a process holds the file's lock."""
    try:
        with io.FileIO(os.fspath(path), "r") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _taken(left: Left) -> Spool:
    """The file's spool, which no other process has then; of one that was set aside an empty one in memory."""
    if left.state == UNREADABLE:
        _lines_of(left.path)
    taken = (
        Spool.in_memory({"session": left.session})
        if left.path.suffix == REFUSED
        else Spool.taken_over(left.path)
    )
    if taken is None or (left.state == IN_USE and _is_used(left.path.with_suffix(ENDING))):
        raise NotFound(f"A process that still runs has {left.path.name}; end it first.")
    return taken


def _actions_of(spool: Spool) -> int:
    return sum(not is_end(line) for line in spool.waiting(spool.end - spool.settled))


def _delivered(outbox: Outbox, connection: "Connection") -> str | None:
    """Deliver all of it; why that did not go."""
    try:
        while outbox.has_work:
            time.sleep(max(0.0, outbox.not_before - time.monotonic()))
            outbox.deliver(connection)
    except ClientError as why:
        return f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message
    return None

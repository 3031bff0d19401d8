"""How far each transcript was sent: a small file for each, replaced as a whole, so that a killed process leaves the old one."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from timemachine.core.pure.home import home, write_private

_MARK_BYTES: Final = 512


@dataclass(slots=True, kw_only=True)
class Sent:
    """What is recorded of a file: up to `offset`, before which `mark` is the hash of the last bytes.

    `needed` are the lines (first byte and end) that are sent again before new ones, `position` what the server returned, `hidden` the ids of
    calls that are withheld, `agents` the sub-agents whose results are recorded. For documents, `done` is how
    many messages are recorded, `mark` the hash of their ids, and `unfinished` that of the message that was sent while it could change.
    """

    path: str
    inode: int = 0
    device: int = 0
    offset: int = 0
    mark: str = ""
    needed: list[tuple[int, int]] = field(default_factory=list)
    position: dict[str, int] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    done: int = 0
    unfinished: str = ""

    def forget(self) -> None:
        """Begin again: the server knows what it has."""
        self.offset, self.mark, self.needed, self.position, self.done = 0, "", [], {}, 0
        self.unfinished = ""


class States:
    """The states of one server and key, in `TIMEMACHINE_HOME`. A damaged one is like none."""

    def __init__(self, server: str) -> None:
        self.folder = home() / "watch" / hashlib.sha256(server.encode()).hexdigest()[:12]
        self.failure: str | None = None
        self._of_path: dict[str, Sent] = {}
        self._of_inode: dict[tuple[int, int], Sent] = {}
        for path in sorted(self.folder.glob("*.json")):
            try:
                self._add(Sent(**json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError, TypeError):
                continue

    @property
    def agents(self) -> set[str]:
        """The sub-agents whose results are recorded."""
        return {name for each in self._of_path.values() for name in each.agents}

    def of(self, path: Path, device: int, inode: int) -> Sent:
        """Return the state of a file: under its path, or under the one that it had before it was renamed."""
        found = self._of_path.get(str(path))
        renamed = self._of_inode.get((device, inode))
        if found is None and renamed is not None and inode and not Path(renamed.path).exists():
            self.drop(renamed)
            found = renamed
            found.path = str(path)
        if found is None:
            found = Sent(path=str(path))
        if (found.device, found.inode) != (device, inode):
            found.device, found.inode = device, inode
        self._add(found)
        return found

    def save(self, state: Sent) -> None:
        """Store a state. `failure` says why it could not be stored: it is stored with the next lines then, or sent again after a restart."""
        try:
            write_private(self._file(state), json.dumps(asdict(state)))
        except OSError as why:
            if isinstance(why, FileExistsError | FileNotFoundError) and self.folder.is_dir():
                return  # another watcher is storing it
            self.failure = f"cannot store how far it was sent ({why.strerror or why}). After a restart it is sent again, and nothing is recorded twice"
            return
        self.failure = None

    def drop(self, state: Sent) -> None:
        """Remove a state."""
        self._of_path.pop(state.path, None)
        with suppress(OSError):
            self._file(state).unlink(missing_ok=True)

    def _add(self, state: Sent) -> None:
        self._of_path[state.path] = state
        self._of_inode[state.device, state.inode] = state

    def _file(self, state: Sent) -> Path:
        return self.folder / f"{hashlib.sha256(state.path.encode(errors='replace')).hexdigest()[:24]}.json"


def mark_before(file: BinaryIO, offset: int) -> str:
    """Return the hash of the last bytes before the offset, by which a file that was replaced is recognised."""
    start = max(0, offset - _MARK_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(offset - start)).hexdigest()[:32]

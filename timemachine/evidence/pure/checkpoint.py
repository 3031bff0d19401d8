"""A checkpoint: the size and root of a tree, in the text form of C2SP's `tlog-checkpoint`. Pure.

Three lines (origin, size, root in base64), then our own: the last leaf, the time, the state.
"""

import base64
from dataclasses import dataclass
from typing import Final

PAYLOAD_TYPE: Final = "application/vnd.timemachine.checkpoint.v1"
OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state of a tree at a moment (RFC 3339): `open` while records may follow, otherwise `closed`."""

    origin: str
    size: int
    root: bytes
    last_leaf: bytes
    at: str
    state: str

    def text(self) -> str:
        """Return the text that is signed."""
        root = base64.b64encode(self.root).decode()
        lines = [
            self.origin,
            str(self.size),
            root,
            f"last {self.last_leaf.hex()}",
            f"at {self.at}",
            f"state {self.state}",
        ]
        return "\n".join(lines) + "\n"


def origin(*, project: str, of: str, id: str, generation: int = 1) -> str:  # noqa: A002
    """Return the name of a tree. Each further run has another generation of records."""
    again = f"/{generation}" if generation > 1 else ""
    return f"timemachine/{project}/{of}/{id}{again}"


def log_origin(project: str) -> str:
    """Return the name of a project's log."""
    return f"timemachine/{project}/log"

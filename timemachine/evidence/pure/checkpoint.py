"""A checkpoint: the size and root of a tree, in the text form of C2SP's `tlog-checkpoint`. Pure.

Three lines (origin, size, root in base64), then our own: the last leaf, the time, the state; for a session also
its status and its times. For witnesses it becomes a note (C2SP's `signed-note`, `tlog-witness`): the checkpoint's
text, an empty line, and a line for each signature: `— NAME BASE64`, whose bytes begin with four that identify the
key.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

PAYLOAD_TYPE: Final = "application/vnd.timemachine.checkpoint.v1"
OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state of a tree at a moment (RFC 3339): `open` while records may follow, otherwise `closed`.

    `more` are facts about the subject that are in none of its records, each a line with its name.
    """

    origin: str
    size: int
    root: bytes
    last_leaf: bytes
    at: str
    state: str
    more: Mapping[str, str] = field(default_factory=dict)

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
            *(f"{name} {value}" for name, value in self.more.items()),
        ]
        return "\n".join(lines) + "\n"


def origin(*, project: str, of: str, id: str, generation: int = 1) -> str:  # noqa: A002
    """Return the name of a tree. Each further run has another generation of records."""
    suffix = f"/{generation}" if generation > 1 else ""
    return f"timemachine/{project}/{of}/{id}{suffix}"


def log_origin(project: str) -> str:
    """Return the name of a project's log."""
    return f"timemachine/{project}/log"


_ED25519: Final = b"\x01"
_KEY_BYTES: Final = 4
_DASH: Final = "— "


def verifier_key(name: str, public_key: bytes) -> str:
    """Return the key as a witness is configured with it: name, hash and public key."""
    written = base64.b64encode(_ED25519 + public_key).decode()
    return f"{name}+{_key_hash(name, public_key).hex()}+{written}"


def signed_note(text: str, name: str, public_key: bytes, signature: bytes) -> str:
    """Return the note; `signature` signs the bytes of the text, which ends with a newline."""
    written = base64.b64encode(_key_hash(name, public_key) + signature).decode()
    return f"{text}\n{_DASH}{name} {written}\n"


def add_checkpoint(old: int, proof: Sequence[bytes], note: str) -> bytes:
    """Return the request to a witness: the size it took last (0: none), the consistency proof, the note."""
    hashes = [base64.b64encode(each).decode() for each in proof]
    return "\n".join([f"old {old}", *hashes, "", note]).encode()


def known_size(answer: bytes) -> int | None:
    """Return the size that a witness reports it took last when it refuses another (409), or None."""
    text = answer.strip()
    return int(text) if text.isdigit() and len(text) < 19 else None  # noqa: PLR2004


def _key_hash(name: str, public_key: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + public_key).digest()[:_KEY_BYTES]

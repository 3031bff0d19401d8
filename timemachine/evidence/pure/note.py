"""A checkpoint as a note for witnesses: C2SP's `signed-note`, `tlog-checkpoint`, `tlog-witness`. Pure.

A note is the checkpoint's text, an empty line, and a line for each signature: `— NAME BASE64`, whose bytes
begin with four that identify the key.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

_ED25519: Final = b"\x01"
_KEY_BYTES: Final = 4
_DASH: Final = "— "


def verifier_key(name: str, public_key: bytes) -> str:
    """Return the key as a witness is configured with it: name, hash and public key."""
    written = base64.b64encode(_ED25519 + public_key).decode()
    return f"{name}+{_key_hash(name, public_key).hex()}+{written}"


def signed_note(text: str, name: str, public_key: bytes, signature: bytes) -> str:
    """Return the note; `signature` is over the bytes of the text, which ends with a newline."""
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

"""The envelope of a record: a leaf with commitments and no content, so content can be withheld. Pure.

An envelope is canonical JSON (RFC 8785; only ASCII strings and small integers, so sorted keys and no spaces
suffice). Each field is SHA-256 over a tag, 16 random bytes of salt and the SHA-256 of the field's bytes.
Without the salt, nobody can guess what was withheld, and the tree stays valid when content and salt are
erased.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.content import canonical_json

VERSION: Final = 1
SALT_BYTES: Final = 16
NO_RECORD: Final = bytes(32)
_TAG: Final = b"tm-commit-v1\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The position of a record: the kind and id of what it is a record of, and its index from 0."""

    of: str
    id: str
    index: int


def commitment(salt: bytes, digest: bytes) -> str:
    """Return the salted commitment to bytes with this SHA-256, in hex."""
    return hashlib.sha256(_TAG + salt + digest).hexdigest()


def envelope(
    place: Place,
    *,
    kind: str,
    at: str,
    previous: bytes,
    commitments: Mapping[str, str],
    links: Mapping[str, str] | None = None,
) -> bytes:
    """Return the bytes of an envelope. `at` is RFC 3339, `previous` the leaf hash before (zeros if first).

    `links` name other records by leaf hash in hex: a replayed step links the recorded one.
    """
    document = {
        "v": VERSION,
        "of": place.of,
        "id": place.id,
        "index": place.index,
        "kind": kind,
        "at": at,
        "prev": previous.hex(),
        "fields": dict(commitments),
    }
    return canonical_json(document | ({"links": dict(links)} if links else {}))

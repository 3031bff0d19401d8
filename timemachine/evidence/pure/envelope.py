"""The envelope of a record: what stands in the tree of it. It holds commitments and no content, so that content can be withheld. Pure.

An envelope is canonical JSON (RFC 8785: ASCII strings and small whole numbers only, so sorted keys and no spaces are all there
is to it). Each field of the record stands in it as SHA-256 over a tag, 16 random bytes of salt and the SHA-256 of the field's bytes:
who lacks the salt cannot guess at what was withheld, and where content and salt are erased the tree still stands.
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
    """Which record of what this is: of a `session`, `replay` or `comparison`, by its id, counted from 0."""

    of: str
    id: str
    index: int


def commitment(salt: bytes, digest: bytes) -> str:
    """What binds us to some bytes by their SHA-256, in hex."""
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
    """The bytes of an envelope. `at` is RFC 3339, `previous` the leaf hash of the record before (zeros before the first).

    `links` name other records by their leaf hash in hex: what a replayed step repeats.
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

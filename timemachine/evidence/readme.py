"""The README of a bundle: what it is, how to check it, and what it does not prove. Pure."""

from collections.abc import Mapping
from typing import Any, Final

_TEXT: Final = """\
Evidence from Time Machine
==========================

This is {of} {id},
its first {size} records (record 0 is the {of} itself), sealed at {sealed_at}.
Root of the tree: {root}
Signed by:        {key}

To check it
-----------
You need Python 3.10 or newer, no network and nothing else:

    python3 tm_verify.py THIS.zip --key {key}

Take tm_verify.py and the fingerprint of the key from somewhere else than from whoever gave you this file:
a bundle that brings its own verifier and its own key proves nothing. The verifier is a single file that can be
read in a quarter of an hour; its SHA-256 is published with each release of Time Machine.

One signature can be checked with OpenSSL alone. The bytes that are signed are those of DSSE
("DSSEv1", a space, the length of payloadType, a space, payloadType, a space, the length of the payload, a space,
the payload); keys.json holds each public key in PEM:

    openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin

What it shows
-------------
- statement.json names every file here by its SHA-256, and is signed.
- Each record holds a salted commitment to each of its fields, and the hash of the record before it.
- The tree over the records (RFC 6962) has the root that was signed when they were sealed.
- What is disclosed is what was committed to then. What is withheld is counted, and cannot be guessed at.
- log.json shows that this seal was entered into the log of its project.

What it does not prove
----------------------
- That the agent did what was recorded. Hashes prove that nothing changed since it was sealed, not that what was
  sent was true.
- That this is the only history. Who holds the signing key could seal another one; compare a checkpoint that you
  kept earlier, or one that a witness kept.
- That a time is right: it is the server's clock, unless an independent timestamp is with it.
- That a replay shows why the model answered as it did: providers change their models.
"""


def readme(tree: Mapping[str, Any], key: str) -> str:
    """The text for the bundle of that tree, whose statement that key signs."""
    return _TEXT.format(key=key, **{name: tree[name] for name in ("of", "id", "size", "sealed_at", "root")})

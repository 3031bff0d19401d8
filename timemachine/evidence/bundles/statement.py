"""The signed statement of a bundle and the public keys in it."""

import base64
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.log import keys
from timemachine.evidence.models import SigningKey
from timemachine.evidence.pure.deterministic_zip import Zipped

FORMAT: Final = "timemachine-evidence-1"
STATEMENT_TYPE: Final = "application/vnd.in-toto+json"
PREDICATE_TYPE: Final = "urn:timemachine:evidence:1"


def write_keys(zipped: Zipped, signing: AbstractSet[int]) -> None:
    """Write the public keys with these ids: those that signed something in the bundle."""
    keys_used = SigningKey.objects.filter(pk__in=signing).order_by("created_at", "pk")
    zipped.add("keys.json", dumped([_key(each) for each in keys_used], indent=1))


def _key(each: SigningKey) -> dict[str, str | None]:
    return {
        "fingerprint": each.fingerprint,
        "public_key": base64.b64encode(bytes(each.public_key)).decode(),
        "pem": keys.pem(bytes(each.public_key)),
        "created_at": written(each.created_at),
        "replaced_at": written(each.replaced_at),
    }


def sign(
    zipped: Zipped,
    key: SigningKey,
    first: Mapping[str, Any],
    trees: Sequence[Mapping[str, Any]],
    details: Mapping[str, Any],
) -> None:
    """Write the statement: its subject (`first`), the trees, `details`, and the SHA-256 of every file.

    Raises `Unavailable` as `keys.sign` does.
    """
    predicate = {
        "format": FORMAT,
        "software": f"timemachine {version('timemachine')}",
        "trees": list(trees),
        "files": zipped.hashes,
        **details,
    }
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": first["origin"], "digest": {"sha256": first["root"]}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    signed = keys.sign(key, STATEMENT_TYPE, canonical_json(document))
    zipped.add("statement.json", signed.dumped().encode())


def dumped(value: Any, indent: int | None = None) -> bytes:
    """Return a value as the JSON in a bundle's files."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, ensure_ascii=True, separators=separators, indent=indent).encode()

"""A signed state as it is read again from what is kept: it may have been changed, so nothing of it is taken for granted."""

import base64
import json
from dataclasses import dataclass

from timemachine.evidence.log import keys
from timemachine.evidence.models import SigningKey
from timemachine.evidence.pure.dsse import Signed


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedState:
    """What a checkpoint says of a tree, and whether that key signed it."""

    origin: str
    size: int
    root: bytes
    is_signed: bool


def read(signed: str, key: SigningKey) -> SignedState | None:
    """The state that stands in a DSSE envelope; None where it cannot be read any more."""
    try:
        document = json.loads(signed)
        payload = base64.b64decode(document["payload"])
        signature = base64.b64decode(document["signatures"][0]["sig"])
        kind = str(document["payloadType"])
        origin, size, root = payload.decode("ascii").split("\n")[:3]
        said = Signed(payload_type=kind, payload=payload, key=key.fingerprint, signature=signature)
        return SignedState(
            origin=origin,
            size=int(size),
            root=base64.b64decode(root),
            is_signed=keys.is_signed(key, said),
        )
    except (ValueError, LookupError, TypeError):
        return None

"""DSSE, the Dead Simple Signing Envelope (version 1): what is signed is the type and the exact bytes, never parsed JSON. Pure."""

import base64
import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """Bytes of a named type with one signature and the name of the key that made it."""

    payload_type: str
    payload: bytes
    key: str
    signature: bytes

    def as_json(self) -> dict[str, object]:
        """The envelope as the standard writes it."""
        return {
            "payloadType": self.payload_type,
            "payload": _base64(self.payload),
            "signatures": [{"keyid": self.key, "sig": _base64(self.signature)}],
        }

    def dumped(self) -> str:
        """The envelope as one line of JSON."""
        return json.dumps(self.as_json(), separators=(",", ":"))


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: `DSSEv1`, then each part behind its length in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

"""DSSE, the Dead Simple Signing Envelope (version 1): it signs the type and the exact bytes. Pure."""

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
        """Return the envelope as the standard defines it."""
        return {
            "payloadType": self.payload_type,
            "payload": _base64(self.payload),
            "signatures": [{"keyid": self.key, "sig": _base64(self.signature)}],
        }

    def dumped(self) -> str:
        """Return the envelope as one line of JSON."""
        return json.dumps(self.as_json(), separators=(",", ":"))


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed: `DSSEv1`, then each part preceded by its length in bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

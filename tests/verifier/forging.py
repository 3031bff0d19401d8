"""A forger who adds a key of their own to the bundle."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.verifier.bundles import Files
from timemachine.evidence.pure.dsse import pre_authentication_encoding
from timemachine.verifier import tm_verify


class Forger:
    """Signs anything."""

    def __init__(self) -> None:
        self._private = Ed25519PrivateKey.generate()
        self._public = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.key = tm_verify.fingerprint(self._public)

    def signed(self, signed: Any, change: Callable[[bytes], bytes] = lambda payload: payload) -> Any:
        """Return a signed document with another payload, under the forger's signature."""
        payload = change(base64.b64decode(signed["payload"]))
        raw = self._private.sign(pre_authentication_encoding(signed["payloadType"], payload))
        signature = {"keyid": self.key, "sig": base64.b64encode(raw).decode()}
        return signed | {"payload": base64.b64encode(payload).decode(), "signatures": [signature]}

    def add_key(self, files: Files) -> None:
        """Add the key to the real ones."""
        known = json.loads(files["keys.json"])
        files["keys.json"] = json.dumps(
            [*known, {"public_key": base64.b64encode(self._public).decode()}]
        ).encode()

    def sign_states(self, files: Files) -> None:
        """Sign every signed state in the bundle again, as it is."""
        for name, data in files.items():
            if name.endswith("/checkpoints.jsonl"):
                states = [json.dumps(self.signed(json.loads(line))) for line in data.splitlines()]
                files[name] = "".join(f"{each}\n" for each in states).encode()
            elif name.endswith(("/log.json", "/erased.json", "/earlier.json")):
                found = json.loads(data)
                if isinstance(found, dict) and isinstance(found.get("checkpoint"), dict):
                    found["checkpoint"] = self.signed(found["checkpoint"])
                    files[name] = json.dumps(found).encode()

    def seal(
        self, files: Files, change: Callable[[Any], None] = lambda content: None, *, states: bool = True
    ) -> None:
        """Change the statement and sign it and all signed `states` again, over the files as they are now: what only the
        holder of the key can do.
        """
        self.add_key(files)
        if states:
            self.sign_states(files)

        def of(payload: bytes) -> bytes:
            content = json.loads(payload)
            change(content)
            hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
            hashes.pop("statement.json")
            content["predicate"]["files"] = hashes
            return json.dumps(content).encode()

        files["statement.json"] = json.dumps(self.signed(json.loads(files["statement.json"]), of)).encode()

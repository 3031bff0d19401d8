"""Redaction profiles."""

from typing import Any

from timemachine.client.connection import Document, segment
from timemachine.client.resources.resource import Resource

_REDACTIONS = "/api/redactions"


class Redactions(Resource):
    """Create, list, change, retire and test redaction profiles; a profile is an id or a name."""

    def create(self, *, name: str, rules: dict[str, Any]) -> Document:
        """Create a profile. `rules` has `detect`, `phone_regions`, `patterns` and `fields`."""
        return self._connection.post(_REDACTIONS, {"name": name, "rules": rules})

    def list(self) -> Document:
        """The profiles that can be chosen."""
        return self._connection.get(_REDACTIONS)

    def get(self, profile: str) -> Document:
        """One profile with its rules."""
        return self._connection.get(_path(profile))

    def change(self, profile: str, *, rules: dict[str, Any]) -> Document:
        """Create the next version of a profile; existing uses keep theirs."""
        return self._connection.patch(_path(profile), {"rules": rules})

    def retire(self, profile: str) -> Document:
        """Retire a profile: it cannot be chosen any more; existing uses keep it."""
        return self._connection.delete(_path(profile))

    def test(self, text: str, *, profile: str = "built-in") -> Document:
        """The text as a reader would see it, with matches by rule. Nothing is stored."""
        return self._connection.post(f"{_REDACTIONS}/test", {"text": text, "redaction": profile})


def _path(profile: str) -> str:
    return f"{_REDACTIONS}/{segment(profile, 'redaction profile')}"

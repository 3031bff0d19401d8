"""Redaction profiles of a server."""

from typing import Any

from timemachine.client.connection import Connection, Document, segment

_REDACTIONS = "/api/redactions"


class Redactions:
    """Make, list, change and retire redaction profiles; see what one would withhold. Every profile is an id or a name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, *, name: str, rules: dict[str, Any]) -> Document:
        """A new profile. `rules` has `detect`, `phone_regions`, `patterns` and `fields`."""
        return self._connection.post(_REDACTIONS, {"name": name, "rules": rules})

    def list(self) -> Document:
        """The profiles that can be chosen."""
        return self._connection.get(_REDACTIONS)

    def get(self, profile: str) -> Document:
        """One profile with its rules."""
        return self._connection.get(_path(profile))

    def change(self, profile: str, *, rules: dict[str, Any]) -> Document:
        """The next version of a profile; what was made with an earlier one keeps it."""
        return self._connection.patch(_path(profile), {"rules": rules})

    def retire(self, profile: str) -> Document:
        """Take a profile out of what can be chosen."""
        return self._connection.delete(_path(profile))

    def test(self, text: str, *, profile: str = "built-in") -> Document:
        """The text as somebody would read it, with counts by rule. Nothing of it is kept."""
        return self._connection.post(f"{_REDACTIONS}/test", {"text": text, "redaction": profile})


def _path(profile: str) -> str:
    return f"{_REDACTIONS}/{segment(profile, 'redaction profile')}"

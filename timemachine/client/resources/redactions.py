"""Redaction profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from timemachine.client.generated import resources

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Redactions(resources.Redactions):
    """Create, list, change, retire and test redaction profiles; a profile is an id or a name."""

    def test(self, text: str, *, profile: str = "built-in") -> types.RedactedText:
        """The text as a reader would see it, with matches by rule. Nothing is stored."""
        return cast("types.RedactedText", self._test(text=text, redaction=profile))

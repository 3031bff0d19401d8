"""Seals and evidence of sessions, replays and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from timemachine.client.generated import resources

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Evidence(resources.Evidence):
    """Download evidence, read seals and public keys, and set the witness and timestamp authority."""

    def seal(self, of: str, id: str) -> types.SealOut:  # noqa: A002
        """The seal of a `session`, `replay` or `comparison`, the result of the last check, and whether it is `altered`."""
        seal_of = {
            "session": self.seal_of_session,
            "replay": self.seal_of_replay,
            "comparison": self.seal_of_comparison,
        }
        return seal_of[of](id)

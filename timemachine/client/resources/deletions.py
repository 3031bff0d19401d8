"""Deletion of steps and sessions, legal holds and retention rules, which require the scope `admin`, and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, cast, overload

from timemachine.client.connection import given
from timemachine.client.generated import resources

if TYPE_CHECKING:
    from timemachine.client.generated import types


class Deletable(TypedDict):
    """What a deletion would delete, and how many sessions are held."""

    sessions: int
    turns: int
    held: int


class Deletions(resources.Deletions):
    """Delete steps and sessions, place legal holds, and set retention rules. Tombstones stay."""

    def of_session(self, session: str, turn: int | None = None) -> Deletable:
        """What deleting a session or one of its steps would delete. Raises `Refused` for an unknown one."""
        found = cast("types.HoldPreview", self.hold(session, reason="", dry_run=True))
        if turn is None:
            return {"sessions": found["sessions"], "turns": found["turns"], "held": found["held"]}
        step = resources.Sessions(self._connection).action(session, turn)
        return {"sessions": 0, "turns": int("deleted" not in step), "held": found["held"]}

    def prepare(self, **which: Unpack[types.SessionSelection]) -> types.DeletionOut:
        """Preview a bulk deletion: `sessions`, `turns`, and how many are `held`. `which` are the filters of `Sessions.page`, `named` and `older_than_days`."""
        return self._prepare(cast("types.SessionSelection", given(**which)))

    @overload
    def hold(
        self,
        *sessions: str,
        reason: str,
        dry_run: Literal[False] = False,
        **which: Unpack[types.SessionSelection],
    ) -> types.HoldOut: ...

    @overload
    def hold(
        self, *sessions: str, reason: str, dry_run: bool, **which: Unpack[types.SessionSelection]
    ) -> types.HoldOut | types.HoldPreview: ...

    def hold(
        self, *sessions: str, reason: str, dry_run: bool = False, **which: Unpack[types.SessionSelection]
    ) -> types.HoldOut | types.HoldPreview:
        """Place a legal hold on these sessions, or on all that match `which` now."""
        matching = cast("types.SessionSelection", given(**which)) if which else None
        return self._hold(reason=reason, sessions=sessions, filter=matching, dry_run=dry_run)


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

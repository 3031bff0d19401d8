"""What may be sent of forgetting: filters, reasons, holds, retention rules."""

from typing import Annotated, Literal

from pydantic import Field

from timemachine.core.pure.schemas import Strict
from timemachine.governance.deletion.retention.session_filter import LONGEST_DAYS, Which, which_of
from timemachine.recording.sessions.pure.vocabulary import Kind

Days = Annotated[int, Field(ge=1, le=LONGEST_DAYS)]


class WhichIn(Strict):
    """Which sessions are meant: those of the list's filters, `named` in names and keys, and `older_than_days`; all that is given must hold."""

    q: str = ""
    named: str = ""
    agent: str = ""
    user: str = ""
    status: Literal["recording", "ended", ""] = ""
    tag: str = ""
    tool: str = ""
    kind: Literal[Kind, ""] = ""
    model: str = ""
    since: str = ""
    until: str = ""
    min_cost: float | None = Field(default=None, ge=0)
    older_than_days: Days | None = None

    def which(self) -> Which:
        """The filter. Raises `InvalidInput` where it asks for nothing."""
        return which_of(self.model_dump())


class TurnErasure(Strict):
    """Why a turn is deleted."""

    reason: str = ""


class HoldIn(Strict):
    """Sessions by their ids or keys, or a filter; and why they have to stay. With `dry_run` it is only said how many those are."""

    reason: str = ""
    sessions: list[str] = Field(default_factory=list, max_length=1_000)
    filter: WhichIn | None = None
    dry_run: bool = False


class ReleaseIn(Strict):
    """Why sessions need not stay any more; all of the hold, or these."""

    reason: str = ""
    sessions: list[str] = Field(default_factory=list, max_length=1_000)


class ForgettingIn(Strict):
    """Which sessions are to be deleted."""

    filter: WhichIn


class ForgettingConfirmation(Strict):
    """Why they are deleted."""

    reason: str = ""


class RetentionRuleIn(Strict):
    """How long the sessions of an agent, with a tag, both, or all others are kept: `days`, null for good. With `dry_run` nothing is set."""

    agent: str = ""
    tag: str = ""
    days: Days | None = None
    reason: str = ""
    dry_run: bool = False

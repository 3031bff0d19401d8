"""What may be asked of costs, of what steps add up to, and of the search."""

from typing import Literal

from pydantic import Field

from timemachine.core.pure.schemas import Strict
from timemachine.recording.sessions.pure.vocabulary import Kind


class CostFilter(Strict):
    """Which recorded work is added up, and by what; an empty text asks for any. `since` and `until` are days in UTC, both included."""

    by: str = "model"
    since: str = ""
    until: str = ""
    agent: str = ""
    model: str = ""
    tag: str = ""
    tool: str = ""
    limit: int = 50
    after: str | None = None


class SearchIn(Strict):
    """What is searched for, and where; an empty text asks for any, and all that is asked for must hold.

    `since` and `until` are about the step: RFC 3339, or a date for the whole day. `status` is the step's (`error`, `ok`) or its session's
    (`recording`, `ended`); `user` and `min_cost` (USD) are its session's, `tag` is of either.
    """

    q: str
    mode: Literal["hybrid", "text", "semantic"] = "hybrid"
    kind: Literal[Kind, ""] = ""
    tool: str = ""
    model: str = ""
    agent: str = ""
    status: Literal["error", "ok", "recording", "ended", ""] = ""
    since: str = ""
    until: str = ""
    session: str = ""
    user: str = ""
    tag: str = ""
    min_cost: float | None = Field(default=None, ge=0)
    limit: int = 50
    after: str | None = None

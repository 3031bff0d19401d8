"""What may be asked of costs, of what steps add up to, and of the search."""

from timemachine.api.schemas import Strict


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


class TotalsFilter(Strict):
    """Which steps of a session are added up (the language of the timeline's filter; an empty text for all), and by what."""

    by: str = "kind"
    filter: str = ""
    limit: int = 50
    after: str | None = None


class SearchIn(Strict):
    """What is searched for, and where; an empty text asks for any, and all that is asked for must hold.

    `since` and `until` are about the step: RFC 3339, or a date for the whole day. `status` is the step's (`error`, `ok`) or its session's
    (`recording`, `ended`); `user` and `min_cost` (USD) are its session's, `tag` is of either.
    """

    q: str
    mode: str = "hybrid"
    kind: str = ""
    tool: str = ""
    model: str = ""
    agent: str = ""
    status: str = ""
    since: str = ""
    until: str = ""
    session: str = ""
    user: str = ""
    tag: str = ""
    min_cost: float | None = None
    limit: int = 50
    after: str | None = None

"""What may be asked of costs."""

from timemachine.core.pure.schemas import Strict


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

"""What programs send and ask about patterns: names and types of every field."""

from typing import Literal

from pydantic import Field

from timemachine.core.pure.schemas import Strict
from timemachine.memory.patterns.models import FEWEST_SESSIONS, MOST_SESSIONS
from timemachine.memory.patterns.pure.step_texts import Kind
from timemachine.memory.patterns.reader import LONGEST


class PatternsIn(Strict):
    """Which patterns are asked for; an empty text asks for any, and all that is asked for must hold.

    `since` is about when it was seen last: RFC 3339, or a date for the whole day. `similar_to` and `text` go with `kind` only, and are not empty.
    """

    kind: Literal[Kind, ""] = ""
    q: str = ""
    since: str = ""
    solved: Literal["yes", "no", ""] = ""
    min_sessions: int = Field(default=FEWEST_SESSIONS, ge=1, lt=2**31)
    similar_to: str = ""
    text: str = Field(default="", max_length=LONGEST)
    limit: int = 50
    after: str | None = None


class PatternRuleIn(Strict):
    """When a pattern is worth telling: again in so many sessions of one window; without a `kind` errors and questions."""

    sessions: int = Field(ge=FEWEST_SESSIONS, le=MOST_SESSIONS)
    window: Literal["day", "week", "month"]
    kind: Kind | None = None
    url: str = ""

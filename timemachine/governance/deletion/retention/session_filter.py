"""Filters for sessions, by their properties and by the time since their last activity."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.schemas import Strict
from timemachine.recording.sessions.pure.vocabulary import Kind

LONGEST_DAYS: Final = 36_500
LONGEST: Final = 1_000
Days = Annotated[int, Field(ge=1, le=LONGEST_DAYS)]


class SessionSelection(Strict):
    """Which sessions are meant: they must match every filter that is given.

    The filters are those of the list of sessions, and `named`, which is searched for in names and keys. With `older_than_days`, nothing was
    recorded in a session for at least this many days.
    """

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

    @property
    def given(self) -> JsonObject:
        """Return the given values by name."""
        return {name: value for name, value in self if value not in ("", None)}

    def words(self) -> str:
        """Return the filter in words: `tag: test, older than 90 days`."""
        parts = [
            f"{name.replace('_', ' ')}: {value}"
            for name, value in self.given.items()
            if name != "older_than_days"
        ]
        if self.older_than_days is not None:
            parts.append(f"older than {counted(self.older_than_days, 'day')}")
        return ", ".join(parts)

    def checked(self) -> Self:
        """Return the filter. Raises `InvalidInput` if it is invalid, or empty, which would match every session."""
        if not self.given:
            raise InvalidInput(
                "Choose sessions by agent, user, tag, age, status, name or another filter. An empty filter would match all of them.",
                code="nothing_chosen",
                field="filter",
            )
        if any(isinstance(value, str) and len(value) > LONGEST for value in self.given.values()):
            raise InvalidInput(
                f"A filter can have at most {LONGEST:,} characters.", code="invalid_field", field="filter"
            )
        if self.min_cost is not None and not self.min_cost > 0:
            raise InvalidInput(
                "`min_cost` must be above 0; 0 would match every session with a known cost.",
                code="invalid_field",
                field="min_cost",
            )
        days = self.older_than_days
        if days is not None and not 1 <= days <= LONGEST_DAYS:
            raise InvalidInput(
                f"`older_than_days` must be a whole number from 1 to {LONGEST_DAYS:,}.",
                code="invalid_field",
                field="older_than_days",
            )
        return self


NAMES: Final = tuple(SessionSelection.model_fields)


def read_filter(given: Mapping[str, Any]) -> SessionSelection:
    """Return the filter with these values. Raises `InvalidInput` as `checked` does."""
    chosen = {name: value for name, value in given.items() if value not in ("", None)}
    return SessionSelection.model_construct(**chosen).checked()

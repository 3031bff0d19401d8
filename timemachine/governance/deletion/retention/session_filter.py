"""Filters for sessions, by their properties and by the time since their last activity. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted

LONGEST_DAYS: Final = 36_500
LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """A filter for sessions; all given values must match. They mean the same as in the list of sessions;
    `named` is searched in names and keys.

    `older_than_days`: the session neither started nor ended nor recorded anything in that many days.
    """

    q: str = ""
    named: str = ""
    agent: str = ""
    user: str = ""
    status: str = ""
    tag: str = ""
    tool: str = ""
    kind: str = ""
    model: str = ""
    since: str = ""
    until: str = ""
    min_cost: float | None = None
    older_than_days: int | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Return the given values by name."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

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


NAMES: Final = tuple(each.name for each in fields(SessionFilter))


def read_filter(given: Mapping[str, Any]) -> SessionFilter:
    """Return the filter. Raises `InvalidInput` if it is invalid, or empty, which would match every session."""
    found = SessionFilter(**{name: value for name, value in given.items() if value not in ("", None)})
    if not found.given:
        raise InvalidInput(
            "Choose sessions by agent, user, tag, age, status, name or another filter. An empty filter would match all of them.",
            code="nothing_chosen",
            field="filter",
        )
    if any(isinstance(value, str) and len(value) > LONGEST for value in found.given.values()):
        raise InvalidInput(
            f"A filter must have at most {LONGEST:,} characters.", code="invalid_field", field="filter"
        )
    if found.min_cost is not None and not found.min_cost > 0:
        raise InvalidInput(
            "`min_cost` must be above 0; 0 would match every session with a known cost.",
            code="invalid_field",
            field="min_cost",
        )
    days = found.older_than_days
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(
            f"`older_than_days` must be a whole number from 1 to {LONGEST_DAYS:,}.",
            code="invalid_field",
            field="older_than_days",
        )
    return found

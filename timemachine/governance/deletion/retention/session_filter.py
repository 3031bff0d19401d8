"""Which sessions are meant together: by what they are, by how long ago something was last recorded in them. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted

LONGEST_DAYS: Final = 36_500
LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Sessions that fulfil all that is given; an empty text asks for any. The words are those of the list of sessions, `named` is looked for in names and keys.

    `older_than_days`: nothing was recorded in them for so many days, and they did not begin or end since either.
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
        """What is asked for, by its name."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

    def words(self) -> str:
        """In words: `tag: test, older than 90 days`."""
        told = [
            f"{name.replace('_', ' ')}: {value}"
            for name, value in self.given.items()
            if name != "older_than_days"
        ]
        if self.older_than_days is not None:
            told.append(f"older than {counted(self.older_than_days, 'day')}")
        return ", ".join(told)


NAMES: Final = tuple(each.name for each in fields(Which))


def which_of(given: Mapping[str, Any]) -> Which:
    """What was asked for. Raises `InvalidInput` where that is nothing, which would mean every session, or cannot be."""
    found = Which(**{name: value for name, value in given.items() if value not in ("", None)})
    if not found.given:
        raise InvalidInput(
            "Say which sessions: by agent, user, tag, age, status, name or another of their filters. Nothing given would mean all of them.",
            code="nothing_chosen",
            field="filter",
        )
    if any(isinstance(value, str) and len(value) > LONGEST for value in found.given.values()):
        raise InvalidInput(
            f"A filter has at most {LONGEST:,} characters; shorten it.", code="invalid_field", field="filter"
        )
    if found.min_cost is not None and not found.min_cost > 0:
        raise InvalidInput(
            "`min_cost` is an amount above 0: 0 fits every session whose cost is known.",
            code="invalid_field",
            field="min_cost",
        )
    days = found.older_than_days
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(
            f"`older_than_days` is a whole number from 1 to {LONGEST_DAYS:,}.",
            code="invalid_field",
            field="older_than_days",
        )
    return found

"""The sessions of a suite in addition to those that it names: the newest that match a description when it runs."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.schemas import Strict

MOST: Final = 200
LONGEST: Final = 200


class Matching(Strict):
    """The newest `most` sessions of this agent, user and tag, with `q` in their name or key. An empty text matches any."""

    q: str = ""
    agent: str = ""
    user: str = ""
    tag: str = ""
    most: int = 20

    @property
    def texts(self) -> dict[str, str]:
        """Return the conditions by name."""
        return {name: value for name, value in self if name != "most" and value}

    def as_json(self) -> dict[str, Any]:
        """Return the stored form: the conditions and the maximum number."""
        return {**self.texts, "most": self.most}

    def words(self) -> str:
        """Return for example `the newest 20 sessions with tag regression`."""
        asked = ", ".join(f"{name} {value}" for name, value in self.texts.items())
        return f"the newest {counted(self.most, 'session')} with {asked}"


def matching_of(stored: Mapping[str, Any] | None) -> Matching | None:
    """Return the description that `as_json` stored."""
    return None if stored is None else Matching(**stored)


def check_matching(matching: Matching) -> None:
    """Raise `InvalidInput` if there is no condition, or if the number is out of range."""
    if not any(value.strip() for value in matching.texts.values()):
        raise _invalid("needs at least one of `q`, `agent`, `user` and `tag`")
    if any(len(value) > LONGEST for value in matching.texts.values()):
        raise _invalid(f"must have texts of at most {LONGEST} characters")
    if not 1 <= matching.most <= MOST:
        raise _invalid(f"must take the newest 1 to {MOST} sessions (`most`)")


def _invalid(says: str) -> InvalidInput:
    return InvalidInput(f"`matching` {says}.", code="invalid_field", field="matching")

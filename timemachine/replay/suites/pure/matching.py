"""The sessions of a suite beside those that it names: the newest that fit a description when it runs. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.schemas import Strict

MOST: Final = 200
LONGEST: Final = 200


class Matching(Strict):
    """The newest `most` sessions of this agent, user and tag, with `q` in their name or key; an empty text asks for any."""

    q: str = ""
    agent: str = ""
    user: str = ""
    tag: str = ""
    most: int = 20

    @property
    def texts(self) -> dict[str, str]:
        """What is asked for, by its name."""
        return {name: value for name, value in self if name != "most" and value}

    def as_json(self) -> dict[str, Any]:
        """As it is kept: what is asked for, and how many at most."""
        return {**self.texts, "most": self.most}

    def words(self) -> str:
        """In words: `the newest 20 sessions with tag regression`."""
        asked = ", ".join(f"{name} {value}" for name, value in self.texts.items())
        return f"the newest {counted(self.most, 'session')} with {asked}"


def matching_of(kept: Mapping[str, Any] | None) -> Matching | None:
    """What `as_json` kept."""
    return None if kept is None else Matching(**kept)


def check_matching(matching: Matching) -> None:
    """Raise `InvalidInput` where it asks for nothing, or for too many."""
    if not any(value.strip() for value in matching.texts.values()):
        raise _invalid("asks for at least one of `q`, `agent`, `user` and `tag`")
    if any(len(value) > LONGEST for value in matching.texts.values()):
        raise _invalid(f"asks for texts of at most {LONGEST} characters")
    if not 1 <= matching.most <= MOST:
        raise _invalid(f"takes the newest 1 to {MOST} sessions (`most`)")


def _invalid(says: str) -> InvalidInput:
    return InvalidInput(f"`matching` {says}.", code="invalid_field", field="matching")

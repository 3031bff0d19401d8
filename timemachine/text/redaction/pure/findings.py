"""One thing that a rule found in a text. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """Characters `start` to before `end` of a text. `rule` is what its mark says, `what` the kind of it in words."""

    start: int
    end: int
    rule: str
    what: str

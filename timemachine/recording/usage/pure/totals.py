"""Totals up to a step, folded from parts: a part is one action, or a sum from the database.

`add` is associative and `NOTHING` is its neutral element, so any grouping of the same actions gives the same totals.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import reduce

from timemachine.core.pure.numbers import sum_known


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What every sum of actions has.

    Tokens are None if no action recorded any, US dollars if none was priced. `unknown_cost_calls` are calls of unknown
    cost, which are in no sum. `cached_calls` were answered from the answer cache and saved `saved_usd`, which does not
    cover `unknown_saved_calls`.
    """

    errors: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    unknown_cost_calls: int = 0
    cached_calls: int = 0
    saved_usd: Decimal | None = None
    unknown_saved_calls: int = 0

    @property
    def tokens(self) -> int | None:
        """Input plus output tokens; None if neither was recorded."""
        return sum_known(self.input_tokens, self.output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Counts):
    """Counts and the time range of some actions.

    `first` and `last` are the earliest recorded start and the latest recorded end, None if no time was recorded.
    """

    kinds: Mapping[str, int] = field(default_factory=dict)
    first: datetime | None = None
    last: datetime | None = None

    @property
    def actions(self) -> int:
        """The number of actions."""
        return sum(self.kinds.values())

    @property
    def elapsed_ms(self) -> float | None:
        """Milliseconds from the first start to the last end; None if no time was recorded."""
        if self.first is None or self.last is None:
            return None
        return (self.last - self.first) / timedelta(milliseconds=1)


NOTHING = Totals()


def add(one: Totals, other: Totals) -> Totals:
    """Return the totals of both."""
    kinds = dict(one.kinds)
    for kind, number in other.kinds.items():
        kinds[kind] = kinds.get(kind, 0) + number
    return Totals(
        kinds=kinds,
        errors=one.errors + other.errors,
        input_tokens=sum_known(one.input_tokens, other.input_tokens),
        output_tokens=sum_known(one.output_tokens, other.output_tokens),
        cost_usd=sum_known(one.cost_usd, other.cost_usd),
        unknown_cost_calls=one.unknown_cost_calls + other.unknown_cost_calls,
        cached_calls=one.cached_calls + other.cached_calls,
        saved_usd=sum_known(one.saved_usd, other.saved_usd),
        unknown_saved_calls=one.unknown_saved_calls + other.unknown_saved_calls,
        first=min((moment for moment in (one.first, other.first) if moment), default=None),
        last=max((moment for moment in (one.last, other.last) if moment), default=None),
    )


def fold(parts: Iterable[Totals]) -> Totals:
    """Return the totals of all parts."""
    return reduce(add, parts, NOTHING)

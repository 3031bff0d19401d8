"""Totals up to a step, folded from parts: a part is one action, or a sum from the database.

`fold` is associative and `NOTHING` is its neutral element, so any grouping of the same actions gives the same totals.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

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
        return sum(self.kinds.values())

    @property
    def elapsed_ms(self) -> float | None:
        """Milliseconds from the first start to the last end; None if no time was recorded."""
        if self.first is None or self.last is None:
            return None
        return (self.last - self.first) / timedelta(milliseconds=1)


NOTHING = Totals()


def fold(parts: Iterable[Totals]) -> Totals:
    """Return the totals of all parts."""
    found = list(parts)
    kinds: Counter[str] = Counter()
    for each in found:
        kinds.update(each.kinds)
    return Totals(
        **summed_fields(Counts, found),
        kinds=dict(kinds),
        first=min((each.first for each in found if each.first), default=None),
        last=max((each.last for each in found if each.last), default=None),
    )


def summed_fields(counts: type[Counts], several: Sequence[Counts]) -> Mapping[str, Any]:
    """Return the sum of each field of the class. Where None means unknown, a sum is None if all are unknown."""
    sums = {}
    for each in fields(counts):
        amounts = [getattr(one, each.name) for one in several]
        sums[each.name] = sum_known(*amounts) if each.default is None else sum(amounts)
    return sums

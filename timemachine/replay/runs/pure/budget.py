"""Whether a call may start under a spend limit, decided from what was spent and what is reserved. Pure."""

from dataclasses import dataclass, replace
from decimal import Decimal

from timemachine.core.pure.numbers import money

FREE = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """A limit in US dollars, what is `spent` of it, and what is `reserved` for calls under way.

    `uncertain` is what calls were expected to cost of which nobody knows whether they were billed: their worker was lost, they
    were broken off, or they took too long. `unknown` counts the calls under way that nobody could estimate.
    """

    limit: Decimal
    spent: Decimal
    reserved: Decimal
    unknown: int
    uncertain: Decimal = FREE

    @property
    def gone(self) -> Decimal:
        """What is spent, or may be."""
        return self.spent + self.uncertain

    def fits(self, cost: Decimal | None) -> bool:
        """Whether a call that is expected to cost so much may start now. One that nobody can estimate starts alone among its like."""
        if cost == FREE:
            return True
        if cost is None:
            return not self.unknown and self.gone + self.reserved < self.limit
        return self.gone + self.reserved + cost <= self.limit

    def may_fit_later(self, cost: Decimal | None) -> bool:
        """Whether it may fit once what is under way has come to its end, if that costs nothing at all."""
        return replace(self, reserved=FREE, unknown=0).fits(cost)

    def why_not(self, cost: Decimal | None, whose: str) -> str:
        """A sentence on why it does not fit."""
        expected = "what it costs is unknown" if cost is None else f"it is expected to cost {money(cost)}"
        maybe = f" and {money(self.uncertain)} more may have been billed" if self.uncertain else ""
        return (
            f"The spend limit of this {whose} was reached: {money(self.spent)} of {money(self.limit)} is spent{maybe}, "
            f"so the call was not made; {expected}."
        )

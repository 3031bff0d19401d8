"""Whether a call may start under a spend limit, given what was spent and what is reserved."""

from dataclasses import dataclass, replace
from decimal import Decimal

from timemachine.core.pure.numbers import money

FREE = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A spend limit in US dollars: the `limit`, what is `spent`, and what is `reserved` for running calls.

    `uncertain` is the expected cost of calls that may have been billed: their worker was lost, they were
    cancelled, or they timed out. `unknown` counts the running calls whose cost could not be estimated.
    """

    limit: Decimal
    spent: Decimal
    reserved: Decimal
    unknown: int
    uncertain: Decimal = FREE

    @property
    def committed(self) -> Decimal:
        """Return what was spent or may have been billed."""
        return self.spent + self.uncertain

    def plus(self, other: "Budget") -> "Budget":
        """Return the same limit with the calls of both."""
        return replace(
            self,
            spent=self.spent + other.spent,
            reserved=self.reserved + other.reserved,
            unknown=self.unknown + other.unknown,
            uncertain=self.uncertain + other.uncertain,
        )

    def fits(self, cost: Decimal | None) -> bool:
        """Return whether a call with this expected cost may start now. Calls of unknown cost start one at a time."""
        if cost == FREE:
            return True
        if cost is None:
            return not self.unknown and self.committed + self.reserved < self.limit
        return self.committed + self.reserved + cost <= self.limit

    def may_fit_later(self, cost: Decimal | None) -> bool:
        """Return whether the call would fit if the running calls cost nothing."""
        return replace(self, reserved=FREE, unknown=0).fits(cost)

    def refusal(self, cost: Decimal | None, whose: str) -> str:
        """Return a sentence that says why the call does not fit."""
        expected = "its cost is unknown" if cost is None else f"it is expected to cost {money(cost)}"
        maybe = f" and {money(self.uncertain)} more may have been billed" if self.uncertain else ""
        return (
            f"The spend limit of this {whose} was reached: {money(self.spent)} of {money(self.limit)} is spent{maybe}, "
            f"so the call was not made; {expected}."
        )

"""How many steps a model answered, with the right noun: asks, model calls, or both."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from timemachine.core.pure.numbers import counted

ASK: Final = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSteps:
    """How many asks and how many model calls there are."""

    asks: int = 0
    model_calls: int = 0

    @classmethod
    def of(cls, kinds: Iterable[str]) -> Self:
        """Count steps by their kinds, each `ask` or `llm_call`."""
        asks = [kind == ASK for kind in kinds]
        return cls(asks=sum(asks), model_calls=len(asks) - sum(asks))

    @property
    def total(self) -> int:
        return self.asks + self.model_calls

    @property
    def noun(self) -> str:
        """Return what one of them is called: `ask`, `model call`, or `step` if there are both or none."""
        if bool(self.asks) is bool(self.model_calls):
            return "step"
        return "ask" if self.asks else "model call"

    @property
    def words(self) -> str:
        """Return the counts: `12 asks`, `35 model calls`, `12 asks and 35 model calls`."""
        parts = {"ask": self.asks, "model call": self.model_calls}
        return " and ".join(counted(number, noun) for noun, number in parts.items() if number) or "no steps"

    def __str__(self) -> str:
        return self.words

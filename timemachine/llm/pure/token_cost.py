"""What tokens cost at given unit prices. Pure.

`input_tokens` holds what was read from and written to the cache, `output_tokens` what was thought, so each part is taken out of
its whole before it is charged at its own price. A part without a price of its own is charged as the whole is; one that the
provider did not count is not there.
"""

from collections.abc import Mapping
from decimal import Decimal

from timemachine.llm.pure.completion import TokenUsage

_MILLION = 1_000_000


def charge(units: Mapping[str, Decimal], usage: TokenUsage) -> Decimal | None:
    """US dollars for the tokens at these prices per million; None where tokens were not counted, or contradict each other."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    thought = usage.reasoning_tokens or 0
    fresh, said = usage.input_tokens - read - written, usage.output_tokens - thought
    if fresh < 0 or said < 0:
        return None
    total = (
        fresh * units["input"]
        + read * units.get("cache_read", units["input"])
        + written * units.get("cache_write", units["input"])
        + said * units["output"]
        + thought * units.get("reasoning", units["output"])
    )
    return total / _MILLION

"""What a replay or a comparison will cost, said beside its result."""

from typing import Any

from timemachine.cli.terminal import complain
from timemachine.core.pure.numbers import counted, total_cost


def tell_estimate(found: dict[str, Any]) -> None:
    """Say on standard error about what it will cost, model by model or arm by arm, where it may cost anything."""
    for each in found["estimates"]:
        if each["cost_usd"] or each["unknown_cost_calls"]:
            cost = total_cost(each["cost_usd"], each["unknown_cost_calls"])
            name = each.get("name") or each["model"] or "the recorded models"
            complain(f"{counted(each['asks'], 'ask')} with {name}: estimated cost {cost}.")

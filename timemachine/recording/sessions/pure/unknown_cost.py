"""Whether a call of a model has an unknown cost, by what is known of it. Pure."""

from typing import Any, Final

CALLS: Final = ("ask", "llm_call")


def is_unknown_cost(
    kind: str, *, model: str | None, cost_usd: Any, input_tokens: int | None, output_tokens: int | None
) -> bool:
    """A model without a cost, or a call that used tokens without one; a tool in a model's place (no model, no tokens) is no call."""
    is_call = model is not None or (kind in CALLS and bool(input_tokens or output_tokens))
    return cost_usd is None and is_call

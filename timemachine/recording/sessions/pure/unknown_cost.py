"""Whether a model call has an unknown cost."""

from typing import Any, Final

CALLS: Final = ("ask", "llm_call")


def is_unknown_cost(
    kind: str, *, model: str | None, cost_usd: Any, input_tokens: int | None, output_tokens: int | None
) -> bool:
    """Return whether there is a model or token use without a cost. A tool without model and tokens is not a call."""
    is_call = model is not None or (kind in CALLS and bool(input_tokens or output_tokens))
    return cost_usd is None and is_call

"""Which actions are model calls of unknown cost: in no sum, and counted beside every sum.

An action whose model was recorded without a cost, and a call whose tokens were recorded without either. A tool that speaks in a
model's place (no model, no tokens) is no call.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q

from timemachine.recording.models import Action

_TOKENS: Final = ("input_tokens", "output_tokens")
CALLS: Final = ("ask", "llm_call")
UNKNOWN_COST: Final = Q(cost_usd=None) & (
    Q(model__isnull=False) | (Q(kind__in=CALLS) & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0)))
)


def has_unknown_cost(action: Action) -> bool:
    """The same question of one row."""
    facts = {name: getattr(action, name) for name in ("kind", "model", "cost_usd", *_TOKENS)}
    return would_have_unknown_cost(facts)


def would_have_unknown_cost(facts: Mapping[str, Any]) -> bool:
    """The same of a row that is not written yet, by its columns."""
    used_tokens = any(facts[name] for name in _TOKENS)
    is_call = facts["model"] is not None or (facts["kind"] in CALLS and used_tokens)
    return facts["cost_usd"] is None and is_call

"""Which actions are model calls of unknown cost: in no sum, and counted beside every sum.

An action whose model was recorded without a cost, and a call whose tokens were recorded without either. A tool that speaks in a
model's place (no model, no tokens) is no call.
"""

from typing import Final

from django.db.models import Q

from timemachine.recording.models import Action

CALLS: Final = ("ask", "llm_call")
UNKNOWN_COST: Final = Q(cost_usd=None) & (
    Q(model__isnull=False) | (Q(kind__in=CALLS) & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0)))
)


def has_unknown_cost(action: Action) -> bool:
    """The same question of one row."""
    used_tokens = bool(action.input_tokens or action.output_tokens)
    return action.cost_usd is None and (action.model is not None or (action.kind in CALLS and used_tokens))

"""Which actions are model calls of unknown cost: in no sum, and counted beside every sum.

An action whose model was recorded without a cost, and a call whose tokens were recorded without either. A tool that speaks in a
model's place (no model, no tokens) is no call.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q

from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.unknown_cost import CALLS, is_unknown_cost

_FACTS: Final = ("model", "cost_usd", "input_tokens", "output_tokens")
UNKNOWN_COST: Final = Q(cost_usd=None) & (
    Q(model__isnull=False) | (Q(kind__in=CALLS) & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0)))
)


def has_unknown_cost(action: Action) -> bool:
    """The same question of one row."""
    return is_unknown_cost(action.kind, **{name: getattr(action, name) for name in _FACTS})


def would_have_unknown_cost(facts: Mapping[str, Any]) -> bool:
    """The same of a row that is not written yet, by its columns."""
    return is_unknown_cost(facts["kind"], **{name: facts[name] for name in _FACTS})

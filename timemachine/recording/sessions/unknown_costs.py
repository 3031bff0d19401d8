"""Model calls with unknown cost. They are in no sum and are counted separately.

An action with a model but no cost is one, and so is a call with tokens but no cost. A tool that answers in a model's
place (no model, no tokens) is not a call.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Q

from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.unknown_cost import CALLS, is_unknown_cost

_COLUMNS: Final = ("model", "cost_usd", "input_tokens", "output_tokens")
UNKNOWN_COST: Final = Q(cost_usd=None) & (
    Q(model__isnull=False) | (Q(kind__in=CALLS) & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0)))
)


def has_unknown_cost(action: Action) -> bool:
    """Return whether a recorded action has an unknown cost."""
    return is_unknown_cost(action.kind, **{name: getattr(action, name) for name in _COLUMNS})


def would_have_unknown_cost(columns: Mapping[str, Any]) -> bool:
    """Return whether a row to be written has an unknown cost."""
    return is_unknown_cost(columns["kind"], **{name: columns[name] for name in _COLUMNS})

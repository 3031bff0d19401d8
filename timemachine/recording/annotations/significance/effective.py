"""What is in force for a step: what was said of it since, else what was recorded; and, where its session is compressed, what became of that.

One function in the database says it, for queries made of models and for plain SQL alike.
"""

from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, F, FloatField, Func, Q
from django.db.models.functions import Coalesce

SIGNIFICANCE: Final = Coalesce("weight__significance", "significance")
"""The significance of an action; None where nobody gave it one."""

COMPRESSED_NOW: Final = ExpressionWrapper(Q(session__compression__through__gte=F("sequence")), BooleanField())
"""Whether an action lies in the compressed part of its session; None or false where not."""

IMPORTANCE: Final = Func(
    F("weight__importance"),
    F("weight__significance"),
    F("importance"),
    F("significance"),
    COMPRESSED_NOW,
    function="tm_importance",
    output_field=FloatField(),
)
"""The importance of an action, from 0 to 1: what it was given, else what its significance is worth; None where it has neither.

What an exploratory step of a compressed session was recorded with counts no more than `COMPRESSED`.
"""

JOINED: Final = "LEFT JOIN tm_weight now ON now.action_id = a.id LEFT JOIN tm_compression pressed ON pressed.session_id = a.session_id"
"""What plain SQL joins to `tm_action a`, for `SIGNIFICANCE_SQL` and `IMPORTANCE_SQL`."""
SIGNIFICANCE_SQL: Final = "coalesce(now.significance, a.significance)"
IMPORTANCE_SQL: Final = "tm_importance(now.importance, now.significance, a.importance, a.significance, pressed.through >= a.sequence)"

KEPT: Final = ("decision", "solution", "breakthrough")
"""What compression leaves as it is; every other step is exploratory."""
COMPRESSED: Final = 0.30
"""What an exploratory step of a compressed session counts at most."""

"""The effective significance of a step: as changed, else as recorded, and lowered if its session is compressed.

One database function computes the importance, for the ORM and for plain SQL.
"""

from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, F, FloatField, Func, Q
from django.db.models.functions import Coalesce

SIGNIFICANCE: Final = Coalesce("weight__significance", "significance")
"""The significance of an action, or None."""

COMPRESSED_NOW: Final = ExpressionWrapper(Q(session__compression__through__gte=F("sequence")), BooleanField())
"""Whether an action is in the compressed part of its session; None or false if not."""

IMPORTANCE: Final = Func(
    F("weight__importance"),
    F("weight__significance"),
    F("importance"),
    F("significance"),
    COMPRESSED_NOW,
    function="tm_importance",
    output_field=FloatField(),
)
"""The importance of an action from 0 to 1: as given, else by its significance; None if it has neither.

In the compressed part of a session, the recorded importance of an exploratory step counts at most `COMPRESSED`.
"""

JOINED: Final = "LEFT JOIN tm_weight now ON now.action_id = a.id LEFT JOIN tm_compression pressed ON pressed.session_id = a.session_id"
"""Joins for `SIGNIFICANCE_SQL` and `IMPORTANCE_SQL` in plain SQL over `tm_action a`."""
SIGNIFICANCE_SQL: Final = "coalesce(now.significance, a.significance)"
IMPORTANCE_SQL: Final = "tm_importance(now.importance, now.significance, a.importance, a.significance, pressed.through >= a.sequence)"

KEPT: Final = ("decision", "solution", "breakthrough")
"""Significances that compression does not lower; every other step is exploratory."""
COMPRESSED: Final = 0.30
"""Maximum importance of an exploratory step of a compressed session."""

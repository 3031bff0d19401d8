"""Actions with everything that is shown of them."""

from collections.abc import Sequence

from django.db.models import Prefetch, QuerySet

from timemachine.recording.annotations.significance.effective import KEPT
from timemachine.recording.annotations.significance.queries import in_force
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.timeline.schemas.actions import ActionOut


def with_everything(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Return the actions with everything that `ActionOut.of` reads: two queries for any number."""
    hits = Prefetch("hits", Hit.objects.select_related("payload").order_by("rank"))
    return actions.select_related("input", "output", "source").prefetch_related(hits)


def with_significance(session: Session, actions: Sequence[ActionOut]) -> list[ActionOut]:
    """Return the actions with their effective significance and importance. One query.

    If these differ from the record, `recorded` has the recorded values, and `weighed` who changed them and when, or
    that the session was compressed.
    """
    changed = in_force(session, [each.sequence for each in actions])
    found = []
    for action in actions:
        now = changed.get(action.sequence)
        is_recorded = now is None or (now.by is None and action.significance in KEPT)
        found.append(action if now is None or is_recorded else action.in_force(now))
    return found

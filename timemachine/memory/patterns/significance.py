"""The significance of a step as patterns use it: the one in force now."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.recording.annotations.significance.queries import SIGNIFICANCE
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import HAPPENED_HERE

SOLVING: Final = ("solution", "breakthrough")
"""The significances of a step that solved something."""
CHANGED_SINCE: Final = """
SELECT r.session_id FROM tm_read_session r
WHERE r.project_id = %s AND EXISTS (
    SELECT FROM tm_weight_change c WHERE c.session_id = r.session_id AND c.at > r.began_at - interval '5 seconds'
)
"""
"""The sessions of a project whose significance has changed since they were read, with some seconds' margin for
late commits.
"""


def with_significance(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Annotate the steps with the significance in force, for `significance_of`."""
    return actions.annotate(in_force=SIGNIFICANCE)


def significance_of(action: Action) -> str | None:
    """Return the significance of a step from `weighed`, or None."""
    found: str | None = action.in_force  # type: ignore[attr-defined]  # `weighed` puts it there
    return found


def solving_steps(session_id: UUID, after: int, through: int) -> list[int]:
    """Return the steps of a session after `after` up to `through` that are marked as solutions, in order. Two
    queries.

    Deleted and copied steps are left out.
    """
    found = Action.objects.filter(
        HAPPENED_HERE, session_id=session_id, sequence__gt=after, sequence__lte=through
    )
    solving = found.annotate(in_force=SIGNIFICANCE).filter(in_force__in=SOLVING)
    sequences = list(solving.order_by("sequence").values_list("sequence", flat=True))
    deletions = deletions_of(session_id, sequences) if sequences else {}
    return [each for each in sequences if each not in deletions]

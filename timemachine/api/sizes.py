"""How many bytes of payload stand behind a row of a list, by what is kept beside them: nothing is loaded to find out."""

from django.db.models import Expression, F, Model, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from timemachine.recording.sessions.models import Hit
from timemachine.replay.runs.models import ReplayHit


def of_frame() -> Expression:
    """The bytes of a frame's text."""
    return _together("payload")


def of_action() -> Expression:
    """The bytes of an action's input, output and source, and of the passages that were found."""
    return _together("input", "output", "source") + _hits(Hit, "action")


def of_replay_step() -> Expression:
    """The bytes of what was recorded, of what the replay came to, and of the passages that it found."""
    return _together("action__input", "action__output", "output") + _hits(ReplayHit, "step")


def _together(first: str, *others: str) -> Expression:
    total: Expression = Coalesce(F(f"{first}__size"), 0)
    for name in others:
        total += Coalesce(F(f"{name}__size"), 0)
    return total


def _hits(model: type[Model], owner: str) -> Expression:
    hits = model._base_manager.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
    return Coalesce(Subquery(hits.annotate(bytes=Sum("payload__size")).values("bytes")), 0)

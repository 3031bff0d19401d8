"""How many bytes of payload rows refer to, for reading as many rows at a time as fit into memory."""

from django.db.models import Expression, F, Model, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from timemachine.recording.sessions.models import Hit


def size_of_action() -> Expression:
    """Return the number of bytes of an action's input, output, source and found passages."""
    return size_of_payloads("input", "output", "source") + size_of_passages(Hit, "action")


def size_of_payloads(first: str, *others: str) -> Expression:
    """Return the number of bytes of the payloads that these foreign keys name, 0 for those that are empty."""
    total: Expression = Coalesce(F(f"{first}__size"), 0)
    for name in others:
        total += Coalesce(F(f"{name}__size"), 0)
    return total


def size_of_passages(model: type[Model], owner: str, row: str = "pk") -> Expression:
    """Return the number of bytes of the passages of `model` whose `owner` is the `row` of the query."""
    hits = model._base_manager.filter(**{owner: OuterRef(row)}).order_by().values(owner)
    return Coalesce(Subquery(hits.annotate(bytes=Sum("payload__size")).values("bytes")), 0)

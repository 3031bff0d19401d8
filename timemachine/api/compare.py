"""Two sessions or replays over HTTP, aligned step by step."""

from typing import Literal

from django.http import HttpRequest
from ninja import Router

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit
from timemachine.api.paging import read as read_place
from timemachine.replay.alignment.queries import aligned
from timemachine.replay.alignment.schemas import AlignmentOut, SideOut, StepPairOut

router = Router(tags=["compare"])


@router.get("", response=AlignmentOut, summary="Two sessions or replays, aligned")
def compare(
    request: HttpRequest,
    a: str,
    b: str,
    show: Literal[
        "all", "changed", "modified", "moved", "only_left", "only_right", "not_asked", "same"
    ] = "all",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> AlignmentOut:
    """The steps of both in pairs, aligned by what they are: `same`, `modified`, `moved`, `only_left` (only `a` has it), `only_right` or `not_asked` (left out for a spend limit).

    A step that `moved` is in two pairs, at its place in `a` and at its place in `b`, and counts once.

    `a` and `b` are a session's id or key, or a replay's id. Two runs of one session are paired by sequence; against a replay
    only finds and asks are compared.
    """
    project = caller(request, "read").project
    size = checked_limit(limit)
    behind = -1 if after is None else read_place(after, paging.number)
    found = aligned(project, a, b)
    places = [place for place in found.shown(show) if place > behind]
    shown = places[:size]
    return AlignmentOut.model_construct(
        a=SideOut.of(found.left),
        b=SideOut.of(found.right),
        compared="finds_and_asks" if found.only_replayed else "steps",
        counts=found.counts,
        items=[StepPairOut.of(found, place) for place in shown],
        next=paging.written([shown[-1]]) if len(places) > size else None,
    )

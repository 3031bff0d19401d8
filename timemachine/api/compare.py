"""Two sessions or replays over HTTP, aligned step by step."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.replay.alignment.document import compared_json, pair_json
from timemachine.replay.alignment.queries import aligned

router = Router(tags=["compare"])


@router.get("", summary="Two sessions or replays, aligned")
def compare(
    request: HttpRequest,
    a: str,
    b: str,
    show: Literal[
        "all", "changed", "modified", "moved", "only_left", "only_right", "not_asked", "same"
    ] = "all",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> dict[str, Any]:
    """The steps of both in pairs, `same`, `modified`, `moved`, `only_left` (only `a` has it), `only_right` or `not_asked` (left out for a spend limit), aligned by what they are.

    A step that `moved` stands in two pairs, at its place in `a` and at that in `b`, and counts once.

    `a` and `b` are a session's id or key, or a replay's id. Two runs of one session are paired by sequence; against a replay
    only finds and asks are compared.
    """
    project = caller(request, "read").project
    size = checked_limit(limit)
    behind = -1 if after is None else read_place(after, paging.number)
    found = aligned(project, a, b)
    places = [place for place in found.shown(show) if place > behind]
    listed = page(places[: size + 1], size, lambda place: [place], lambda place: pair_json(found, place))
    return {**compared_json(found), **listed}

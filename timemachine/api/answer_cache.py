"""The project's answer cache over HTTP: what it holds, its switch, emptying it."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from timemachine.accounts.models import Project
from timemachine.answering import cache_upkeep
from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.base.clock import written

router = Router(tags=["answer cache"])


@router.get("", summary="The answer cache")
def read(request: HttpRequest) -> dict[str, Any]:
    """Whether the cache is on and since when, how many answers it holds, and of how many bytes."""
    return _document(caller(request, "read").project)


@router.patch("", summary="Switch the answer cache on or off")
def switch(request: HttpRequest, payload: schemas.AnswerCacheChange) -> dict[str, Any]:
    """While it is off, answers are neither read from it nor kept in it; what it holds stays."""
    who = caller(request, "admin")
    cache_upkeep.switch(who.project, on=payload.on, by=who.by)
    return _document(who.project)


@router.delete("", summary="Empty the answer cache")
def empty(request: HttpRequest) -> dict[str, Any]:
    """Take every answer out of the cache. What sessions recorded stays."""
    return {"removed": cache_upkeep.empty(caller(request, "admin").project)}


def _document(project: Project) -> dict[str, Any]:
    figures = cache_upkeep.figures_of(project)
    return {
        "on": figures.on,
        "changed_by": figures.changed_by,
        "changed_at": written(figures.changed_at),
        "answers": figures.answers,
        "bytes": figures.bytes,
        "most_bytes": figures.most_bytes,
    }

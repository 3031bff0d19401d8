"""The project's answer cache over HTTP: what it holds, its switch, emptying it."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.recording.answering import cache_maintenance

router = Router(tags=["answer cache"])


@router.get("", summary="The answer cache")
def read(request: HttpRequest) -> dict[str, Any]:
    """Whether the cache is on and since when, how many answers it holds, and of how many bytes."""
    return _document(caller(request, "read").project)


@router.patch("", summary="Switch the answer cache on or off")
def switch(request: HttpRequest, payload: schemas.AnswerCacheChange) -> dict[str, Any]:
    """While it is off, answers are neither read from it nor kept in it; what it holds stays."""
    who = caller(request, "admin")
    cache_maintenance.switch(who.project, on=payload.on, by=who.by)
    return _document(who.project)


@router.delete("", summary="Empty the answer cache")
def empty(request: HttpRequest) -> dict[str, Any]:
    """Take every answer out of the cache. What sessions recorded stays."""
    return {"removed": cache_maintenance.empty(caller(request, "admin").project)}


def _document(project: Project) -> dict[str, Any]:
    figures = cache_maintenance.figures_of(project)
    return {
        "on": figures.on,
        "changed_by": figures.changed_by,
        "changed_at": written(figures.changed_at),
        "answers": figures.answers,
        "bytes": figures.bytes,
        "most_bytes": figures.most_bytes,
    }

"""The project's answer cache over HTTP: what it holds, its switch, emptying it."""

from django.http import HttpRequest
from ninja import Router

from timemachine.api.access import caller
from timemachine.recording.answering import cache_maintenance
from timemachine.recording.answering.schemas import AnswerCacheChange, AnswerCacheEmptied, AnswerCacheOut

router = Router(tags=["answer cache"])


@router.get("", response=AnswerCacheOut, summary="The answer cache")
def read(request: HttpRequest) -> AnswerCacheOut:
    """Whether the cache is on and since when, how many answers it holds, and how many bytes these have."""
    return AnswerCacheOut.of(cache_maintenance.figures_of(caller(request, "read").project))


@router.patch("", response=AnswerCacheOut, summary="Switch the answer cache on or off")
def switch(request: HttpRequest, payload: AnswerCacheChange) -> AnswerCacheOut:
    """While the cache is off, answers are neither read from it nor added to it; what it holds stays."""
    who = caller(request, "admin")
    cache_maintenance.switch(who.project, on=payload.on, by=who.by)
    return AnswerCacheOut.of(cache_maintenance.figures_of(who.project))


@router.delete("", response=AnswerCacheEmptied, summary="Empty the answer cache")
def empty(request: HttpRequest) -> AnswerCacheEmptied:
    """Remove every answer from the cache. What sessions recorded stays."""
    removed = cache_maintenance.empty(caller(request, "admin").project)
    return AnswerCacheEmptied.model_construct(removed=removed)

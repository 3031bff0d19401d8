"""Recall across sessions over HTTP."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router
from pydantic import Field

from timemachine.api.access import caller
from timemachine.core.pure.schemas import Strict
from timemachine.memory.recall.document import recollection_json
from timemachine.memory.recall.queries import recall as recalled
from timemachine.memory.recall.questions import MOST_AROUND, MOST_QUERIES, MOST_RESULTS, MOST_TOKENS, Wanted
from timemachine.recording.sessions.pure.vocabulary import Kind, Significance

router = Router(tags=["memory"])


class RecallIn(Strict):
    """What is asked of earlier sessions, and which turns are looked at; an empty text or list asks for any.

    `agent` is the step's own, else its session's; of several `tags` (of a step or its session), `kinds` and `significances` one is enough.
    `since` and `until` are about the step: RFC 3339, or a date for the whole day. `session` looks at one session only; of `besides`, the session
    that asks, nothing is found, and the last session is the one before it.
    """

    queries: list[str] = Field(min_length=1, max_length=MOST_QUERIES)
    mode: Literal["hybrid", "text", "semantic"] = "hybrid"
    agent: str = ""
    user: str = ""
    session: str = ""
    besides: str = ""
    tags: list[str] = Field(default_factory=list)
    kinds: list[Kind] = Field(default_factory=list)
    significances: list[Significance] = Field(default_factory=list)
    min_importance: float | None = Field(default=None, ge=0, le=1)
    since: str = ""
    until: str = ""
    time_words: bool = True
    past_times: bool = False
    time_zone: str = "UTC"
    around: int = Field(default=0, ge=0, le=MOST_AROUND)
    limit: int = Field(default=10, ge=1, le=MOST_RESULTS)
    budget: int | None = Field(default=None, ge=1, le=MOST_TOKENS)


@router.post("", summary="Recall across sessions")
def recall(request: HttpRequest, payload: RecallIn) -> dict[str, Any]:
    """What earlier sessions say to each of the `queries`, questions as people ask them: at most `limit` turns each, best first, with session and step.

    A turn need not hold all of the words. Words of time ("last Tuesday", "in May", "last session") say which turns are looked at, in the
    `time_zone`; each item says in `times` what was read as which time, in UTC (of the `sessions` before: `relation`, whether within, before or after them), in `unread` what looks like a time and is none that is over, and why, and `looked_for` what is left; `time_words: false` reads none,
    `past_times: true` only those that look back ("last week", "2 days ago"), for a message that may plan as well as ask.
    A query that names nothing to look for brings the most important turns of its time; `nothing` is why there are no results, null where there are. `around` adds so many turns before and behind each
    result, of each at most 8 KiB of its input, output and error, and says where one is `cut`; the queries, times the `limit`, times those turns
    and the result itself are at most 1,000. With `budget` there is a `text` for a prompt, of at most so many tokens: the best turns, each with the
    solution, breakthrough and decision behind it in its session; equal words of several sessions once. Where turns were found and none fits, `tokens.least` says how many tokens the shortest takes.
    """
    project = caller(request, "read").project
    return recollection_json(recalled(project, _wanted(payload)))


def _wanted(payload: RecallIn) -> Wanted:
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in payload.model_dump().items()
    }
    return Wanted(**given)  # type: ignore[arg-type]  # pydantic has checked them

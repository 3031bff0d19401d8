"""Search and recall across sessions over HTTP."""

from django.http import HttpRequest
from ninja import Query, Router

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.core.replica import read_from_replica
from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.queries import search as searched
from timemachine.memory.search.recall.queries import recall as recalled
from timemachine.memory.search.recall.schemas import RecallIn, RecallOut
from timemachine.memory.search.schemas import SearchIn, SearchPage

router = Router(tags=["search"])


@router.get("", response=SearchPage, summary="Search across sessions", exclude_unset=True, by_alias=True)
@read_from_replica
def search(request: HttpRequest, asked: Query[SearchIn]) -> SearchPage:
    """The sessions with steps that hold the words of `q`, or mean it, best first, each with at most 5 of its steps (100 with `session`).

    `q`: words that a step must all hold, `"…"` as they stand, `-` not at all, `or` between what is wanted instead of each other. Identifiers
    (`parser.js:42`, `ERR_CONN_RESET`) are looked up whole. The first page begins with up to 10 sessions whose own name, key or tags have the words (`named`). `mode` is `hybrid`, `text` or `semantic`. `limit` and `after` count sessions. Steps
    are found some seconds after they were recorded; `not_indexed` says how many are not yet.
    """
    project = caller(request, "read").project
    options = SearchOptions(**asked.model_dump(exclude={"limit", "after"}))
    return SearchPage.of(
        searched(project, options, limit=paging.checked_limit(asked.limit), after=asked.after)
    )


recalls = Router(tags=["memory"])


@recalls.post("", response=RecallOut, summary="Recall across sessions", exclude_unset=True, by_alias=True)
@read_from_replica
def recall(request: HttpRequest, payload: RecallIn) -> RecallOut:
    """What earlier sessions say to each of the `queries`, questions as people ask them: at most `limit` (or `top_k`, the same) turns each, best first, with session and step.

    A turn need not hold all of the words. Words of time ("last Tuesday", "in May", "last session") say which turns are looked at, in the
    `time_zone`; each item says in `times` what was read as which time, in UTC (of the `sessions` before: `relation`, whether within, before or after them), in `unread` what looks like a time but was not read as one, and why, and `looked_for` what is left; `time_words: false` reads none,
    `past_times: true` only those that look back ("last week", "2 days ago"), for a message that may plan as well as ask.
    A query that names nothing to look for brings the most important turns of its time; `nothing` is why there are no results, null where there are. `around` adds this many turns before and after each
    result, of each at most 8 KiB of its input, output and error, and says where one is `cut`; the queries, times the `limit`, times those turns
    and the result itself are at most 1,000. With `budget` there is a `text` for a prompt, of at most this many tokens: the best turns, each with the
    solution, breakthrough and decision that follow it in its session; equal words of several sessions once. Where turns were found and none fits, `tokens.least` says how many tokens the shortest takes.
    """
    project = caller(request, "read").project
    return RecallOut.of(recalled(project, payload.options()))

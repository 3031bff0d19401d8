"""Search across sessions over HTTP."""

from django.http import HttpRequest
from ninja import Query, Router

from timemachine.api.access import caller
from timemachine.api.paging import checked_limit
from timemachine.memory.search.filters import Wanted
from timemachine.memory.search.queries import search as searched
from timemachine.memory.search.schemas import SearchIn, SearchPage

router = Router(tags=["search"])


@router.get("", response=SearchPage, summary="Search across sessions", exclude_unset=True, by_alias=True)
def search(request: HttpRequest, asked: Query[SearchIn]) -> SearchPage:
    """The sessions with steps that hold the words of `q`, or mean it, best first, each with at most 5 of its steps (100 with `session`).

    `q`: words that a step must all hold, `"…"` as they stand, `-` not at all, `or` between what is wanted instead of each other. Identifiers
    (`parser.js:42`, `ERR_CONN_RESET`) are looked up whole. `mode` is `hybrid`, `text` or `semantic`. `limit` and `after` count sessions. Steps
    are found some seconds after they were recorded; `not_indexed` says how many are not yet.
    """
    project = caller(request, "read").project
    wanted = Wanted(**asked.model_dump(exclude={"limit", "after"}))
    return SearchPage.of(searched(project, wanted, limit=checked_limit(asked.limit), after=asked.after))

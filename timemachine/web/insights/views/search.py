"""`/search/`: search all sessions by keywords, identifiers and meaning."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from timemachine.core.pure.errors import InvalidInput, NotFound, TimeMachineError, Unavailable
from timemachine.core.replica import read_from_replica
from timemachine.memory.search.empty_results import explain_no_results
from timemachine.memory.search.filters import MODES, STATUSES, SearchOptions
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.pure.written_filters import extract_filters
from timemachine.memory.search.queries import search as searched
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, get_view
from timemachine.web.form_parts import usd_as_written
from timemachine.web.http import page

SESSIONS: Final = 10
"""Number of sessions on a page."""
PARAMETERS: Final = tuple(field.name for field in fields(SearchOptions))
NARROWING: Final = frozenset(PARAMETERS) - {"q", "mode"}


@get_view()
@read_from_replica
def search(request: HttpRequest, access: Access) -> HttpResponse:
    """`/search/?q=`: sessions with matching steps, best first; `mode`, `kind`, `tool`, `session` and others filter, `after` is the page cursor.

    Filters written into `q` as `status:error` become these parameters.
    """
    project = access.project
    words, written = extract_filters(request.GET.get("q", ""), NARROWING)
    if written:
        return redirect(_with(request.GET, {"q": words, **written}))
    here = {name: request.GET[name].strip() for name in PARAMETERS if request.GET.get(name, "").strip()}
    after = request.GET.get("after") or None
    found, only = None, None
    wrong: TimeMachineError | None = None
    try:
        only = session_of(project, here["session"]) if "session" in here else None
        if "q" in here or ("q" in request.GET and here.keys() & NARROWING):
            cost = usd_as_written(here.get("min_cost", ""), "min_cost")
            options = SearchOptions(**{"q": "", **here, "min_cost": cost})  # type: ignore[arg-type]
            found = searched(project, options, limit=SESSIONS, after=after)
    except (NotFound, InvalidInput, Unavailable) as why:
        wrong = why
    return page(
        request,
        "search/search.html",
        parts=("more",),
        status=wrong.status if isinstance(wrong, NotFound) else 200,  # other errors are shown on the page
        here=here,
        after=after,
        modes=MODES,
        kinds=KINDS,
        statuses=STATUSES,
        narrowed={name: here[name] for name in NARROWING if name in here},
        only=only,
        wrong=wrong,
        found=found,
        nothing=explain_no_results(found) if found else None,
        not_indexed=found.not_indexed if found else count_not_indexed(project),
    )


def _with(parameters: QueryDict, changes: Mapping[str, str]) -> str:
    """Return the URL of the search with some parameters changed, from its first page."""
    kept = {name: parameters[name] for name in parameters if name != "after"}
    return reverse("search", query={**kept, **changes})

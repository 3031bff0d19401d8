"""`/search/`: search all sessions by keywords, identifiers and meaning."""

from dataclasses import fields
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.core.pure.errors import InvalidInput, NotFound, TimeMachineError, Unavailable
from timemachine.memory.search.empty_results import explain_no_results
from timemachine.memory.search.filters import MODES, STATUSES, SearchOptions
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.queries import search as searched
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.money_fields import usd_as_written

SESSIONS: Final = 10
"""Number of sessions on a page."""
ASKED: Final = tuple(field.name for field in fields(SearchOptions))
NARROWING: Final = tuple(name for name in ASKED if name not in {"q", "mode"})


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """`/search/?q=`: sessions with matching steps, best first; `mode`, `kind`, `tool`, `session` and others filter, `after` is the page cursor."""
    project = of(request).project
    here = {name: request.GET[name].strip() for name in ASKED if request.GET.get(name, "").strip()}
    after = request.GET.get("after") or None
    context: dict[str, Any] = {
        "here": here,
        "after": after,
        "modes": MODES,
        "kinds": KINDS,
        "statuses": STATUSES,
        "narrowed": {name: here[name] for name in NARROWING if name in here},
    }
    found = None
    try:
        context["only"] = session_of(project, here["session"]) if "session" in here else None
    except NotFound as why:
        context["wrong"] = why
    if "q" in here and "wrong" not in context:
        try:
            cost = usd_as_written(here.get("min_cost", ""), "min_cost")
            wanted = SearchOptions(**{**here, "min_cost": cost})  # type: ignore[arg-type]
            found = searched(project, wanted, limit=SESSIONS, after=after)
        except (InvalidInput, Unavailable) as why:
            context["wrong"] = why
    context |= {
        "found": found,
        "nothing": explain_no_results(found) if found else None,
        "not_indexed": found.not_indexed if found else count_not_indexed(project),
    }
    return page(request, "search/search.html", context, parts=("more",), status=_status(context.get("wrong")))


def _status(wrong: TimeMachineError | None) -> int:
    """Return the HTTP status: 404 for a missing session; other errors are shown on the page."""
    return wrong.status if isinstance(wrong, NotFound) else 200

"""The lists of a project's replays and sweeps."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import OPERATOR
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.queries import independent, replays_in
from timemachine.replay.runs.tallies import newest_with_counts, tallies
from timemachine.replay.sweeps.queries import sweeps_in, sweeps_of
from timemachine.web.access import Access, get_view
from timemachine.web.http import first_rows, page, place_after

SHOWN: Final = 50
SHOWN_SWEEPS: Final = 20


@get_view()
def replays(request: HttpRequest, access: Access) -> HttpResponse:
    """`/replays/`: the replays that belong to no comparison or suite run, newest first; `after` is the page cursor."""
    found, after = independent(replays_in(access.project)), place_after(request)
    rows, last = first_rows(found.filter(id__lt=after) if after else found, SHOWN)
    counts = tallies(rows)
    context = {
        "rows": [(each, counts[each.id]) for each in rows],
        "next": last and last.id,
        "after": after,
        "may_run": access.may(OPERATOR),
    }
    return page(request, "replays/list.html", context)


@get_view()
def sweeps(request: HttpRequest, access: Access) -> HttpResponse:
    """`/sweeps/`: the sweeps of retrieval settings, newest first; `after` is the page cursor."""
    found, after = sweeps_in(access.project), place_after(request)
    rows, last = first_rows(found.filter(id__lt=after) if after else found, SHOWN)
    context = {"rows": rows, "next": last and last.id, "after": after, "may_run": access.may(OPERATOR)}
    return page(request, "sweeps/list.html", context)


@get_view()
def of_session(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/replays/`: the newest replays and sweeps of the session."""
    session = session_of(access.project, id)
    sweeps = sweeps_of(session)[:SHOWN_SWEEPS]
    context = {"session": session, "replays": newest_with_counts(session, SHOWN), "sweeps": sweeps}
    return page(request, "replays/of_session.html", context)

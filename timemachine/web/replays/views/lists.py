"""The lists of a project's replays and sweeps."""

from typing import Final

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import OPERATOR
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.queries import replays_in, replays_of
from timemachine.replay.runs.tallies import tallies
from timemachine.replay.sweeps.models import TERMINAL_ROW_STATUSES
from timemachine.replay.sweeps.queries import sweeps_in, sweeps_of
from timemachine.web.access import Access, get_view
from timemachine.web.http import first_rows, page, place_after

SHOWN: Final = 50
SHOWN_SWEEPS: Final = 20


@get_view()
def replays(request: HttpRequest, access: Access) -> HttpResponse:
    """`/replays/`: the replays that belong to no comparison or suite run, newest first; `after` is the page cursor."""
    found, after = replays_in(access.project).filter(run=None, suite_replay=None), place_after(request)
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
    counted = found.annotate(
        settings=Count("rows"), finished=Count("rows", filter=Q(rows__status__in=TERMINAL_ROW_STATUSES))
    )
    rows, last = first_rows(counted.filter(id__lt=after) if after else counted, SHOWN)
    context = {"rows": rows, "next": last and last.id, "after": after, "may_run": access.may(OPERATOR)}
    return page(request, "sweeps/list.html", context)


@get_view()
def of_session(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/replays/`: the newest replays and sweeps of the session."""
    session = session_of(access.project, id)
    sweeps = sweeps_of(session)[:SHOWN_SWEEPS]
    context = {"session": session, "replays": newest_with_counts(session), "sweeps": sweeps}
    return page(request, "replays/of_session.html", context)


def newest_with_counts(session: Session) -> list[Replay]:
    """Return the session's newest replays that belong to no comparison or suite run, with their results so far."""
    found = list(replays_of(session).filter(run=None, suite_replay=None)[:SHOWN])
    counts = tallies(found)
    for each in found:
        each.counts = counts[each.id]  # type: ignore[attr-defined]
    return found

"""Live updates of an open timeline while its session is recorded or replayed."""

from django.http import HttpRequest, HttpResponse

from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline import rows
from timemachine.replay.runs.queries import replay_named
from timemachine.web.access import Access, get_view
from timemachine.web.http import page
from timemachine.web.sessions.presenters.live import live_status
from timemachine.web.sessions.presenters.replays import drawing_of, replay_marks, replayed
from timemachine.web.sessions.presenters.step_notes import noted_rows
from timemachine.web.sessions.presenters.url_state import UrlState, url_state, whole
from timemachine.web.sessions.presenters.views import filter_links

MOST_MARKS = 400


@get_view()
def tail(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/tail/`: the steps after `since`, as the timeline of the same query shows them; 204 if there are none.

    With `revision`, also the changes of replays since that revision; with `first` and `last`, also the verdicts of the steps in that range.
    """
    session = session_of(access.project, id)
    state = url_state(request.GET)
    since = whole(request.GET.get("since", "")) or 0
    status = request.GET.get("status", Session.RECORDING)
    has_grown = session.last_sequence > since or live_status(session) != status
    revision = request.GET.get("revision")
    if not has_grown and not revision:
        return HttpResponse(status=204)
    chosen = replay_named(session, state.replay)
    replays = replayed(session, chosen, unless=None if has_grown else revision)
    if not has_grown and replays is None:
        return HttpResponse(status=204)
    first, last = (whole(request.GET.get(name, "")) or 0 for name in ("first", "last"))
    return page(
        request,
        "sessions/tail.html",
        _grown(session, state, since) if has_grown else {},
        session=session,
        asked=state,
        here=state.preserved,
        minimap=drawing_of(session, state, replays),
        replays=replays,
        replayed=replay_marks(chosen, range(first, min(last, first + MOST_MARKS) + 1)),
        said=replays.announcement if replays else "",
    )


def _grown(session: Session, state: UrlState, since: int) -> dict[str, object]:
    """Return the rows since a step, and the other parts of the timeline that depend on the session's length."""
    shown = state.shown
    window = rows.rows_since(session, since, state.seen, state.step)
    new = rows.matches(session, shown, after=since)
    return filter_links(session, shown) | {
        "sequence": state.step,
        "since": since,
        "window": window,
        "noted": noted_rows(session, window),
        "new": new,
        "beyond": max(1, new - rows.SIDE),
        "newest": rows.last_match(session, shown),
        "next": rows.first_match(session, shown, after=state.step or 0),
        "matches": rows.matches(session, shown),
    }

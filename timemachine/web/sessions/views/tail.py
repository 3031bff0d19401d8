"""Live updates of an open timeline while its session is recorded or replayed."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.rows import (
    SIDE,
    first_match,
    last_match,
    matches,
    rows_since,
)
from timemachine.replay.judging.queries import spent_on
from timemachine.replay.runs.progress import replay_named
from timemachine.web.access import of
from timemachine.web.http import page
from timemachine.web.sessions.presenters.replays import Replayed, reach, replay_marks, replayed
from timemachine.web.sessions.presenters.step_notes import noted_rows
from timemachine.web.sessions.views.timeline import (
    UrlState,
    chips_of,
    minimap_of,
    preserved_query,
    url_state,
    whole,
)

MOST_MARKS = 400


@require_safe
def tail(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/tail/`: the steps after `since`, as the timeline of the same query shows them; 204 if there are none.

    With `revision`, also the changes of replays since that revision; with `first` and `last`, also the verdicts of the steps in that range.
    """
    session = session_of(of(request).project, id)
    asked = url_state(request.GET)
    since = whole(request.GET.get("since", "")) or 0
    has_grown = session.last_sequence > since or session.status != request.GET.get(
        "status", Session.RECORDING
    )
    revision = request.GET.get("revision")
    replays = (
        _replays(request, session, asked, None if has_grown else revision) if has_grown or revision else None
    )
    if not has_grown and replays is None:
        return HttpResponse(status=204)
    context = {
        "session": session,
        "asked": asked,
        "here": preserved_query(asked),
        "minimap": minimap_of(session, asked),
        **(replays or {}),
        **(_grown(session, asked, since) if has_grown else {}),
    }
    context["reach"] = reach(context["replays"], context["minimap"])
    return page(request, "sessions/tail.html", context)


def _replays(
    request: HttpRequest, session: Session, asked: UrlState, unless: str | None
) -> dict[str, Any] | None:
    """Return the current replays and the verdicts of the page's rows; None if nothing changed since a revision."""
    chosen = replay_named(session, asked.replay)
    found = replayed(session, chosen, unless=unless)
    if found is None:
        return None
    first, last = (whole(request.GET.get(name, "")) or 0 for name in ("first", "last"))
    rows = range(first, min(last, first + MOST_MARKS) + 1)
    return {"replays": found, "replayed": replay_marks(chosen, rows), "said": _announcement(found)}


def _announcement(found: Replayed) -> str:
    """Return the announcement: how the selected or newest replay ended; empty while one is running."""
    return found.lines[0].words if found.lines and not found.is_open else ""


def _grown(session: Session, asked: UrlState, since: int) -> dict[str, Any]:
    """Return the rows since a step, and the other parts of the timeline that depend on the session's length."""
    shown = asked.shown
    window = rows_since(session, since, asked.seen, asked.step)
    new = matches(session, shown, after=since)
    return {
        "sequence": asked.step,
        "since": since,
        "window": window,
        "noted": noted_rows(session, window),
        "new": new,
        "beyond": max(1, new - SIDE),
        "newest": last_match(session, shown),
        "next": first_match(session, shown, after=asked.step or 0),
        "matches": matches(session, shown),
        "chips": chips_of(session, shown),
        "terms": [(term, str(shown.without(term))) for term in shown.terms],
        "whole": str(shown.within(None)),
        "errors_filter": str(shown.with_status("error")),
        "judged_cost": spent_on(session),
    }

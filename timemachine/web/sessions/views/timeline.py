"""A session's timeline: its rows around a step, and the details of that step."""

from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.evidence.queries import listed_seals
from timemachine.governance.deletion.erasure.queries import erased_fields_of, has_marks
from timemachine.memory.patterns.similar import known_pattern_at
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.copies import uncounted_in
from timemachine.recording.timeline.extent import scale_of
from timemachine.recording.timeline.pure.aggregation import GROUPS
from timemachine.recording.timeline.rows import first_match, matches
from timemachine.recording.timeline.step import nearest, neighbours, step
from timemachine.recording.timeline.suggestions import suggestions
from timemachine.text.redaction.pure.marks import DELETED_TURN
from timemachine.web.access import Access, form_view, get_view
from timemachine.web.errors import page_message
from timemachine.web.http import page, requested_part, see_other
from timemachine.web.sessions.presenters.judging import taken_note
from timemachine.web.sessions.presenters.replays import drawing_of, replays_shown
from timemachine.web.sessions.presenters.step_diff import Pin, pin_of
from timemachine.web.sessions.presenters.step_notes import (
    NoteForm,
    RefusedSignificance,
    change_significance,
    notes_on,
)
from timemachine.web.sessions.presenters.step_tabs import tab_of
from timemachine.web.sessions.presenters.steps import address_query
from timemachine.web.sessions.presenters.totals import panel
from timemachine.web.sessions.presenters.url_state import (
    TABS,
    VIEWS,
    UrlState,
    parsed_filter,
    url_state,
    whole,
)
from timemachine.web.sessions.presenters.views import (
    SHEETS,
    filter_links,
    more_rows,
    rows_around,
    sheet_page,
)

TEMPLATE: Final = "sessions/timeline.html"
PARTS: Final = ("timeline", "steps", "earlier", "later", "step")
LONGEST_FILTER: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A refused form of the step, to be shown again as it was submitted."""

    status: int = 200
    note: NoteForm | None = None
    significance: RefusedSignificance | None = None


NOT_REFUSED: Final = Refused()


@form_view()
def timeline(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/`: the state is in `step`, `tab`, `pin`, `filter`, `view`, `totals`, `open` and `more`; `before` and `after` load more rows.

    POST adds a note to the step or, with `do=weigh`, changes its significance.
    """
    session = session_of(access.project, id)
    state = url_state(request.GET)
    if request.method != "POST":
        return _shown(request, access, session, state)
    access.require(OPERATOR)
    sent = _changed_significance if request.POST.get("do") == "weigh" else _noted
    return sent(request, access, session, state)


@get_view()
def totals(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/totals/`: totals of the steps that match `filter`, grouped `by` kind, tool, model or agent. An unknown grouping means kind."""
    session = session_of(access.project, id)
    written, by = request.GET.get("filter", "").strip(), request.GET.get("by", "")
    shown, wrong = parsed_filter(written)
    by = by if by in GROUPS else GROUPS[0]
    here = {"filter": str(shown), "by": by}
    back = reverse("timeline", args=[session.id])
    return page(
        request,
        "sessions/session_totals.html",
        status=422 if wrong else 200,
        session=session,
        here=here,
        written=written,
        shown=shown,
        wrong=wrong,
        panel=panel(session, by, shown, here=here, name="by", timeline=back),
    )


@get_view()
def suggest(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/sessions/{id}/suggest/`: completions of `filter` at the caret, after `at` characters; by default at its end."""
    session = session_of(access.project, id)
    text = request.GET.get("filter", "")[:LONGEST_FILTER]
    at = whole(request.GET.get("at", ""))
    found = suggestions(session, text, len(text) if at is None else at)
    return page(request, "sessions/suggestions.html", suggestions=found)


def _changed_significance(
    request: HttpRequest, access: Access, session: Session, state: UrlState
) -> HttpResponse:
    """Change the significance and redirect to the step; if refused, show the page again with the values and the error."""
    step = state.step or 0
    try:
        refused = change_significance(session, step, request.POST, by=access.user.email)
    except Conflict as why:
        messages.error(request, page_message(why))
    else:
        if refused is not None:
            refused_again = Refused(status=refused.status, significance=refused)
            return _shown(request, access, session, state, refused_again)
        messages.success(request, f"Significance of step {step:,} changed. The record itself is unchanged.")
    return see_other(request.path + address_query(state.preserved))


def _noted(request: HttpRequest, access: Access, session: Session, state: UrlState) -> HttpResponse:
    """Add the note and redirect to the step; if refused, show the page again with the error at the field."""
    form = NoteForm(request.POST)
    if form.is_valid():
        text, note_id = form.cleaned_data["text"], form.cleaned_data["form_id"]
        try:
            made = add(session, state.step or 0, text, by=access.user.email, note_id=note_id)
            return see_other(request.path + address_query(state.preserved), part=f"note-{made.id}")
        except (InvalidInput, Conflict) as why:
            form.refuse(why)
    return _shown(request, access, session, state, Refused(status=form.http_status, note=form))


def _shown(
    request: HttpRequest,
    access: Access,
    session: Session,
    state: UrlState,
    refused: Refused = NOT_REFUSED,
) -> HttpResponse:
    parts = PARTS[:1] if state.view in SHEETS else PARTS
    part = requested_part(request, parts)
    here = state.preserved
    context: dict[str, object] = {
        "session": session,
        "marks": SimpleLazyObject(lambda: has_marks(session)),
        "uncounted": SimpleLazyObject(lambda: uncounted_in(session)),
        "asked": state,
        "here": here,
        "tabs": TABS,
        "views": VIEWS,
        "may_record": access.may(OPERATOR),
        "may_delete": access.administers,
    }
    if part in {"earlier", "later"}:
        return page(request, TEMPLATE, context | more_rows(session, state), parts=parts)
    if state.view in SHEETS:
        sequence, sheet = sheet_page(session, state)
        context |= sheet
    else:
        sequence = nearest(session, state.step or first_match(session, state.shown) or 1)
        if sequence is not None:
            pin = pin_of(session, state.pin)
            here |= {"step": sequence, "pin": pin.step}
            context |= _step(request, access, session, state, sequence, pin, refused)
    context |= {"sequence": sequence, "notice": _notice(session, state, sequence)}
    if part != "step":
        context |= _list(session, state, sequence)
    if part in {None, "timeline"}:
        replays, is_missing = replays_shown(session, state.replay)
        context |= {
            "seal": listed_seals([session])[session.id],
            "replays": replays,
            "replay_missing": is_missing,
            "minimap": drawing_of(session, state, replays),
        }
        if state.totals is not None:
            context["panel"] = panel(
                session, state.totals, state.shown, here=here, name="totals", timeline=""
            )
    return page(request, TEMPLATE, context, parts=parts, status=422 if state.wrong_filter else refused.status)


def _step(
    request: HttpRequest,
    access: Access,
    session: Session,
    state: UrlState,
    sequence: int,
    pin: Pin,
    refused: Refused,
) -> dict[str, object]:
    found = step(session, sequence, state.first_bytes)
    erased = erased_fields_of(session, [sequence])
    context: dict[str, object] = {
        "found": found,
        "pin": pin,
        "beside": neighbours(session, found.action, state.shown),
        "erased_fields": erased,
        "erased": erased.get(sequence),
        "met": known_pattern_at(found.action),
        "refused_significance": refused.significance,
        **notes_on(access, session, sequence, refused.note),
        **tab_of(session, found, pin, tab=state.tab, first_bytes=state.first_bytes, line=state.line),
    }
    if found.action.label.startswith(DELETED_TURN):
        context["deleted"] = deletions_of(session, [sequence]).get(sequence)
    if "judged" in context:
        context["judging_note"] = taken_note(request, found.action)
    return context


def _list(session: Session, state: UrlState, sequence: int | None) -> dict[str, object]:
    """Return the rows around the step, the total number of rows, and the chips of the filter."""
    scale = scale_of(session, state.shown)
    is_counted = state.shown.is_counted and state.shown.picks
    return {
        **rows_around(session, state, sequence, scale),
        **filter_links(session, state.shown),
        "note_count": notes_of(session).count(),
        "matches": scale.total if is_counted else matches(session, state.shown),
    }


def _notice(session: Session, state: UrlState, sequence: int | None) -> str:
    """Return why the selected step is not the one in the URL; empty if it is."""
    if sequence is None or state.step == sequence:
        return ""
    if state.step is not None:
        last = counted(session.last_sequence, "step")
        return f"There is no step {state.step:,}: this session has {last}. The nearest step is shown: {sequence:,}."
    if state.step_written:
        return f"“{state.step_written[:40]}” is not a step number. Use a number, like ?step=12. This is step {sequence:,}."
    return ""

"""A session's timeline: its rows around a step, and the details of that step."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_http_methods

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.evidence.seal_status import listed_seals
from timemachine.governance.deletion.erasure.queries import erased_fields_of, has_marks
from timemachine.memory.patterns.similar import known_pattern_at
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.annotations.notes.queries import notes_of
from timemachine.recording.sessions.branches import is_branched
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.extent import scale_of
from timemachine.recording.timeline.minimap import StepRange, minimap
from timemachine.recording.timeline.pure.aggregation import GROUPS
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter, parse
from timemachine.recording.timeline.pure.scale import Scale
from timemachine.recording.timeline.rows import (
    View,
    Window,
    first_match,
    matches,
    rows_after,
    rows_before,
    window,
)
from timemachine.recording.timeline.step import FIRST_BYTES, MORE_BYTES, nearest, neighbours, step
from timemachine.recording.usage.queries import kinds_of
from timemachine.replay.judging.queries import spent_on
from timemachine.text.redaction.pure.marks import DELETED_TURN
from timemachine.web.access import Access, of
from timemachine.web.flash_messages import taken
from timemachine.web.http import page, requested_part
from timemachine.web.redirects import see_other
from timemachine.web.sessions.presenters.judging import judging_page
from timemachine.web.sessions.presenters.minimap_plot import MinimapPlot, plot
from timemachine.web.sessions.presenters.replays import replays_shown, with_verdicts
from timemachine.web.sessions.presenters.significance import RefusedSignificance, change_significance
from timemachine.web.sessions.presenters.step_diff import pin_of
from timemachine.web.sessions.presenters.step_notes import NoteForm, noted_rows, notes_on, ticks
from timemachine.web.sessions.presenters.step_tabs import tab_of
from timemachine.web.sessions.presenters.steps import address_query
from timemachine.web.sessions.presenters.totals import Panel, panel
from timemachine.web.sessions.presenters.views import (
    SHEETS,
    VIEWS,
    compact_list,
    more_compact,
    sheet_page,
    view_notice,
)

TEMPLATE: Final = "sessions/timeline.html"
PARTS: Final = ("timeline", "steps", "earlier", "later", "step")
TABS: Final = ("action", "state", "diff", "context", "raw")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlState:
    """The state in the URL: a step, a tab, a pinned step, a filter, expanded rows, and page cursors."""

    step: int | None
    step_written: str
    tab: str
    pin: str
    line: int
    shown: Filter
    written: str
    unfolded: frozenset[int]
    near: int | None
    row: int | None
    before: int | None
    after: int | None
    more: bool
    wrong_filter: InvalidInput | None
    view: str = VIEWS[0]
    view_notice: str = ""
    totals: str | None = None
    replay: str = ""

    @property
    def seen(self) -> View:
        """Return which part of the timeline is visible."""
        return View(shown=self.shown, unfolded=self.unfolded)

    @property
    def first_bytes(self) -> int:
        """Return how many bytes of each payload are shown."""
        return MORE_BYTES if self.more else FIRST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A refused form of the step, to be shown again as it was submitted."""

    status: int
    note: NoteForm | None = None
    weight: RefusedSignificance | None = None


NOT_REFUSED: Final = Refused(status=200)


@require_http_methods(["GET", "HEAD", "POST"])
def timeline(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/sessions/{id}/`: the state is in `step`, `tab`, `pin`, `filter`, `view`, `totals`, `open` and `more`; `before` and `after` load more rows.

    POST adds a note to the step or, with `do=weigh`, changes its significance.
    """
    access = of(request)
    session = session_of(access.project, id)
    asked = url_state(request.GET)
    if request.method != "POST":
        return _shown(request, access, session, asked)
    access.require(OPERATOR)
    sent = _changed_significance if request.POST.get("do") == "weigh" else _noted
    return sent(request, access, session, asked)


def _changed_significance(
    request: HttpRequest, access: Access, session: Session, asked: UrlState
) -> HttpResponse:
    """Change the significance and redirect to the step; if refused, show the page again with the values and the error."""
    step = asked.step or 0
    try:
        refused = change_significance(session, step, request.POST, by=access.user.email)
    except Conflict as why:
        messages.error(request, why.message)
    else:
        if refused is not None:
            return _shown(request, access, session, asked, Refused(status=refused.status, weight=refused))
        messages.success(request, f"Significance of step {step:,} changed. The record stays as it is.")
    return see_other(request.path + address_query(preserved_query(asked)))


def _noted(request: HttpRequest, access: Access, session: Session, asked: UrlState) -> HttpResponse:
    """Add the note and redirect to the step; if refused, show the page again with the error at the field."""
    form = NoteForm(request.POST)
    status = 422
    if form.is_valid():
        said = form.cleaned_data
        try:
            made = add(session, asked.step or 0, said["text"], by=access.user.email, note_id=said["form_id"])
            return see_other(request.path + address_query(preserved_query(asked)), part=f"note-{made.id}")
        except (InvalidInput, Conflict) as why:
            status = form.refuse(why)
    return _shown(request, access, session, asked, Refused(status=status, note=form))


def _shown(
    request: HttpRequest,
    access: Access,
    session: Session,
    asked: UrlState,
    refused: Refused = NOT_REFUSED,
) -> HttpResponse:
    parts = PARTS[:1] if asked.view in SHEETS else PARTS
    part = requested_part(request, parts)
    context: dict[str, Any] = {
        "session": session,
        "marks": SimpleLazyObject(lambda: has_marks(session)),
        "asked": asked,
        "here": preserved_query(asked),
        "tabs": TABS,
        "views": VIEWS,
        "may_record": access.may("operator"),
        "may_delete": access.administers,
    }
    if part in {"earlier", "later"}:
        context |= with_verdicts(session, asked.replay, _more_rows(session, asked))
        return page(request, TEMPLATE, context, parts=parts)
    context |= _turned(session, asked) if asked.view in SHEETS else _selection(session, asked)
    if "found" in context:
        context |= notes_on(access, session, context["sequence"], refused.note)
        context["refused_significance"] = refused.weight
    if "judged" in context:
        context["judging_note"] = taken(request, judging_page(context["found"].action))
    if part != "step":
        context |= _list(session, asked, context["sequence"])
    if part in {None, "timeline"}:
        context["seal"] = listed_seals([session])[session.id]
        context["minimap"] = minimap_of(session, asked)
        context["panel"] = _totals(session, asked, context["here"])
        context |= replays_shown(session, asked.replay, context["minimap"])
    return page(request, TEMPLATE, context, parts=parts, status=422 if asked.wrong_filter else refused.status)


def _not_there(tab: str, view: str) -> str:
    """Return the message for an unknown tab or view."""
    unknown = tab and tab not in TABS
    told = (
        f"There is no tab “{tab[:40]}”. Available tabs: {', '.join(TABS)}. This is the first."
        if unknown
        else ""
    )
    return " ".join(filter(None, (view_notice(view), told)))


def url_state(query: QueryDict) -> UrlState:
    written = query.get("filter", "").strip()
    shown, wrong = _filter(written)
    tab = query.get("tab", "").strip()
    view = query.get("view", "").strip()
    totals = query.get("totals", "")
    return UrlState(
        step=whole(query.get("step", "")),
        step_written=query.get("step", "").strip(),
        tab=tab if tab in TABS else TABS[0],
        pin=query.get("pin", "").strip(),
        line=whole(query.get("line", "")) or 0,
        shown=shown,
        written=written,
        unfolded=frozenset(
            number for each in query.get("open", "").split(",") if (number := whole(each)) is not None
        ),
        near=whole(query.get("near", "")),
        row=whole(query.get("row", "")),
        before=whole(query.get("before", "")),
        after=whole(query.get("after", "")),
        more=query.get("more") == "1",
        wrong_filter=wrong,
        view=view if view in VIEWS else VIEWS[0],
        view_notice=_not_there(tab, view),
        totals=totals if totals in GROUPS else None,
        replay=query.get("replay", "").strip()[:40],
    )


def _filter(written: str) -> tuple[Filter, InvalidInput | None]:
    try:
        return parse(written), None
    except InvalidInput as wrong:
        return EVERYTHING, wrong


def whole(text: str) -> int | None:
    digits = text.strip()[:19]
    return min(int(digits), 2**63 - 1) if digits.isascii() and digits.isdigit() else None


def preserved_query(asked: UrlState) -> dict[str, Any]:
    """Return the parts of the query that links on the page keep."""
    return {
        "step": asked.step,
        "tab": asked.tab if asked.tab != TABS[0] else None,
        "pin": asked.pin or None,
        "filter": str(asked.shown) or None,
        "open": ",".join(str(number) for number in sorted(asked.unfolded)) or None,
        "view": asked.view if asked.view != VIEWS[0] else None,
        "totals": asked.totals,
        "replay": asked.replay or None,
    }


def _selection(session: Session, asked: UrlState) -> dict[str, Any]:
    """Return the selected step, or the nearest one, and the content of its tab."""
    sequence = nearest(session, asked.step or _first_seen(session, asked.shown))
    context: dict[str, Any] = {"sequence": sequence, "notice": _notice(session, asked, sequence)}
    if sequence is None:
        return context
    found = step(session, sequence, asked.first_bytes)
    context["found"] = found
    pin = pin_of(session, asked.pin)
    context["pin"] = pin
    context["here"] = preserved_query(asked) | {"step": sequence, "pin": pin.step}
    context["beside"] = neighbours(session, found.action, asked.shown)
    context["erased_fields"] = erased_fields_of(session, [sequence])
    context["erased"] = context["erased_fields"].get(sequence)
    if found.action.label.startswith(DELETED_TURN):
        context["deleted"] = deletions_of(session, [sequence]).get(sequence)
    context["met"] = known_pattern_at(found.action)
    return context | tab_of(
        session, found, pin, tab=asked.tab, first_bytes=asked.first_bytes, line=asked.line
    )


def _turned(session: Session, asked: UrlState) -> dict[str, Any]:
    """Return a page of the table or of the raw view."""
    found = sheet_page(session, asked)
    return found | {"notice": _notice(session, asked, found["sequence"])}


def _list(session: Session, asked: UrlState, sequence: int | None) -> dict[str, Any]:
    """Return the rows around the step, the total number of rows, and the chips of the filter."""
    scale = scale_of(session, asked.shown)
    rows = _rows(session, asked, sequence, scale)
    return (with_verdicts(session, asked.replay, rows) if rows else rows) | {
        "note_count": notes_of(session).count(),
        "branched": is_branched(session),
        "matches": scale.total
        if asked.shown.is_counted and asked.shown.picks
        else matches(session, asked.shown),
        "chips": chips_of(session, asked.shown),
        "terms": [(term, str(asked.shown.without(term))) for term in asked.shown.terms],
        "whole": str(asked.shown.within(None)),
        "errors_filter": str(asked.shown.with_status("error")),
        "judged_cost": spent_on(session),
    }


def _rows(session: Session, asked: UrlState, sequence: int | None, scale: Scale) -> dict[str, Any]:
    """Return the rows around the step, in the views that have a list."""
    if asked.view == "compact":
        return compact_list(session, asked, sequence)
    if asked.view in SHEETS:
        return {}
    around = asked.near or (None if asked.row is None else scale.step_at(asked.row)) or sequence or 1
    shown = window(session, around, asked.seen, selected=sequence)
    return {
        "window": shown,
        "noted": noted_rows(session, shown),
        "beyond": _beyond(scale, shown),
    }


def _totals(session: Session, asked: UrlState, here: dict[str, Any]) -> Panel | None:
    """Return the totals of the filtered steps, if the URL requests them."""
    if asked.totals is None:
        return None
    return panel(session, asked.totals, asked.shown, here=here, name="totals", timeline="")


def _beyond(scale: Scale, window: Window) -> dict[str, int]:
    """Return the number of rows before and after a window, so that the scrollbar has the right length."""
    before = 0 if window.earlier is None else scale.before(window.earlier)
    after = 0 if window.later is None else scale.total - scale.before(window.later + 1)
    return {"before": max(before, 1), "after": max(after, 1), "total": scale.total}


def minimap_of(session: Session, asked: UrlState) -> MinimapPlot | None:
    steps = asked.shown.steps
    drawn = minimap(session, None if steps is None else StepRange(first=steps[0], last=steps[1]))
    return None if drawn is None else plot(drawn, ticks(session, drawn.span))


def _more_rows(session: Session, asked: UrlState) -> dict[str, Any]:
    if asked.view == "compact":
        return more_compact(session, asked)
    window = (
        rows_before(session, asked.before, asked.seen)
        if asked.before is not None
        else rows_after(session, asked.after or 0, asked.seen)
    )
    return {
        "window": window,
        "noted": noted_rows(session, window),
        "beyond": _beyond(scale_of(session, asked.shown), window),
    }


def chips_of(session: Session, shown: Filter) -> list[dict[str, Any]]:
    """Return a chip for every kind in the session, with its number of steps and the filter that it links to."""
    counts = kinds_of(session)
    return [
        {
            "kind": kind,
            "number": counts.get(kind, 0),
            "on": kind in shown.kinds,
            "filter": str(shown.toggled(kind)),
        }
        for kind in KINDS
        if kind in counts or kind in shown.kinds
    ]


def _first_seen(session: Session, shown: Filter) -> int:
    """Select the first step of the filter if the URL names none."""
    return first_match(session, shown) or 1


def _notice(session: Session, asked: UrlState, sequence: int | None) -> str:
    if sequence is None or asked.step == sequence:
        return ""
    if asked.step is None:
        return (
            f"“{asked.step_written[:40]}” is not a step number. Use a number, as in `?step=12`. This is step {sequence:,}."
            if asked.step_written
            else ""
        )
    last = counted(session.last_sequence, "step")
    return (
        f"There is no step {asked.step:,}: this session has {last}. The nearest is shown, step {sequence:,}."
    )

"""The rows of a timeline's list. A page has hundreds, so Python writes them: ten times as fast as a template."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from django.template import Context
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.numbers import NOT_RECORDED, counted
from timemachine.governance.sharing.read_models.rows import SharedPlace, SharedRows
from timemachine.recording.timeline.pure.nesting import Place
from timemachine.recording.timeline.rows import Window
from timemachine.web import formatting
from timemachine.web.redaction_marks import drawing
from timemachine.web.sessions.presenters.repeated import is_answer_of
from timemachine.web.sessions.presenters.steps import kind_badge, query, row_label
from timemachine.web.template_library import absent_in, register

DEEPEST: Final = 9  # that the style sheet sets in
BAR_STEPS: Final = 12
TIME_ABSENT: Final = absent_in("span", f"duration {NOT_RECORDED}", "took")
QUICK: Final = (
    'hx-include="#tab" hx-target="#step" hx-swap="outerHTML" hx-push-url="true" hx-sync="#main:replace"'
    ' hx-indicator="#step"'
)


@register.simple_tag(takes_context=True)
def step_rows(context: Context, window: Window | SharedRows) -> SafeString:
    """Return the rows of a window: each is a link to its step; a collapsible row has a link of its own."""
    parameters = escape(query(context, step=None).removeprefix("?"))
    quick = escape(query(context, step=None, tab=None).removeprefix("?"))
    ends = {"kept": parameters and f"&amp;{parameters}", "quick": quick and f"&amp;{quick}"}
    selected = context.get("sequence")
    noted: Mapping[int, int] = context.get("noted") or {}
    replayed: Mapping[int, str] = context.get("replayed") or {}
    draw = drawing(context)
    return SafeString(
        "".join(
            _row(
                place,
                answer_label(before.step.sequence)
                if before is not None and is_answer_of(place, before)
                else row_label(place.step, draw),
                ends,
                place.step.sequence == selected,
                fold_link(context, place) if place.folds else "",
                noted.get(place.step.sequence, 0),
                replayed.get(place.step.sequence, ""),
            )
            for before, place in pairwise((None, *window.rows))
            if place is not None
        )
    )


def answer_label(call: int) -> SafeString:
    """Return the label of a message whose text is in the row of its call."""
    return SafeString(f'<span class="quiet">the answer of {call}</span>')


def _row(
    place: Place | SharedPlace,
    label: str,
    ends: Mapping[str, str],
    selected: bool,
    fold: str,
    notes: int,
    replayed: str,
) -> str:
    row = place.step
    mark = '<span class="mark">error</span>' if row.failed else ""
    pin = f'<span class="noted">{counted(notes, "note") if notes > 1 else "note"}</span>' if notes else ""
    verdict = f'<span class="replayed">{replayed}</span>' if replayed else ""
    is_usual = row.significance is None or row.significance == "normal"
    significance = "" if is_usual else f'<span class="significance">marked: {escape(row.significance)}</span>'
    within = f'<span class="within">in {place.below[-1]}</span>' if place.below and not place.above else ""
    copied = '<span class="within">copied</span>' if row.copied else ""
    current = ' aria-current="step"' if selected else ""
    return (
        f'<li id="s{row.sequence}" class="row d{min(place.depth, DEEPEST)}{" folds" if place.folds else ""}">'
        f'<a href="?step={row.sequence}{ends["kept"]}#s{row.sequence}" hx-get="?step={row.sequence}{ends["quick"]}"'
        f' {QUICK}{current}><span class="seq">{row.sequence}</span>{kind_badge(row.kind)}'
        f'<span class="label">{label}</span>{significance}{copied}{within}{pin}{mark}{verdict}{took(row.duration_ms)}</a>{fold}</li>\n'
    )


@register.simple_tag
def took(milliseconds: float | None) -> SafeString:
    """Return a duration for a row: its text over a bar of logarithmic length, from 1 ms to over 10 minutes."""
    if milliseconds is None:
        return TIME_ABSENT
    return SafeString(f'<span class="took b{bar(milliseconds)}">{formatting.duration(milliseconds)}</span>')


def bar(milliseconds: float) -> int:
    """Return the length of a duration's bar, 0 to `BAR_STEPS`: one more for every factor of three above 1 ms."""
    length = 0
    while milliseconds >= 3 and length < BAR_STEPS:  # noqa: PLR2004
        milliseconds /= 3
        length += 1
    return length


@register.simple_tag(takes_context=True)
def fold_link(context: Context, place: Any) -> SafeString:
    """Return the link that expands or collapses the children of a row."""
    sequence = place.step.sequence
    standing: Mapping[int, str] = context.get("standing") or {}
    unfolded = {int(each) for each in (context["here"].get("open") or "").split(",") if each}
    state = ",".join(
        str(each) for each in sorted(unfolded - {sequence} if place.unfolded else unfolded | {sequence})
    )
    # Collapsing selects the row itself, because the selected step may be inside.
    state_of_fold = {"open": state, "near": sequence} | ({"step": sequence} if place.unfolded else {})
    parameters = query(context, **{"step": None, **state_of_fold, "tab": None})
    return format_html(
        '<a class="inside" href="{}#s{}" aria-expanded="{}" hx-get="{}" hx-include="{}" hx-target="#timeline"'
        ' hx-swap="outerHTML" hx-push-url="true" hx-sync="#main:replace">{}</a>',
        query(context, **state_of_fold),
        sequence,
        "true" if place.unfolded else "false",
        parameters,
        "#tab" if place.unfolded else "#at, #tab",
        "fold" if place.unfolded else standing.get(sequence) or f"{place.inside} inside",
    )

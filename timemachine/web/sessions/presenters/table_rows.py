"""The rows of the table view. A table has eighty rows of thirteen cells, so Python writes them, not a template."""

from collections.abc import Mapping, Sequence
from typing import Final

from django.template import Context
from django.utils.html import escape
from django.utils.safestring import SafeString

from timemachine.core.pure import safe_text
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, money, spaced
from timemachine.recording.timeline.sheet import Span, TableRow
from timemachine.web import formatting
from timemachine.web.sessions.presenters.steps import kind_badge, query, row_label
from timemachine.web.template_library import absent_in, register

ABSENT: Final = absent_in("td", NOT_RECORDED)
NUMBER_ABSENT: Final = absent_in("td", NOT_RECORDED, "number")
COST_UNKNOWN: Final = absent_in("td", UNKNOWN, "number")
LONGEST: Final = 120
"""Maximum number of characters of a name."""
SHORTEST: Final = 0.4
"""Minimum length of a bar, in percent of the cell."""


@register.simple_tag(takes_context=True)
def table_view_rows(context: Context, rows: Sequence[TableRow], span: Span | None) -> SafeString:
    """Return the rows of the table: each links to its step in the timeline and has a bar that shows when it ran."""
    parameters = escape(query(context, step=None, view=None).removeprefix("?"))
    noted: Mapping[int, int] = context.get("noted") or {}
    selected = context.get("sequence")
    return SafeString(
        "".join(
            _row(
                row,
                parameters and f"&amp;{parameters}",
                span,
                noted.get(row.sequence, 0),
                selected=row.sequence == selected,
            )
            for row in rows
        )
    )


def _row(row: TableRow, parameters: str, span: Span | None, notes: int, *, selected: bool) -> str:
    number = row.sequence
    current = ' aria-current="step"' if selected else ""
    cells = (
        f'<th scope="row" class="number"><a href="?step={number}{parameters}#s{number}"{current}>{number}</a></th>',
        f'<td class="of-kind">{kind_badge(row.kind)} {spaced(row.kind)}</td>',
        f'<td class="what" dir="auto">{row_label(row)}</td>',
        *(_text(value) for value in (row.agent, row.tool, row.model)),
        _started(row),
        _took(row),
        _bar(row, span),
        _count(row.input_tokens),
        _count(row.output_tokens),
        _cost(row),
        _status(row, notes),
    )
    return f'<tr id="s{number}">{"".join(cells)}</tr>\n'


def _text(value: str | None) -> str:
    if value is None:
        return ABSENT
    text = escape(_name(value))
    return f'<td class="name" dir="auto" title="{text}">{text}</td>'


def _name(value: str) -> str:
    text = safe_text.shown(value[: LONGEST + 1])
    return text if len(value) <= LONGEST else f"{text[:LONGEST]}…"


def _started(row: TableRow) -> str:
    if row.started_at is None:
        return ABSENT
    exact = formatting.exact(row.started_at)
    return f'<td class="started"><time datetime="{written(row.started_at)}" title="{exact}">{exact[11:23]}</time></td>'


def _took(row: TableRow) -> str:
    if row.duration_ms is None:
        return NUMBER_ABSENT
    return f'<td class="number">{formatting.duration(row.duration_ms)}</td>'


def _bar(row: TableRow, span: Span | None) -> str:
    bar = None if span is None else span.bar(row)
    if bar is None:
        return ABSENT
    width = max(bar.length * 100, SHORTEST)
    start = min(bar.start * 100, 100 - width)
    failed = ' class="failed"' if row.failed else ""
    return (
        '<td class="when"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect{failed} x="{start:.2f}" width="{width:.2f}" height="8"/></svg></td>'
    )


def _count(number: int | None) -> str:
    return NUMBER_ABSENT if number is None else f'<td class="number">{number:,}</td>'


def _cost(row: TableRow) -> str:
    if row.cost_usd is not None:
        return f'<td class="number">{money(row.cost_usd)}</td>'
    if row.unknown_cost:
        return COST_UNKNOWN
    return NUMBER_ABSENT


def _status(row: TableRow, notes: int) -> str:
    if row.failed:
        parts = [f'<span class="mark">{escape(_name(row.error_type or "error"))}</span>']
    else:
        parts = ["copied" if row.copied else "ok"]
    if notes:
        parts.append(f'<span class="noted">{counted(notes, "note") if notes > 1 else "note"}</span>')
    return f'<td class="status-of">{" ".join(parts)}</td>'

"""How often a pattern occurred, as a small bar chart with a text label."""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.memory.patterns.models import PatternAlert
from timemachine.memory.patterns.pure.trend import Trend
from timemachine.web.template_library import NOTHING, register

HIGH = 20
LEAST = 2
"""Minimum height of a bar with few steps, so that it is visible."""
_WIDEST = 120
_GAPPED = 30
"""Up to this number of bars, there are gaps between them."""


@register.simple_tag
def trend_plot(trend: Trend | None) -> SafeString:
    """Return the trend as an SVG bar chart; empty without a trend."""
    if trend is None:
        return NOTHING
    wide = min(12, _WIDEST // len(trend.counts))
    gap = 1 if len(trend.counts) <= _GAPPED else 0
    most = max(trend.counts)
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (at * wide, HIGH - height, wide - gap, height)
            for at, number in enumerate(trend.counts)
            if (height := max(LEAST, round(HIGH * number / most)) if number else 0)
        ),
    )
    return format_html(
        '<svg class="trend" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        wide * len(trend.counts),
        HIGH,
        wide * len(trend.counts),
        HIGH,
        trend.words,
        bars,
    )


@register.simple_tag
def with_seen(alerts: Sequence[PatternAlert]) -> dict[str, list[PatternAlert]]:
    """Return the open and the dismissed alerts."""
    return {
        "fresh": [each for each in alerts if each.seen_at is None],
        "seen": [each for each in alerts if each.seen_at is not None],
    }

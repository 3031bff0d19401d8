"""How often a pattern came as a small row of bars that says in words what it shows."""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.memory.patterns.document import resolution_words
from timemachine.memory.patterns.models import PatternAlert
from timemachine.memory.patterns.pure.trend import Trend
from timemachine.memory.patterns.queries import Resolution
from timemachine.web.template_library import NOTHING, register

HIGH = 20
LEAST = 2
"""How high the bar of few steps is at least, so that it is seen."""
_WIDEST = 120
_GAPPED = 30
"""Up to so many bars there is a gap between them."""


@register.simple_tag
def trend_plot(trend: Trend | None) -> SafeString:
    """The trend as an SVG of bars, each with its day or week and its number; nothing where there is none."""
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


@register.filter
def solved_words(resolution: Resolution) -> str:
    """By which rule a step is taken for what solved it, in words."""
    return resolution_words(resolution)


@register.simple_tag
def with_seen(alerts: Sequence[PatternAlert]) -> dict[str, list[PatternAlert]]:
    """The alerts that nobody put aside, and those that somebody did."""
    return {
        "fresh": [each for each in alerts if each.seen_at is None],
        "seen": [each for each in alerts if each.seen_at is not None],
    }

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.template import Context, Template

from timemachine.recording.sessions.models import Session
from timemachine.web.formatting import pace
from timemachine.web.sessions.presenters.steps import price_words

START = datetime(2026, 11, 20, 9, tzinfo=UTC)


def rendered(template: str, **context: Any) -> str:
    return Template(template).render(Context(context))


@pytest.mark.parametrize("name", ["recorded", "duration", "tokens", "compact", "relative", "exact"])
def test_every_filter_shows_a_missing_value_as_not_recorded(name: str) -> None:
    assert (
        rendered(f"{{{{ value|{name} }}}}", value=None)
        == '<span class="absent unrecorded">not recorded</span>'
    )


def test_an_unknown_cost_is_shown_as_unknown() -> None:
    assert rendered("{{ value|money }}", value=None) == '<span class="absent">unknown</span>'


@pytest.mark.parametrize(
    ("template", "value", "words"),
    [
        ("{{ value|shown }}", "a\x00<b>", "a⟨NUL⟩&lt;b&gt;"),
        ("{{ value|shown }}", None, ""),
        ("{{ value|recorded }}", "<b>", "&lt;b&gt;"),
        ("{{ value|tokens }}", 1_204, "1,204"),
        ("{{ value|grouped }}", 48_113, "48,113"),
        ("{{ value|figure }}", 48_113, "48,113"),
        ("{{ value|figure }}", "many <b>", "many &lt;b&gt;"),
        ("{{ value|compact }}", 812, "812"),
        ("{{ value|compact }}", 48_113, '<span title="48,113">48.1 k</span>'),
        ("{{ value|money }}", Decimal("4.1"), "$4.10"),
        ("{{ value|spaced }}", "tool_call", "tool call"),
        ("{{ value|spaced }}", None, ""),
        ("{{ value|counted:'step' }}", 1, "1 step"),
        ("{{ value|size }}", 2048, "2.0 KB"),
        ("{{ value|plain }}", True, "yes"),
        ("{{ value|plain }}", "a\x1b", "a⟨ESC⟩"),
        ("{{ value|plain }}", {"a": 1}, "{&quot;a&quot;: 1}"),
        ("{% total_cost value 3 %}", Decimal("4.1"), "$4.10 + 3 calls of unknown price"),
        ("{% address_of 'nowhere' %}", None, ""),
    ],
)
def test_a_value_is_formatted_in_words(template: str, value: Any, words: str) -> None:
    assert rendered(template, value=value) == words


def test_a_time_has_its_exact_form_on_hover_and_for_machines() -> None:
    assert rendered("{{ value|exact }}", value=START).startswith(
        '<time datetime="2026-11-20T09:00:00Z" title="'
    )
    assert 'title="2026-11-20 09:00:00.000 UTC"' in rendered("{{ value|relative }}", value=START)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"ended_at": START + timedelta(seconds=90)}, "1 min 30 s"),
        (
            {"last_action_at": START + timedelta(seconds=5)},
            '<span class="absent unrecorded">not recorded</span>',
        ),
        (
            {
                "last_action_at": START + timedelta(days=730),
                "first_step_at": START - timedelta(seconds=1),
                "last_step_ended_at": START + timedelta(seconds=2),
            },
            '<span title="so far">3.0 s +</span>',
        ),
        (
            {
                "ended_at": START + timedelta(days=1),
                "first_step_at": START + timedelta(seconds=1),
                "last_step_ended_at": START + timedelta(seconds=2),
            },
            "1.0 s",
        ),
        (
            {
                "imported_as": "codex",
                "is_undated": True,
                "first_step_at": START,
                "last_step_ended_at": START + timedelta(seconds=2),
            },
            "2.0 s",
        ),
        (
            {"ended_at": START + timedelta(milliseconds=6), "imported_as": "tau_bench", "is_undated": True},
            '<span class="absent unrecorded">not recorded</span>',
        ),
        (
            {"last_action_at": START, "imported_as": "codex"},
            '<span class="absent unrecorded">not recorded</span>',
        ),
        ({}, '<span class="absent unrecorded">not recorded</span>'),
    ],
)
def test_the_duration_of_a_session_is_shown(about: dict[str, Any], words: str) -> None:
    session = Session(started_at=START, created_at=START)
    for name, value in about.items():
        setattr(session, name, value)
    assert rendered("{% session_duration session %}", session=session) == words


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (
            {"source": "list", "version": "1.2", "per_million_tokens": {"input": 3, "cache_read": 0.3}},
            "at input $3.00, cache read $0.30 per million tokens (list 1.2)",
        ),
        (
            {
                "source": "list",
                "per_million_tokens": {"input": 3},
                "factor": 1.1,
                "per_thousand_web_searches": 10.0,
                "conditions": "inference_geo=us, web_search_requests=2",
            },
            "at input $3.00 per million tokens, times 1.1, $10.00 per thousand web searches"
            " under inference_geo=us, web_search_requests=2 (list)",
        ),
        ({"source": "stated"}, "as stated by the sender"),
        (
            {"source": "unknown", "reason": "model_not_listed"},
            "the price list does not include this model",
        ),
        (
            {"source": "unknown", "reason": "condition_not_listed", "about": "speed"},
            "no price is known under these conditions: speed",
        ),
        ({"per_million_tokens": {"input": "odd"}}, "at input odd per million tokens"),
        ({"input": 3}, '{"input": 3}'),
        ([1], "[1]"),
    ],
)
def test_unit_prices_are_shown_as_they_were_recorded(prices: Any, words: str) -> None:
    assert price_words(prices) == words


@pytest.mark.parametrize(
    ("done", "total", "seconds", "words"),
    [
        (40, 200, 10, "4.0 per second, about 40 s left"),
        (3, 9, 90, "2.0 per minute, about 3 min left"),
        (199, 200, 1000, "11.9 per minute, about 5 s left"),
        (0, 200, 10, ""),
        (200, 200, 10, ""),
        (40, None, 10, ""),
        (40, 200, 1.9, ""),
    ],
)
def test_time_left_is_told_only_with_a_rate(done: int, total: int | None, seconds: float, words: str) -> None:
    assert pace(done, total, seconds) == words

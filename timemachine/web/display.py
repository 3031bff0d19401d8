"""Template filters and tags that format values. Importing it registers those of the modules in `MODULES_OF_TAGS` too.

Recorded text goes through `shown` wherever it is printed, because it can contain anything.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.accounts.commands.first_start import LOCAL_KEY
from timemachine.core.pure import finish_reasons, safe_text, unknown_prices, verdicts
from timemachine.core.pure import numbers as base
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.numbers import sum_known
from timemachine.memory.patterns.schemas import resolution_words
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.comparison.pure.statistics import wording
from timemachine.web import errors, formatting, hits, navigation, page_chrome, redaction_marks
from timemachine.web.comparisons.presenters import matrix
from timemachine.web.insights.presenters import pattern_plot, search_hits
from timemachine.web.payloads import rendering
from timemachine.web.replays.forms import replays
from timemachine.web.replays.presenters import marked_rows, suite_report, trial_changes
from timemachine.web.sessions.presenters import (
    rows,
    seal_status,
    sparkline,
    step_fields,
    steps,
    table_rows,
)
from timemachine.web.sessions.presenters.live import live_status
from timemachine.web.template_library import NOTHING, absent, or_absent, register

MODULES_OF_TAGS: Final = (
    marked_rows,
    matrix,
    search_hits,
    navigation,
    page_chrome,
    hits,
    seal_status,
    pattern_plot,
    rendering,
    replays,
    rows,
    sparkline,
    steps,
    suite_report,
    table_rows,
    trial_changes,
    redaction_marks,
)
THEMES: Final = page_chrome.THEMES
_LOCAL_COMMAND: Final = f"key {LOCAL_KEY}"
LONGEST_WHO: Final = 60

register.filter("counted", base.counted)
register.filter("page_message", errors.page_message)
register.filter("page_text", errors.page_text)
register.filter("size", formatting.size)
register.filter("grouped", step_fields.grouped)
register.filter("branch_point", base.branch_point)
register.filter("live_status", live_status)
register.filter("in_unit", wording.figure)
register.filter("signed_in_unit", wording.signed)
register.filter("interval_words", wording.interval_words)
register.filter("p_words", wording.p_words)
register.filter("solved_words", resolution_words)


@register.filter
def shown(value: Any) -> str:
    """Return recorded text made safe: characters that could hide or reorder it are replaced by a visible name. None is empty."""
    return "" if value is None else safe_text.shown(str(value))


@register.filter
def replay_noun(kind: str) -> str:
    """Return what a replay of that kind is called: `audit replay`, `trial`, `continuation`."""
    return {"continue": "continuation", "trial": "trial"}.get(kind, f"{kind} replay")


@register.filter
def recorded(value: Any) -> str:
    """Return the value as `shown` does, or "not recorded" for None."""
    return or_absent(shown(value), formatting.ABSENT)


@register.filter
def duration(milliseconds: float | None) -> str:
    """Return a duration with its unit; "not recorded" for None."""
    return or_absent(None if milliseconds is None else formatting.duration(milliseconds), formatting.ABSENT)


@register.filter
def money(dollars: Decimal | float | None) -> str:
    """Return US dollars; "unknown" for None, which is not zero."""
    return or_absent(None if dollars is None else base.money(dollars), base.UNKNOWN)


@register.simple_tag
def total_cost(dollars: Decimal | None, unknown_calls: int, noun: str = "") -> str:
    """Return a sum of costs with the number of calls not included in it; "not recorded" if there are neither costs nor unknown calls."""
    if dollars is None and not unknown_calls:
        return absent(f"{noun} {formatting.ABSENT}".strip())
    return base.total_cost(dollars, unknown_calls)


@register.filter
def reasons_in_words(reasons: Mapping[str, int]) -> str:
    """Return why costs are unknown: `2 calls: no model was recorded`."""
    return unknown_prices.reasons_in_words(reasons)


@register.filter
def percent(share: float | None) -> str:
    """Return a share from 0 to 1 in percent: `12.5%`; empty for None, the share of nothing."""
    return "" if share is None else f"{share * 100:.1f}%"


@register.filter
def tokens(number: int | None) -> str:
    """Return a number of tokens in full: `1,204`; "not recorded" for None."""
    return or_absent(None if number is None else f"{number:,}", formatting.ABSENT)


@register.filter
def compact(number: int | None) -> str:
    """Return a count in few characters (`48.1 k`), with the full number on hover."""
    if number is None:
        return absent(formatting.ABSENT)
    short = formatting.compact(number)
    return short if short == str(number) else format_html('<span title="{}">{}</span>', f"{number:,}", short)


@register.filter
def figure(found: object) -> str:
    """Return `48,113` for a whole number; a recorded value can be anything else."""
    return f"{found:,}" if isinstance(found, int) else shown(found)


@register.filter
def spaced(name: str | None) -> str:
    """Return an enumerated value as words: `tool_call` becomes `tool call`; None is empty."""
    return base.spaced(name or "")


@register.filter
def ended_in_words(reason: object) -> str:
    """Return a sentence for a provider's stop reason without a complete answer; empty for any other."""
    return finish_reasons.ended_in_words(reason) or ""


@register.filter
def relative(moment: datetime | None) -> str:
    """Return how long ago, with the exact time on hover; "not recorded" for None."""
    if moment is None:
        return absent(formatting.ABSENT)
    return _time(moment, formatting.relative(moment, now()), formatting.exact(moment))


@register.filter
def until(moment: datetime) -> str:
    """Return the remaining time, with the exact time on hover."""
    return _time(moment, formatting.until(moment, now()), formatting.exact(moment))


@register.simple_tag
def pace(done: int, total: int | None, since: datetime | None) -> SafeString:
    """Return the rate since the start and the time left for the progress of a job; empty as long as there is no rate."""
    words = "" if since is None else formatting.pace(done, total, (now() - since).total_seconds())
    return format_html('<p class="quiet pace">{}</p>', words) if words else NOTHING


@register.filter
def exact(moment: datetime | None) -> str:
    """Return the exact time, with how long ago on hover; "not recorded" for None."""
    if moment is None:
        return absent(formatting.ABSENT)
    return _time(moment, formatting.exact(moment), formatting.relative(moment, now()))


@register.filter
def as_json(value: Any) -> str:
    """Return a value as one line of safe JSON."""
    return safe_text.shown(json.dumps(value, ensure_ascii=False))


@register.filter
def plain(value: Any) -> str:
    """Return a recorded value for a line of facts: text unchanged, yes or no, anything else as JSON; safe."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown(value) if isinstance(value, str) else as_json(value)


@register.filter
def score(value: Any) -> str:
    """Return the score of a passage with up to four decimals, or more if it is smaller than these; anything else as `plain` does."""
    return f"{round(value, 4) or value:g}" if isinstance(value, float) else plain(value)


@register.filter
def who(name: str | None) -> str:
    """Return the name of a person or API key as `short_name` does, with the full name on hover."""
    noted, short = shown(name), short_name(name)
    return noted if short == noted else format_html('<span title="{}">{}</span>', noted, short)


@register.filter
def short_name(name: str | None) -> str:
    """Return the name of a person or API key without markup; long names are cut and the command on the server's machine is shortened."""
    if name == _LOCAL_COMMAND:
        return "timemachine command"
    noted = shown(name)
    return f"{noted[:LONGEST_WHO]}…" if len(noted) > LONGEST_WHO else noted


def _time(moment: datetime, words: str, hover: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', written(moment), hover, words)


@register.filter
def verdict_words(step: Any) -> str:
    """Return the verdict on a replayed step in words."""
    return verdicts.verdict_in_words(step.verdict, step.evidence)


@register.filter
def verdict_name(verdict: str) -> str:
    """Return a verdict of several steps in words."""
    return verdicts.verdict_in_words(verdict)


@register.filter
def calls_on_one_side(step: Any) -> str:
    """Return the tools that only the recorded or only the new answer of a replayed step calls."""
    return verdicts.calls_on_one_side(step.evidence) if step.verdict == verdicts.OTHER_TOOL else ""


@register.filter
def can_have_frames(steps: Sequence[Any]) -> bool:
    """Return whether any of these replayed steps can have frames: model calls have none."""
    return any(step.kind != MODEL_CALL for step in steps)


@register.filter
def since_words(frames: Sequence[Mapping[str, str | None]] | None) -> str:
    """Return what has happened to a step's frozen frames in their collection since: `3 unchanged, 1 updated`."""
    known = Counter(frame["since"] or "unknown" for frame in frames or [])
    return ", ".join(f"{number} {fate}" for fate, number in sorted(known.items()))


@register.simple_tag
def session_started(session: Any) -> str:
    """Return how long ago a session began, for places without a heading."""
    return absent(f"start {formatting.ABSENT}") if session.began_at is None else relative(session.began_at)


@register.simple_tag
def session_duration(session: Any) -> str:
    """Return the duration of a session, so far while it is recording; "not recorded" if there are no times."""
    if session.duration_ms is None:
        return absent(formatting.ABSENT)
    words = formatting.duration(session.duration_ms)
    is_recording = session.ended_at is None and session.imported_as is None
    return format_html('<span title="so far">{} +</span>', words) if is_recording else words


@register.simple_tag
def session_steps(session: Any, copied: Mapping[UUID, int], noun: str = "") -> str:
    """Return the number of steps of a session, and how many of them are copies. `copied` has these numbers by session."""
    words = base.counted(session.last_sequence, noun) if noun else f"{session.last_sequence:,}"
    number = copied.get(session.id)
    if not number:
        return words
    return format_html(
        '{} <span class="quiet copies" title="Copied from another session or file; not included in totals">{} copied</span>',
        words,
        f"{number:,}",
    )


@register.simple_tag
def session_tokens(session: Any, noun: str = "") -> str:
    """Return the tokens of a session in few characters, input and output on hover; "not recorded" if no call had any."""
    number = sum_known(session.input_tokens, session.output_tokens)
    if number is None:
        return absent(f"{noun} {formatting.ABSENT}".strip())
    parts = {"input": session.input_tokens, "output": session.output_tokens}
    hover = ", ".join(
        f"{formatting.ABSENT if of is None else f'{of:,}'} {name}" for name, of in parts.items()
    )
    return format_html('<span title="{}">{}</span>', hover, f"{formatting.compact(number)} {noun}".strip())


@register.simple_tag
def session_cost(session: Any, noun: str = "") -> str:
    """Return the cost of a session like `total_cost`; muted if it is zero."""
    words = total_cost(session.cost_usd, session.unknown_cost_calls, noun)
    if session.cost_usd == 0 and not session.unknown_cost_calls:
        return format_html('<span class="quiet">{}</span>', words)
    return words


@register.simple_tag
def session_cost_in_list(session: Any) -> str:
    """Return the same for a narrow column: `unknown` or `$4.10 + unknown`, with the number of calls on hover."""
    if not session.unknown_cost_calls:
        return session_cost(session)
    known = [base.money(session.cost_usd)] if session.cost_usd else []
    words = total_cost(session.cost_usd, session.unknown_cost_calls)
    return format_html('<span title="{}">{}</span>', words, " + ".join([*known, base.UNKNOWN]))


@register.simple_tag
def saved_total(totals: Any) -> str:
    """Return the savings of the answer cache, for a session or for totals; empty if no answer came from it."""
    if not totals.cached_calls:
        return ""
    saved = base.saved(totals.saved_usd, totals.unknown_saved_calls)
    return f"{base.counted(totals.cached_calls, 'cached answer')}, saved {saved}"


@register.filter
def pairs(value: Any) -> list[tuple[str, Any]]:
    """Return the names and values of a recorded object. (`value.items` in a template would be a key of that name.)"""
    return list(value.items()) if isinstance(value, dict) else []

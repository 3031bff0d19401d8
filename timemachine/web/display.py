"""How values look on a page: template filters and tags. The one module that makes markup from values.

Recorded text goes through `shown` wherever it is printed: it may hold anything.
"""

import json
from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlencode

from django import template
from django.middleware.csrf import get_token
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.base.clock import now, written
from timemachine.web import bodies, wording
from timemachine.web.bodies import Body

register = template.Library()

NOTHING: Final = SafeString("")
THEMES: Final = ("auto", "light", "dark")
LETTERS: Final = {
    "put": "P",
    "find": "F",
    "ask": "A",
    "llm_call": "L",
    "tool_call": "T",
    "tool_result": "R",
    "memory_op": "Y",
    "message": "M",
    "event": "E",
    "checkpoint": "C",
}
BAR_STEPS: Final = 12
LONGEST_PRICES: Final = 300
PAYLOAD_WORDS: Final = {
    "put": ("Passage", "Frame"),
    "find": ("Query", "Found"),
    "ask": ("Question", "Answer"),
    "llm_call": ("Prompt", "Answer"),
    "tool_call": ("Arguments", "Result"),
    "tool_result": ("Arguments", "Result"),
    "message": ("To", "Message"),
}


@register.filter
def shown(value: Any) -> str:
    """Recorded text, harmless: what could hide or reorder it is replaced by a sign that names it. None is empty."""
    return "" if value is None else wording.shown(str(value))


@register.filter
def recorded(value: Any) -> str:
    """The value, or "not recorded" where there is none."""
    return _or_absent(None if value in (None, "") else str(value), wording.ABSENT)


@register.filter
def duration(milliseconds: float | None) -> str:
    """A duration with its unit; "not recorded" for None."""
    return _or_absent(None if milliseconds is None else wording.duration(milliseconds), wording.ABSENT)


@register.filter
def money(dollars: Decimal | float | None) -> str:
    """US dollars; "unknown" for None, which is never nothing."""
    return _or_absent(None if dollars is None else wording.money(dollars), wording.UNKNOWN)


@register.simple_tag
def total_cost(dollars: Decimal, unknown_calls: int) -> str:
    """A sum of costs beside the number of calls that are not in it."""
    return wording.total(dollars, unknown_calls)


@register.filter
def tokens(number: int | None) -> str:
    """A number of tokens, whole: `1,204`; "not recorded" for None."""
    return _or_absent(None if number is None else f"{number:,}", wording.ABSENT)


@register.filter
def compact(number: int | None) -> str:
    """A count in few characters (`48.1 k`), with the whole number on hover."""
    if number is None:
        return _or_absent(None, wording.ABSENT)
    short = wording.compact(number)
    return short if short == str(number) else format_html('<span title="{}">{}</span>', f"{number:,}", short)


@register.filter
def counted(number: int, noun: str) -> str:
    """`1 step`, `1,234 steps`."""
    return wording.counted(number, noun)


@register.filter
def grouped(number: int) -> str:
    """`48,113`."""
    return f"{number:,}"


@register.filter
def size(count: int) -> str:
    """A number of bytes with its unit."""
    return wording.size(count)


@register.filter
def spaced(name: str | None) -> str:
    """An enumerated value as words: `tool_call` reads `tool call`; None is empty."""
    return wording.spaced(name or "")


@register.filter
def relative(moment: datetime | None) -> str:
    """How long ago, with the exact time on hover; "not recorded" for None."""
    if moment is None:
        return _or_absent(None, wording.ABSENT)
    return _time(moment, wording.relative(moment, now()), wording.exact(moment))


@register.filter
def exact(moment: datetime | None) -> str:
    """The exact time, with how long ago on hover; "not recorded" for None."""
    if moment is None:
        return _or_absent(None, wording.ABSENT)
    return _time(moment, wording.exact(moment), wording.relative(moment, now()))


@register.filter
def as_json(value: Any) -> str:
    """A value as one line of JSON, harmless."""
    return wording.shown(json.dumps(value, ensure_ascii=False))


@register.filter
def plain(value: Any) -> str:
    """A recorded value in a line of facts: a text as it is, yes or no, anything else as JSON; harmless."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown(value) if isinstance(value, str) else as_json(value)


@register.filter
def body_of(head: Any) -> Body:
    """The layout of the beginning of a payload."""
    return bodies.body(head.media_type, head.text, cut=head.cut)


@register.simple_tag
def kind_badge(kind: str) -> SafeString:
    """The badge of an action's kind: a letter in a shape of its own, and the kind's name for who cannot see it."""
    return format_html(
        '<span class="kind k-{}" role="img" aria-label="{}">{}</span>',
        kind,
        wording.spaced(kind),
        LETTERS.get(kind, "?"),
    )


@register.simple_tag
def row_label(row: Any) -> SafeString:
    """The one line of a row, with the tool's name set off."""
    label = wording.shown(row.label)
    tool = wording.shown(row.tool or "")
    if not label:
        return SafeString('<span class="absent">no text</span>')
    if tool and label.startswith(tool):
        return format_html("<b>{}</b>{}", tool, label[len(tool) :])
    return format_html("{}", label)


@register.simple_tag
def took(milliseconds: float | None) -> SafeString:
    """A duration in a row: its words over a bar whose length is its logarithm, from 1 ms to over 10 minutes."""
    if milliseconds is None:
        return SafeString('<span class="took absent" title="duration not recorded">·</span>')
    return format_html('<span class="took b{}">{}</span>', bar(milliseconds), wording.duration(milliseconds))


def bar(milliseconds: float) -> int:
    """The length of a duration's bar, 0 to `BAR_STEPS`: one more for every factor of three over 1 ms."""
    length = 0
    while milliseconds >= 3 and length < BAR_STEPS:  # noqa: PLR2004
        milliseconds /= 3
        length += 1
    return length


@register.simple_tag
def session_duration(session: Any) -> str:
    """How long a session took; while it records, how long so far; "not recorded" where an import did not say."""
    last = session.ended_at
    if last is None and session.imported_as is None:
        last = session.last_action_at
    if last is None:
        return _or_absent(None, wording.ABSENT)
    words = wording.duration((last - session.started_at).total_seconds() * 1000)
    return words if session.ended_at else format_html('<span title="so far">{} +</span>', words)


@register.simple_tag
def session_tokens(session: Any, noun: str = "") -> str:
    """The tokens of a session in few characters, input and output on hover; "not recorded" where no call had any."""
    number = session.input_tokens + session.output_tokens
    if not number:
        return _or_absent(None, f"{noun} {wording.ABSENT}".strip())
    hover = f"{session.input_tokens:,} input, {session.output_tokens:,} output"
    return format_html('<span title="{}">{}</span>', hover, f"{wording.compact(number)} {noun}".strip())


@register.simple_tag
def session_cost(session: Any) -> str:
    """What a session cost as far as it was recorded, beside the calls whose price is unknown."""
    if not session.cost_usd and not session.unknown_cost_calls:
        return format_html('<span class="quiet">{}</span>', wording.money(0))
    return wording.total(session.cost_usd, session.unknown_cost_calls)


@register.simple_tag
def action_tokens(action: Any) -> str:
    """The tokens of one action: the recorded total, else input and output together as far as they were recorded."""
    parts = [number for number in (action.input_tokens, action.output_tokens) if number is not None]
    number = action.total_tokens if action.total_tokens is not None else sum(parts)
    return f"{number:,} tokens"


@register.simple_tag
def price_words(prices: Any) -> str:
    """The unit prices recorded with a call: as a sentence where they have our form, else as they are."""
    units = prices.get("per_million_tokens") if isinstance(prices, dict) else None
    if not isinstance(units, dict):
        return wording.shown(json.dumps(prices, ensure_ascii=False))[:LONGEST_PRICES]
    each = ", ".join(f"{wording.spaced(str(name))} {wording.price(value)}" for name, value in units.items())
    source = " ".join(str(prices[name]) for name in ("source", "version") if prices.get(name))
    return wording.shown(f"at {each} per million tokens" + (f" ({source})" if source else ""))


@register.simple_tag
def payload_words(kind: str) -> dict[str, str]:
    """What the input and the output of a kind are called."""
    given, made = PAYLOAD_WORDS.get(kind, ("Input", "Output"))
    return {"input": given, "output": made}


@register.simple_tag(takes_context=True)
def step_link(context: Context, words: str, sequence: int | None, key: str, arrow: str) -> SafeString:
    """A link to another step, by its key too; where there is none its place stays, without an address."""
    if sequence is None:
        return format_html(
            '<a class="button step-link" role="link" aria-disabled="true">{}</a>', _arrowed(words, arrow)
        )
    return format_html(
        '<a class="button step-link" href="{}#s{}" title="{} ({})" data-key="{}" hx-get="{}" hx-target="#step"'
        ' hx-swap="outerHTML" hx-push-url="true" hx-sync="#main:replace" hx-indicator="#step">{}</a>',
        query(context, step=sequence),
        sequence,
        words,
        key,
        key,
        query(context, step=sequence),
        _arrowed(words, arrow),
    )


@register.simple_tag(takes_context=True)
def step_name(context: Context, row: Any, tab: str | None = None) -> SafeString:
    """A link to another step that says what it is."""
    return format_html(
        '<a class="step-name" href="{}">{} <span class="seq">{}</span> {}</a>',
        query(context, step=row.sequence, tab=tab),
        kind_badge(row.kind),
        row.sequence,
        row_label(row),
    )


@register.simple_tag(takes_context=True)
def fold_link(context: Context, place: Any) -> SafeString:
    """The link of a row that shows or folds away what is inside it."""
    sequence = place.step.sequence
    unfolded = {int(each) for each in (context["here"].get("open") or "").split(",") if each}
    state = ",".join(
        str(each) for each in sorted(unfolded - {sequence} if place.unfolded else unfolded | {sequence})
    )
    # Folding selects what stays to be seen: the selected step may be inside.
    state_of_fold = {"open": state, "near": sequence} | ({"step": sequence} if place.unfolded else {})
    asked = query(context, **{"step": None, **state_of_fold, "tab": None})
    return format_html(
        '<a class="inside" href="{}#s{}" aria-expanded="{}" hx-get="{}" hx-include="{}" hx-target="#timeline"'
        ' hx-swap="outerHTML" hx-push-url="true" hx-sync="#main:replace">{}</a>',
        query(context, **state_of_fold),
        sequence,
        "true" if place.unfolded else "false",
        asked,
        "#tab" if place.unfolded else "#at, #tab",
        "fold" if place.unfolded else f"{place.inside} inside",
    )


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """The current address's query with some of its values changed; None or an empty text takes one out."""
    kept = {**context["here"], **changes}
    said = {name: value for name, value in kept.items() if value not in (None, "")}
    return "?" + urlencode(said, safe=":,", errors="surrogatepass")  # a recorded tag may hold anything


@register.simple_tag(takes_context=True)
def theme_attributes(context: Context) -> SafeString:
    """The visitor's choices on `<html>`: `data-theme` for light or dark, `data-keys="off"` without single-key commands."""
    theme = _chosen(context, "tm_theme", THEMES)
    attributes = format_html('data-theme="{}"', theme) if theme != "auto" else NOTHING
    return SafeString(attributes + ' data-keys="off"') if keys_off(context) else attributes


@register.simple_tag(takes_context=True)
def keys_off(context: Context) -> bool:
    """Whether the visitor switched the single-key commands off."""
    return _chosen(context, "tm_keys", ("on", "off")) == "off"


@register.simple_tag(takes_context=True)
def theme_switch(context: Context) -> SafeString:
    """A button that goes from the system's colours to light, to dark and back."""
    theme = _chosen(context, "tm_theme", THEMES)
    following = THEMES[(THEMES.index(theme) + 1) % len(THEMES)]
    button = format_html(
        '<button class="navlink" name="theme" value="{}" title="Change to {}">Theme: {}</button>',
        following,
        following,
        theme,
    )
    return post_form(context, "appearance", button)


@register.simple_tag(takes_context=True)
def sign_out_button(context: Context) -> SafeString:
    """The form that signs out, where somebody is signed in."""
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return NOTHING
    button = format_html('<button class="navlink" type="submit" title="{}">Sign out</button>', str(user))
    return post_form(context, "sign_out", button)


@register.simple_tag(takes_context=True)
def nav_link(context: Context, name: str, words: str) -> SafeString:
    """A link of the header; nothing where there is no page of that name."""
    address = address_of(name)
    if not address:
        return NOTHING
    here = getattr(context.get("request"), "path", "")
    current = here.startswith("/sessions/") or here == "/" if name == "sessions" else here.startswith(address)
    mark = SafeString(' aria-current="page"') if current else NOTHING
    return format_html('<a class="navlink" href="{}"{}>{}</a>', address, mark, words)


@register.simple_tag
def address_of(name: str, *args: Any) -> str:
    """The address of a named page, or an empty text where there is no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def post_form(context: Context, name: str, button: SafeString) -> SafeString:
    """A form of one button that posts to a named page; nothing where there is no such page."""
    address = address_of(name)
    request = context.get("request")
    if not address or request is None:
        return NOTHING
    return format_html(
        '<form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">{}</form>',
        address,
        get_token(request),
        button,
    )


def _chosen(context: Context, cookie: str, choices: tuple[str, ...]) -> str:
    request = context.get("request")
    value = request.COOKIES.get(cookie, choices[0]) if request else choices[0]
    return value if value in choices else choices[0]


def _arrowed(words: str, arrow: str) -> SafeString:
    after = '<span class="words">{0}</span><span aria-hidden="true">{1}</span>'
    before = '<span aria-hidden="true">{1}</span><span class="words">{0}</span>'
    return format_html(after if words.startswith("Next") else before, words, arrow)


def _or_absent(words: str | None, instead: str) -> str:
    return words if words is not None else format_html('<span class="absent">{}</span>', instead)


def _time(moment: datetime, words: str, hover: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', written(moment), hover, words)


@register.filter
def since_words(frames: list[dict[str, Any]] | None) -> str:
    """What became of a step's frozen frames in their collection since: `3 unchanged, 1 updated`."""
    known = Counter(frame["since"] or "unknown" for frame in frames or [])
    return ", ".join(f"{number} {fate}" for fate, number in sorted(known.items()))

"""Template tags for steps: the badge of a kind, row labels, links between steps."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.template import Context
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.core.pure import safe_text
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import spaced
from timemachine.core.pure.unknown_prices import STATED, reason_of, reason_words
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.llm.pure.completion import ended_by
from timemachine.recording.sessions.pure.corrections import CORRECTION
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.timeline.step import Step
from timemachine.web import formatting
from timemachine.web.payloads.pure.terminal import plain
from timemachine.web.redaction_marks import drawing
from timemachine.web.sessions.presenters.sentences import Sentence, counted
from timemachine.web.template_library import absent, register

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
LONGEST_PRICES: Final = 300
PROVIDER_ERROR: Final = ("message", "type", "code", "param", "status", "request_id", "attempts")
NO_ANSWER: Final = "Partial output (not an answer)"
PROSE: Final = frozenset({"ask", "find", "put", "message", "memory_op"})
"""Kinds whose input and output are text written for a reader."""
PAYLOAD_WORDS: Final = {
    "put": ("Passage", "Frame"),
    "find": ("Query", "Found"),
    "ask": ("Question", "Answer"),
    "llm_call": ("Prompt", "Answer"),
    "tool_call": ("Arguments", "Result"),
    "tool_result": ("Arguments", "Result"),
    "message": ("To", "Message"),
}


def _badge(kind: str) -> SafeString:
    return format_html(
        '<span class="kind k-{}" role="img" aria-label="{}">{}</span>',
        kind,
        spaced(kind),
        LETTERS.get(kind, "?"),
    )


BADGES: Final = {kind: _badge(kind) for kind in LETTERS}


@register.simple_tag
def kind_badge(kind: str) -> SafeString:
    """Return the badge of a step's kind: a letter in a shape, and the kind's name for screen readers."""
    return BADGES.get(kind) or _badge(kind)


@register.simple_tag
def row_label(row: Any, draw: Callable[[str], str] = escape) -> SafeString:
    """Return the label of a row, with the tool's name in bold and without the colours of a terminal."""
    label = safe_text.shown(plain(row.label))
    tool = safe_text.shown(row.tool or "")
    if not label:
        return absent("no text")
    if tool and label.startswith(tool):
        return SafeString(f"<b>{draw(tool)}</b>{draw(label[len(tool) :])}")
    return SafeString(draw(label))


@register.simple_tag
def action_tokens(action: Any) -> str:
    """Return the tokens of one step: the recorded total, else the sum of recorded input and output."""
    parts = [number for number in (action.input_tokens, action.output_tokens) if number is not None]
    number = action.total_tokens if action.total_tokens is not None else sum(parts)
    return f"{number:,} tokens"


@register.simple_tag
def price_words(prices: Any) -> str:
    """Return where the cost of a call comes from, or why it is unknown: as a sentence if `prices` has our form, else unchanged."""
    if isinstance(prices, dict) and CORRECTION in prices:
        prices = {name: value for name, value in prices.items() if name != CORRECTION}
        if not prices:
            return ""
    if reason := reason_of(prices):
        return safe_text.shown(reason_words(reason, prices.get("about")))
    if prices == STATED:
        return "as stated by the sender"
    if isinstance(prices, dict) and prices.get("source") == STATED["source"] and "with" in prices:
        return "included in the cost of the run, stated by the last event"
    units = prices.get("per_million_tokens") if isinstance(prices, dict) else None
    if not isinstance(units, dict):
        return safe_text.shown(json.dumps(prices, ensure_ascii=False))[:LONGEST_PRICES]
    each = ", ".join(f"{spaced(str(name))} {formatting.price(value)}" for name, value in units.items())
    source = " ".join(str(prices[name]) for name in ("source", "version", "entry") if prices.get(name))
    factor, searches = (prices.get(name) for name in ("factor", "per_thousand_web_searches"))
    times = f", times {factor}" if isinstance(factor, float) else ""
    found = f", {formatting.price(searches)} per thousand web searches" if isinstance(searches, float) else ""
    stated = f" under {prices['conditions']}" if isinstance(prices.get("conditions"), str) else ""
    return safe_text.shown(
        f"at {each} per million tokens{times}{found}{stated}" + (f" ({source})" if source else "")
    )


@register.simple_tag
def model_price_source(prices: JsonObject) -> str:
    """Return the source and date of a model's unit prices, and the limit up to which they apply."""
    day = str(prices["at"])[:10]
    if prices["source"] == "local":
        return "runs on your own machine"
    if prices["source"] == "override":
        since = f" from {prices['from']}" if "from" in prices else ""
        return f"the operator's price for {prices['entry']}{since}"
    tiers = prices.get("tiers", [])
    limit = f", up to {tiers[1]:,} input tokens" if len(tiers) > 1 else ""
    return f"{prices['source']} {prices['version']} for {day}{limit}"


@register.simple_tag
def payload_words(kind: str, failed: bool = False) -> dict[str, str]:  # a tag's argument
    """Return the titles of the input and the output of a kind, and what `reading_of` reads them as."""
    given, made = PAYLOAD_WORDS.get(kind, ("Input", "Output"))
    other = "prose" if kind in PROSE else "plain"
    reads = ("request", "answer") if kind == MODEL_CALL else (other, other)
    return {
        "input": given,
        "output": NO_ANSWER if failed and kind == "ask" else made,
        "input_reads": reads[0],
        "output_reads": reads[1],
    }


@register.simple_tag
def how_it_ended(found: Step | SharedStep) -> dict[str, object]:
    """Return why a step has no complete answer: the provider's reason, an empty answer, or the provider's error."""
    known = found.action.parameters if isinstance(found.action.parameters, dict) else {}
    message = known.get("provider_error")
    empty = found.output is not None and not found.output.size and found.output.media_type == "text/plain"
    error = {**known, **message} if isinstance(message, dict) else {}
    return {
        "reason": ended_by(known),
        "empty": empty and found.action.kind in ("ask", "llm_call"),
        "provider": [
            (spaced(name), str(error[name])) for name in PROVIDER_ERROR if error.get(name) is not None
        ],
    }


@register.simple_tag(takes_context=True)
def step_link(context: Context, words: str, sequence: int | None, key: str, arrow: str) -> SafeString:
    """Return a link to another step with its shortcut; a disabled one if there is no such step."""
    if sequence is None:
        return format_html(
            '<a class="button step-link" role="link" aria-disabled="true" data-key="{}">{}</a>',
            key,
            _arrowed(words, arrow),
        )
    there = query(context, step=sequence, **(context.get("held") or {}))
    return format_html(
        '<a class="button step-link" href="{}#s{}" title="{} ({})" data-key="{}" hx-get="{}" hx-target="{target}"'
        ' hx-swap="outerHTML" hx-push-url="true" hx-sync="#main:replace" hx-indicator="{target}">{}</a>',
        there,
        sequence,
        words,
        key,
        key,
        there,
        _arrowed(words, arrow),
        target="#timeline" if "sheet" in context else "#step",
    )


@register.simple_tag
def tab_keys(tab: str, number: int, current: str) -> str:
    """Return the shortcuts of a tab: its number, and `d` for the Diff tab or back from it."""
    return f"{number} d" if tab == ("action" if current == "diff" else "diff") else f"{number}"


@register.simple_tag(takes_context=True)
def supported_text(
    context: Context, sentences: Sequence[Sentence], in_answer: bool, side: str = ""
) -> SafeString:
    """Return an answer with each sentence underlined and marked by its support.

    Each mark links to the supporting passage, or to why nothing supports it; `side` keeps the ids of two answers on one page apart.
    This is not a template because white space between sentences would be shown.
    """
    between = "" if in_answer else "<br>"
    draw = drawing(context)
    return SafeString(between.join(_supported(sentence, side, draw) for sentence in sentences))


@register.filter
def support_counted(grounding: Any) -> str:
    """Return how many sentences of a recorded grounding are supported; empty if it has no count."""
    return counted(grounding) if isinstance(grounding, Mapping) and grounding.get("sentence_count") else ""


@register.filter
def claims_nothing(grounding: Any) -> bool:
    """Return whether the answer makes no claim: its grounding has sentences, but neither score nor label."""
    if not isinstance(grounding, Mapping) or not grounding.get("sentences"):
        return False
    return "score" in grounding and grounding["score"] is None and grounding.get("label") is None


@register.filter
def unsupported(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that make an unsupported claim."""
    return [each for each in sentences if each.grounded is False]


@register.simple_tag(takes_context=True)
def step_name(context: Context, row: Any, tab: str | None = None) -> SafeString:
    """Return a link to another step with its kind, number and label."""
    return format_html(
        '<a class="step-name" href="{}">{} <span class="seq">{}</span> {}</a>',
        query(context, step=row.sequence, tab=tab),
        kind_badge(row.kind),
        row.sequence,
        row_label(row, drawing(context)),
    )


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """Return the current query string with some values changed; None or an empty text removes one."""
    return address_query((context.get("here") or {}) | changes)


@register.simple_tag
def sessions_with(**chosen: str) -> str:
    """Return the URL of the session list filtered by this agent, user or tag."""
    return reverse("sessions") + address_query(chosen)


@register.simple_tag(takes_context=True)
def permanent(context: Context, sequence: int) -> str:
    """Return the query string of a step's permanent link: the step and its tab, without the list."""
    here = context["here"]
    pin = here["pin"] if here["tab"] == "diff" else None
    return address_query({"step": sequence, "tab": here["tab"], "pin": pin})


@register.simple_tag(takes_context=True)
def preserved_fields(context: Context, *changed: str) -> SafeString:
    """Return hidden form fields for the query that links keep, without the form's own fields."""
    return format_html_join(
        "",
        '<input type="hidden" name="{}" value="{}">',
        (
            (name, value)
            for name, value in context["here"].items()
            if name not in changed and value not in (None, "")
        ),
    )


def address_query(values: Mapping[str, Any]) -> str:
    """Return these values as a query string; None and empty texts are left out."""
    parameters = {name: value for name, value in values.items() if value not in (None, "")}
    return "?" + urlencode(parameters, safe=":,", errors="surrogatepass")  # a recorded tag may hold anything


def _arrowed(words: str, arrow: str) -> SafeString:
    after = '<span class="words">{0}</span><span aria-hidden="true">{1}</span>'
    before = '<span aria-hidden="true">{1}</span><span class="words">{0}</span>'
    return format_html(after if words.startswith(("Next", "Last")) else before, words, arrow)


def _supported(sentence: Sentence, side: str, draw: Callable[[str], str]) -> str:
    text = SafeString(draw(safe_text.shown(sentence.text)))
    if sentence.grounded is None:
        return text
    return format_html(
        '<span class="sentence {}" id="{}said-{}" data-number="{}">{}</span>{}',
        sentence.support,
        side,
        sentence.number,
        sentence.number,
        text,
        support_sign(sentence, side),
    )


def support_sign(sentence: Sentence, side: str) -> SafeString:
    """Return the sign after a sentence that makes a claim: a link to its passage, or to why none supports it."""
    score = f", {sentence.score:.2f}" if isinstance(sentence.score, int | float) else ""
    reason = "" if sentence.why_in_short is None else f" {sentence.why_in_short}"
    supported = "✓" if sentence.frame is None else f"✓#{sentence.frame}"
    mark = {"supported": supported, "partly": "◐ partly"}.get(sentence.support, f"✗{reason}")
    leads_on = not sentence.grounded or sentence.frame is not None
    return format_html(
        '<a class="support" href="#{}{}-{}" title="{}">{}</a>',
        side,
        "said" if not leads_on else "rests" if sentence.grounded else "why",
        sentence.number,
        safe_text.shown(sentence.words + score),
        safe_text.shown(mark),
    )

"""Marks of withheld, erased and deleted text: a hatched block with a word, inside the remaining text."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from django.template import Context
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.evidence.models import ErasedField
from timemachine.governance.deletion.erasure.queries import ErasedParts, rank_of
from timemachine.governance.sharing.read_models.replays import SharedReplayRow, SharedReplayStep
from timemachine.governance.sharing.read_models.seals import SharedErasure
from timemachine.recording.sessions.pure.turn_text import Deleted
from timemachine.replay.runs.answer_lines import NO_LINES, AnswerLines
from timemachine.replay.runs.models import ReplayStep
from timemachine.web.template_library import register

NOTHING: Final = ErasedParts()
MARK: Final = re.compile(
    r"(\[(?:withheld|erased|deleted(?=: turn\])): [^\[\]]{1,40}(?:\]|…$))"
)  # in a text that was cut, the last as well
_PARTS: Final = re.compile(r"\[(withheld|erased|deleted(?=: turn\])): ([^\[\]]{1,40})\]")


@register.filter
def is_marked(text: str) -> bool:
    """Return whether parts of the text are withheld, erased or deleted."""
    return MARK.search(text) is not None


@register.filter
def hatched(text: str) -> SafeString:
    """Return a redacted text with its marks as hatched blocks; every other character is escaped."""
    pieces = MARK.split(text)
    if len(pieces) == 1:
        return conditional_escape(text)
    return format_html_join(
        "", "{}", ((_block(each) if nth % 2 else each,) for nth, each in enumerate(pieces))
    )


@register.filter(is_safe=True)
def in_plain_words(text: str) -> str:
    """Return a text without markup, as in a page title: its marks in parentheses, `(e-mail withheld)`."""
    return _PARTS.sub(r"(\2 \1)", text)


@register.simple_tag(takes_context=True)
def redacted(context: Context, text: str) -> str:
    """Return a text with hatched marks for withheld and erased parts."""
    return drawing(context)(text)


def drawing(context: Context) -> Callable[[str], SafeString]:
    """Return the function that renders recorded texts on a page: escaped, and with hatched marks if a link has a redaction profile or content was erased (`erased`, or `marks`)."""
    marked = getattr(context.get("link"), "redaction", None) or context.get("erased") or context.get("marks")
    return hatched if marked else conditional_escape


def _block(mark: str) -> SafeString:
    return format_html('<span class="redacted"><span>{}</span></span>', mark[1:].removesuffix("]"))


@register.simple_tag(takes_context=True)
def is_erased(context: Context, sequence: int, field: str, rank: int | None = None) -> bool:
    """Return whether parts of that field of a step were erased, by `erased_fields` of the page; with `rank`, for a passage or its text."""
    erased_fields = {row.field for row in erased_on(context, sequence)}
    return (
        field in erased_fields
        if rank is None
        else not erased_fields.isdisjoint({f"{field}.{rank}", f"{field}.{rank}.text"})
    )


@register.simple_tag(takes_context=True)
def erased_on(context: Context, sequence: int) -> Sequence[ErasedField | SharedErasure]:
    """Return the fields of a step with erased parts, by `erased_fields` of the page."""
    found: Mapping[int, Sequence[ErasedField | SharedErasure]] = context.get("erased_fields") or {}
    return found.get(sequence, ())


@register.simple_tag(takes_context=True)
def tombstone(context: Context, sequence: int) -> Deleted | None:
    """Return when, by whom and why a step was deleted, by `tombstones` of the page; None if it was not."""
    found: Mapping[int, Deleted] = context.get("tombstones") or {}
    return found.get(sequence)


@register.simple_tag(takes_context=True)
def erased_parts(context: Context, step: ReplayStep | SharedReplayRow | SharedReplayStep) -> ErasedParts:
    """Return the erased parts of a replayed step, by `erased_parts` of the page."""
    found: Mapping[int, ErasedParts] = context.get("erased_parts") or {}
    return found.get(step.id, NOTHING)


@register.simple_tag(takes_context=True)
def answer_lines(context: Context, step: ReplayStep | SharedReplayRow) -> AnswerLines:
    """Return the recorded and the new answer of a replayed step on one line each, by `answer_lines` of the page."""
    found: Mapping[int, AnswerLines] = context.get("answer_lines") or {}
    return found.get(step.id, NO_LINES)


@register.filter
def erased_names(rows: Iterable[ErasedField | SharedErasure]) -> str:
    """Return the erased fields of a step in words, each once and in order: `output, passage 1, text of passage 1`."""
    return ", ".join(sorted({field_name(row.field) for row in rows}, key=_in_order))


@register.filter
def field_name(field: str) -> str:
    """Return a sealed field in words: `text of passage 1` for `hit.1.text`."""
    rank = rank_of(field)
    if not rank:
        return field
    return f"text of passage {rank}" if field.endswith(".text") else f"passage {rank}"


def _in_order(name: str) -> tuple[int, str]:
    words = name.split()
    return (int(words[-1]) if words[-1].isdigit() else 0, name)


@register.filter
def detector(name: str) -> str:
    """Return what a detector matches, in words."""
    return _FOUND[name]


_FOUND: Final = {
    "secret": "secrets: keys, tokens, passwords",
    "email": "e-mail addresses",
    "phone": "phone numbers in international format",
    "card": "payment card numbers",
    "iban": "IBANs",
    "ssn": "US social security numbers",
    "password": "passwords and keys found by their context",
    "machine": "user and host names",
    "image": "images as base64",
}

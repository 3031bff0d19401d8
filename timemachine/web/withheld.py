"""How what is withheld looks: a hatched block with the word, inside the text that it was taken out of."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from django.template import Context
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.evidence.models import ErasedField
from timemachine.web.library import register

_MARK: Final = re.compile(r"(\[(?:withheld|erased): [^\[\]]{1,40}\])")


@register.filter
def hatched(text: str) -> SafeString:
    """A redacted text with its marks as hatched blocks; every other character is escaped."""
    pieces = _MARK.split(text)
    if len(pieces) == 1:
        return conditional_escape(text)
    return format_html_join(
        "", "{}", ((_block(each) if nth % 2 else each,) for nth, each in enumerate(pieces))
    )


@register.simple_tag(takes_context=True)
def veiled(context: Context, text: str) -> str:
    """A text with hatched marks where some of it is withheld or erased, as it is anywhere else."""
    return drawing(context)(text)


def drawing(context: Context) -> Callable[[str], SafeString]:
    """How recorded texts are written on a page: escaped, and with hatched marks where a link withholds by a profile or the step has erased fields."""
    marked = getattr(context.get("link"), "redaction", None) or context.get("erased")
    return hatched if marked else conditional_escape


def _block(mark: str) -> SafeString:
    return format_html('<span class="redacted"><span>{}</span></span>', mark[1:-1])


@register.simple_tag(takes_context=True)
def is_erased(context: Context, sequence: int, field: str, rank: int | None = None) -> bool:
    """Whether something of that field of a step was erased, by `erased_fields` of the page; with `rank` of a passage or of its text."""
    gone = {row.field for row in erased_on(context, sequence)}
    return field in gone if rank is None else not gone.isdisjoint({f"{field}.{rank}", f"{field}.{rank}.text"})


@register.simple_tag(takes_context=True)
def erased_on(context: Context, sequence: int) -> Sequence[ErasedField]:
    """The fields of a step of which something was erased, by `erased_fields` of the page."""
    found: Mapping[int, Sequence[ErasedField]] = context.get("erased_fields") or {}
    return found.get(sequence, ())


@register.filter
def detector(name: str) -> str:
    """What a detector finds, in words."""
    return _FOUND[name]


_FOUND: Final = {
    "secret": "secrets: keys, tokens, passwords",
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "card": "numbers of payment cards",
}

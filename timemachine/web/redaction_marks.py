"""How what is withheld looks: a hatched block with the word, inside the text that it was taken out of."""

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
from timemachine.replay.runs.models import ReplayStep
from timemachine.web.template_library import register

NOTHING: Final = ErasedParts()
_MARK: Final = re.compile(
    r"(\[(?:withheld|erased|deleted(?=: turn\])): [^\[\]]{1,40}(?:\]|…$))"
)  # in a text that was cut, the last as well
_PARTS: Final = re.compile(r"\[(withheld|erased|deleted(?=: turn\])): ([^\[\]]{1,40})\]")


@register.filter
def hatched(text: str) -> SafeString:
    """A redacted text with its marks as hatched blocks; every other character is escaped."""
    pieces = _MARK.split(text)
    if len(pieces) == 1:
        return conditional_escape(text)
    return format_html_join(
        "", "{}", ((_block(each) if nth % 2 else each,) for nth, each in enumerate(pieces))
    )


@register.filter(is_safe=True)
def in_plain_words(text: str) -> str:
    """A text for where no block can stand, like a tab's title: its marks in round brackets, `(e-mail withheld)`."""
    return _PARTS.sub(r"(\2 \1)", text)


@register.simple_tag(takes_context=True)
def veiled(context: Context, text: str) -> str:
    """A text with hatched marks where some of it is withheld or erased, as it is anywhere else."""
    return drawing(context)(text)


def drawing(context: Context) -> Callable[[str], SafeString]:
    """How recorded texts are written on a page: escaped, and with hatched marks where a link withholds by a profile or something that the page shows was erased (`erased` of it, or `marks`)."""
    marked = getattr(context.get("link"), "redaction", None) or context.get("erased") or context.get("marks")
    return hatched if marked else conditional_escape


def _block(mark: str) -> SafeString:
    return format_html('<span class="redacted"><span>{}</span></span>', mark[1:].removesuffix("]"))


@register.simple_tag(takes_context=True)
def is_erased(context: Context, sequence: int, field: str, rank: int | None = None) -> bool:
    """Whether something of that field of a step was erased, by `erased_fields` of the page; with `rank` of a passage or of its text."""
    gone = {row.field for row in erased_on(context, sequence)}
    return field in gone if rank is None else not gone.isdisjoint({f"{field}.{rank}", f"{field}.{rank}.text"})


@register.simple_tag(takes_context=True)
def erased_on(context: Context, sequence: int) -> Sequence[ErasedField | SharedErasure]:
    """The fields of a step of which something was erased, by `erased_fields` of the page."""
    found: Mapping[int, Sequence[ErasedField | SharedErasure]] = context.get("erased_fields") or {}
    return found.get(sequence, ())


@register.simple_tag(takes_context=True)
def tombstone(context: Context, sequence: int) -> Deleted | None:
    """When, by whom and why a step was deleted, by `tombstones` of the page; None where it was not."""
    found: Mapping[int, Deleted] = context.get("tombstones") or {}
    return found.get(sequence)


@register.simple_tag(takes_context=True)
def erased_parts(context: Context, step: ReplayStep | SharedReplayRow | SharedReplayStep) -> ErasedParts:
    """What was erased of a replayed step, by `erased_parts` of the page."""
    found: Mapping[int, ErasedParts] = context.get("erased_parts") or {}
    return found.get(step.id, NOTHING)


@register.filter
def erased_names(rows: Iterable[ErasedField | SharedErasure]) -> str:
    """What is gone of a step, in words, each once and in order: `output, passage 1, words of passage 1`."""
    return ", ".join(sorted({field_name(row.field) for row in rows}, key=_in_order))


@register.filter
def field_name(field: str) -> str:
    """A sealed field in words: `words of passage 1` for `hit.1.text`."""
    rank = rank_of(field)
    if not rank:
        return field
    return f"words of passage {rank}" if field.endswith(".text") else f"passage {rank}"


def _in_order(name: str) -> tuple[int, str]:
    words = name.split()
    return (int(words[-1]) if words[-1].isdigit() else 0, name)


@register.filter
def detector(name: str) -> str:
    """What a detector finds, in words."""
    return _FOUND[name]


_FOUND: Final = {
    "secret": "secrets: keys, tokens, passwords",
    "email": "e-mail addresses",
    "phone": "phone numbers",
    "card": "numbers of payment cards",
    "iban": "IBANs",
    "ssn": "US social security numbers",
}

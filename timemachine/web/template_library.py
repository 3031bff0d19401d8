"""The library of template tags and filters; every module that adds to it is imported by `display`."""

from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.numbers import NOT_RECORDED

register = template.Library()

NOTHING: Final = SafeString("")


@register.simple_tag
def absent(words: str) -> SafeString:
    """Return the marked words for a value that is missing. Cells of a list draw "not recorded" as a dash, and nothing else."""
    return format_html('<span class="{}">{}</span>', _look(words), words)


def absent_in(tag: str, words: str, look: str = "") -> SafeString:
    """Return the same as a cell of a table or another element that draws the dash, with the words on hover."""
    return format_html('<{0} class="{1}" title="{2}">{2}</{0}>', tag, f"{look} {_look(words)}".strip(), words)


def _look(words: str) -> str:
    return "absent unrecorded" if words.endswith(NOT_RECORDED) else "absent"


@register.filter
def or_absent(words: str | None, instead: str) -> str:
    """Return the text, or the marked words for a missing one."""
    return absent(instead) if words in {None, ""} else words

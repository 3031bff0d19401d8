"""The library of template tags and filters; every module that adds to it is imported by `display`."""

from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

NOTHING: Final = SafeString("")


@register.simple_tag
def absent(words: str) -> SafeString:
    """Return the marked words for a value that is missing; a list draws a dash instead and has the words for screen readers."""
    return format_html('<span class="absent">{}</span>', words)


@register.filter
def or_absent(words: str | None, instead: str) -> str:
    """Return the text, or the marked words for a missing one."""
    return absent(instead) if words in {None, ""} else words

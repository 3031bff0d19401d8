"""The library of template tags and filters; every module that adds to it is imported by `display`."""

from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

NOTHING: Final = SafeString("")


def or_absent(words: str | None, instead: str) -> str:
    """Return the text, or a marked placeholder for a missing one."""
    return words if words is not None else format_html('<span class="absent">{}</span>', instead)

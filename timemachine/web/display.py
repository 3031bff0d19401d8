"""How values look on a page: template filters and tags. The one module that makes markup from values."""

from typing import Any

from django import template
from django.middleware.csrf import get_token
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

THEMES = ("auto", "light", "dark")


@register.simple_tag(takes_context=True)
def theme_attributes(context: Context) -> SafeString:
    """`data-theme` for `<html>` when the visitor chose light or dark; nothing leaves it to the system."""
    theme = _chosen_theme(context)
    return format_html('data-theme="{}"', theme) if theme != "auto" else SafeString("")


@register.simple_tag(takes_context=True)
def theme_switch(context: Context) -> SafeString:
    """A button that goes from the system's colours to light, to dark and back."""
    theme = _chosen_theme(context)
    following = THEMES[(THEMES.index(theme) + 1) % len(THEMES)]
    button = format_html(
        '<button class="button plain" name="theme" value="{}" title="Change to {}">Theme: {}</button>',
        following,
        following,
        theme,
    )
    return _post_form(context, "appearance", button)


@register.simple_tag(takes_context=True)
def sign_out_button(context: Context) -> SafeString:
    """The form that signs out, where somebody is signed in."""
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return SafeString("")
    button = format_html('<button class="button plain" type="submit" title="{}">Sign out</button>', str(user))
    return _post_form(context, "sign_out", button)


@register.simple_tag(takes_context=True)
def nav_link(context: Context, name: str, words: str) -> SafeString:
    """A link of the header; nothing where this installation has no page of that name."""
    address = address_of(name)
    if not address:
        return SafeString("")
    here = getattr(context.get("request"), "path", "")
    current = here == address or (here.startswith(address) and address != "/")
    if name == "sessions":
        current = here == address or here.startswith("/sessions/")
    mark = SafeString(' aria-current="page"') if current else ""
    return format_html('<a class="navlink" href="{}"{}>{}</a>', address, mark, words)


@register.simple_tag
def address_of(name: str, *args: Any) -> str:
    """The address of a named page, or an empty text where there is no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def _chosen_theme(context: Context) -> str:
    request = context.get("request")
    theme = request.COOKIES.get("tm_theme", "auto") if request else "auto"
    return theme if theme in THEMES else "auto"


def _post_form(context: Context, name: str, button: SafeString) -> SafeString:
    address = address_of(name)
    request = context.get("request")
    if not address or request is None:
        return SafeString("")
    return format_html(
        '<form method="post" action="{}"><input type="hidden" name="csrfmiddlewaretoken" value="{}">{}</form>',
        address,
        get_token(request),
        button,
    )

"""Theme, account and keyboard settings of every page, and the address of the server."""

from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.middleware.csrf import get_token
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from timemachine.web.template_library import NOTHING, register

THEMES: Final = ("auto", "light", "dark")
_THEME_WORDS: Final = {"auto": "System", "light": "Light", "dark": "Dark"}


@register.simple_tag(takes_context=True)
def theme_attributes(context: Context) -> SafeString:
    """Return the attributes of `<html>`: `data-theme` for light or dark, `data-keys="off"` without keyboard shortcuts."""
    theme = _chosen(context, "tm_theme", THEMES)
    attributes = format_html('data-theme="{}"', theme) if theme != "auto" else NOTHING
    return SafeString(attributes + ' data-keys="off"') if keys_off(context) else attributes


@register.simple_tag(takes_context=True)
def keys_off(context: Context) -> bool:
    """Return whether the visitor turned off keyboard shortcuts."""
    return _chosen(context, "tm_keys", ("on", "off")) == "off"


@register.simple_tag(takes_context=True)
def theme_choice(context: Context) -> SafeString:
    """Return the buttons that choose the system's colours, light or dark."""
    chosen = _chosen(context, "tm_theme", THEMES)
    buttons = format_html_join(
        "",
        '<button class="chip" name="theme" value="{}" aria-pressed="{}">{}</button>',
        ((theme, "true" if theme == chosen else "false", _THEME_WORDS[theme]) for theme in THEMES),
    )
    return post_form(
        context,
        "appearance",
        format_html('<div class="segments" role="group" aria-label="Theme">{}</div>', buttons),
    )


@register.simple_tag(takes_context=True)
def sign_out_button(context: Context) -> SafeString:
    """Return the sign-out form, if someone is signed in."""
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return NOTHING
    return post_form(context, "sign_out", SafeString('<button class="item" type="submit">Sign out</button>'))


@register.simple_tag
def address_of(name: str, *args: Any) -> str:
    """Return the URL of a named page, or an empty text if there is no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


@register.simple_tag
def is_local_address() -> bool:
    """Return whether the address in links to this server works only on its own machine."""
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def post_form(context: Context, name: str, button: SafeString) -> SafeString:
    """Return a form with one button that posts to a named page; empty if there is no such page."""
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

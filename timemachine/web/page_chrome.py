"""Header, theme and keyboard settings of every page."""

from typing import Any, Final

from django.middleware.csrf import get_token
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.numbers import counted
from timemachine.memory.patterns.queries import count_unseen_alerts
from timemachine.replay.suites.queries import failing_count
from timemachine.web.template_library import NOTHING, register

THEMES: Final = ("auto", "light", "dark")


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
def theme_switch(context: Context) -> SafeString:
    """Return a button that cycles through the system's colours, light and dark."""
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
    """Return the sign-out form, if someone is signed in."""
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return NOTHING
    button = format_html('<button class="navlink" type="submit" title="{}">Sign out</button>', str(user))
    return post_form(context, "sign_out", button)


_OF_SETTINGS: Final = ("/forgettings/", "/holds/")


@register.simple_tag(takes_context=True)
def nav_link(context: Context, name: str, words: str, key: str = "") -> SafeString:
    """Return a header link with its shortcut (except on its own page); empty if there is no such page."""
    address = address_of(name)
    if not address:
        return NOTHING
    here = getattr(context.get("request"), "path", "")
    current = _is_current(name, address, here)
    mark = SafeString(' aria-current="page"') if current else NOTHING
    if key and not current:
        mark = format_html(' data-key="{}" title="{} ({})"', key, words, key)
    return format_html('<a class="navlink" href="{}"{}>{}</a>', address, mark, words)


def _is_current(name: str, address: str, here: str) -> bool:
    if name == "sessions":
        return here == "/" or here.startswith("/sessions/")
    return here.startswith(address) or (name == "settings" and here.startswith(_OF_SETTINGS))


@register.simple_tag(takes_context=True)
def suites_mark(context: Context) -> SafeString:
    """Return a header badge with the number of suites whose scheduled run failed; empty if there are none."""
    project = context.get("project")
    number = failing_count(project) if project else 0
    return _badge("suites", "bad", number, f"{counted(number, 'suite')} with a failed scheduled run")


@register.simple_tag(takes_context=True)
def patterns_mark(context: Context) -> SafeString:
    """Return a header badge with the number of open pattern alerts; empty if there are none."""
    project = context.get("project")
    number = count_unseen_alerts(project) if project else 0
    return _badge("patterns", "warn", number, counted(number, "recurring pattern"))


def _badge(page: str, look: str, number: int, words: str) -> SafeString:
    if not number:
        return NOTHING
    return format_html(
        '<a class="verdict {}" href="{}" title="{}">{}</a>', look, reverse(page), words, number
    )


@register.simple_tag
def address_of(name: str, *args: Any) -> str:
    """Return the URL of a named page, or an empty text if there is no such page."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


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

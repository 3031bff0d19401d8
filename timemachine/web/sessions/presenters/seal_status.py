"""How far a session is sealed, and the result of the last check, for a table cell or the head of a page."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted
from timemachine.evidence.queries import NOT_YET, SEALED, SO_FAR, STOPPED, ListedSeal, listed_seals
from timemachine.recording.sessions.holds import held_among
from timemachine.recording.sessions.models import Session
from timemachine.web import formatting
from timemachine.web.template_library import register

ALTERED: Final = "altered"
_BADGES: Final = {NOT_YET: "not sealed", SO_FAR: "partly sealed", STOPPED: "sealing stopped"}
_NOT_SINCE: Final = {True: ", not checked", False: ", not checked since"}
_IN_WORDS: Final = {NOT_YET: "not sealed yet", SO_FAR: "sealed so far", STOPPED: "sealing stopped"}
_ICON: Final = (
    '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1.5 13.5 3.5V8c0 3-2.3 5.3-5.5 6.5C4.8 13.3 2.5 11 2.5 8V3.5Z"/>{}</svg>'
    '<span class="unseen">{}</span>'
)
_CHECKED: Final = SafeString('<path d="M5.3 8.2 7.3 10.2 10.8 6.2"/>')
_MARKS: Final = {
    SEALED: SafeString('<path d="M7 8a1 1 0 1 0 2 0 1 1 0 1 0-2 0"/>'),
    SO_FAR: SafeString('<path d="M5.3 8h5.4"/>'),
}
"""The mark inside the shield: a dot for sealed, a dash for partly sealed; a tick only after a check."""


@register.simple_tag
def session_seal(session: Any, seals: Mapping[UUID, ListedSeal]) -> SafeString:
    """Return the seal of a session as a link to its evidence: an icon with a hidden text, or a word if something is wrong."""
    found = seals[session.id]
    word = found.word if found.intact else ALTERED
    loud = word in {ALTERED, STOPPED}
    text = f"{_IN_WORDS.get(word, word)}{_checked(found)}"
    return format_html(
        '<a class="{} {}" href="{}" title="{}">{}</a>',
        "seal-word" if loud else "seal-icon",
        _css_class(found, word),
        reverse("session_evidence", args=[session.id]),
        text,
        text if loud else _icon(found, word, text),
    )


@register.simple_tag(takes_context=True)
def session_seal_badge(context: Context, session: Session) -> SafeString:
    """Return the seal for the head of a page of a session. One query, unless the view has found the seal."""
    seal = context.get("seal")
    found = seal if isinstance(seal, ListedSeal) else listed_seals([session])[session.id]
    return seal_badge(found, reverse("session_evidence", args=[session.id]))


@register.simple_tag
def seal_badge(found: ListedSeal, address: str) -> SafeString:
    """Return the seal for the head of a page, as a link to the evidence at `address`: an icon, with words if it is not as it should be."""
    word = found.word if found.intact else ALTERED
    text = f"{_IN_WORDS.get(word, word)}{_checked(found)}"
    label, loud = _BADGES.get(word, word), word in {ALTERED, STOPPED}
    if found.erased and not loud:
        label += f" · {counted(found.erased, 'field')} erased"
        if found.checked_at is None or found.erased_since:
            label += _NOT_SINCE[found.checked_at is None]
    if loud or found.erased:
        return format_html(
            '<a class="status seal{}" href="{}" title="{}">{}</a>',
            " bad" if loud else "",
            address,
            text,
            label,
        )
    return format_html(
        '<a class="seal-icon {}" href="{}" title="{}">{}</a>',
        _css_class(found, word),
        address,
        text,
        _icon(found, word, text),
    )


def _is_checked(found: ListedSeal, word: str) -> bool:
    return word == SEALED and found.checked_at is not None


def _css_class(found: ListedSeal, word: str) -> str:
    return "sealed checked" if _is_checked(found, word) else word.replace(" ", "-")


def _icon(found: ListedSeal, word: str, text: str) -> SafeString:
    return format_html(_ICON, _CHECKED if _is_checked(found, word) else _MARKS.get(word, ""), text)


def _checked(found: ListedSeal) -> str:
    """Return the result of the last check as the end of a sentence: `, intact 3 min ago`."""
    if found.word == NOT_YET:
        return ""
    if found.checked_at is None:
        return f", {counted(found.erased, 'field')} erased, not checked" if found.erased else ", not checked"
    at = formatting.relative(found.checked_at, now())
    if found.erased_since:
        return f", {counted(found.erased, 'field')} erased, not checked since"
    if found.erased and found.intact:
        return f", intact but for {counted(found.erased, 'erased field')} {at}"
    return f", {'intact' if found.intact else 'checked'} {at}"


@register.simple_tag
def is_on_hold(session: Session) -> bool:
    """Return whether the session is under legal hold. One query per page."""
    cache = session.__dict__
    if "on_hold_here" not in cache:
        cache["on_hold_here"] = session.id in held_among([session.id])
    return bool(cache["on_hold_here"])

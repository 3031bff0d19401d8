"""How far a session is sealed, and the result of the last check, for a table cell or the head of a page."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted
from timemachine.evidence.queries import NOT_YET, SO_FAR, STOPPED, ListedSeal
from timemachine.recording.sessions.holds import held_among
from timemachine.recording.sessions.models import Session
from timemachine.web import formatting
from timemachine.web.template_library import NOTHING, register

ALTERED: Final = "altered"
_BADGES: Final = {NOT_YET: "not sealed", SO_FAR: "partly sealed", STOPPED: "sealing stopped"}
_NOT_SINCE: Final = {True: ", not checked", False: ", not checked since"}
_NOT_CHECKED: Final = SafeString('<span class="quiet">not checked</span>')


@register.simple_tag
def session_seal(session: Any, seals: Mapping[UUID, ListedSeal]) -> SafeString:
    """Return the seal of a session as a link to its evidence."""
    found = seals[session.id]
    word = found.word if found.intact else ALTERED
    return format_html(
        '<span class="sealing"><a href="{}"><span class="status {}">{}</span></a>{}</span>',
        reverse("session_evidence", args=[session.id]),
        word.replace(" ", "-"),
        word,
        _checked(found),
    )


@register.simple_tag
def seal_badge(found: ListedSeal, address: str) -> SafeString:
    """Return the seal for the head of a page, as a link to the evidence at `address`."""
    word = found.word if found.intact else ALTERED
    label = _BADGES.get(word, word)
    if found.erased and word != ALTERED:
        label += f" · {counted(found.erased, 'field')} erased"
        if found.checked_at is None or found.erased_since:
            label += _NOT_SINCE[found.checked_at is None]
    loud = " bad" if word in {ALTERED, STOPPED} else ""
    return format_html('<a class="status seal{}" href="{}">{}</a>', loud, address, label)


def _checked(found: ListedSeal) -> SafeString:
    if found.checked_at is None:
        return _not_checked(found)
    at = formatting.relative(found.checked_at, now())
    if found.erased_since:
        sentence = f"{counted(found.erased, 'field')} erased, not checked since"
    elif found.erased and found.intact:
        sentence = f"intact but for {counted(found.erased, 'erased field')} {at}"
    else:
        sentence = f"{'intact ' if found.intact else ''}{at}"
    return format_html(
        '<span class="quiet" title="checked {}">{}</span>', formatting.exact(found.checked_at), sentence
    )


def _not_checked(found: ListedSeal) -> SafeString:
    if found.word == NOT_YET:
        return NOTHING
    if not found.erased:
        return _NOT_CHECKED
    return format_html('<span class="quiet">{} erased, not checked</span>', counted(found.erased, "field"))


@register.simple_tag
def is_on_hold(session: Session) -> bool:
    """Return whether the session is under legal hold. One query per page."""
    cache = session.__dict__
    if "on_hold_here" not in cache:
        cache["on_hold_here"] = session.id in held_among([session.id])
    return bool(cache["on_hold_here"])

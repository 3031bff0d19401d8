"""Opening a link: once counted, logged, and silent about why not."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.hashers import check_password
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from timemachine.accounts.throttle import origin_of
from timemachine.base.clock import now
from timemachine.base.errors import NotSignedIn, TooManyRequests
from timemachine.base.ids import secret, secret_hash
from timemachine.sharing import queries
from timemachine.sharing.models import REVOKED, ShareGrant, ShareLink, ShareMiss, ShareOpening
from timemachine.sharing.patience import Limit, seconds_to_wait
from timemachine.sharing.recorded import gone
from timemachine.sharing.visitor import Visitor, visitor

GRANT_LIFETIME: Final = timedelta(hours=12)
MISSES: Final = Limit(most=10, window=timedelta(minutes=1))
PASSPHRASES: Final = Limit(most=5, window=timedelta(minutes=15))
MISSES_KEPT: Final = timedelta(days=1)
OPENED, WRONG_SECRET, WRONG_PASSPHRASE = "opened", "wrong_secret", "wrong_passphrase"


class PassphraseNeeded(NotSignedIn):
    """The link is right and asks for its passphrase; nothing was counted."""

    default_code = "passphrase_needed"


class WrongPassphrase(NotSignedIn):
    """The link is right, and the passphrase is not."""

    default_code = "wrong_passphrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What somebody who opened a link gets: a secret for their cookie, good until `expires_at`."""

    link: ShareLink
    secret: str
    expires_at: datetime


def open_link(
    token: str, passphrase: str | None = None, *, address: str | None = None, browser: str | None = None
) -> Opened:
    """Open a link once: counted, logged, and answered with a grant for this link alone, for at most twelve hours.

    Raises the same `NotFound` for a link that is unknown, revoked, expired or opened as often as it may be, and for a
    wrong secret; `PassphraseNeeded` or `WrongPassphrase` only to somebody with the right secret of a link that would open;
    `TooManyRequests` after ten tries in a minute from one address that opened nothing, or five wrong passphrases.
    """
    origin = origin_of(address)
    _check_patience(_misses(origin), MISSES)
    link, right = queries.link_of_token(token)
    seen = visitor(address, browser)
    if link is None or not right:
        _miss(origin, seen, link, WRONG_SECRET)
        raise gone()
    if link.passphrase_hash is not None and _openable(link).exists():
        _check_passphrase(link, passphrase, seen)
    opened = _opened(link, seen)
    if opened is None:
        _miss(origin, seen, *_why_not(link))
        raise gone()
    return opened


@transaction.atomic
def _opened(link: ShareLink, seen: Visitor) -> Opened | None:
    """The grant of one counted opening, or None where the link does not open."""
    if not _openable(link).update(opens=F("opens") + 1, last_open_at=Now()):
        return None
    _log(link, OPENED, seen)
    made, ends = secret(), min(now() + GRANT_LIFETIME, link.expires_at)
    ShareGrant.objects.filter(link=link, expires_at__lt=Now()).delete()
    ShareGrant.objects.create(link=link, secret_sha256=secret_hash(made), expires_at=ends)
    return Opened(link=link, secret=made, expires_at=ends)


def _openable(link: ShareLink) -> QuerySet[ShareLink]:
    """The link where it opens at this moment: a condition that the database checks again when it counts."""
    room = Q(max_opens=None) | Q(opens__lt=F("max_opens"))
    return ShareLink.objects.filter(room, pk=link.pk, revoked_at=None, expires_at__gt=Now())


def _why_not(link: ShareLink) -> tuple[ShareLink | None, str]:
    """The link as it is now with its state; None where it was erased meanwhile."""
    current = ShareLink.objects.filter(pk=link.pk).annotate(clock=Now()).first()
    return current, current.state(current.clock) if current else REVOKED


def _check_passphrase(link: ShareLink, passphrase: str | None, seen: Visitor) -> None:
    if not passphrase:
        raise PassphraseNeeded("This link asks for a passphrase. Whoever sent it knows it.")
    if not _passphrase_is_right(link, passphrase, seen):
        raise WrongPassphrase("This is not the passphrase. Try again, or ask whoever sent the link.")


@transaction.atomic
def _passphrase_is_right(link: ShareLink, passphrase: str, seen: Visitor) -> bool:
    # Many tries at once would otherwise all be checked before the first failure is counted.
    _one_at_a_time(f"passphrase of share link {link.pk}")
    wrong = link.openings.filter(result=WRONG_PASSPHRASE).order_by("-at").values_list("at", flat=True)
    _check_patience(wrong[: PASSPHRASES.most], PASSPHRASES)
    right = check_password(passphrase, link.passphrase_hash or "")
    if not right:
        _log(link, WRONG_PASSPHRASE, seen)
    return right


@transaction.atomic
def _miss(origin: str | None, seen: Visitor, link: ShareLink | None, result: str) -> None:
    """Count a try that opened nothing against the place it came from, and log it where there is a link to log it with."""
    if origin is not None:
        _one_at_a_time(f"share misses of {origin}")
        _check_patience(_misses(origin), MISSES)
        ShareMiss.objects.create(origin=origin, at=now())
        ShareMiss.objects.filter(at__lt=now() - MISSES_KEPT).delete()
    if link is not None:
        _log(link, result, seen)


def _misses(origin: str | None) -> QuerySet[ShareMiss, datetime]:
    newest = ShareMiss.objects.filter(origin=origin).order_by("-at") if origin else ShareMiss.objects.none()
    return newest.values_list("at", flat=True)[: MISSES.most]


def _check_patience(failures: Iterable[datetime], limit: Limit) -> None:
    wait = seconds_to_wait(failures, limit, now())
    if wait:
        raise TooManyRequests(
            f"Too many tries. Try again in {wait} second{'' if wait == 1 else 's'}.",
            code="too_many_tries",
            retry_after_seconds=wait,
        )


def _one_at_a_time(what: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [what])


def _log(link: ShareLink, result: str, seen: Visitor) -> None:
    ShareOpening.objects.create(link=link, result=result, address=seen.network, browser=seen.browser)

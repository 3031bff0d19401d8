"""Opening a link: once counted, logged, and silent about why not."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.hashers import check_password
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from timemachine.core.accounts.pure.throttle import origin_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, NotSignedIn, TooManyRequests
from timemachine.core.pure.ids import secret, secret_hash
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.log import OPENED, WRONG_PASSPHRASE, WRONG_SECRET
from timemachine.governance.sharing.models import REVOKED, ShareGrant, ShareLink, ShareMiss
from timemachine.governance.sharing.pure.refusal import link_not_valid
from timemachine.governance.sharing.pure.throttle import Limit, seconds_to_wait
from timemachine.governance.sharing.pure.token import parse_token
from timemachine.governance.sharing.pure.visitor import Visitor, visitor

GRANT_LIFETIME: Final = timedelta(hours=12)
MISSES: Final = Limit(most=10, window=timedelta(minutes=1))
PASSPHRASES: Final = Limit(most=5, window=timedelta(minutes=15))  # of one network
ANYBODYS: Final = Limit(
    most=10, window=timedelta(minutes=15)
)  # of all networks from which a link was never opened
GUESSES: Final = Limit(most=30, window=timedelta(hours=1))
MISSES_KEPT: Final = timedelta(days=1)


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
    token: str,
    passphrase: str | None = None,
    *,
    address: str | None = None,
    browser: str | None = None,
    held: str | None = None,
) -> Opened:
    """Open a link once: counted, logged, and answered with a grant for this link alone, for at most twelve hours.

    Who holds such a grant (`held`, its secret) goes on with it: that is no other opening.

    Raises the same `NotFound` for a link that is unknown, revoked, expired, forbidden or opened as often as it may be, and for a
    wrong secret; `PassphraseNeeded` or `WrongPassphrase` only to somebody with the right secret of a link that would open;
    `TooManyRequests` after ten tries in a minute from one address that opened nothing, thirty wrong secrets in an hour for one
    link, five wrong passphrases from one network, or ten from any for one from which the link was never opened. Who has the right
    secret of a link that opens never waits for what others tried, but for their passphrases there.
    """
    seen, origin = visitor(address, browser), origin_of(address)
    link, right = queries.link_of_token(token)
    if link is None or not right:
        _miss(origin, seen, link, WRONG_SECRET, public_id=_named(token))
        raise link_not_valid()
    again = _held(link, held)
    if again is not None:
        return again
    if link.passphrase_hash is not None and _openable(link).exists():
        _check_passphrase(link, passphrase, seen)
    opened = _opened(link, seen)
    if opened is None:
        _miss(origin, seen, *_why_not(link))
        raise link_not_valid()
    return opened


def _held(link: ShareLink, held: str | None) -> Opened | None:
    """The grant of that secret, where it is one of this link and still good."""
    try:
        grant = queries.grant_of(link.public_id, held) if held else None
    except NotFound:
        return None
    return Opened(link=link, secret=held, expires_at=grant.expires_at) if grant and held else None


def _named(token: str) -> str | None:
    """The public id that a token names, whether there is such a link or not: both are counted the same."""
    parts = parse_token(token)
    return parts.public_id if parts else None


@transaction.atomic
def _opened(link: ShareLink, seen: Visitor) -> Opened | None:
    """The grant of one counted opening, or None where the link does not open."""
    if not _openable(link).update(opens=F("opens") + 1, last_open_at=Now()):
        return None
    log.append(link, OPENED, seen)
    made, ends = secret(), min(now() + GRANT_LIFETIME, link.expires_at)
    ShareGrant.objects.filter(link=link, expires_at__lt=Now()).delete()
    ShareGrant.objects.create(link=link, secret_sha256=secret_hash(made), expires_at=ends)
    return Opened(link=link, secret=made, expires_at=ends)


def _openable(link: ShareLink) -> QuerySet[ShareLink]:
    """The link where it opens at this moment: a condition that the database checks again when it counts."""
    room = Q(max_opens=None) | Q(opens__lt=F("max_opens"))
    return ShareLink.objects.filter(
        room, queries.allowed("project_id"), pk=link.pk, revoked_at=None, expires_at__gt=Now()
    )


def _why_not(link: ShareLink) -> tuple[ShareLink | None, str]:
    """The link as it is now with its state; None where it was erased meanwhile."""
    current = ShareLink.objects.filter(pk=link.pk).annotate(clock=Now()).first()
    if current is None:
        return None, REVOKED
    return current, current.state(current.clock, forbidden=queries.policy_of(link.project).forbidden)


def _check_passphrase(link: ShareLink, passphrase: str | None, seen: Visitor) -> None:
    if not passphrase:
        raise PassphraseNeeded("This link asks for a passphrase. Whoever sent it knows it.")
    if not _passphrase_is_right(link, passphrase, seen):
        raise WrongPassphrase("This is not the passphrase. Try again, or ask whoever sent the link.")


@transaction.atomic
def _passphrase_is_right(link: ShareLink, passphrase: str, seen: Visitor) -> bool:
    # Many tries at once would otherwise all be checked before the first failure is counted.
    _one_at_a_time(f"passphrase of share link {link.pk}")
    tried = link.openings.filter(result=WRONG_PASSPHRASE).order_by("-sequence").values_list("at", flat=True)
    _check_patience(tried.filter(address=seen.network)[: PASSPHRASES.most], PASSPHRASES)
    # Whoever opened it before is kept out by nobody but their own network, or others could do so for as long as they go on.
    if not link.openings.filter(result=OPENED, address=seen.network).exists():
        _check_patience(tried[: ANYBODYS.most], ANYBODYS)
    right = check_password(passphrase, link.passphrase_hash or "")
    if not right:
        log.append(link, WRONG_PASSPHRASE, seen)
    return right


@transaction.atomic
def _miss(
    origin: str | None, seen: Visitor, link: ShareLink | None, result: str, *, public_id: str | None = None
) -> None:
    """Count a try that opened nothing against where it came from and the link that it guessed at; log it where there is a link.

    Not in constant time: the line in the log of a link that is there takes longer, so that its public id, which is no secret and opens
    nothing, can be told from one that is not.
    """
    for what, limit in (({"origin": origin}, MISSES), ({"public_id": public_id}, GUESSES)):
        if None not in what.values():
            _one_at_a_time(f"share misses of {what}")
            _check_patience(_misses(what, limit), limit)
    ShareMiss.objects.create(origin=origin, public_id=public_id, at=now())
    ShareMiss.objects.filter(at__lt=now() - MISSES_KEPT).delete()
    if link is not None:
        log.append(link, result, seen)


def _misses(what: dict[str, str | None], limit: Limit) -> QuerySet[ShareMiss, datetime]:
    newest = ShareMiss.objects.filter(**what).order_by("-at")
    return newest.values_list("at", flat=True)[: limit.most]


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

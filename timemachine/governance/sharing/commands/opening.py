"""Opening a link: counted, logged, and without a hint why it failed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from timemachine.core.database import lock_until_commit
from timemachine.core.pure.addresses import origin_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, NotSignedIn, TooManyRequests
from timemachine.core.pure.ids import secret, secret_hash
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.throttle import Limit, seconds_to_wait
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.log import OPENED, WRONG_PASSPHRASE, WRONG_SECRET
from timemachine.governance.sharing.models import REVOKED, ShareGrant, ShareLink, ShareMiss
from timemachine.governance.sharing.pure.log_line import Visitor, visitor
from timemachine.governance.sharing.pure.token import link_not_valid, parse_token

GRANT_LIFETIME: Final = timedelta(hours=12)
MISSES: Final = Limit(most=10, window=timedelta(minutes=1))
PASSPHRASES: Final = Limit(most=5, window=timedelta(minutes=15))  # of one network
PASSPHRASES_OF_ANYONE: Final = Limit(
    most=10, window=timedelta(minutes=15)
)  # of all networks from which a link was never opened
GUESSES: Final = Limit(most=30, window=timedelta(hours=1))
MISSES_KEPT: Final = timedelta(days=1)
ORIGIN_LENGTH: Final = 32
_SALT: Final = "timemachine.governance.sharing.opening"


class PassphraseNeeded(NotSignedIn):
    """The link works but needs its passphrase; nothing was counted."""

    default_code = "passphrase_needed"


class WrongPassphrase(NotSignedIn):
    """The link works, but the passphrase is wrong."""

    default_code = "wrong_passphrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLink:
    """What a visitor gets for opening a link: a secret for their cookie, valid until `expires_at`."""

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
) -> OpenedLink:
    """Open a link once: count and log it, and return a grant for this link, valid for at most twelve hours.

    A valid grant (`held`, its secret) is returned again without counting another opening.

    Raises the same `NotFound` for an unknown, revoked, expired, forbidden or used-up link and for a wrong
    secret. Raises `PassphraseNeeded` or `WrongPassphrase` only for the right secret of a link that would
    open. Raises `TooManyRequests` after ten failed tries in a minute from one address, thirty wrong secrets
    in an hour for one link, five wrong passphrases from one network, or ten from anywhere for a network that
    never opened the link. With the right secret of a link that opens, visitors only wait for wrong
    passphrases, never for other failed tries.
    """
    seen, origin = visitor(address, browser), _hash_of_origin(address)
    parts = parse_token(token)
    link, right = queries.link_of_token(parts)
    if link is None or not right:
        # a public id counts the same whether there is such a link or not
        _record_miss(origin, seen, link, WRONG_SECRET, public_id=parts.public_id if parts else None)
        raise link_not_valid()
    existing = _existing_grant(link, held)
    if existing is not None:
        return existing
    if link.passphrase_hash is not None and _openable(link).exists():
        _check_passphrase(link, passphrase, seen)
    opened = _count_opening(link, seen)
    if opened is None:
        _record_miss(origin, seen, *_refusal(link))
        raise link_not_valid()
    return opened


def _existing_grant(link: ShareLink, held: str | None) -> OpenedLink | None:
    """Return the grant of that secret if it is for this link and still valid."""
    try:
        grant = queries.grant_of(link.public_id, held) if held else None
    except NotFound:
        return None
    return OpenedLink(link=link, secret=held, expires_at=grant.expires_at) if grant and held else None


@transaction.atomic
def _count_opening(link: ShareLink, seen: Visitor) -> OpenedLink | None:
    """Return the grant of one counted opening, or None if the link does not open."""
    if not _openable(link).update(opens=F("opens") + 1, last_open_at=Now()):
        return None
    log.append(link, OPENED, seen)
    made, ends = secret(), min(now() + GRANT_LIFETIME, link.expires_at)
    ShareGrant.objects.filter(link=link, expires_at__lt=Now()).delete()
    ShareGrant.objects.create(link=link, secret_sha256=secret_hash(made), expires_at=ends)
    return OpenedLink(link=link, secret=made, expires_at=ends)


def _openable(link: ShareLink) -> QuerySet[ShareLink]:
    """Return the link if it opens at this moment: a condition that the database checks again when it counts."""
    has_opens = Q(max_opens=None) | Q(opens__lt=F("max_opens"))
    return ShareLink.objects.filter(
        has_opens, queries.allowed("project_id"), pk=link.pk, revoked_at=None, expires_at__gt=Now()
    )


def _refusal(link: ShareLink) -> tuple[ShareLink | None, str]:
    """Return the link as it is now with its state; None if it was deleted."""
    current = ShareLink.objects.filter(pk=link.pk).annotate(clock=Now()).first()
    if current is None:
        return None, REVOKED
    return current, current.state(current.clock, forbidden=queries.policy_of(link.project).forbidden)


def _check_passphrase(link: ShareLink, passphrase: str | None, seen: Visitor) -> None:
    if not passphrase:
        raise PassphraseNeeded("This link needs a passphrase. Ask the person who sent it.")
    if not _passphrase_is_right(link, passphrase, seen):
        raise WrongPassphrase("The passphrase is wrong. Try again, or ask the person who sent the link.")


@transaction.atomic
def _passphrase_is_right(link: ShareLink, passphrase: str, seen: Visitor) -> bool:
    # Otherwise, simultaneous tries would all be checked before the first failure is counted.
    lock_until_commit(f"passphrase of share link {link.pk}")
    tried = link.openings.filter(result=WRONG_PASSPHRASE).order_by("-sequence").values_list("at", flat=True)
    _check_rate(tried.filter(address=seen.network)[: PASSPHRASES.most], PASSPHRASES)
    # A network that has opened the link is only limited by its own tries, or others could lock it out.
    if not link.openings.filter(result=OPENED, address=seen.network).exists():
        _check_rate(tried[: PASSPHRASES_OF_ANYONE.most], PASSPHRASES_OF_ANYONE)
    right = check_password(passphrase, link.passphrase_hash or "")
    if not right:
        log.append(link, WRONG_PASSPHRASE, seen)
    return right


@transaction.atomic
def _record_miss(
    origin: str | None, seen: Visitor, link: ShareLink | None, result: str, *, public_id: str | None = None
) -> None:
    """Count a failed try against its origin and the guessed link, and log it if the link exists.

    The time is not constant: logging for an existing link takes longer. Its public id, which is not secret
    and opens nothing, can therefore be recognised.
    """
    for what, limit in (({"origin": origin}, MISSES), ({"public_id": public_id}, GUESSES)):
        if None not in what.values():
            lock_until_commit(f"share misses of {what}")
            newest = ShareMiss.objects.filter(**what).order_by("-at").values_list("at", flat=True)
            _check_rate(newest[: limit.most], limit)
    ShareMiss.objects.create(origin=origin, public_id=public_id, at=now())
    ShareMiss.objects.filter(at__lt=now() - MISSES_KEPT).delete()
    if link is not None:
        log.append(link, result, seen)


def _hash_of_origin(address: str | None) -> str | None:
    """Return a keyed hash of what identifies the sender, because no address of a visitor is stored; None without a valid address."""
    origin = origin_of(address)
    return origin and salted_hmac(_SALT, origin, algorithm="sha256").hexdigest()[:ORIGIN_LENGTH]


def _check_rate(failures: Iterable[datetime], limit: Limit) -> None:
    wait = seconds_to_wait(failures, limit, now())
    if wait:
        raise TooManyRequests(
            f"Too many attempts. Try again in {counted(wait, 'second')}.",
            code="too_many_tries",
            retry_after_seconds=wait,
        )

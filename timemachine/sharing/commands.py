"""What changes in sharing: a link is created, opened, revoked. Its scope never changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from timemachine.accounts.models import Project
from timemachine.accounts.throttle import origin_of
from timemachine.base.clock import now
from timemachine.base.errors import Conflict, InvalidInput, NotFound, NotSignedIn, TooManyRequests
from timemachine.base.ids import secret, secret_hash, uuid7
from timemachine.recording.models import Action, Session
from timemachine.replay.models import Replay
from timemachine.sharing import queries, terms
from timemachine.sharing.models import (
    REPLAY,
    REVOKED,
    SESSION,
    ShareGrant,
    ShareLink,
    ShareMiss,
    ShareOpening,
)
from timemachine.sharing.patience import Limit, seconds_to_wait
from timemachine.sharing.scope import gone
from timemachine.sharing.terms import ORDINARY, Terms
from timemachine.sharing.token import new_token
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


def create_link(
    project: Project,
    target: Session | Replay,
    chosen: Terms = ORDINARY,
    *,
    by: str,
    link_id: UUID | None = None,
) -> tuple[ShareLink, str]:
    """A new link to a session or replay of the project, and its token, which exists only here: what is kept is a hash.

    What it shows is fixed now: the steps up to `chosen.through_sequence`, or up to the last there is. The same `link_id`
    a second time makes no second link. Raises `InvalidInput`, `NotFound` (another project's, or no such step), `Conflict`.
    """
    moment = now()
    terms.check(chosen, moment)
    token = new_token()
    link = ShareLink(
        id=link_id or uuid7(),
        public_id=token.public_id,
        secret_sha256=secret_hash(token.secret),
        project=project,
        **_scope_of(project, target, chosen.through_sequence),
        label=chosen.label.strip(),
        created_by=by[:254],
        expires_at=terms.end_of(chosen, moment),
        max_opens=chosen.max_opens,
        passphrase_hash=make_password(chosen.passphrase) if chosen.passphrase else None,
    )
    _insert(link)
    return link, str(token)


def url_of(token: str) -> str:
    """The address that opens a link."""
    return f"{settings.PUBLIC_URL}/share/{token}"


def revoke(link: ShareLink, *, by: str) -> ShareLink:
    """End a link for good, effective on the next request of whoever has it open; one revoked before keeps its time."""
    ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=Now(), revoked_by=by[:254])
    ShareGrant.objects.filter(link_id=link.pk).delete()
    link.refresh_from_db(fields=["revoked_at", "revoked_by"])
    return link


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


def _scope_of(project: Project, target: Session | Replay, through: int | None) -> dict[str, object]:
    if target.project_id != project.pk:
        raise NotFound("There is no such session or replay in this project.", code="target_not_found")
    if isinstance(target, Session):
        return {"session": target, "target_type": SESSION, "through_sequence": _last_step(target, through)}
    if through is not None:
        raise InvalidInput(
            "A replay is shared whole; leave `through_sequence` out.",
            code="invalid_field",
            field="through_sequence",
        )
    last = target.steps.order_by("-sequence").values_list("sequence", flat=True).first()
    if last is None:
        raise InvalidInput("This replay has no steps, so there is nothing to share.", code="nothing_to_share")
    return {"session": target.session, "replay": target, "target_type": REPLAY, "through_sequence": last}


def _last_step(session: Session, wanted: int | None) -> int:
    steps = Action.objects.filter(session=session)
    if wanted is None:
        last = steps.order_by("-sequence").values_list("sequence", flat=True).first()
        if last is None:
            raise InvalidInput(
                "This session has no steps yet, so there is nothing to share.", code="nothing_to_share"
            )
        return last
    if not 1 <= wanted < 2**63 or not steps.filter(sequence=wanted).exists():
        raise InvalidInput(
            f"The session {session.key} has no step {wanted}; its last step is {session.last_sequence}.",
            code="step_not_found",
            field="through_sequence",
        )
    return wanted


def _insert(link: ShareLink) -> None:
    try:
        with transaction.atomic():
            link.save(force_insert=True)
    except IntegrityError as why:
        if "tm_share_link_pkey" not in str(why):
            raise
        raise Conflict(
            "This form was sent before, and its link exists; its address was shown then and cannot be shown again. "
            "Revoke it under Shares if nobody has it, and create another.",
            code="link_exists",
        ) from why


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

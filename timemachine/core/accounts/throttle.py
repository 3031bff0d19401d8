"""Delays after failed sign-ins, by account, by address and by browser.

Strangers can delay each other, but not a browser in which the person signed in before: it counts its own failures. See
"Slow Down Online Guessing Attacks with Device Cookies" (OWASP).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.crypto import salted_hmac

from timemachine.core.accounts import known_browsers
from timemachine.core.accounts.models import SignInFailures, User
from timemachine.core.pure.addresses import origin_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TooManyRequests
from timemachine.core.pure.throttle import (
    Failures,
    GrowingDelay,
    add_failure,
    seconds_of_delay,
)

OF_ACCOUNT = GrowingDelay(free=5, forgets_one_every=timedelta(minutes=15))
OF_ADDRESS = GrowingDelay(free=20, forgets_one_every=timedelta(minutes=3))
OF_BROWSER = OF_ACCOUNT
# who gets here has the password, and six digits can be guessed in 100,000 tries
OF_SECOND_FACTOR = GrowingDelay(free=5, forgets_one_every=timedelta(hours=2), longest=timedelta(hours=2))
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What failures are counted for, as a keyed hash, with its delay. Signing in forgets those of an account or browser."""

    key: str
    delay: GrowingDelay
    forgotten_on_success: bool = True


def subjects_of(account: str, *, address: str | None, browser: str) -> Sequence[Subject]:
    """Return what a sign-in to this account counts for: the browser if the account knows it, else account and address."""
    known = known_browsers.id_of(browser, account)
    if known:
        return (_subject("browser", known, OF_BROWSER),)
    origin = origin_of(address)
    by_account = _subject("account", account, OF_ACCOUNT)
    if origin is None:
        return (by_account,)
    return (by_account, _subject("address", origin, OF_ADDRESS, forgotten_on_success=False))


def subjects_of_signed_in(user: User) -> Sequence[Subject]:
    """Return what a check of their own password counts for while this person is signed in."""
    return (_subject("signed in", str(user.pk), OF_BROWSER),)


def subjects_of_second_factor(user: User, *, browser: str) -> Sequence[Subject]:
    """Return what a code counts for, after the right password: the browser if the account knows it, else the account."""
    known = known_browsers.id_of(browser, user.email)
    if known:
        return (_subject("second factor in browser", known, OF_SECOND_FACTOR),)
    return (_subject("second factor", str(user.pk), OF_SECOND_FACTOR),)


def check(subjects: Sequence[Subject]) -> None:
    """Raise `TooManyRequests` while one of these has to wait. Such a try does not count, so waiting always helps."""
    stored = SignInFailures.objects.in_bulk([one.key for one in subjects])
    wait = max(
        (seconds_of_delay(_failures(stored.get(one.key)), one.delay, now()) for one in subjects), default=0
    )
    if wait:
        raise TooManyRequests(
            f"Too many attempts to sign in. Try again in {_in_words(wait)}.",
            code="too_many_sign_ins",
            retry_after_seconds=wait,
        )


def count_failure(subjects: Sequence[Subject]) -> None:
    """Count a failure, and delete those that are forgotten. Needs a transaction."""
    moment = now()
    for one in subjects:
        SignInFailures.objects.get_or_create(subject=one.key, defaults={"count": 0, "last_at": moment})
        row = SignInFailures.objects.select_for_update().get(pk=one.key)
        after = add_failure(_failures(row), one.delay, moment)
        row.count, row.last_at = after.count, after.last_at
        row.save(update_fields=["count", "last_at"])
    longest = max(one.all_forgotten_after for one in (OF_ACCOUNT, OF_ADDRESS, OF_SECOND_FACTOR))
    SignInFailures.objects.filter(last_at__lt=moment - longest).delete()


def forget(subjects: Sequence[Subject]) -> None:
    """Forget the failures before a successful sign-in, but not those of the address, where others may be guessing."""
    SignInFailures.objects.filter(pk__in=[one.key for one in subjects if one.forgotten_on_success]).delete()


def _subject(kind: str, name: str, delay: GrowingDelay, *, forgotten_on_success: bool = True) -> Subject:
    key = salted_hmac("timemachine.sign_in", f"{kind}:{name}", algorithm="sha256").hexdigest()
    return Subject(key=key, delay=delay, forgotten_on_success=forgotten_on_success)


def _failures(row: SignInFailures | None) -> Failures | None:
    return Failures(count=row.count, last_at=row.last_at) if row else None


def _in_words(seconds: int) -> str:
    amount, unit = (seconds, "second") if seconds < _MINUTE else (-(-seconds // _MINUTE), "minute")
    return f"{amount} {unit}{'' if amount == 1 else 's'}"

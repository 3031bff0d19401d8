"""Passwords: checked with patience, set with care."""

from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from timemachine.core.accounts.commands.projects import rename_person
from timemachine.core.accounts.models import SignInAttempt, SignInLink, User
from timemachine.core.accounts.naming import clean_email
from timemachine.core.accounts.pure import throttle
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotSignedIn, TooManyRequests

KEPT = timedelta(days=1)


def sign_in(email: str, password: str, *, address: str | None) -> User:
    """The person with this e-mail address and password. `address` is where the request came from.

    Raises `NotSignedIn`, the same (and as slowly) for an unknown address as for a wrong password, and `TooManyRequests`
    after 5 failures for the account or 20 from the address within 15 minutes.
    """
    user = _checked(clean_email(email), password, throttle.origin_of(address))
    if user is None:
        raise NotSignedIn(
            "This e-mail address and password do not belong together. Try again, or ask an administrator for a link.",
            code="wrong_password",
        )
    return user


def change_password(user: User, current: str, new: str, *, address: str | None) -> None:
    """Set a new password for a person who knows the current one; throttled like signing in."""
    if _checked(user.email, current, throttle.origin_of(address)) is None:
        raise NotSignedIn("The current password is not right.", code="wrong_password")
    set_password(user, new)


@transaction.atomic
def set_password(user: User, password: str) -> None:
    """Set a password; every other session of this person ends, and so do the links that were made for signing in.

    Raises `InvalidInput` with `facts["problems"]`, sentences that say what is wrong with it.
    """
    problems = password_problems(password, user)
    if problems:
        raise InvalidInput(" ".join(problems), code="weak_password", problems=problems)
    user.set_password(password)
    user.save(update_fields=["password"])
    SignInLink.objects.filter(user=user, used_at=None, project=None).delete()


def password_problems(password: str, user: User) -> list[str]:
    """What is wrong with a password for this person, in sentences; empty for a good one."""
    try:
        validate_password(password, user)
    except ValidationError as why:
        return list(why.messages)
    return []


@transaction.atomic
def introduce(user: User, *, name: str, password: str, email: str | None = None) -> None:
    """What a person says at the first sign-in: a name, a password, and where `email` is given, the address to keep.

    Raises `InvalidInput` for what cannot be used, `Conflict` for an address that somebody else has.
    """
    if email is not None:
        _take_email(user, clean_email(email))
    rename_person(user, name)
    set_password(user, password)


def _take_email(user: User, email: str) -> None:
    try:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(email=email)
    except IntegrityError as why:
        raise Conflict(
            f"Somebody else here has the e-mail address {email}; give another.", code="email_taken"
        ) from why
    user.email = email


@transaction.atomic
def _checked(account: str, password: str, origin: str | None) -> User | None:
    _one_at_a_time(account)
    moment = now()
    _check_patience(account, origin, moment)
    found = authenticate(username=account, password=password)
    if not isinstance(found, User):
        SignInAttempt.objects.create(account=account, address=origin, at=moment)
        return None
    SignInAttempt.objects.filter(account=account).delete()
    SignInAttempt.objects.filter(at__lt=moment - KEPT).delete()
    return found


def _one_at_a_time(account: str) -> None:
    # Many tries at once would otherwise all be checked before the first failure is counted.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"sign in {account}"])


def _check_patience(account: str, origin: str | None, moment: datetime) -> None:
    wait = throttle.seconds_to_wait(
        account=_newest(throttle.PER_ACCOUNT, account=account),
        origin=_newest(throttle.PER_ORIGIN, address=origin) if origin else [],
        now=moment,
    )
    if wait:
        minutes = -(-wait // 60)
        raise TooManyRequests(
            f"Too many tries to sign in. Try again in {minutes} minute{'' if minutes == 1 else 's'}.",
            code="too_many_sign_ins",
            retry_after_seconds=wait,
        )


def _newest(limit: int, **whose: str) -> list[datetime]:
    times = SignInAttempt.objects.filter(**whose).order_by("-at").values_list("at", flat=True)
    return list(times[:limit])

"""Passwords and names of people: sign in, set, change."""

from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from timemachine.core.accounts.models import SignInAttempt, SignInLink, User
from timemachine.core.accounts.naming import clean_email, clean_name
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotSignedIn, TooManyRequests
from timemachine.core.pure.throttle import Limit, origin_of, seconds_to_wait

ATTEMPTS_STORED_FOR = timedelta(days=1)
PER_ACCOUNT = Limit(most=5, window=timedelta(minutes=15))
PER_ORIGIN = Limit(most=20, window=timedelta(minutes=15))


def sign_in(email: str, password: str, *, address: str | None) -> User:
    """Return the person with this e-mail address and password. `address` is where the request came from.

    Raises the same `NotSignedIn`, as slowly, for a wrong address and a wrong password, and `TooManyRequests` after 5
    failures for the account, or 20 from the address, within 15 minutes.
    """
    user = _checked(clean_email(email), password, origin_of(address))
    if user is None:
        raise NotSignedIn(
            "Wrong e-mail address or password. Try again, or ask an administrator for a link.",
            code="wrong_password",
        )
    return user


def change_password(user: User, current: str, new: str, *, address: str | None) -> None:
    """Set a new password after checking the current one. Throttled like signing in. Raises `NotSignedIn` if the current
    password is wrong.
    """
    if _checked(user.email, current, origin_of(address)) is None:
        raise NotSignedIn("The current password is wrong.", code="wrong_password")
    set_password(user, new)


@transaction.atomic
def set_password(user: User, password: str) -> None:
    """Set a password. All other sessions of this person end, and their sign-in links are deleted. Raises `InvalidInput`
    for a weak password; `facts["problems"]` has a sentence for each reason.
    """
    problems = password_problems(password, user)
    if problems:
        raise InvalidInput(" ".join(problems), code="weak_password", problems=problems)
    user.set_password(password)
    user.save(update_fields=["password"])
    SignInLink.objects.filter(user=user, used_at=None, project=None).delete()


def password_problems(password: str, user: User) -> list[str]:
    """Return a sentence for each problem of a password for this person."""
    try:
        validate_password(password, user)
    except ValidationError as why:
        return list(why.messages)
    return []


@transaction.atomic
def complete_profile(user: User, *, name: str, password: str, email: str | None = None) -> None:
    """Set the name and the password that a person chose at the first sign-in, and the e-mail address if given. Raises
    `InvalidInput` if one of them is not valid, and `Conflict` if another person has the address.
    """
    if email is not None:
        _take_email(user, clean_email(email))
    rename_person(user, name)
    set_password(user, password)


def rename_person(user: User, name: str) -> None:
    """Change a person's name. Raises `InvalidInput` if the name is not valid."""
    user.name = clean_name(name, of="this person")
    user.save(update_fields=["name"])


def _take_email(user: User, email: str) -> None:
    try:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(email=email)
    except IntegrityError as why:
        raise Conflict(
            f"Someone else has the e-mail address {email}; enter another one.", code="email_taken"
        ) from why
    user.email = email


@transaction.atomic
def _checked(account: str, password: str, origin: str | None) -> User | None:
    # otherwise many simultaneous attempts would all be checked before the first failure is counted
    lock_until_commit(f"sign in {account}")
    moment = now()
    _check_throttle(account, origin, moment)
    found = authenticate(username=account, password=password)
    if not isinstance(found, User):
        SignInAttempt.objects.create(account=account, address=origin, at=moment)
        return None
    SignInAttempt.objects.filter(account=account).delete()
    SignInAttempt.objects.filter(at__lt=moment - ATTEMPTS_STORED_FOR).delete()
    return found


def _check_throttle(account: str, origin: str | None, moment: datetime) -> None:
    wait = _wait(PER_ACCOUNT, moment, account=account)
    if origin:
        wait = max(wait, _wait(PER_ORIGIN, moment, address=origin))
    if wait:
        minutes = -(-wait // 60)
        raise TooManyRequests(
            f"Too many attempts to sign in. Try again in {minutes} minute{'' if minutes == 1 else 's'}.",
            code="too_many_sign_ins",
            retry_after_seconds=wait,
        )


def _wait(limit: Limit, moment: datetime, **whose: str) -> int:
    failures = SignInAttempt.objects.filter(**whose).order_by("-at").values_list("at", flat=True)
    return seconds_to_wait(failures[: limit.most], limit, moment)

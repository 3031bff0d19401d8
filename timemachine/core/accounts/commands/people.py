"""Passwords and names of people: sign in, set, change."""

from collections.abc import Sequence

from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from timemachine.core.accounts import throttle
from timemachine.core.accounts.commands.browsers import sign_out_browsers
from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import SignInLink, User
from timemachine.core.accounts.naming import clean_email, clean_name
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.errors import Conflict, InvalidInput, NotSignedIn


def sign_in(email: str, password: str, *, address: str | None, browser: str = "") -> User:
    """Return the person with this e-mail address and password. `address` is where the request came from, `browser` the
    token that a browser got when this person signed in there before: see `known_browsers`.

    Raises the same `NotSignedIn`, as slowly, for a wrong address and a wrong password, and `TooManyRequests` after too
    many failures: see `throttle`.
    """
    account = clean_email(email)
    user = _checked(account, password, throttle.subjects_of(account, address=address, browser=browser))
    if user is None:
        raise NotSignedIn(
            "Wrong e-mail address or password. Try again, or ask an administrator for a link.",
            code="wrong_password",
        )
    return user


def change_password(user: User, current: str, new: str) -> None:
    """Set a new password after checking the current one. Throttled like signing in, but apart from it: only a person who
    is signed in can fail here. Raises `NotSignedIn` if the current password is wrong.
    """
    if _checked(user.email, current, throttle.subjects_of_signed_in(user)) is None:
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
    sign_out_browsers(user)
    record_of_person(user, "person.password_changed")
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


@transaction.atomic
def rename_person(user: User, name: str) -> None:
    """Change a person's name. Raises `InvalidInput` if the name is not valid."""
    user.name = clean_name(name, of="this person")
    user.save(update_fields=["name"])
    record_of_person(user, "person.renamed")


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
def _checked(account: str, password: str, subjects: Sequence[throttle.Subject]) -> User | None:
    # otherwise many simultaneous attempts would all be checked before the first failure is counted
    lock_until_commit(f"sign in {account}")
    throttle.check(subjects)
    found = authenticate(username=account, password=password)
    if not isinstance(found, User):
        throttle.count_failure(subjects)
        if known := User.objects.filter(email=account).first():
            record_of_person(known, "person.sign_in_failed", by_person=False)
        return None
    throttle.forget(subjects)
    return found

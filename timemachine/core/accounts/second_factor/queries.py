"""Queries about the second factors of a person."""

from django.db.models import QuerySet

from timemachine.core.accounts.models import SecondFactor, User
from timemachine.core.pure.errors import NotFound


def factors_of(user: User) -> QuerySet[SecondFactor]:
    """Return the second factors of a person, in the order of adding."""
    return user.second_factors.order_by("created_at", "pk")


def has_second_factor(user: User) -> bool:
    """Return whether this person needs a second factor to sign in."""
    return user.second_factors.exists()


def passkeys_of(user: User) -> QuerySet[SecondFactor]:
    """Return the passkeys of a person."""
    return factors_of(user).filter(kind=SecondFactor.PASSKEY)


def factor(user: User, factor_id: int) -> SecondFactor:
    """Return one second factor of this person. Raises `NotFound`."""
    found = user.second_factors.filter(pk=factor_id).first()
    if found is None:
        raise NotFound("You have no such second factor. See the list.", code="no_such_factor")
    return found

"""Passwords."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from pytest_django.fixtures import Settings

from tests.core.accounts.people import PASSWORD, person
from timemachine.core.accounts.commands.people import change_password, complete_profile, set_password, sign_in
from timemachine.core.accounts.models import SignInAttempt, User
from timemachine.core.pure.errors import (
    Conflict,
    InvalidInput,
    NotSignedIn,
    TimeMachineError,
    TooManyRequests,
)

CLIENT_ADDRESS = "192.0.2.1"


class CountingHasher(MD5PasswordHasher):
    """Counts its calls."""

    worked = 0

    def encode(self, password: str, salt: str, *rest: Any) -> str:
        type(self).worked += 1
        return super().encode(password, salt, *rest)


def refused(email: str, password: str, address: str | None = CLIENT_ADDRESS) -> TimeMachineError:
    with pytest.raises(TimeMachineError) as refusal:
        sign_in(email, password, address=address)
    return refusal.value


def test_the_right_password_signs_in_with_the_address_in_any_case(db: None) -> None:
    user = person("a@example.org")
    assert sign_in(" A@Example.Org ", PASSWORD, address=CLIENT_ADDRESS) == user


def test_an_unknown_address_and_a_wrong_password_get_the_same_answer(db: None) -> None:
    person("a@example.org")
    assert refused("a@example.org", "wrong").as_json() == refused("b@example.org", PASSWORD).as_json()


@pytest.mark.parametrize("account", ["known", "unknown", "without", "inactive"])
def test_every_attempt_costs_one_hash_so_that_its_time_reveals_nothing(
    db: None, settings: Settings, account: str
) -> None:
    settings.PASSWORD_HASHERS = ["tests.core.accounts.test_passwords.CountingHasher"]
    person("known@example.org")
    person("without@example.org", password=None)
    User.objects.filter(pk=person("inactive@example.org").pk).update(is_active=False)
    CountingHasher.worked = 0
    assert isinstance(refused(f"{account}@example.org", "wrong"), NotSignedIn)
    assert CountingHasher.worked == 1


def test_after_five_failures_the_account_waits_even_with_the_right_password(db: None) -> None:
    person("a@example.org")
    for address in range(5):
        assert isinstance(refused("a@example.org", "wrong", f"192.0.2.{address}"), NotSignedIn)
    refusal = refused("a@example.org", PASSWORD)
    assert isinstance(refusal, TooManyRequests)
    assert 890 < refusal.facts["retry_after_seconds"] <= 900
    assert refusal.message == "Too many attempts to sign in. Try again in 15 minutes."


def test_waiting_ends_fifteen_minutes_after_the_failures(db: None) -> None:
    person("a@example.org")
    for _ in range(5):
        refused("a@example.org", "wrong")
    for _ in range(3):
        assert isinstance(refused("a@example.org", PASSWORD), TooManyRequests)
    for attempt in SignInAttempt.objects.all():
        attempt.at -= timedelta(minutes=15)
        attempt.save()
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS)


def test_after_twenty_failures_an_address_waits_for_every_account(db: None) -> None:
    person("a@example.org")
    for one in range(20):
        assert isinstance(refused(f"{one}@example.org", "wrong"), NotSignedIn)
    assert isinstance(refused("a@example.org", PASSWORD), TooManyRequests)
    assert sign_in("a@example.org", PASSWORD, address="192.0.2.2")


def test_without_a_known_address_only_the_account_is_counted(db: None) -> None:
    person("a@example.org")
    for one in range(25):
        refused(f"{one}@example.org", "wrong", None)
    assert sign_in("a@example.org", PASSWORD, address=None)


def test_signing_in_resets_the_failures_before_it(db: None) -> None:
    person("a@example.org")
    for _ in range(3):
        for _ in range(4):
            refused("a@example.org", "wrong")
        sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS)
    assert not SignInAttempt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_simultaneous_attempts_are_not_all_checked_before_the_first_failure_counts() -> None:
    person("a@example.org")

    def tried(one: int) -> type[TimeMachineError]:
        try:
            sign_in("a@example.org", f"guess {one}", address=f"192.0.2.{one}")
        except TimeMachineError as refusal:
            return type(refusal)
        finally:
            connection.close()
        raise AssertionError(one)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tried, range(24)))
    assert answers.count(NotSignedIn) == 5
    assert answers.count(TooManyRequests) == 19


def test_changing_a_password_needs_the_current_one_and_counts_as_an_attempt(db: None) -> None:
    user = person("a@example.org")
    for _ in range(5):
        with pytest.raises(NotSignedIn, match="current password"):
            change_password(user, "wrong", "another copper kettle", address=CLIENT_ADDRESS)
    with pytest.raises(TooManyRequests):
        change_password(user, PASSWORD, "another copper kettle", address=CLIENT_ADDRESS)
    SignInAttempt.objects.all().delete()
    change_password(user, PASSWORD, "another copper kettle", address=CLIENT_ADDRESS)
    assert sign_in("a@example.org", "another copper kettle", address=CLIENT_ADDRESS) == user


@pytest.mark.parametrize("password", ["short", "password123", "kettle@example.org"])
def test_a_weak_password_is_refused_with_the_reason(db: None, password: str) -> None:
    user = person("kettle@example.org")
    with pytest.raises(InvalidInput) as refusal:
        set_password(user, password)
    assert refusal.value.facts["problems"]
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)


def test_a_profile_is_completed_entirely_or_not_at_all(db: None) -> None:
    person("taken@example.org")
    user = person("admin@localhost", password=None)
    with pytest.raises(Conflict, match="enter another one"):
        complete_profile(user, name="Zoë", password=PASSWORD, email="Taken@example.org")
    with pytest.raises(InvalidInput):
        complete_profile(user, name="Zoë", password="short", email="zoe@example.org")
    assert User.objects.filter(email="admin@localhost", name="").exists()
    user.refresh_from_db()
    complete_profile(user, name="Zoë", password=PASSWORD, email="Zoe@example.org")
    assert sign_in("zoe@example.org", PASSWORD, address=CLIENT_ADDRESS).name == "Zoë"

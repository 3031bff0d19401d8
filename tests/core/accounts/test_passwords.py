"""Passwords."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.db.models import F
from pytest_django.fixtures import Settings

from tests.core.accounts.people import PASSWORD, person
from timemachine.core.accounts.commands.people import change_password, complete_profile, set_password, sign_in
from timemachine.core.accounts.known_browsers import token_for
from timemachine.core.accounts.models import SignInFailures, User
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


def failed(times: int, email: str = "a@example.org", *, from_address: str | None = None) -> None:
    """Fail so many times at once, each from another address unless `from_address` is given."""
    for one in range(times):
        assert isinstance(refused(email, "wrong", from_address or f"198.51.100.{one}"), NotSignedIn)


def later(time: timedelta) -> None:
    """Let so much time pass for the stored failures."""
    SignInFailures.objects.update(last_at=F("last_at") - time)


def test_after_five_failures_the_account_waits_even_with_the_right_password(db: None) -> None:
    person("a@example.org")
    failed(5)
    refusal = refused("a@example.org", PASSWORD)
    assert isinstance(refusal, TooManyRequests)
    assert refusal.facts["retry_after_seconds"] == 1
    assert refusal.message == "Too many attempts to sign in. Try again in 1 second."
    later(timedelta(seconds=1))
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS)


def test_the_delay_doubles_with_each_failure_and_ends_at_fifteen_minutes(db: None) -> None:
    person("a@example.org")
    failed(5)
    delays = []
    for _ in range(13):
        refusal = refused("a@example.org", "wrong")
        delays.append(refusal.facts["retry_after_seconds"])
        later(timedelta(seconds=delays[-1]))
        failed(1)
    # the second 512: one failure was forgotten while the others waited
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512, 900, 900]
    assert refusal.message == "Too many attempts to sign in. Try again in 15 minutes."


def test_an_attempt_during_the_delay_does_not_lengthen_it(db: None) -> None:
    person("a@example.org")
    failed(5)
    for _ in range(50):
        assert isinstance(refused("a@example.org", "wrong"), TooManyRequests)
    later(timedelta(seconds=1))
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS)


def test_failures_are_forgotten_one_after_the_other(db: None) -> None:
    person("a@example.org")
    failed(5)
    later(timedelta(minutes=30))
    failed(2)
    assert isinstance(refused("a@example.org", PASSWORD), TooManyRequests)
    later(timedelta(hours=5))
    failed(4)
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS)


def test_a_browser_that_the_account_knows_is_not_delayed_by_strangers(db: None) -> None:
    user = person("a@example.org")
    browser = token_for(user)
    for one in range(200):
        refused("a@example.org", f"guess {one}", CLIENT_ADDRESS)
    assert isinstance(refused("a@example.org", PASSWORD), TooManyRequests)
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS, browser=browser) == user
    assert isinstance(refused("a@example.org", PASSWORD), TooManyRequests)


def test_a_known_browser_has_a_limit_of_its_own(db: None) -> None:
    user = person("a@example.org")
    browser = token_for(user)
    for _ in range(5):
        with pytest.raises(NotSignedIn):
            sign_in("a@example.org", "wrong", address=CLIENT_ADDRESS, browser=browser)
    with pytest.raises(TooManyRequests):
        sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS, browser=browser)
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS) == user


def test_a_browser_is_known_to_one_account_until_its_password_changes(db: None) -> None:
    user, other = person("a@example.org"), person("b@example.org")
    browser = token_for(user)
    failed(5)
    failed(5, "b@example.org")
    for email, token in (
        ("b@example.org", browser),
        ("a@example.org", token_for(other)),
        ("a@example.org", "x"),
    ):
        with pytest.raises(TooManyRequests):
            sign_in(email, PASSWORD, address=CLIENT_ADDRESS, browser=token)
    set_password(user, "another copper kettle")
    with pytest.raises(TooManyRequests):
        sign_in("a@example.org", "another copper kettle", address=CLIENT_ADDRESS, browser=browser)


def test_neither_e_mail_nor_ip_addresses_of_failures_are_stored(db: None) -> None:
    failed(1)
    assert SignInFailures.objects.count() == 2
    stored = str(list(SignInFailures.objects.values()))
    assert "example" not in stored
    assert "198.51" not in stored


def test_failures_without_effect_are_deleted(db: None) -> None:
    failed(1)
    later(timedelta(days=2))
    failed(1, "b@example.org", from_address=CLIENT_ADDRESS)
    assert SignInFailures.objects.count() == 2


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
            assert isinstance(refused("a@example.org", "wrong", None), NotSignedIn)
        sign_in("a@example.org", PASSWORD, address=None)
    assert not SignInFailures.objects.exists()


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


def test_changing_a_password_needs_the_current_one_and_is_throttled(db: None) -> None:
    user = person("a@example.org")
    for _ in range(5):
        with pytest.raises(NotSignedIn, match="current password"):
            change_password(user, "wrong", "another copper kettle")
    with pytest.raises(TooManyRequests):
        change_password(user, PASSWORD, "another copper kettle")
    assert sign_in("a@example.org", PASSWORD, address=CLIENT_ADDRESS) == user
    later(timedelta(seconds=1))
    change_password(user, PASSWORD, "another copper kettle")
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

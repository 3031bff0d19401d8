"""API keys: shown once, recognised, and refused uniformly."""

from datetime import datetime, timedelta

import pytest

from tests.core.accounts.people import person
from timemachine.core.accounts.commands.keys import (
    authenticate_key,
    limit_key_lifetime,
    make_api_key,
    revoke_api_key,
)
from timemachine.core.accounts.models import ApiKey, Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotSignedIn


def test_a_key_is_recognised_with_its_project_and_scopes(project: Project) -> None:
    made, text = make_api_key(project, name="агент", scopes=["run", "read"], by=person("a@example.org"))
    key = authenticate_key(text)
    assert (key, key.project, key.name, key.scopes) == (made, project, "агент", ["read", "run"])


def test_only_a_hash_of_the_secret_is_stored(project: Project) -> None:
    made, text = make_api_key(project, name="agent", scopes=["read"])
    secret = text.removeprefix(f"tmk_{made.pk}_")
    assert secret not in str(ApiKey.objects.values().get())


def revoked(key: ApiKey, text: str) -> str:
    revoke_api_key(key)
    return text


def expired(key: ApiKey, text: str) -> str:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=now())
    return text


def of_another_key(key: ApiKey, text: str) -> str:
    _, other = make_api_key(key.project, name="other", scopes=["read"])
    return text[:17] + other[17:]


def unknown(key: ApiKey, text: str) -> str:
    key.delete()
    return text


def not_a_key(_key: ApiKey, text: str) -> str:
    return text[:-1]


@pytest.mark.parametrize("spoilt", [revoked, expired, of_another_key, unknown, not_a_key])
def test_every_invalid_key_gets_the_same_answer(project: Project, spoilt: object) -> None:
    made, text = make_api_key(project, name="agent", scopes=["read"])
    assert callable(spoilt)
    with pytest.raises(NotSignedIn) as refusal:
        authenticate_key(spoilt(made, text))
    assert refusal.value.as_json() == {
        "code": "key_not_valid",
        "message": "This API key is unknown, revoked or expired. Create a new one under Settings "
        "or with `timemachine key create`.",
        "facts": {},
    }


def test_the_use_of_a_key_is_recorded_once_a_minute(project: Project) -> None:
    made, text = make_api_key(project, name="agent", scopes=["read"])
    first = authenticate_key(text).last_used_at
    assert first is not None
    assert authenticate_key(text).last_used_at == first
    earlier = first - timedelta(seconds=61)
    ApiKey.objects.filter(pk=made.pk).update(last_used_at=earlier)
    authenticate_key(text)
    made.refresh_from_db()
    assert made.last_used_at is not None
    assert made.last_used_at > first


def test_revoking_twice_keeps_the_first_time(project: Project) -> None:
    made, _ = make_api_key(project, name="agent", scopes=["read"])
    revoke_api_key(made)
    first = made.revoked_at
    revoke_api_key(made)
    assert made.revoked_at == first is not None


@pytest.mark.parametrize(
    ("name", "scopes", "days", "code"),
    [
        ("", ["read"], 1, "name_missing"),
        ("x" * 201, ["read"], 1, "name_too_long"),
        ("a\x00b", ["read"], 1, "name_not_text"),
        ("a", [], 1, "no_scope"),
        ("a", ["read", "write"], 1, "unknown_scope"),
        ("a", ["read"], -1, "already_past"),
    ],
)
def test_an_unusable_key_is_refused_with_the_reason(
    project: Project, name: str, scopes: list[str], days: int, code: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make_api_key(project, name=name, scopes=scopes, expires_at=now() + timedelta(days=days))
    assert refusal.value.code == code
    assert not ApiKey.objects.exists()


def test_the_expiry_of_a_key_is_a_moment_and_not_a_local_time(project: Project) -> None:
    with pytest.raises(InvalidInput, match="end it with Z"):
        make_api_key(project, name="a", scopes=["read"], expires_at=datetime(2100, 1, 1))  # noqa: DTZ001


def days_left(key: ApiKey) -> int:
    assert key.expires_at is not None
    return round((key.expires_at - now()) / timedelta(days=1))


def test_a_key_expires_after_90_days_unless_told_otherwise(project: Project) -> None:
    assert days_left(make_api_key(project, name="a", scopes=["read"])[0]) == 90
    assert make_api_key(project, name="a", scopes=["read"], never_expires=True)[0].expires_at is None
    with pytest.raises(InvalidInput, match="not both"):
        make_api_key(
            project, name="a", scopes=["read"], never_expires=True, expires_at=now() + timedelta(days=1)
        )


def test_a_project_can_limit_the_lifetime_of_new_keys(project: Project) -> None:
    limit_key_lifetime(project, 10)
    assert days_left(make_api_key(project, name="a", scopes=["read"])[0]) == 10
    for longer in ({"never_expires": True}, {"expires_at": now() + timedelta(days=11)}):
        with pytest.raises(InvalidInput, match="at most 10 days") as refusal:
            make_api_key(project, name="a", scopes=["read"], **longer)
        assert refusal.value.code == "key_lives_too_long"
    limit_key_lifetime(project, 400)
    assert days_left(make_api_key(project, name="a", scopes=["read"])[0]) == 90
    for days in (0, 3651):
        with pytest.raises(InvalidInput, match="from 1 to 3,650 days"):
            limit_key_lifetime(project, days)

"""The terms of a link."""

from datetime import UTC, datetime, timedelta

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.sharing.pure.terms import ORDINARY, Policy, Terms, check, end_of
from timemachine.text.redaction.pure.profile import BUILT_IN

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_a_link_lives_fourteen_days_by_default() -> None:
    check(ORDINARY, NOW)
    assert end_of(ORDINARY, NOW) == NOW + timedelta(days=14)


@pytest.mark.parametrize(
    "terms",
    [
        Terms(expires_at=NOW + timedelta(microseconds=1)),
        Terms(expires_at=NOW + timedelta(days=366)),
        Terms(max_opens=1),
        Terms(passphrase="Käse"),
        Terms(label="ü" * 200),
        Terms(redaction=BUILT_IN),
    ],
)
def test_values_within_the_bounds_are_accepted(terms: Terms) -> None:
    check(terms, NOW)


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        (Terms(expires_at=NOW), "expires_at"),
        (Terms(expires_at=NOW - timedelta(days=1)), "expires_at"),
        (Terms(expires_at=NOW + timedelta(days=366, microseconds=1)), "expires_at"),
        (Terms(expires_at=datetime(2026, 11, 21, 9)), "expires_at"),  # noqa: DTZ001
        (Terms(max_opens=0), "max_opens"),
        (Terms(max_opens=-1), "max_opens"),
        (Terms(max_opens=2**31), "max_opens"),
        (Terms(passphrase="ab"), "passphrase"),
        (Terms(passphrase=""), "passphrase"),
        (Terms(passphrase="x" * 1001), "passphrase"),
        (Terms(passphrase="abc\ud83d"), "passphrase"),
        (Terms(label="x" * 201), "label"),
    ],
)
def test_invalid_terms_are_refused_by_name(terms: Terms, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(terms, NOW)
    assert refused.value.facts["field"] == field


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (Policy(passphrase_required=True), "passphrase_required"),
        (Policy(profile_required=True), "profile_required"),
    ],
)
def test_terms_that_the_project_requires_are_enforced(policy: Policy, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(ORDINARY, NOW, policy)
    assert refused.value.code == code
    check(Terms(passphrase="Käse", redaction=BUILT_IN), NOW, policy)

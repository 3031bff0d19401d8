"""The reason of an erasure, which remains in the log permanently."""

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.evidence.pure.reason import LONGEST, SensitiveReason, checked_reason
from timemachine.text.redaction.pure.rules import read_rules

OTHERS = read_rules(
    {"patterns": [{"name": "customer number", "pattern": "ACME-[0-9]+"}], "fields": ["agent"]}
)


@pytest.mark.parametrize("reason", ["", " asked for by the customer ", "x" * LONGEST])
def test_a_reason_without_findings_is_stored_without_surrounding_blanks(reason: str) -> None:
    assert checked_reason(reason, OTHERS) == reason.strip()


@pytest.mark.parametrize(
    ("reason", "holds"),
    [
        ("jane.doe@example.com asked for it", ["e-mail"]),
        ("see +49 30 901820, and a@b.example or c@d.example", ["phone number", "e-mail"]),
        ("AKIAIOSFODNN7EXAMPLE was in it", ["secret (AWS access key id)"]),
        ("ACME-4711 asked", ["customer number"]),
    ],
)
def test_a_reason_with_findings_is_refused_and_never_repeated(reason: str, holds: list[str]) -> None:
    with pytest.raises(SensitiveReason) as refused:
        checked_reason(reason, OTHERS)
    assert sorted(refused.value.facts["holds"]) == sorted(holds)
    assert all(kind in refused.value.message for kind in holds)
    assert not any(
        word in str(refused.value.as_json()) for word in reason.split() if "@" in word or word[-1].isdigit()
    )


def test_a_reason_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 1,000 characters"):
        checked_reason("x" * (LONGEST + 1))

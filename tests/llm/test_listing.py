"""The models that a project is offered under each name, and whether they work."""

import pytest

from timemachine.llm.pure.listing import KeySource, Kind, Listed, State, state


@pytest.mark.parametrize(
    ("kind", "key_source", "tested", "error_code", "expected"),
    [
        ("local", "none_needed", False, None, "yes"),
        ("built_in", "environment", False, None, "yes"),
        ("built_in", "none_needed", False, None, "not_checked"),
        ("server", "none_needed", False, None, "not_checked"),
        ("server", "project", False, None, "not_checked"),
        ("server", "none_needed", True, None, "yes"),
        ("built_in", "none_needed", True, "model_unreachable", "not_reached"),
        ("built_in", "environment", True, "model_unreachable", "not_reached"),
        ("built_in", "environment", True, "model_failed", "yes"),
    ],
)
def test_the_status_of_a_model_follows_its_key_and_its_last_test(
    kind: Kind, key_source: KeySource, tested: bool, error_code: str | None, expected: State
) -> None:
    found = Listed(provider="x", kind=kind, label="X", model=None, why_not=None, key_source=key_source)
    assert state(found, tested=tested, error_code=error_code) == expected


def test_a_model_without_its_key_does_not_work_whatever_its_last_test_showed() -> None:
    found = Listed(
        provider="x", kind="built_in", label="X", model=None, why_not="There is no key.", key_source="missing"
    )
    assert state(found, tested=True, error_code=None) == "no"

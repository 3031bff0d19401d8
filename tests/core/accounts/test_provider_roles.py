"""Which roles the groups of a provider give."""

import pytest

from timemachine.core.accounts.models import ROLES
from timemachine.core.accounts.provider.pure.roles import GroupRole, parse_roles, roles_of


def test_a_mapping_names_group_project_and_role() -> None:
    text = " risk=Card desk:viewer; CN=audit,OU=bank=My project:admin ;; ops=0b:c:operator"
    assert parse_roles(text, ROLES) == (
        GroupRole(group="risk", project="Card desk", role="viewer"),
        GroupRole(group="CN=audit,OU=bank", project="My project", role="admin"),
        GroupRole(group="ops", project="0b:c", role="operator"),
    )
    assert parse_roles("", ROLES) == ()


@pytest.mark.parametrize("text", ["risk", "risk=Card desk", "risk:viewer", "=x:viewer", "risk=x:owner"])
def test_a_wrong_entry_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not group=project:role") as refusal:
        parse_roles(f"ok=x:admin; {text}", ROLES)
    assert repr(text) in str(refusal.value)


def test_the_highest_role_of_several_groups_counts() -> None:
    mapping = parse_roles("a=x:viewer; b=x:admin; c=x:operator; d=y:viewer", ROLES)
    assert roles_of(["a", "b", "c"], mapping, ROLES) == {"x": "admin"}
    assert roles_of(["c", "a", "d", "unknown"], mapping, ROLES) == {"x": "operator", "y": "viewer"}
    assert roles_of([], mapping, ROLES) == {}

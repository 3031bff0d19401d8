"""Which roles the groups of a provider give."""

import os
import subprocess
import sys

import pytest

from timemachine.core.accounts.models import ROLES
from timemachine.core.accounts.provider.pure.roles import GroupRole, parse_roles, roles_of
from timemachine.core.pure.errors import InvalidInput

X, Y = "01a00000-0000-7000-8000-00000000000a", "01a00000-0000-7000-8000-00000000000b"


def test_a_mapping_names_group_project_and_role() -> None:
    text = f" risk={X}:viewer; CN=audit,OU=bank={Y}:admin ;; op:s={X.upper()}:operator"
    assert parse_roles(text, ROLES) == (
        GroupRole(group="risk", project=X, role="viewer"),
        GroupRole(group="CN=audit,OU=bank", project=Y, role="admin"),
        GroupRole(group="op:s", project=X, role="operator"),
    )
    assert parse_roles("", ROLES) == ()


@pytest.mark.parametrize(
    "text", ["risk", f"risk={X}", "risk:viewer", f"={X}:viewer", f"risk={X}:owner", "risk=Card desk:viewer"]
)
def test_a_wrong_entry_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not group=project:role") as refusal:
        parse_roles(f"ok={X}:admin; {text}", ROLES)
    assert repr(text) in str(refusal.value)


def test_a_wrong_entry_ends_the_start_and_says_where_the_id_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "timemachine.management", "check"],
        env=os.environ | {"OIDC_ROLES": "risk=Card desk:viewer"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "OIDC_ROLES: 'risk=Card desk:viewer' is not group=project:role. Name the project by its ID, which Settings → Project "
        "shows, and one of the roles viewer, operator, admin.\n",
    )


def test_the_highest_role_of_several_groups_counts() -> None:
    mapping = parse_roles(f"a={X}:viewer; b={X}:admin; c={X}:operator; d={Y}:viewer", ROLES)
    assert roles_of(["a", "b", "c"], mapping, ROLES) == {X: "admin"}
    assert roles_of(["c", "a", "d", "unknown"], mapping, ROLES) == {X: "operator", Y: "viewer"}
    assert roles_of([], mapping, ROLES) == {}

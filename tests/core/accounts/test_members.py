"""Members of a project."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from tests.core.accounts.people import member, person
from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.commands.links import use_sign_in_link
from timemachine.core.accounts.commands.people import rename_person
from timemachine.core.accounts.commands.projects import (
    change_role,
    invite,
    make_project,
    make_reset_link,
    remove_member,
    rename_project,
    withdraw_invitation,
)
from timemachine.core.accounts.models import Membership, Project
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("viewer", ["viewer"]),
        ("operator", ["viewer", "operator"]),
        ("admin", ["viewer", "operator", "admin"]),
    ],
)
def test_a_role_includes_lower_roles(role: str, may: list[str]) -> None:
    held = Membership(role=role)
    assert [other for other in ("viewer", "operator", "admin") if held.may(other)] == may


def test_the_last_administrator_can_be_neither_demoted_nor_removed(project: Project) -> None:
    last = member(project, "admin")
    member(project, "operator")
    with pytest.raises(Conflict, match="Make someone else administrator first"):
        change_role(last, "operator")
    with pytest.raises(Conflict, match="last administrator"):
        remove_member(last)
    change_role(last, "admin")
    assert queries.member(project, last.pk).role == "admin"


def test_an_administrator_who_cannot_sign_in_does_not_count(project: Project) -> None:
    last, inactive = member(project, "admin"), member(project, "admin", "gone@example.org")
    inactive.user.is_active = False
    inactive.user.save()
    with pytest.raises(Conflict):
        remove_member(last)


@pytest.mark.django_db(transaction=True)
def test_administrators_who_demote_each_other_simultaneously_leave_one() -> None:
    project = Project.objects.create(name="p")
    for round_ in range(5):
        two = [member(project, "admin", f"{round_}-{one}@example.org") for one in range(2)]
        project.memberships.exclude(pk__in=[one.pk for one in two]).delete()

        def demoted(one: Membership) -> bool:
            try:
                change_role(one, "viewer")
            except Conflict:
                return False
            finally:
                connection.close()
            return True

        with ThreadPoolExecutor(2) as both:
            assert sorted(both.map(demoted, two)) == [False, True]


def test_a_removed_member_loses_invitations_and_reset_links_but_not_the_keys_they_made(
    project: Project,
) -> None:
    member(project, "admin")
    leaving = member(project, "admin", "leaving@example.org")
    viewer = member(project, "viewer")
    invitation = invite(project, email="friend@example.org", role="admin", by=leaving.user)
    reset = make_reset_link(viewer, by=leaving.user)
    make_api_key(project, name="agent", scopes=["read"], by=leaving.user)
    assert remove_member(leaving) == 1
    for secret in (invitation, reset):
        with pytest.raises(NotFound):
            use_sign_in_link(secret)


def test_a_member_cannot_be_invited_again(project: Project) -> None:
    viewer = member(project, "viewer")
    with pytest.raises(Conflict, match="Change the role"):
        invite(project, email=viewer.user.email.upper(), role="admin")


@pytest.mark.parametrize(
    ("email", "role", "code"),
    [
        ("nobody", "viewer", "not_an_email"),
        ("a@b.example\x00", "viewer", "not_an_email"),
        ("a" * 60 + "@" + "b" * 63 + ".example" * 20, "viewer", "not_an_email"),
        ("a@example.org", "owner", "unknown_role"),
    ],
)
def test_an_invitation_needs_an_address_and_a_role(
    project: Project, email: str, role: str, code: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        invite(project, email=email, role=role)
    assert refusal.value.code == code


def test_a_withdrawn_invitation_does_not_work(project: Project) -> None:
    secret = invite(project, email="a@example.org", role="viewer")
    withdraw_invitation(queries.invitations_of(project).get())
    assert not queries.invitations_of(project).exists()
    with pytest.raises(NotFound):
        use_sign_in_link(secret)


def test_queries_of_a_project_do_not_see_rows_of_another(project: Project, other_project: Project) -> None:
    other_member = member(other_project, "admin")
    invite(other_project, email="a@example.org", role="viewer")
    key, _ = make_api_key(other_project, name="agent", scopes=["read"])
    assert not queries.members_of(project)
    assert not queries.invitations_of(project)
    assert not queries.keys_of(project)
    with pytest.raises(NotFound):
        queries.member(project, other_member.pk)
    with pytest.raises(NotFound):
        queries.invitation(project, queries.invitations_of(other_project).get().pk)
    for key_id in (key.pk, "nothing", "\x00"):
        with pytest.raises(NotFound):
            queries.key(project, key_id)


def test_a_new_project_has_its_administrator(db: None) -> None:
    user = person("a@example.org")
    project = make_project("  Ελληνικά  ", administrator=user)
    assert project.name == "Ελληνικά"
    assert [(one.project, one.role) for one in queries.memberships_of(user)] == [(project, "admin")]


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "\ud800"])
def test_invalid_names_are_refused(project: Project, name: str) -> None:
    with pytest.raises(InvalidInput):
        rename_project(project, name)
    with pytest.raises(InvalidInput):
        rename_person(person("a@example.org"), name)
    project.refresh_from_db()
    assert project.name == "Prüfung"


def test_a_person_is_found_by_address_in_any_case(db: None) -> None:
    user = person("a@example.org")
    assert queries.person(" A@Example.org") == user
    with pytest.raises(NotFound, match=r"b@example\.org"):
        queries.person("b@example.org")

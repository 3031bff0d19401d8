"""One-time links."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from django.db import IntegrityError, connection, transaction

from tests.core.accounts.people import PASSWORD, member, person
from tests.threads import blocked_queries, in_a_thread
from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url, use_sign_in_link
from timemachine.core.accounts.commands.people import set_password
from timemachine.core.accounts.commands.projects import invite, make_project, make_reset_link
from timemachine.core.accounts.models import Project, SignInLink, User
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotAllowed, NotFound, NotSignedIn


def roles(user: User) -> dict[str, str]:
    return {one.project.name: one.role for one in queries.memberships_of(user)}


def test_a_link_works_once(db: None) -> None:
    user = person("a@example.org")
    secret = make_sign_in_link(user)
    assert use_sign_in_link(secret).user == user
    with pytest.raises(NotFound, match="already used"):
        use_sign_in_link(secret)


def test_only_a_hash_of_a_link_is_stored(db: None) -> None:
    secret = make_sign_in_link(person("a@example.org"))
    assert secret in sign_in_url(secret)
    assert secret not in str(SignInLink.objects.values().get())


def test_used_expired_unknown_and_closed_links_get_the_same_answer(db: None) -> None:
    user = person("a@example.org")
    used, expired, closed = (make_sign_in_link(user) for _ in range(3))
    use_sign_in_link(used)
    SignInLink.objects.filter(used_at=None).update(expires_at=now())
    answers = set()
    for secret in (used, expired, "unknown"):
        with pytest.raises(NotFound) as refusal:
            use_sign_in_link(secret)
        answers.add(str(refusal.value.as_json()))
    User.objects.update(is_active=False)
    with pytest.raises(NotFound) as refusal:
        use_sign_in_link(closed)
    assert answers == {str(refusal.value.as_json())}


@pytest.mark.django_db(transaction=True)
def test_exactly_one_of_many_simultaneous_users_of_a_link_gets_in() -> None:
    secret = make_sign_in_link(person("a@example.org"))

    def used(_: int) -> bool:
        try:
            use_sign_in_link(secret)
        except NotFound:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(used, range(16))) == 1


def test_an_invitation_grants_its_role_only_once_accepted(project: Project) -> None:
    secret = invite(project, email=" Zoe@Example.ORG ", role="operator")
    user = queries.person("zoe@example.org")
    assert roles(user) == {}
    use_sign_in_link(secret)
    assert roles(user) == {project.name: "operator"}


def test_a_newer_invitation_replaces_the_older_one(project: Project) -> None:
    older = invite(project, email="a@example.org", role="admin")
    newer = invite(project, email="a@example.org", role="viewer")
    with pytest.raises(NotFound):
        use_sign_in_link(older)
    assert use_sign_in_link(newer).role == "viewer"


def test_an_invitation_does_not_open_an_account_with_a_password(
    project: Project, other_project: Project
) -> None:
    victim = member(other_project, "admin", "victim@example.org").user
    secret = invite(project, email=victim.email, role="viewer")
    with pytest.raises(NotSignedIn) as refusal:
        use_sign_in_link(secret)
    assert refusal.value.facts == {"email": "victim@example.org"}
    with pytest.raises(NotSignedIn):
        use_sign_in_link(secret, signed_in=person("somebody@example.org"))
    assert roles(victim) == {other_project.name: "admin"}
    use_sign_in_link(secret, signed_in=victim)
    assert roles(victim) == {other_project.name: "admin", project.name: "viewer"}
    assert User.objects.get(pk=victim.pk).check_password(PASSWORD)


def test_a_second_invitation_does_not_open_an_account_that_already_opens_a_project(
    project: Project, other_project: Project
) -> None:
    first, second = (invite(one, email="new@example.org", role="viewer") for one in (project, other_project))
    user = use_sign_in_link(first).user
    with pytest.raises(NotSignedIn, match="already has an account"):
        use_sign_in_link(second)
    assert use_sign_in_link(second, signed_in=user).project == other_project


def test_a_reset_link_removes_the_old_password_when_used(project: Project) -> None:
    administrator, forgetful = member(project, "admin"), member(project, "viewer")
    secret = make_reset_link(forgetful, by=administrator.user)
    assert User.objects.get(pk=forgetful.user.pk).check_password(PASSWORD)
    assert not use_sign_in_link(secret).user.has_usable_password()


def test_a_reset_link_works_for_a_signed_in_user(project: Project) -> None:
    user = member(project, "viewer").user
    secret = make_sign_in_link(user, SignInLink.RESET)
    assert not use_sign_in_link(secret, signed_in=user).user.has_usable_password()


def test_one_projects_administrator_cannot_reset_a_member_of_another_project(
    project: Project, other_project: Project
) -> None:
    administrator, shared = member(project, "admin"), member(project, "viewer")
    other_project.memberships.create(user=shared.user, role="admin")
    with pytest.raises(NotAllowed, match=r"timemachine manage sign_in_link --email viewer@example\.org"):
        make_reset_link(shared, by=administrator.user)
    other_project.memberships.create(user=administrator.user, role="operator")
    with pytest.raises(NotAllowed):
        make_reset_link(shared, by=administrator.user)
    other_project.memberships.filter(user=administrator.user).update(role="admin")
    make_reset_link(shared, by=administrator.user)


def test_a_reset_link_made_before_joining_another_project_does_not_work_afterwards(
    project: Project, other_project: Project
) -> None:
    administrator, forgetful = member(project, "admin"), member(project, "viewer")
    reset = make_reset_link(forgetful, by=administrator.user)
    invitation = invite(other_project, email=forgetful.user.email, role="admin")
    use_sign_in_link(invitation, signed_in=forgetful.user)
    with pytest.raises(NotFound):
        use_sign_in_link(reset)


def test_creating_a_project_withdraws_reset_links(project: Project) -> None:
    administrator, forgetful = member(project, "admin"), member(project, "admin", "b@example.org")
    make_reset_link(forgetful, by=administrator.user)
    make_project("Mine", administrator=forgetful.user)
    assert not SignInLink.objects.exists()


def test_a_reset_link_opens_no_project_that_its_maker_does_not_administer(
    project: Project, other_project: Project
) -> None:
    administrator, forgetful = member(project, "admin"), member(project, "viewer")
    reset = make_reset_link(forgetful, by=administrator.user)
    other_project.memberships.create(user=forgetful.user, role="viewer")
    with pytest.raises(NotFound):
        use_sign_in_link(reset)
    other_project.memberships.create(user=administrator.user, role="admin")
    use_sign_in_link(reset)


@pytest.mark.django_db(transaction=True)
def test_a_reset_link_is_refused_while_the_member_joins_another_project() -> None:
    project, other_project = (Project.objects.create(name=name) for name in "pq")
    administrator, forgetful = member(project, "admin"), member(project, "viewer")
    invitation = invite(other_project, email=forgetful.user.email, role="viewer")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            use_sign_in_link(invitation, signed_in=forgetful.user)
            reset = in_a_thread(pool, lambda: make_reset_link(forgetful, by=administrator.user))
            while not (blocked_queries() or reset.done()):
                sleep(0.01)
        with pytest.raises(NotAllowed):
            reset.result(timeout=60)


def test_a_new_password_invalidates_sign_in_links_but_not_invitations(
    project: Project,
) -> None:
    user = person("a@example.org")
    sign_in, reset = make_sign_in_link(user), make_sign_in_link(user, SignInLink.RESET)
    invitation = invite(project, email=user.email, role="viewer")
    set_password(user, "another copper kettle")
    for secret in (sign_in, reset):
        with pytest.raises(NotFound):
            use_sign_in_link(secret)
    use_sign_in_link(invitation, signed_in=user)


@pytest.mark.parametrize(
    ("purpose", "names_project", "role"),
    [
        ("invite", False, "viewer"),
        ("invite", True, None),
        ("invite", True, "owner"),
        ("reset", True, "viewer"),
        ("sign_in", False, "viewer"),
        ("other", False, None),
    ],
)
def test_the_database_refuses_invalid_links(
    project: Project, purpose: str, names_project: bool, role: str | None
) -> None:
    user = person("a@example.org")
    with pytest.raises(IntegrityError), transaction.atomic():
        SignInLink.objects.create(
            user=user,
            purpose=purpose,
            project=project if names_project else None,
            role=role,
            secret_sha256="0" * 64,
            expires_at=now(),
        )

"""The sharing policy of a project."""

from datetime import timedelta

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotAllowed, NotFound
from timemachine.governance.sharing.commands.links import create_link, revoke, revoke_all, set_policy
from timemachine.governance.sharing.commands.opening import open_link
from timemachine.governance.sharing.commands.visits import view
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import OPEN, Policy, Terms, check_policy
from timemachine.governance.sharing.queries import policy_of
from timemachine.recording.sessions.models import Session


def test_a_project_allows_all_link_options_by_default(project: Project) -> None:
    assert policy_of(project) == OPEN
    chosen = Policy(passphrase_required=True, longest_days=3)
    set_policy(project, chosen, by="anna")
    assert policy_of(project) == chosen


@pytest.mark.parametrize("days", [0, -1, 367])
def test_an_impossible_number_of_days_is_refused(project: Project, days: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_policy(project, Policy(longest_days=days), by="anna")
    assert refused.value.facts["field"] == "longest_days"
    assert policy_of(project) == OPEN
    check_policy(Policy(longest_days=366))


def test_links_cannot_be_created_while_forbidden(
    project: Project, other_project: Project, session: Session
) -> None:
    set_policy(project, Policy(forbidden=True), by="anna")
    with pytest.raises(NotAllowed) as refused:
        create_link(project, session, by="Test")
    assert refused.value.code == "sharing_forbidden"
    assert policy_of(other_project) == OPEN


def test_forbidding_closes_links_immediately_for_everyone_and_allowing_reopens_them(
    project: Project, session: Session
) -> None:
    link, token = create_link(project, session, by="Test")
    opened = open_link(token)
    set_policy(project, Policy(forbidden=True), by="anna")
    for read in (lambda: open_link(token), lambda: view(link.public_id, opened.secret)):
        with pytest.raises(NotFound, match="no longer valid"):
            read()
    assert link.openings.get(result="forbidden")
    assert link.state(now(), forbidden=True) == "forbidden"
    set_policy(project, OPEN, by="anna")
    assert view(link.public_id, opened.secret).link == link
    assert open_link(token).link == link


def test_a_required_passphrase_applies_to_new_links_only(project: Project, session: Session) -> None:
    _, before = create_link(project, session, by="Test")
    set_policy(project, Policy(passphrase_required=True), by="anna")
    with pytest.raises(InvalidInput) as refused:
        create_link(project, session, by="Test")
    assert (refused.value.code, refused.value.facts["field"]) == ("passphrase_required", "passphrase")
    assert create_link(project, session, Terms(passphrase="Käse"), by="Test")
    assert open_link(before)


def test_no_link_lives_longer_than_the_project_allows(project: Project, session: Session) -> None:
    set_policy(project, Policy(longest_days=3), by="anna")
    with pytest.raises(InvalidInput, match="at most 3 days"):
        create_link(project, session, Terms(expires_at=now() + timedelta(days=4)), by="Test")
    link, _ = create_link(project, session, by="Test")
    assert timedelta(0) <= link.expires_at - link.created_at - timedelta(days=3) < timedelta(minutes=1)


def test_all_links_are_revoked_that_are_neither_revoked_nor_expired(
    project: Project, other_project: Project, session: Session
) -> None:
    first, ended, over = (create_link(project, session, by="Test")[0] for _ in range(3))
    revoke(ended, by="Zoë")
    ShareLink.objects.filter(pk=over.pk).update(expires_at=now())
    assert (revoke_all(other_project, by="anna"), revoke_all(project, by="anna")) == (0, 1)
    revoked_by = dict(ShareLink.objects.values_list("id", "revoked_by"))
    assert revoked_by == {first.id: "anna", ended.id: "Zoë", over.id: None}

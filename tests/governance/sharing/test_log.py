"""The access log: append-only, with detection of tampering."""

import pytest
from django.db import IntegrityError, transaction

from tests.builders import tamper
from tests.database_roles import as_owner
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.governance.sharing import log
from timemachine.governance.sharing.commands.links import create_link, revoke, set_policy
from timemachine.governance.sharing.commands.opening import open_link
from timemachine.governance.sharing.models import ShareLink, ShareOpening
from timemachine.governance.sharing.pure.log_line import BEFORE_THE_FIRST
from timemachine.governance.sharing.pure.terms import Policy, Terms
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session


@pytest.fixture
def link(project: Project, session: Session) -> ShareLink:
    """Return a link that was created, opened, tried too often, and revoked."""
    made, token = create_link(project, session, Terms(max_opens=1, passphrase="Käse"), by="anna")
    open_link(token, "Käse", address="203.0.113.9", browser="Firefox/145.0")
    with pytest.raises(TimeMachineError):
        open_link(token, "Brot")
    return revoke(made, by="Zoë")


def test_the_log_states_who_created_opened_tried_and_revoked_the_link(link: ShareLink) -> None:
    lines = list(log.lines_of(link))
    assert [(each.sequence, each.result, each.by) for each in lines] == [
        (1, "created", "anna"),
        (2, "opened", None),
        (3, "exhausted", None),
        (4, "ended", "Zoë"),
    ]
    assert lines[0].facts is not None
    assert (lines[0].facts["target_type"], lines[0].facts["passphrase"]) == ("session", True)
    assert [each.previous_sha256 for each in lines] == [
        BEFORE_THE_FIRST,
        *(each.sha256 for each in lines[:3]),
    ]
    found = log.checked(link)
    assert (found.lines, found.sha256, found.broken) == (4, lines[3].sha256, None)


def test_a_link_revoked_twice_is_revoked_once_in_its_log(link: ShareLink) -> None:
    revoke(link, by="somebody else")
    assert log.checked(link).lines == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tm_share_opening SET result = 'opened'",
        "DELETE FROM tm_share_opening",
        "DELETE FROM tm_share_link",
    ],
)
def test_the_database_refuses_to_change_the_log(link: ShareLink, statement: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic(), as_owner() as cursor:
        cursor.execute(statement)
    assert log.checked(link).lines == 4


@pytest.mark.parametrize(
    ("statement", "line", "why"),
    [
        ("UPDATE tm_share_opening SET address = '198.51.100.0/24' WHERE sequence = %s", 2, "it was changed"),
        ("DELETE FROM tm_share_opening WHERE sequence = %s", 3, "the line is missing"),
        (
            "UPDATE tm_share_opening SET previous_sha256 = sha256 WHERE sequence = %s",
            3,
            "follow the previous line",
        ),
        ("DELETE FROM tm_share_opening WHERE sequence >= %s", 4, "counts more events"),
        ("DELETE FROM tm_share_opening WHERE sequence >= %s", 2, "counts more events"),
        ("DELETE FROM tm_share_opening WHERE sequence >= %s", 1, "counts more events"),
    ],
)
def test_a_log_changed_in_the_database_reports_the_line(
    link: ShareLink, statement: str, line: int, why: str
) -> None:
    tamper(statement, [line])
    broken = log.checked(link).broken
    assert broken is not None
    assert broken.sequence == line
    assert why in broken.why


def test_the_log_is_deleted_with_an_erased_session(link: ShareLink, session: Session) -> None:
    erase_session(session)
    assert not ShareOpening.objects.exists()


def test_opening_a_link_erased_meanwhile_gets_the_usual_answer(link: ShareLink, session: Session) -> None:
    erase_session(session)
    with pytest.raises(NotFound, match="This link does not exist") as why, transaction.atomic():
        log.append(link, log.WRONG_SECRET)
    assert why.value.code == "share_link_not_valid"
    with pytest.raises(NotFound):
        log.checked(link)


def test_a_policy_change_is_a_line_in_the_projects_own_log(
    project: Project, other_project: Project, link: ShareLink
) -> None:
    set_policy(project, Policy(longest_days=7), by="anna")
    set_policy(project, Policy(longest_days=7), by="nobody: nothing changed")
    set_policy(project, Policy(forbidden=True), by="Zoë")
    lines = list(log.lines_of(project))
    assert [(each.by, each.facts["now"]["forbidden"]) for each in lines if each.facts] == [
        ("anna", False),
        ("Zoë", True),
    ]
    assert log.checked(project).broken is None
    assert (log.checked(project).lines, log.checked(other_project).lines) == (2, 0)
    tamper("UPDATE tm_share_opening SET by = 'somebody' WHERE link_id IS NULL AND sequence = %s", [1])
    assert log.checked(project).broken is not None
    assert log.checked(link).broken is None


def test_a_wrong_secret_for_a_link_that_never_existed_is_not_logged(project: Project) -> None:
    with pytest.raises(NotFound):
        open_link("tms_abcdefghijkm_" + "x" * 43)
    assert not ShareOpening.objects.exists()

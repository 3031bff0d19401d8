"""The chain of the audit log: complete, in the evidence log, and broken by any change."""

import json
from datetime import timedelta

import pytest

from tests.builders import tamper
from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.clock import now
from timemachine.evidence.models import LogEntry
from timemachine.governance.audit_log.commands import chain, projects_to_chain
from timemachine.governance.audit_log.queries import check, line_of


@pytest.fixture
def chained(project: Project) -> Project:
    for number in range(5):
        record(project, "key.revoked", "key", f"k{number}", name=f"Nº {number}")
    assert chain(project.pk) == 5
    return project


def test_every_event_gets_a_place_and_the_evidence_log_has_the_last(chained: Project) -> None:
    assert [each.sequence for each in AuditEvent.objects.order_by("id")] == [1, 2, 3, 4, 5]
    found = check(chained)
    assert (found.lines, found.broken) == (5, None)
    entry = json.loads(bytes(LogEntry.objects.get(project=chained).entry))
    assert (entry["entry"], entry["lines"], entry["sha256"]) == ("audit", 5, found.sha256)
    assert chain(chained.pk) == 0


def test_later_events_follow_the_earlier_ones(chained: Project) -> None:
    record(chained, "key.created", "key", "k6")
    assert chain(chained.pk) == 1
    assert check(chained).lines == 6
    assert LogEntry.objects.filter(project=chained).count() == 2


@pytest.mark.parametrize(
    ("statement", "sequence", "why"),
    [
        ("UPDATE tm_audit_event SET actor = 'nobody' WHERE sequence = %s", 3, "it was changed"),
        ("DELETE FROM tm_audit_event WHERE sequence = %s", 2, "the line is missing"),
        ("UPDATE tm_audit_event SET sha256 = repeat('0', 64) WHERE sequence = %s", 4, "it was changed"),
        (
            "DELETE FROM tm_audit_event WHERE sequence >= %s",
            4,
            "the line is missing: the evidence log commits to more",
        ),
    ],
)
def test_what_was_changed_behind_the_back_of_the_product_is_found(
    chained: Project, statement: str, sequence: int, why: str
) -> None:
    tamper(statement, [sequence])
    broken = check(chained).broken
    assert broken is not None
    assert (broken.sequence, broken.why) == (sequence, why)


def test_events_wait_a_moment_for_others_before_the_job_chains_them(project: Project) -> None:
    record(project, "key.revoked", "key", "k")
    assert projects_to_chain() == []
    tamper("UPDATE tm_audit_event SET at = %s::timestamptz", [str(now() - timedelta(minutes=1))])
    assert projects_to_chain() == [project.pk]


def test_a_project_is_chained_for_itself(chained: Project, other_project: Project) -> None:
    record(other_project, "key.revoked", "key", "k")
    assert chain(other_project.pk) == 1
    assert check(other_project).lines == 1
    assert check(chained).lines == 5


def test_a_chain_that_was_computed_again_is_not_that_of_the_evidence_log(chained: Project) -> None:
    forget = "sequence = NULL, previous_sha256 = NULL, sha256 = NULL"
    tamper(f"UPDATE tm_audit_event SET actor = 'nobody', {forget} WHERE project_id = %s", [str(chained.pk)])
    chain(chained.pk)
    broken = check(chained).broken
    assert broken is not None
    assert (broken.sequence, broken.why) == (5, "it or an earlier line is not the one in the evidence log")


UNSIGNED = (1, "the project's evidence log is not as it was signed")
NOT_COMMITTED = (4, "it is not in the signed evidence log")


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE tm_log_entry SET entry = 'no JSON' WHERE index = %s", NOT_COMMITTED),
        (
            "UPDATE tm_log_entry SET entry = 'no JSON', leaf = sha256(convert_to(chr(1), 'UTF8')) WHERE index = %s",
            UNSIGNED,
        ),
        ("DELETE FROM tm_log_entry WHERE index = %s", UNSIGNED),
        ("DELETE FROM tm_log_entry WHERE index <= %s", UNSIGNED),
        ("DELETE FROM tm_log_checkpoint WHERE size > %s", UNSIGNED),
    ],
)
def test_only_the_signed_evidence_log_counts(
    project: Project, statement: str, found: tuple[int, str]
) -> None:
    for number in (3, 2):
        for _ in range(number):
            record(project, "key.revoked", "key", "k")
        chain(project.pk)
    assert check(project).broken is None
    tamper(statement, [1])
    broken = check(project).broken
    assert broken is not None
    assert (broken.sequence, broken.why) == found


def test_a_rewritten_chain_with_a_rewritten_entry_is_found(chained: Project) -> None:
    forget = "sequence = NULL, previous_sha256 = NULL, sha256 = NULL"
    tamper(f"UPDATE tm_audit_event SET actor = 'nobody', {forget} WHERE project_id = %s", [str(chained.pk)])
    chain(chained.pk)
    tamper("DELETE FROM tm_log_entry WHERE index = %s", [0])
    broken = check(chained).broken
    assert broken is not None
    assert (broken.sequence, broken.why) == UNSIGNED


def test_an_event_that_was_appended_to_the_chain_is_not_in_the_evidence_log(chained: Project) -> None:
    record(chained, "key.revoked", "key", "forged")
    last, forged = AuditEvent.objects.order_by("id")[4:]
    forged.sequence, forged.previous_sha256 = 6, last.sha256
    sha256 = line_of(forged).sha256
    tamper(
        "UPDATE tm_audit_event SET sequence = 6, previous_sha256 = %s, sha256 = %s WHERE id = %s",
        [str(last.sha256), sha256, forged.pk],
    )
    broken = check(chained).broken
    assert broken is not None
    assert (broken.sequence, broken.why) == (6, "it is not in the signed evidence log")


def test_events_that_wait_for_their_place_are_counted(chained: Project) -> None:
    record(chained, "key.revoked", "key", "k6")
    assert (check(chained).waiting, check(chained).broken) == (1, None)
    chain(chained.pk)
    assert check(chained).waiting == 0

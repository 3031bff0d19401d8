"""Access logs are committed to in the project's log, so that a dropped or rewritten one is detected when the log's bundle is checked."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.builders import compared, recorded_session, tamper
from tests.governance.sharing.recorded import recorded
from tests.verifier.bundles import faults, packed, unpacked
from timemachine.core.accounts.models import Project
from timemachine.evidence.models import AccessHead, LogEntry
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.governance.sharing import log
from timemachine.governance.sharing.commands.links import create_link, revoke, set_policy
from timemachine.governance.sharing.models import ShareLink, ShareOpening
from timemachine.governance.sharing.pure.terms import Policy
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


def linked(project: Project) -> ShareLink:
    return create_link(project, recorded(project), by="Test")[0]


def committed() -> int:
    return sum(log.commit(project) for project in log.projects_to_commit())


def report_on(project: Project, folder: Path) -> tm_verify.Report:
    target = folder / "log.zip"
    with target.open("wb") as opened:
        log.write_log(opened, project)
    return tm_verify.verify(str(target))


def test_a_log_that_grew_is_committed_to_once(project: Project, other_project: Project) -> None:
    assert (log.projects_to_commit(), log.commit(uuid4())) == ([], 0)
    link, other = linked(project), linked(other_project)
    set_policy(project, Policy(longest_days=30), by="Test")
    assert log.projects_to_commit() == sorted([project.pk, other_project.pk])
    assert committed() == 3
    assert (committed(), log.commit(project.pk)) == (0, 0)
    revoke(link, by="Test")
    assert (log.projects_to_commit(), committed()) == ([project.pk], 1)
    entries = [
        json.loads(bytes(each.entry)) for each in LogEntry.objects.filter(project=project).order_by("index")
    ]
    last = ShareOpening.objects.filter(link=link).latest("sequence")
    assert entries[-1] | {"at": None} == {
        "v": 1,
        "at": None,
        "entry": "access",
        "chain": f"link {link.pk}",
        "lines": 2,
        "sha256": last.sha256,
    }
    assert set(AccessHead.objects.values_list("chain", "lines")) == {
        (f"link {link.pk}", 2),
        (f"policy {project.pk}", 1),
        (f"link {other.pk}", 1),
    }


def test_the_number_of_queries_for_grown_logs_is_the_same_for_many_links(project: Project) -> None:
    query_counts = []
    for _ in range(2):
        linked(project)
        with CaptureQueriesContext(connection) as queries:
            log.projects_to_commit()
        query_counts.append(len(queries))
    assert query_counts == [2, 2]


ALTERED = {
    "a line": ("UPDATE tm_share_opening SET by = 'nobody' WHERE sequence = 1 AND link_id = %s", " line 1"),
    "the last line": ("DELETE FROM tm_share_opening WHERE sequence = 2 AND link_id = %s", ""),
    "the first line": ("DELETE FROM tm_share_opening WHERE sequence = 1 AND link_id = %s", " line 2"),
    "all lines": ("DELETE FROM tm_share_opening WHERE link_id = %s", ""),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_or_dropped_log_is_reported(project: Project, tmp_path: Path, name: str) -> None:
    statement, where = ALTERED[name]
    link = linked(project)
    committed()
    revoke(link, by="Test")
    committed()
    report = report_on(project, tmp_path)
    assert (report.problems, report.checked["access_lines"]) == ([], 2)
    assert tamper(statement, [str(link.pk)]) >= 1
    found = [(each["code"], each["where"]) for each in report_on(project, tmp_path).problems]
    assert ("access", f"access log of link {link.pk}{where}") in found


def test_a_completely_rewritten_chain_is_detected(project: Project, tmp_path: Path) -> None:
    link = linked(project)
    committed()
    forged = ShareOpening.objects.get(link=link)
    tamper("DELETE FROM tm_share_opening WHERE link_id = %s", [str(link.pk)])
    ShareOpening.objects.create(
        project=project,
        link=link,
        sequence=1,
        at=forged.at,
        result=forged.result,
        by="somebody else",
        facts=forged.facts,
        previous_sha256=forged.previous_sha256,
        sha256=forged.sha256,
    )
    found = [each["where"] for each in report_on(project, tmp_path).problems]
    assert found == [f"access log of link {link.pk} line 1"]


def test_a_log_erased_with_its_session_is_not_reported_missing(project: Project, tmp_path: Path) -> None:
    session, remaining = recorded_session(project), recorded_session(project, key="kept")
    alone = compared(project, [session], "local:extractive-1", "local:extractive-3")
    both = compared(project, [session, remaining], "local:extractive-1", "local:extractive-3")
    for target in (session, alone, both):
        create_link(project, target, by="Test")
    assert committed() == 3
    erase_session(session, by="Test")
    assert AccessHead.objects.get().comparison == both
    report = report_on(project, tmp_path)
    assert (report.problems, report.checked["erased"], report.checked["access_lines"]) == ([], 3, 1)


def test_an_invalid_line_is_reported(project: Project, tmp_path: Path) -> None:
    linked(project)
    committed()
    report_on(project, tmp_path)
    files = unpacked((tmp_path / "log.zip").read_bytes())
    files["log/access.jsonl"] += b"[]\n"
    assert ("access", "log access line 2") in faults(packed(files, tmp_path / "forged.zip"))

"""The audit log in the evidence of the project's log, which anyone can verify without the server."""

from pathlib import Path

import pytest

from tests.builders import tamper
from tests.verifier.bundles import faults, packed, unpacked
from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.models import AuditEvent
from timemachine.governance.audit_log.commands import chain
from timemachine.governance.sharing.log import write_log
from timemachine.verifier.tm_verify import Report, verify


@pytest.fixture
def chained(project: Project) -> Project:
    for number in range(3):
        record(project, "key.revoked", "key", f"k{number}")
    chain(project.pk)
    return project


def bundle(project: Project, folder: Path, *, with_audit_log: bool) -> Path:
    path = folder / "log.zip"
    with path.open("wb") as opened:
        write_log(opened, project, with_audit_log=with_audit_log)
    return path


def report_on(path: Path) -> Report:
    return verify(str(path))


def test_the_bundle_has_every_event_up_to_its_own_download(chained: Project, tmp_path: Path) -> None:
    report = report_on(bundle(chained, tmp_path, with_audit_log=True))
    assert (report.problems, report.checked["audit_lines"]) == ([], 4)
    assert not any("audit log" in each for each in report.not_checked)
    assert AuditEvent.objects.order_by("-id")[0].facts == {"with_audit_log": True}


def test_without_it_the_verifier_says_that_it_is_elsewhere(chained: Project, tmp_path: Path) -> None:
    report = report_on(bundle(chained, tmp_path, with_audit_log=False))
    assert (report.problems, report.checked["audit_lines"]) == ([], 0)
    assert any("audit log" in each for each in report.not_checked)


def test_a_chain_that_was_rewritten_after_it_was_committed_is_found(chained: Project, tmp_path: Path) -> None:
    tamper(
        "UPDATE tm_audit_event SET actor = 'nobody', sequence = NULL, previous_sha256 = NULL, sha256 = NULL WHERE %s",
        [True],
    )
    chain(chained.pk)
    report = report_on(bundle(chained, tmp_path, with_audit_log=True))
    assert ("audit", "audit log line 3") in [(each["code"], each["where"]) for each in report.problems]


def test_a_line_that_was_left_out_is_found(chained: Project, tmp_path: Path) -> None:
    files = unpacked(bundle(chained, tmp_path, with_audit_log=True).read_bytes())
    _, *rest = files["log/audit.jsonl"].splitlines(keepends=True)
    files["log/audit.jsonl"] = b"".join(rest)
    found = faults(packed(files, tmp_path / "forged.zip"))
    assert any(kind == "audit" for kind, _ in found)

"""Evidence downloads of visitors: how often the bundle is written, and that a HEAD request writes none."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client

from tests.builders import recorded_session
from tests.threads import in_a_thread
from tests.verifier.bundles import unpacked
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TooManyRequests
from timemachine.evidence.bundles import exporting
from timemachine.governance.sharing import log
from timemachine.governance.sharing.commands import visits
from timemachine.governance.sharing.commands.links import create_link
from timemachine.recording.sessions.models import Session

CHECK_HERE = Path(__file__).parents[3] / "static" / "js" / "check-here.js"


def download_status(visitor: Client, link_url: str) -> int:
    """Return the status of a visitor's request for the evidence."""
    answer = visitor.get(f"{link_url}evidence.zip")
    assert answer.getvalue()
    return answer.status_code


def test_evidence_is_downloaded_and_checked_six_times_a_minute_and_then_limited(
    project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, path = shared(project, session)
    visitor, link_url = opened(path)
    assert [download_status(visitor, link_url) for _ in range(6)] == [200] * 6
    refused = visitor.get(f"{link_url}evidence.zip")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert "Too many downloads" in refused.text
    assert "Back to the shared page" in refused.text
    assert "6 times within a minute" in refused.text
    assert visitor.get(link_url).status_code == 200
    assert [each.result for each in log.lines_of(link)].count("downloaded") == 6
    other, elsewhere = opened(shared(project, recorded_session(project, key="other"))[1])
    assert download_status(other, elsewhere) == 200
    monkeypatch.setattr(visits, "now", lambda: now() + timedelta(minutes=1))
    assert download_status(visitor, link_url) == 200


def test_a_head_request_writes_nothing_and_does_not_count_as_a_download(
    project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, path = shared(project, session)
    visitor, link_url = opened(path)
    monkeypatch.setattr(exporting, "temporary_file", lambda _write: pytest.fail("it was written"))
    for _ in range(9):
        head = visitor.head(f"{link_url}evidence.zip")
        assert (head.status_code, head["Content-Type"]) == (200, "application/zip")
        assert head["Content-Disposition"] == f'attachment; filename="evidence-{link.public_id}.zip"'
        assert "Content-Length" not in head
    assert [each.result for each in log.lines_of(link)] == ["created", "opened"]


def test_only_one_bundle_per_link_is_written_at_a_time(transactional_db: None) -> None:
    project = Project.objects.create(name="Many")
    session = recorded_session(project)
    link, _ = create_link(project, session, by="Test")
    other, _ = create_link(project, session, by="Test")

    def concurrent_download() -> int:
        with pytest.raises(TooManyRequests, match="for someone else") as refused, visits.download(link):
            pass
        with visits.download(other):
            return int(refused.value.facts["retry_after_seconds"])

    with ThreadPoolExecutor(1) as pool, visits.download(link):
        assert in_a_thread(pool, concurrent_download).result() == 5
    with pytest.raises(ValueError, match="gone wrong"), visits.download(link):
        raise ValueError("gone wrong")

    def second_download() -> None:
        with visits.download(link):
            pass

    with ThreadPoolExecutor(1) as pool:
        in_a_thread(pool, second_download).result()
    assert [each.result for each in log.lines_of(link)] == ["created", "downloaded", "downloaded"]


def test_a_download_has_its_usual_content(project: Project, session: Session) -> None:
    visitor, link_url = opened(shared(project, session)[1])
    assert "statement.json" in unpacked(visitor.get(f"{link_url}evidence.zip").getvalue())


def test_the_check_page_reports_that_it_has_to_wait_and_reports_no_fault() -> None:
    program = CHECK_HERE.read_text()
    waits = program.index("answer.status === 429")
    assert waits < program.index("Not verified", waits)
    assert "Retry-After" in program[waits : waits + 300]

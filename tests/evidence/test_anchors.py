"""Anchoring of the log with a witness and a timestamp authority on loopback; their answers are included in the log's bundle."""

import json
import socket
import subprocess
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from pytest_django.fixtures import Settings

from tests.evidence.outside import Authority, Witness, served
from tests.verifier.bundles import faults, packed, unpacked
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import anchors, project_log
from timemachine.evidence.log.anchors import anchors_of, key_for_witness, set_anchor
from timemachine.evidence.models import TIMESTAMP, WITNESS, Anchor, AnchorReceipt
from timemachine.evidence.pure.checkpoint import known_size
from timemachine.evidence.pure.timestamping import timestamp_of
from timemachine.evidence.sealing import seals
from timemachine.evidence.tasks import send_anchor
from timemachine.jobs.registry import overdue
from timemachine.llm import outbound_posts
from timemachine.llm.outbound_posts import Unreachable, post
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def loopback_is_allowed(settings: Settings) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]


def grow_log(project: Project, by: int = 1) -> None:
    """Add this many entries to the log."""
    for _ in range(by):
        session = start_session(project, name="s", by="test")
        append(session.id, [ActionDraft(kind="message", output="x")])
        seals.seal_session(session.id)


def delivered(project: Project) -> dict[str, Anchor]:
    """Send the newest state to all anchors that are due, and return the anchors."""
    for each in overdue(send_anchor):
        anchors.send_newest_state(each)
    return anchors_of(project)


def bundle(project: Project, target: Path) -> tuple[tm_verify.Report, dict[str, bytes]]:
    with target.open("wb") as opened:
        exporting.write_log(opened, project)
    return tm_verify.verify(str(target)), unpacked(target.read_bytes())


def test_a_witness_accepts_each_state_with_a_consistency_proof(project: Project, tmp_path: Path) -> None:
    witness = Witness(key_for_witness(project))
    with served(witness) as url:
        set_anchor(project, WITNESS, url, by="ada@example.org")
        assert overdue(send_anchor) == []  # nothing is sealed yet
        for by in (3, 1, 4, 2):
            grow_log(project, by)
            assert delivered(project)[WITNESS].error is None
        assert overdue(send_anchor) == []
    assert witness.taken == [3, 4, 8, 10]
    found = anchors_of(project)[WITNESS]
    assert (found.size, found.set_by, found.error) == (10, "ada@example.org", None)
    report, files = bundle(project, tmp_path / "log.zip")
    assert (report.problems, report.checked["witnessed"]) == ([], 4)
    assert any(url in each and "first 10 entries" in each for each in report.not_checked)
    lines = [json.loads(line) for line in files["log/witnessed.jsonl"].splitlines()]
    assert lines[-1]["answer"] == "— witness.example/w1 AAAA\n"
    assert lines[1]["sent"].startswith("old 3\n")


def test_a_witness_at_an_older_state_is_updated_and_one_at_a_newer_state_raises_an_alarm(
    project: Project,
) -> None:
    witness = Witness(key_for_witness(project))
    with served(witness) as url:
        set_anchor(project, WITNESS, url, by="test")
        grow_log(project, 2)
        delivered(project)
        Anchor.objects.update(size=1)  # as after a restore from a backup
        grow_log(project)
        delivered(project)
        assert delivered(project)[WITNESS].size == 3
        witness.size = 99
        grow_log(project)
        found = delivered(project)[WITNESS]
        assert (found.size, found.attempts) == (3, 1)
        assert "received 99 entries of this log, which has only 4" in (found.error or "")


def test_a_failure_is_stored_and_retried_later(project: Project) -> None:
    answers = [(500, b"<b>broken</b>"), (409, b"soon"), (200, b"x" * 70_000)]
    with served(lambda _body, _type: answers.pop(0)) as url:
        set_anchor(project, WITNESS, url, by="test")
        grow_log(project)
        for says, waits in (("500: <b>broken</b>", 30), ("409: soon", 60), ("longer than 65,536", 120)):
            before, wait = now(), timedelta(seconds=waits)
            found = delivered(project)[WITNESS]
            assert says in (found.error or "")
            assert overdue(send_anchor) == []
            assert before + wait <= found.next_at <= now() + wait
            Anchor.objects.update(next_at=now())
    assert "cannot be reached" in (delivered(project)[WITNESS].error or "")
    assert not AnchorReceipt.objects.exists()
    anchors.send_newest_state(found.id)  # another worker was first, or it is not due yet: nothing happens
    assert anchors_of(project)[WITNESS].attempts == 4


def test_a_long_answer_is_read_only_up_to_the_limit() -> None:
    sent = 0

    def endless(connection: socket.socket) -> None:
        nonlocal sent
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n")
        with suppress(OSError):
            while sent < 20_000_000:
                sent += connection.send(bytes(65_536))
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = Thread(target=lambda: endless(server.accept()[0]))
        answering.start()
        with pytest.raises(Unreachable, match="longer than 65,536"):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"", "text/plain")
        answering.join()
    assert sent < 20_000_000


def test_addresses_in_private_networks_are_refused_unless_the_operator_allows_them(
    project: Project, settings: Settings
) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = []
    for url, says in (
        ("http://127.0.0.1:1/x", "EVIDENCE_HOSTS_ALLOWED"),
        ("https://169.254.169.254/", "metadata"),
        ("witness", "https://witness.example.com"),
    ):
        with pytest.raises(InvalidInput, match=says):
            set_anchor(project, WITNESS, url, by="test")
    Anchor.objects.create(project=project, kind=WITNESS, url="http://127.0.0.1:1/x", set_by="test")
    grow_log(project)
    assert "EVIDENCE_HOSTS_ALLOWED" in (delivered(project)[WITNESS].error or "")


def test_a_host_name_that_resolves_to_a_private_network_is_not_called(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound_posts, "is_refused_as_written", lambda *_: False)
    with pytest.raises(outbound_posts.Unreachable, match="not on the public internet"):
        outbound_posts.post("https://localhost:1/x", b"", "text/plain")


def test_a_changed_address_starts_from_scratch_and_an_empty_one_stops_anchoring(project: Project) -> None:
    first = set_anchor(project, WITNESS, "http://127.0.0.1:1/x", by="a")
    Anchor.objects.update(size=7)
    assert set_anchor(project, WITNESS, " http://127.0.0.1:1/x/", by="b") == first
    second = set_anchor(project, WITNESS, "http://127.0.0.1:2/x", by="b")
    assert second is not None
    assert (second.size, second.set_by) == (0, "b")
    assert set_anchor(project, WITNESS, "", by="b") is None
    assert anchors_of(project) == {}


def test_a_replaced_key_no_longer_signs_for_the_witness(project: Project) -> None:
    with served(Witness(key_for_witness(project))) as url:
        set_anchor(project, WITNESS, url, by="test")
        grow_log(project)
        delivered(project)
        project_log.replace_key(project, by="test")
        assert "404: unknown log" in (delivered(project)[WITNESS].error or "")
    assert known_size(b"12\n") == 12
    assert (known_size(b""), known_size(b"9" * 30)) == (None, None)


@pytest.mark.parametrize("certified", [False, True])
def test_an_authority_timestamps_states_of_the_log_and_openssl_verifies_them(
    project: Project, settings: Settings, tmp_path: Path, *, certified: bool
) -> None:
    authority = Authority(tmp_path, certified=certified)
    with served(authority) as url:
        set_anchor(project, TIMESTAMP, url, by="test")
        grow_log(project, 2)
        assert delivered(project)[TIMESTAMP].error is None
        grow_log(project)
        assert overdue(send_anchor) == []  # not for every entry
        settings.SEAL_SECONDS = 0
        assert delivered(project)[TIMESTAMP].size == 3
    report, files = bundle(project, tmp_path / "log.zip")
    assert report.problems == []
    stamped = AnchorReceipt.objects.filter(kind=TIMESTAMP).order_by("-checkpoint__size")
    assert [each.entries for each in report.dated] == [3, 2]
    assert [each.at for each in report.dated] == [
        f"{timestamp_of(bytes(each.answer)):%Y-%m-%dT%H:%M:%SZ}" for each in stamped
    ]
    assert f"TIMESTAMP {report.dated[0].at} of the log with its first 3 entries (timestamps/3.tsr)" in list(
        tm_verify.report_lines(report)
    )
    swapped = files | {"timestamps/3.tsr": files["timestamps/2.tsr"]}
    assert ("timestamp", "timestamps/3.tsr") in faults(packed(swapped, tmp_path / "forged.zip"))
    (says,) = [each for each in report.not_checked if "openssl" in each]
    command = says[says.index("openssl") :].replace("AUTHORITY.pem", str(authority.certificate))
    (tmp_path / "timestamps").mkdir()
    for name in ("timestamps/3.tsr", "timestamps/3.json"):
        (tmp_path / name).write_bytes(files[name])
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Verification: OK" in done.stdout


def test_the_evidence_of_a_session_includes_the_timestamp_of_its_seal_once_there_is_one(
    project: Project, tmp_path: Path
) -> None:
    grow_log(project)
    session, target = Session.objects.get(), tmp_path / "session.zip"
    for dated in (False, True):
        with target.open("wb") as opened:
            exporting.write_session(opened, session)
        report, files = tm_verify.verify(str(target)), unpacked(target.read_bytes())
        assert report.problems == []
        assert ("timestamps/2.tsr" in files) == dated
        assert any("timestamps/2.json" in each for each in report.not_checked) == dated
        if not dated:
            grow_log(project)
            with served(Authority(tmp_path)) as url:
                set_anchor(project, TIMESTAMP, url, by="test")
                assert delivered(project)[TIMESTAMP].size == 2
    page = browser_of(project).get(f"/sessions/{session.id}/evidence/").content.decode()
    assert "by the clock of" in page
    assert page.count("<dt>Timestamped</dt>") == 1
    files["timestamps/2.json"] = files["session/checkpoints.jsonl"].splitlines()[0]
    assert ("timestamp", "timestamps/2.tsr") in faults(packed(files, tmp_path / "forged.zip"))


def test_an_answer_that_is_not_a_timestamp_of_the_request_is_refused(
    project: Project, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    grow_log(project)
    stored: list[bytes] = []

    def once(body: bytes, content_type: str) -> tuple[int, bytes]:
        stored.append(authority(body, content_type)[1])
        return 200, stored[0]

    with served(once) as url:
        set_anchor(project, TIMESTAMP, url, by="test")
        delivered(project)
        Anchor.objects.update(size=0, taken_at=None, next_at=now())
        assert "timestamp of something else" in (delivered(project)[TIMESTAMP].error or "")
    bad_answers = [
        ((200, b"nonsense"), "is not a timestamp"),
        ((503, b""), "503"),
        ((200, bytes.fromhex("30053003020102")), "did not issue a timestamp: status 2"),
    ]
    with served(lambda _body, _type: bad_answers[0][0]) as url:
        set_anchor(project, TIMESTAMP, url, by="test")
        while bad_answers:
            assert bad_answers[0][1] in (delivered(project)[TIMESTAMP].error or "")
            Anchor.objects.update(next_at=now())
            bad_answers.pop(0)
    assert AnchorReceipt.objects.count() == 1


def test_the_verifier_detects_a_witness_of_another_history_and_a_timestamp_of_other_data(
    project: Project, tmp_path: Path
) -> None:
    with served(Witness(key_for_witness(project))) as url, served(Authority(tmp_path)) as dates:
        set_anchor(project, WITNESS, url, by="test")
        set_anchor(project, TIMESTAMP, dates, by="test")
        grow_log(project)
        delivered(project)
    _, files = bundle(project, tmp_path / "log.zip")
    line = json.loads(files["log/witnessed.jsonl"])
    forged = line | {"sent": line["sent"].replace("\n1\n", "\n2\n")}
    files["log/witnessed.jsonl"] = json.dumps(forged).encode() + b"\nno line\n"
    files["timestamps/1.json"] = b"{}"
    found = faults(packed(files, tmp_path / "forged.zip"))
    assert {
        ("witness", "log witnessed line 1"),
        ("witness", "log witnessed line 2"),
        ("timestamp", "timestamps/1.tsr"),
    } <= set(found)

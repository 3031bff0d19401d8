"""Forwarding the audit log: every event, in order, signed, and again after a failure."""

import hashlib
import hmac
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from pytest_django.fixtures import Settings

from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.governance.audit_log.commands import chain, forward
from timemachine.governance.audit_log.models import AuditForwarding
from timemachine.governance.audit_log.queries import events_behind, projects_to_forward

SECRET = "a secret of both"


class Webhook(ThreadingHTTPServer):
    """A receiver that keeps what it gets and answers with `status`."""

    def __init__(self) -> None:
        self.taken: list[tuple[str | None, bytes]] = []
        self.status = 204
        self.body = b""
        self.paths: list[str] = []
        super().__init__(("127.0.0.1", 0), Receiving)


class Receiving(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)
        self.server.taken.append((self.headers["X-Time-Machine-Signature"], body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def webhook(settings: Settings) -> Iterator[Webhook]:
    with Webhook() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        settings.AUDIT_WEBHOOK = f"http://127.0.0.1:{server.server_port}/audit"
        settings.AUDIT_WEBHOOK_SECRET = SECRET
        settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
        yield server
        server.shutdown()


def chained(project: Project, number: int) -> None:
    for nth in range(number):
        record(project, "key.revoked", "key", f"k{nth}")
    chain(project.pk)


def sequences(webhook: Webhook) -> list[int]:
    return [json.loads(line)["sequence"] for _, body in webhook.taken for line in body.splitlines()]


def test_a_webhook_gets_every_event_once_and_signed(project: Project, webhook: Webhook) -> None:
    chained(project, 3)
    assert projects_to_forward() == [project.pk]
    forward(project.pk)
    chained(project, 2)
    forward(project.pk)
    forward(project.pk)
    assert sequences(webhook) == [1, 2, 3, 4, 5]
    signature, body = webhook.taken[0]
    assert signature == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
    assert projects_to_forward() == []


def test_what_is_not_accepted_is_sent_again_later_and_the_page_says_since_when(
    project: Project, webhook: Webhook
) -> None:
    chained(project, 2)
    webhook.status = 503
    forward(project.pk)
    row = AuditForwarding.objects.get()
    assert (row.sequence, row.problem) == (0, "It returned 503.")
    assert timedelta(seconds=5) < row.next_at - now() <= timedelta(seconds=10)
    assert projects_to_forward() == []
    shown = browser_of(project, ADMIN).get("/settings/audit-log/").text
    assert re.search("Not accepted since .+, next attempt ", shown)
    assert "503" not in shown
    AuditForwarding.objects.update(next_at=now())
    webhook.status = 200
    assert projects_to_forward() == [project.pk]
    forward(project.pk)
    assert sequences(webhook) == [1, 2, 1, 2]
    row.refresh_from_db()
    assert (row.sequence, row.problem, row.attempts) == (2, None, 0)


def test_an_event_names_its_project(project: Project, other_project: Project, webhook: Webhook) -> None:
    for each in (project, other_project):
        chained(each, 1)
        forward(each.pk)
    found = [json.loads(body) for _, body in webhook.taken]
    assert [(each["project"], each["sequence"]) for each in found] == [
        (str(project.pk), 1),
        (str(other_project.pk), 1),
    ]
    assert len({each["sha256"] for each in found}) == 2


def test_a_webhook_can_have_a_query(project: Project, webhook: Webhook, settings: Settings) -> None:
    settings.AUDIT_WEBHOOK += "?token=a"
    chained(project, 1)
    forward(project.pk)
    assert (webhook.paths, sequences(webhook)) == (["/audit?token=a"], [1])


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("AUDIT_WEBHOOK", "logs.example.com?token=secret", "'logs.example.com' is not a valid address for"),
        ("AUDIT_WEBHOOK", "https://[::1", "is not a valid address for AUDIT_WEBHOOK"),
        ("AUDIT_SYSLOG", "tcp://[::1", "is not a valid address for AUDIT_SYSLOG"),
        ("AUDIT_SYSLOG", "udp://logs:port", "is not a valid address for AUDIT_SYSLOG"),
        ("AUDIT_SYSLOG", "logs.example.com", "Write it like tcp://logs.example.com:514."),
    ],
)
def test_a_program_with_a_wrong_address_does_not_start(name: str, value: str, why: str) -> None:
    started = subprocess.run(
        [sys.executable, "-c", "from timemachine.config import settings"],
        env=os.environ | {name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (started.returncode, started.stderr.count("\n")) == (1, 1)
    assert why in started.stderr
    assert "secret" not in started.stderr


@pytest.mark.parametrize("broken", ["https://[::1", "https://a b/", "http://127.0.0.1:1/", "http://\x7f/"])
def test_one_destination_that_fails_does_not_keep_events_from_the_other(
    project: Project, settings: Settings, broken: str
) -> None:
    chained(project, 1)
    settings.AUDIT_WEBHOOK, settings.EVIDENCE_HOSTS_ALLOWED = broken, ["127.0.0.1"]
    with listening() as (port, taken):
        settings.AUDIT_SYSLOG = f"tcp://127.0.0.1:{port}"
        forward(project.pk)
    assert b"key.revoked" in b"".join(taken)
    assert AuditForwarding.objects.get(destination="webhook").problem is not None
    assert events_behind() == {"webhook": 1, "syslog": 0}


def test_an_answer_that_the_database_would_refuse_is_stored(
    project: Project, webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.status, webhook.body = 400, b"no\x00"
    chained(project, 1)
    forward(project.pk)
    assert str(AuditForwarding.objects.get().problem).startswith("It returned 400: no")
    assert "is not forwarded by webhook: It returned 400: no" in caplog.text


def test_while_nobody_answers_the_other_projects_wait_too(
    project: Project, other_project: Project, settings: Settings
) -> None:
    settings.AUDIT_SYSLOG = "tcp://127.0.0.1:1"
    chained(project, 1)
    forward(project.pk)
    chained(other_project, 1)
    forward(other_project.pk)
    rows = AuditForwarding.objects.all()
    assert {(each.project_id, each.attempts) for each in rows} == {(project.pk, 1), (other_project.pk, 0)}
    assert projects_to_forward() == []
    AuditForwarding.objects.update(next_at=now())
    assert set(projects_to_forward()) == {project.pk, other_project.pk}
    forward(project.pk)
    forward(other_project.pk)
    assert sum(each.attempts for each in AuditForwarding.objects.all()) == 2


def test_a_refusal_concerns_only_the_project_whose_events_were_refused(
    project: Project, other_project: Project, webhook: Webhook
) -> None:
    chained(other_project, 1)
    forward(other_project.pk)
    chained(other_project, 1)
    chained(project, 1)
    webhook.status = 400
    forward(project.pk)
    assert projects_to_forward() == [other_project.pk]


def test_nothing_is_forwarded_without_a_destination(project: Project) -> None:
    chained(project, 1)
    assert projects_to_forward() == []
    forward(project.pk)
    assert not AuditForwarding.objects.exists()


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    taken: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            connection, _ = server.accept()
            with connection:
                while piece := connection.recv(65536):
                    taken.append(piece)

        thread = Thread(target=take, daemon=True)
        thread.start()
        yield server.getsockname()[1], taken
        thread.join(5)


def test_a_syslog_server_gets_a_message_for_each_event_with_its_length(
    project: Project, settings: Settings
) -> None:
    chained(project, 2)
    with listening() as (port, taken):
        settings.AUDIT_SYSLOG = f"tcp://127.0.0.1:{port}"
        forward(project.pk)
    found, rest = [], b"".join(taken)
    while rest:
        length, _, rest = rest.partition(b" ")
        found.append(rest[: int(length)].decode())
        rest = rest[int(length) :]
    assert [
        re.match(r"<109>1 \S+ \S+ time-machine - key.revoked - \{", each) is not None for each in found
    ] == [True] * 2
    assert [json.loads(each[each.index("{") :])["target_id"] for each in found] == ["k0", "k1"]


def test_over_udp_each_event_is_a_datagram(project: Project, settings: Settings) -> None:
    chained(project, 2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        settings.AUDIT_SYSLOG = f"udp://127.0.0.1:{server.getsockname()[1]}"
        forward(project.pk)
        assert all(server.recv(65536).startswith(b"<109>1 ") for _ in range(2))


def test_over_udp_an_event_that_is_too_long_is_sent_without_its_facts(
    project: Project, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    record(project, "setting.changed", "setting", "long", value="x" * 70_000)
    chained(project, 1)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
        server.bind(("::1", 0))
        server.settimeout(5)
        settings.AUDIT_SYSLOG = f"udp://[::1]:{server.getsockname()[1]}"
        forward(project.pk)
        first, second = (server.recv(65536).decode() for _ in range(2))
    assert json.loads(first[first.index("{") :])["facts"] == {"left_out": "too long for UDP"}
    assert json.loads(second[second.index("{") :])["target_id"] == "k0"
    assert "is too long for UDP" in caplog.text


@pytest.mark.parametrize(
    ("address", "why"),
    [("tcp://127.0.0.1:1", "cannot be reached"), ("http://logs.example.com", "Write it like tcp://")],
)
def test_a_syslog_server_that_does_not_answer_is_named(
    project: Project, settings: Settings, address: str, why: str
) -> None:
    chained(project, 1)
    settings.AUDIT_SYSLOG = address
    forward(project.pk)
    assert why in str(AuditForwarding.objects.get().problem)

"""Forwarding the audit log: every event, in order, signed, and again after a failure."""

import hashlib
import hmac
import json
import re
import socket
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
from timemachine.governance.audit_log.commands import chain
from timemachine.governance.audit_log.forwarding import forward, projects_to_forward
from timemachine.governance.audit_log.models import AuditForwarding

SECRET = "a secret of both"


class Webhook(ThreadingHTTPServer):
    """A receiver that keeps what it gets and answers with `status`."""

    def __init__(self) -> None:
        self.taken: list[tuple[str | None, bytes]] = []
        self.status = 204
        super().__init__(("127.0.0.1", 0), Receiving)


class Receiving(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.taken.append((self.headers["X-Time-Machine-Signature"], body))
        self.send_response(self.server.status)
        self.end_headers()

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


def test_what_is_not_accepted_is_sent_again_later_and_the_page_says_why(
    project: Project, webhook: Webhook
) -> None:
    chained(project, 2)
    webhook.status = 503
    forward(project.pk)
    row = AuditForwarding.objects.get()
    assert (row.sequence, row.problem) == (0, "It returned 503.")
    assert timedelta(seconds=5) < row.next_at - now() <= timedelta(seconds=10)
    assert projects_to_forward() == []
    assert "Not accepted, next attempt" in browser_of(project, ADMIN).get("/settings/audit-log/").text
    AuditForwarding.objects.update(next_at=now())
    webhook.status = 200
    assert projects_to_forward() == [project.pk]
    forward(project.pk)
    assert sequences(webhook) == [1, 2, 1, 2]
    row.refresh_from_db()
    assert (row.sequence, row.problem, row.attempts) == (2, None, 0)


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


@pytest.mark.parametrize(
    ("address", "why"),
    [("tcp://127.0.0.1:1", "cannot be reached"), ("http://logs.example.com", "write it like tcp://")],
)
def test_a_syslog_server_that_does_not_answer_is_named(
    project: Project, settings: Settings, address: str, why: str
) -> None:
    chained(project, 1)
    settings.AUDIT_SYSLOG = address
    forward(project.pk)
    assert why in str(AuditForwarding.objects.get().problem)

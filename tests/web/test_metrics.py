"""`/metrics`: who may read them, and what they count."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.api.conftest import program
from tests.builders import recorded_session
from timemachine.config.celery import app as queue
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.jobs import registry, workers
from timemachine.jobs.models import JobBacklog, Worker
from timemachine.recording.importing.models import FileImport
from timemachine.recording.importing.worker import hand_in
from timemachine.web.metrics import installation

TOP = Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-sufficient-length"  # of this test
FILE = b'{"messages": [{"role": "user", "content": "What is owed?"}]}'


def value(name: str, client: Client | None = None, **labels: str) -> float | None:
    """Scrape, and return a sample; None if there is none."""
    answer = (client or Client()).get("/metrics")
    assert answer.status_code == 200, answer.text
    samples = [each for family in text_string_to_metric_families(answer.text) for each in family.samples]
    found = [each.value for each in samples if each.name == name and labels.items() <= each.labels.items()]
    return sum(found) if found else None


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at every scrape."""
    monkeypatch.setattr(installation, "FRESH_SECONDS", -1)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
def test_without_a_token_this_machine_reads_them(db: None, address: str) -> None:
    answer = Client().get("/metrics", REMOTE_ADDR=address)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.1", "::ffff:10.0.0.7", "", "unix"])
def test_without_a_token_no_other_machine_does(db: None, address: str) -> None:
    answer = Client().get("/metrics", REMOTE_ADDR=address)
    assert answer.status_code == 403
    assert "set METRICS_TOKEN" in answer.text
    assert "timemachine_" not in answer.text


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_without_a_token_a_proxy_on_this_machine_reads_none(db: None, header: str) -> None:
    assert Client().get("/metrics", headers={header: "127.0.0.1"}).status_code == 403


def test_a_public_installation_needs_a_token(db: None, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://tm.example"
    assert Client().get("/metrics").status_code == 403
    settings.PUBLIC_URL = "http://localhost:8000"
    assert Client().get("/metrics").status_code == 200
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert Client().get("/metrics").status_code == 403


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer ", 401),
        ("Bearer ä", 401),
        (None, 401),
    ],
)
def test_with_a_token_only_who_sends_it_reads_them(
    db: None, settings: Settings, sent: str | None, status: int
) -> None:
    settings.METRICS_TOKEN = TOKEN
    headers = {"Authorization": sent} if sent else {}
    answer = Client().get("/metrics", headers=headers, REMOTE_ADDR="10.0.0.7")
    assert answer.status_code == status
    assert answer.get("WWW-Authenticate") == (None if status == 200 else "Bearer")


def test_the_token_can_be_in_a_file(tmp_path: Path) -> None:
    def start(file: Path) -> "subprocess.CompletedProcess[str]":
        code = "from timemachine.config import settings; print(settings.METRICS_TOKEN)"
        environment = os.environ | {"METRICS_TOKEN_FILE": str(file)}
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )

    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert start(tmp_path / "token").stdout == f"{TOKEN}\n"
    missing = start(tmp_path / "missing")
    assert missing.returncode == 1
    assert missing.stderr.startswith(f"METRICS_TOKEN_FILE names {tmp_path / 'missing'}, which cannot be read")


def test_requests_are_counted_by_route_without_names(project: Project, fresh: None) -> None:
    before = value("timemachine_http_requests_total", route="/api/sessions/<session_id>", status="404") or 0
    unknown = value("timemachine_http_requests_total", route="an unknown URL") or 0
    program(project).client.get(
        "/api/sessions/secret-name", headers={"Authorization": f"Bearer {program(project).key}"}
    )
    Client().get("/another/secret-name")
    Client().generic("SECRET-NAME", "/sign-in/")
    after = value("timemachine_http_requests_total", route="/api/sessions/<session_id>", status="404")
    assert after == before + 1
    assert value("timemachine_http_requests_total", route="an unknown URL") == unknown + 1
    assert value("timemachine_http_request_seconds_count", route="/sign-in/")
    assert "secret-name" not in Client().get("/metrics").text.lower()


@pytest.mark.usefixtures("silent_queue", "fresh")
def test_waiting_work_and_lost_leases_are_counted_by_job(project: Project) -> None:
    JobBacklog.objects.create(job="gone", waiting=7, measured_at=now())
    registry.sweep()
    assert value("timemachine_job_waiting", kind="gone") is None
    assert value("timemachine_job_waiting", kind="run_import") == 0
    assert value("timemachine_job_oldest_waiting_seconds", kind="run_import") is None
    imports = [hand_in(project, FILE, by="Ada") for _ in range(4)]
    lease = FileImport.objects.filter(pk=imports[0].pk)
    token = {"lease_token": imports[0].pk}
    lease.update(lease_until=now() + timedelta(minutes=1), **token)
    FileImport.objects.filter(pk=imports[1].pk).update(lease_until=now() - timedelta(minutes=1), **token)
    FileImport.objects.filter(pk=imports[2].pk).update(created_at=now() - timedelta(hours=1))
    registry.sweep()
    assert value("timemachine_job_waiting", kind="run_import") == 3
    assert value("timemachine_job_leases_held", kind="run_import") == 1
    assert value("timemachine_job_leases_expired", kind="run_import") == 1
    age = value("timemachine_job_oldest_waiting_seconds", kind="run_import")
    assert age == pytest.approx(3600, abs=60)
    assert value("timemachine_sweep_age_seconds") == pytest.approx(0, abs=60)


@pytest.mark.usefixtures("silent_queue", "fresh")
def test_open_steps_of_replays_and_seals_are_counted(project: Project) -> None:
    session = recorded_session(project)
    program(project).post(f"/sessions/{session.id}/end")
    program(project).post(f"/sessions/{session.id}/replays", {"top_k": 3})
    registry.sweep()
    assert (value("timemachine_replay_steps", status="waiting") or 0) > 0
    assert value("timemachine_replay_steps", status="running") == 0
    assert value("timemachine_job_waiting", kind="seal_session") == 1


@pytest.mark.usefixtures("fresh")
def test_workers_are_counted_while_they_are_seen(db: None) -> None:
    assert value("timemachine_workers") == 0
    sign = workers.SignOfLife()
    sign.beat()
    assert value("timemachine_workers") == 1
    Worker.objects.update(seen_at=now() - timedelta(minutes=1))
    assert value("timemachine_workers") == 0
    sign.beat()
    assert value("timemachine_workers") == 1


@pytest.mark.usefixtures("fresh")
def test_the_database_and_disks_are_measured(db: None) -> None:
    assert value("timemachine_database_up") == 1
    assert value("timemachine_migrations_pending") == 0
    assert (value("timemachine_database_size_bytes") or 0) > 1_000_000
    assert (value("timemachine_database_connections_max") or 0) > 10
    assert (value("timemachine_database_connections", state="active") or 0) > 0
    assert (value("timemachine_disk_free_bytes", folder="temporary") or 0) > 0
    assert value("timemachine_actions_recorded_total") is not None


def test_scraping_often_reads_the_database_rarely(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Client().get("/metrics")
    with django_assert_num_queries(0):
        Client().get("/metrics")


NAME = re.compile(r"\btimemachine_[a-z_]+\b")


@pytest.fixture
def samples(db: None, silent_queue: None, fresh: None) -> set[str]:
    """The names of all samples that a scrape can have, of the queue in PostgreSQL."""
    registry.sweep()
    queue.conf.update({"broker_url": "pgmq://"})
    text = Client().get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    return {name + part for name, kind in kinds.items() for part in parts.get(kind, ("",))}


def test_every_metric_of_the_dashboard_exists(samples: set[str]) -> None:
    dashboard = json.loads((TOP / "docker/grafana.json").read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    queries += [each["definition"] for each in dashboard["templating"]["list"] if "definition" in each]
    used = {name for query in queries for name in NAME.findall(query)}
    assert len(used) > 12
    assert used - samples == set()
    labels = {name for query in queries for name in re.findall(r"by \(([a-z, ]+)\)", query)}
    assert {name for each in labels for name in each.split(", ")} <= {
        "folder",
        "instance",
        "kind",
        "le",
        "queue",
        "route",
        "state",
        "status",
    }
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


def test_every_metric_is_documented_and_no_other(samples: set[str]) -> None:
    documented = set(
        re.findall(r"`(timemachine_[a-z_]+)`", (TOP / "docs/operating.md").read_text(encoding="utf-8"))
    )
    families = {re.sub("_(bucket|sum|count)$", "", name) if "_seconds_" in name else name for name in samples}
    assert documented == families

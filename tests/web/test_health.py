"""Health checks: what makes a server not ready, and what only its workers lack."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.database_roles import as_owner
from tests.small_disks import small_disk
from timemachine.core.pure.clock import now
from timemachine.jobs import registry, workers
from timemachine.jobs.models import JobBacklog, Worker

pytestmark = pytest.mark.django_db


def checked(path: str, status: int) -> dict[str, Any]:
    answer = Client().get(path)
    assert answer.status_code == status, answer.text
    assert "no-store" in answer["Cache-Control"]
    document: dict[str, Any] = answer.json()
    assert ("why" in document) == (status == 503)
    assert document["status"] == ("ready" if status == 200 else "not ready")
    return document


@pytest.fixture
def working(silent_queue: None) -> None:
    """A worker runs and has swept."""
    workers.SignOfLife().beat()
    registry.sweep()


def test_a_server_with_everything_is_ready(working: None) -> None:
    for path in ("/health/ready", "/health/workers"):
        document = checked(path, 200)
        assert all(each["ok"] for each in document["checks"].values())
    assert document["checks"]["workers"]["message"] == "1 worker is running."
    assert list(checked("/health/ready", 200)["checks"]) == [
        "disk",
        "database",
        "migrations",
        "triggers",
        "role",
        "signing",
        "workers",
        "queue",
    ]


def test_without_workers_the_server_is_ready_and_says_that_work_waits() -> None:
    document = checked("/health/ready", 200)
    assert not document["checks"]["workers"]["ok"]
    refused = checked("/health/workers", 503)
    assert refused["why"].startswith("No worker is running, so replays, imports, seals and search wait.")
    assert not refused["checks"]["queue"]["ok"]


def test_a_silent_worker_or_an_old_sweep_is_noticed(working: None) -> None:
    JobBacklog.objects.update(measured_at=now() - timedelta(minutes=3))
    assert "No worker has looked for waiting work" in checked("/health/workers", 503)["why"]
    Worker.objects.update(seen_at=now() - timedelta(minutes=1))
    assert "No worker is running" in checked("/health/workers", 503)["why"]


def test_a_missing_migration_is_named_with_what_to_do(working: None) -> None:
    with as_owner() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'timemachine' AND name = '0006_workers'")
    document = checked("/health/ready", 503)
    assert (
        document["why"] == "The database lacks 1 migration. Run `timemachine manage prepare` on the server."
    )
    assert list(document["checks"]) == ["disk", "database", "migrations"]


def test_a_database_without_tables_is_not_ready() -> None:
    with as_owner() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO elsewhere")
        cursor.execute("ALTER TABLE tm_worker RENAME TO elsewhere_too")
    assert "The database lacks" in checked("/health/ready", 503)["why"]


def test_a_full_disk_is_not_ready(
    working: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    with small_disk(tmp_path / "disk", owner=tmp_path.stat(), megabytes=40) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        checked("/health/ready", 200)  # it is smaller than what is needed of others
        (folder / "file").write_bytes(b"x" * 38 * 1024 * 1024)
        document = checked("/health/ready", 503)
        assert document["why"] == (
            "Only 2 MB are free on the disk of the server; at least 4 are needed (MIN_FREE_DISK_MB)."
        )
        checked("/health/workers", 200)
        settings.MIN_FREE_DISK_MB = 1
        checked("/health/ready", 200)


def test_the_checks_are_cheap_and_say_nothing_secret(
    working: None, settings: Settings, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(11):
        text = Client().get("/health/ready").text
    for secret in (settings.SECRET_KEY, settings.DATABASES["default"]["HOST"], str(settings.STATIC_ROOT)):
        assert secret not in text

"""The health check of a worker's container agrees with what the product counts as running."""

import socket
from datetime import timedelta

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from timemachine.core.pure.clock import now
from timemachine.jobs import alive, workers
from timemachine.jobs.models import Worker


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("seconds", "runs"), [(40, True), (50, False)])
def test_a_worker_counts_as_running_for_45_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: int, runs: bool
) -> None:
    parameters = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    monkeypatch.setenv(
        "DATABASE_URL", make_conninfo(**{each: str(parameters.get(each) or "") for each in names})
    )
    seen = now() - timedelta(seconds=seconds)
    Worker.objects.create(host=socket.gethostname(), process=1, started_at=seen, seen_at=seen)
    assert workers.running() == runs
    expected = None if runs else f"No worker on {socket.gethostname()} was seen in the last 45 seconds."
    assert alive.main() == expected

"""Session lists, search and costs with a streaming replica: never older than the request, whatever the replica does."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from inspect import getclosurevars
from typing import Any

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from tests.core.replica_server import Replica, streaming_replica
from tests.database_roles import as_owner
from tests.waiting import wait_until
from timemachine.config import pool
from timemachine.core import connecting
from timemachine.core import replica as replica_module
from timemachine.core.accounts.models import Project
from timemachine.core.pure.database_requirements import Unsuitable
from timemachine.core.replica import ALIAS, AWAY, BEHIND, PAUSED, REPLICA, read_from_replica, replica_read
from timemachine.core.requirements import check_replica
from timemachine.memory.search.indexing import index_new_steps

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("TEST_DATABASE_URL" in os.environ, reason="it copies the server of the run"),
]
PAGES = ("/", "/?q=cats", "/search/?q=cats", "/costs/", "/costs/?tag=x")
API = ("/sessions", "/search?q=cats", "/costs?by=day", "/costs?by=tool&tag=x")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Replica]:
    parts = connection.settings_dict
    with (
        psycopg.connect(
            host=parts["HOST"], user=parts["USER"], dbname="postgres", autocommit=True
        ) as primary,
        streaming_replica(tmp_path_factory.mktemp("replica"), primary) as running,
    ):
        # as on a server of its own: the servers of tests do not wait for their disk
        primary.execute(f'ALTER DATABASE "{parts["NAME"]}" SET synchronous_commit = on')
        connection.close()
        yield running
        primary.execute(f'ALTER DATABASE "{parts["NAME"]}" RESET synchronous_commit')


@pytest.fixture
def replica(
    server: Replica, transactional_db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Replica]:
    """The replica, which this process uses as its settings say."""
    monkeypatch.setattr(replica_module, "PAUSE_SECONDS", 0.3)
    settings.REPLICA_WAIT_SECONDS = 10.0  # however slow the machine is
    # Django's tests forbid connections to what was no database when they began
    allowed = getclosurevars(BaseDatabaseWrapper.ensure_connection).nonlocals["real_ensure_connection"]
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", allowed)
    use(server.host)
    yield server
    unuse()


def use(host: str) -> None:
    own = connections.settings[DEFAULT_DB_ALIAS]
    options = {**own["OPTIONS"], "pool": pool.options(4, alias=ALIAS, wait=2)}
    connections.settings[ALIAS] = {**own, "HOST": host, "OPTIONS": options}
    replica_module._REST.end()


def unuse() -> None:
    connections[ALIAS].close()
    connections[ALIAS].close_pool()  # type: ignore[attr-defined]  # Django's PostgreSQL backend has it
    del connections[ALIAS]
    del connections.settings[ALIAS]


@pytest.fixture
def answered_by() -> Iterator[Counter[str]]:
    """What answered the reads of a test."""
    found: Counter[str] = Counter()

    def count(answered_by: str, **_: object) -> None:
        found[answered_by] += 1

    replica_read.connect(count, weak=False)
    yield found
    replica_read.disconnect(count)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project, "read", "record")


def checked(name: str) -> dict[str, Any]:
    found: dict[str, Any] = Client().get("/health/ready").json()["checks"][name]
    return found


def newest(api: Program) -> str:
    return str(api.get("/sessions").json()["items"][0]["name"])


def record(api: Program, name: str) -> None:
    assert api.post("/sessions", {"name": name}).status_code == 201


def test_the_replica_answers_what_was_written_a_moment_before(
    replica: Replica, api: Program, viewer: Client, project: Project, answered_by: Counter[str]
) -> None:
    recorded_session(project)
    index_new_steps(project.id)
    for path in PAGES:
        assert viewer.get(path).status_code == 200
    for path in API:
        assert api.get(path).status_code == 200
    assert api.post("/recall", {"queries": ["cats"]}).status_code == 200
    assert answered_by == {REPLICA: len(PAGES) + len(API) + 1}
    for number in range(10):
        record(api, f"number {number}")
        assert newest(api) == f"number {number}"
    with as_owner() as cursor:
        cursor.execute("SELECT pg_switch_wal()")
    assert newest(api) == "number 9"
    assert answered_by[REPLICA] == answered_by.total()
    assert checked("replica") == {
        "ok": True,
        "message": "The replica answers session lists, search and costs.",
    }


def test_the_primary_answers_while_the_replica_is_behind(
    replica: Replica,
    api: Program,
    settings: Settings,
    answered_by: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.REPLICA_WAIT_SECONDS = 0.05
    replica.pause()
    try:
        record(api, "later")
        assert newest(api) == "later"
        assert newest(api) == "later"
        assert answered_by == {BEHIND: 1, PAUSED: 1}
        monkeypatch.setattr("timemachine.web.health._FAR_BEHIND", 0)
        assert "so the primary answers most of its reads." in checked("replica")["message"]
    finally:
        replica.resume()
    settings.REPLICA_WAIT_SECONDS = 10.0
    wait_until(lambda: newest(api) == "later" and answered_by[REPLICA])


def test_the_primary_answers_while_the_replica_is_away(
    replica: Replica, api: Program, answered_by: Counter[str]
) -> None:
    record(api, "before")
    assert newest(api) == "before"
    replica.stop()
    try:
        record(api, "after")
        assert newest(api) == "after"
        assert answered_by == {REPLICA: 1, AWAY: 1}
        assert not checked("replica")["ok"]
        assert "\ntimemachine_replica_up 0.0\n" in Client().get("/metrics").text
    finally:
        replica.start()
    wait_until(lambda: newest(api) == "after" and answered_by[REPLICA] > 1)


def test_the_primary_answers_while_the_replica_is_frozen(
    replica: Replica, api: Program, answered_by: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(api, "before")
    assert newest(api) == "before"
    monkeypatch.setattr(connecting, "ANSWER_SECONDS", 0.5)
    replica.freeze()
    try:
        assert newest(api) == "before"
        assert answered_by == {REPLICA: 1, AWAY: 1}
    finally:
        replica.thaw()
    monkeypatch.setattr(connecting, "ANSWER_SECONDS", 10.0)
    wait_until(lambda: newest(api) == "before" and answered_by[REPLICA] > 1)


def test_what_writes_after_all_is_done_once_and_by_the_primary(
    replica: Replica, answered_by: Counter[str]
) -> None:
    @read_from_replica
    def write() -> None:
        Project.objects.create(name="written")

    write()
    assert Project.objects.filter(name="written").count() == 1
    assert answered_by == {AWAY: 1}


def test_another_server_than_a_replica_is_refused_and_never_read(
    replica: Replica, api: Program, answered_by: Counter[str]
) -> None:
    check_replica()
    unuse()
    use(connection.settings_dict["HOST"])
    with pytest.raises(Unsuitable, match="DATABASE_REPLICA_URL does not lead to a streaming replica"):
        check_replica()
    record(api, "here")
    assert newest(api) == "here"
    assert answered_by == {AWAY: 1}
    unuse()
    use("/nowhere")
    check_replica()


def test_only_the_web_server_uses_the_replica() -> None:
    code = "from django.conf import settings; print(settings.DATABASES.get('replica', {}).get('HOST'))"
    for process, host in (("web", "replica.example"), ("worker", "None")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "timemachine.config.settings",
                "DATABASE_REPLICA_URL": "postgresql://app@replica.example/timemachine",
                "TIMEMACHINE_PROCESS": process,
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{host}\n"

"""The product while its database stops hard: nothing is lost, and nothing runs twice unnoticed.

Brokers are in tests/e2e/test_brokers.py, a killed worker is in tests/e2e/test_worker_killed.py, and workers killed at
each point of a step are in tests/replay/runs/test_crash_lab.py.
"""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path

import httpx
import pytest

from tests.crash_figures import KILLS, note
from tests.e2e.database import Database
from tests.e2e.product import OwnProduct
from tests.e2e.replaying import AT_ONCE, accounted, client, finished, launched, recorded
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder

pytestmark = pytest.mark.crash
THREADS = 20
STOPS = ceil(KILLS / 40)
"""How often the database is stopped in each way: five times with CRASH_KILLS=200."""


@pytest.fixture(scope="module")
def database(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("database")
    running = Database(folder, used_home)
    yield running
    postgres.stop(running.process)
    clear_socket_folder(folder, running.cluster.sockets)


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.2))
        yield running


@pytest.fixture(scope="module")
def product(
    tmp_path_factory: pytest.TempPathFactory, database: Database, stub: StubModelServer
) -> Iterator[OwnProduct]:
    """A product on that database, whose `openai:` is the stub and which notices dead workers soon."""
    machine = Machine(
        tmp_path_factory.mktemp("product") / "home",
        DATABASE_URL=database.cluster.url,
        DATABASE_OWNER_URL=database.cluster.owner_url,
        OPENAI_API_KEY="sk-test",
        OPENAI_BASE_URL=f"{stub.url}/v1",
        MODEL_CALLS_AT_ONCE=str(AT_ONCE),
        LEASE_SECONDS="2",
        SWEEP_SECONDS="1",
    ).ready()
    yield OwnProduct(machine)
    assert machine.end() == 0


@pytest.fixture(scope="module")
def api(product: OwnProduct) -> Iterator[httpx.Client]:
    with client(product) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    return recorded(api)


def statuses(product: OwnProduct) -> set[int]:
    """Return the statuses of twice as many requests as the product has threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        return set(pool.map(product.machine.page, ["/health/ready"] * 2 * THREADS))


def test_a_configured_database_is_used_and_none_is_started(product: OwnProduct) -> None:
    assert product.machine.page() < 500
    assert not (product.home / "postgres").exists()


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGKILL], ids=["shut down at once", "killed"])
def test_no_work_is_lost_when_the_database_stops_hard(
    number: signal.Signals,
    product: OwnProduct,
    api: httpx.Client,
    session: str,
    stub: StubModelServer,
    database: Database,
) -> None:
    for _ in range(STOPS):
        assert statuses(product) == {200}  # opens many connections, which the stop closes
        began, before, replay = time.monotonic(), len(stub.calls()), launched(api, session)
        stub.wait_for_calls(before + 6)
        database.stop_hard(number)
        wait_until(
            lambda: product.machine.page("/health/ready") == 503
        )  # a killed server's children end by themselves
        assert product.machine.page("/health/live") == 200
        database.start()
        wait_until(lambda: product.machine.page("/health/ready") == 200)
        assert statuses(product) == {200}
        finished(api, replay)
        seen = accounted(api, replay, len(stub.calls()) - before)
        name = "the database shut down at once" if number == signal.SIGQUIT else "the database killed"
        note(name, {**seen, "times": 1}, time.monotonic() - began)
    assert product.machine.process.poll() is None

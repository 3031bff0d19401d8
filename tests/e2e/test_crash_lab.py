"""The product while what it stands on goes away: its worker killed, its database stopped hard, its queue out of reach.

Nothing is lost, nothing is done twice unseen. Workers killed at each point of a step are in tests/replay/runs/test_crash_lab.py.
"""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import ceil
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from tests.crash_figures import KILLS, note
from tests.e2e.conftest import Product
from tests.e2e.database import Database
from tests.embedded.homes import copied
from tests.embedded.machine import Machine, free_port
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder

pytestmark = pytest.mark.crash
ASKS = 30
AT_ONCE = 4
THREADS = 20
STOPS = ceil(KILLS / 40)
"""How often the database is stopped in each way: CRASH_KILLS=200 makes it five times."""


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
) -> Iterator[Product]:
    """A product on that database, whose `openai:` is the stub and whose workers are missed soon."""
    machine = Machine(
        tmp_path_factory.mktemp("product") / "home",
        DATABASE_URL=database.cluster.url,
        OPENAI_API_KEY="sk-test",
        OPENAI_BASE_URL=f"{stub.url}/v1",
        MODEL_CALLS_AT_ONCE=str(AT_ONCE),
        LEASE_SECONDS="2",
        SWEEP_SECONDS="1",
    ).ready()
    yield Product(machine)
    assert machine.end() == 0


def client(product: Product) -> httpx.Client:
    headers = {"Authorization": f"Bearer {product.key}"}
    return httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=30)


@pytest.fixture(scope="module")
def api(product: Product) -> Iterator[httpx.Client]:
    with client(product) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    return recorded(api)


def recorded(api: httpx.Client) -> str:
    """A session of some asks, answered by the local model."""
    api.post("/collections/facts/put", json={"text": "Cats sleep sixteen hours a day.", "title": "Cats"})
    session = str(api.post("/sessions", json={"name": "many", "collection": "facts"}).json()["id"])
    for number in range(ASKS):
        question = f"How long do cats sleep? ({number})"
        assert api.post(f"/sessions/{session}/ask", json={"question": question}).status_code == 200
    api.post(f"/sessions/{session}/end")
    return session


def launched(api: httpx.Client, session: str) -> str:
    """A replay whose every ask calls the stub."""
    body = {"audit": True, "reason": "crash", "use_models": ["openai:gpt-4o-mini"]}
    answer = api.post(f"/sessions/{session}/replays", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["replay_id"])


def finished(api: httpx.Client, replay: str) -> dict[str, Any]:
    """The replay once it is over; the server may not answer meanwhile."""
    told: dict[str, Any] = {}

    def over() -> bool:
        with suppress(httpx.HTTPError, ValueError):
            told.update(api.get(f"/replays/{replay}").json())
        return told.get("status") not in {None, "queued", "running"}

    wait_until(over)
    return told


def accounted(api: httpx.Client, replay: str, calls: int) -> Counter[str]:
    """Check that each step of a replay ended once and that each of so many calls is accounted for; what was seen, counted."""
    told, steps = finished(api, replay), all_of(api, f"/replays/{replay}/steps")
    assert [step["sequence"] for step in steps] == [1 + 2 * n for n in range(ASKS)]
    assert all(step["status"] in {"done", "failed"} for step in steps)
    assert all((step["status"] == "done") == bool(step["new"] and step["new"]["output"]) for step in steps)
    attempts = [attempt for step in steps for attempt in step["attempts"]]
    outcomes = Counter(attempt["outcome"] for attempt in attempts)
    assert outcomes.keys() <= {"done", "failed", "lost"}
    statuses = Counter(step["status"] for step in steps)
    assert outcomes["done"] == statuses["done"]
    intended = [attempt for attempt in attempts if attempt["call_intended_at"]]
    lost = [attempt for attempt in intended if attempt["outcome"] == "lost"]
    assert calls <= len(intended), "no call was made that nobody had said would be"
    assert calls - statuses["done"] <= len(lost), "every call that was made again is marked"
    assert told["uncertain_calls"] == sum(attempt["calls_made"] is None for attempt in lost)
    return statuses + Counter(
        steps=ASKS,
        results=outcomes["done"],
        calls=calls,
        again=max(0, calls - ASKS),
        marked=len(lost),
        lost=outcomes["lost"],
    )


def all_of(api: httpx.Client, path: str) -> list[dict[str, Any]]:
    """Every item of a list, page by page."""
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = api.get(path, params={"limit": 20, **after}).json()
        found += page["items"]
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


def answers(product: Product) -> set[int]:
    """With what it answers as many requests as it has threads, several times."""
    with ThreadPoolExecutor(THREADS) as pool:
        return set(pool.map(product.machine.page, ["/health/ready"] * 2 * THREADS))


def test_a_worker_killed_in_the_middle_of_a_replay_is_replaced(
    product: Product, api: httpx.Client, session: str, stub: StubModelServer
) -> None:
    killed = Event()
    stub.script(Script(mode="slow", seconds=0.2, times=6))
    stub.script(Script(held=killed, times=AT_ONCE))
    began, before, replay = time.monotonic(), len(stub.calls()), launched(api, session)
    stub.wait_for_calls(before + 6 + AT_ONCE)
    os.kill(product.machine.the(r"celery"), signal.SIGKILL)
    killed.set()
    finished(api, replay)
    seen = accounted(api, replay, len(stub.calls()) - before)
    assert seen["done"] == ASKS
    assert seen["lost"], "the worker was killed while it was at a step"
    note("the whole worker killed", {**seen, "times": 1}, time.monotonic() - began)


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGKILL], ids=["shut down at once", "killed"])
def test_a_database_that_stops_hard_under_working_workers_loses_nothing(
    number: signal.Signals,
    product: Product,
    api: httpx.Client,
    session: str,
    stub: StubModelServer,
    database: Database,
) -> None:
    for _ in range(STOPS):
        assert answers(product) == {200}  # with many connections that the stop closes
        began, before, replay = time.monotonic(), len(stub.calls()), launched(api, session)
        stub.wait_for_calls(before + 6)
        database.stop_hard(number)
        wait_until(
            lambda: product.machine.page("/health/ready") == 503
        )  # a killed server's children end by themselves
        assert product.machine.page("/health/live") == 200
        database.start()
        wait_until(lambda: product.machine.page("/health/ready") == 200)
        assert answers(product) == {200}
        finished(api, replay)
        seen = accounted(api, replay, len(stub.calls()) - before)
        name = "the database shut down at once" if number == signal.SIGQUIT else "the database killed"
        note(name, {**seen, "times": 1}, time.monotonic() - began)
    assert product.machine.process.poll() is None


class Queue:
    """A Redis of its own, with nothing kept on disk: what it was told is lost when it is killed."""

    def __init__(self, program: str) -> None:
        self.port = free_port()
        self._command = [
            program,
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)

    def stop_hard(self) -> None:
        self.process.kill()
        self.process.wait(30)


@pytest.fixture
def queue() -> Iterator[Queue]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server: install the package redis-server")
    running = Queue(program)
    yield running
    running.stop_hard()


def test_what_is_launched_while_the_queue_is_gone_is_enqueued_again_when_it_is_back(
    used_home: Path, tmp_path: Path, queue: Queue, stub: StubModelServer
) -> None:
    broker = f"redis://127.0.0.1:{queue.port}/0"
    settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{stub.url}/v1"}
    home = copied(used_home, tmp_path / "home")
    machine = Machine(home, CELERY_BROKER_URL=broker, SWEEP_SECONDS="1", **settings).ready()
    product, before = Product(machine), len(stub.calls())
    with client(product) as api:
        session = recorded(api)
        queue.stop_hard()
        began = time.monotonic()
        replay = launched(api, session)
        assert time.monotonic() - began < 10, "who launches does not wait for a queue that is gone"
        assert api.get(f"/replays/{replay}").json()["status"] == "queued"
        queue.start()
        finished(api, replay)
        seen = accounted(api, replay, len(stub.calls()) - before)
    assert (seen["done"], seen["calls"], seen["marked"]) == (ASKS, ASKS, 0)
    note("the queue gone at launch", {**seen, "times": 1}, time.monotonic() - began)
    assert machine.end() == 0

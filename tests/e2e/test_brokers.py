"""Every broker with real servers: what waits in one queue delays no other, and faults lose nothing and repeat nothing unnoticed.

`make crash` injects every fault on each broker and prints a line for each; `make test` only takes the broker away.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import pytest
from kombu.exceptions import OperationalError

from tests.crash_figures import KILLS, note, remark
from tests.e2e.broker_servers import BrokerServer, broker_server
from tests.e2e.database import Database
from tests.e2e.product import OwnProduct
from tests.e2e.replaying import ASKS, AT_ONCE, accounted, client, finished, launched, recorded
from tests.embedded.machine import Machine, clean_environment
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.config.broker import Connection
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder

pytestmark = pytest.mark.crash
IN_FULL: Final = KILLS >= 100
AWAY: Final = 60 if IN_FULL else 20
LEASE: Final = 2
LONGEST_RECOVERY: Final = 15
BACKLOG: Final = 10


@dataclass(kw_only=True)
class Lab:
    """A product, and what can be taken from it."""

    broker: str
    server: BrokerServer | None
    database: Database
    product: OwnProduct
    api: httpx.Client
    session: str
    stub: StubModelServer
    environment: dict[str, str]

    @property
    def worker(self) -> int:
        return self.product.machine.the(r"celery")

    def launched(self) -> "Launched":
        return Launched(lab=self, before=len(self.stub.calls()), id=launched(self.api, self.session))


@dataclass(kw_only=True)
class Launched:
    """A replay, and how many calls the stub had answered before it."""

    lab: Lab
    before: int
    id: str

    def calls(self) -> int:
        return len(self.lab.stub.calls()) - self.before

    def account(self, fault: str, began: float, ended: float) -> None:
        """Wait until it has finished, and check that nothing was lost or made twice unnoticed, and that this took no longer than allowed."""
        finished(self.lab.api, self.id)
        recovery = time.monotonic() - ended
        seen = accounted(self.lab.api, self.id, self.calls())
        assert seen["done"] == seen["results"] == ASKS
        assert recovery <= LONGEST_RECOVERY
        note(f"{self.lab.broker}: {fault}", {**seen, "times": 1}, time.monotonic() - began)
        remark(f"{self.lab.broker}: {fault}: finished {max(recovery, 0):.1f} s after the end of the fault")


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.3))
        yield running


@pytest.fixture(scope="module", params=["pgmq", "redis", "rabbitmq"])
def lab(
    request: pytest.FixtureRequest,
    used_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
    stub: StubModelServer,
) -> Iterator[Lab]:
    """A product with a broker and a database of its own."""
    broker = request.param
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp(broker)
        server = None if broker == "pgmq" else stack.enter_context(broker_server(broker, folder))
        database = stack.enter_context(own_database(tmp_path_factory.mktemp("database"), used_home))
        environment = {
            "DATABASE_URL": database.cluster.url,
            "CELERY_BROKER_URL": server.url if server else "pgmq://",
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": f"{stub.url}/v1",
            "EMBEDDING_SERVER_URL": f"{stub.url}/v1",
            "MODEL_CALLS_AT_ONCE": str(AT_ONCE),
            "LEASE_SECONDS": str(LEASE),
            "SWEEP_SECONDS": "1",
        }
        machine = Machine(folder / "home", **environment).ready()
        product = OwnProduct(machine)
        api = stack.enter_context(client(product))
        yield Lab(
            broker=broker,
            server=server,
            database=database,
            product=product,
            api=api,
            session=recorded(api),
            stub=stub,
            environment=environment,
        )
        assert machine.end() == 0


@contextmanager
def own_database(folder: Path, used_home: Path) -> Iterator[Database]:
    running = Database(folder, used_home)
    yield running
    postgres.stop(running.process)
    clear_socket_folder(folder, running.cluster.sockets)


def test_a_backlog_of_indexing_does_not_delay_a_replay(lab: Lab) -> None:
    names = [f"slow-{number}" for number in range(BACKLOG)]
    for name in names:
        put(lab, name, "Cats sleep.")
        asked = lab.api.post(f"/collections/{name}/embedding", json={"model": "server:toy"})
        assert asked.status_code == 202, asked.text
    wait_until(
        lambda: all(lab.api.get(f"/collections/{name}/embedding").json()["target"] is None for name in names)
    )
    lab.stub.script(Script(model="toy", mode="slow", seconds=4))
    before = embeddings(lab)
    for name in names:
        put(lab, name, "Dogs sleep, too.")
    wait_until(lambda: embeddings(lab) >= before + 2)
    if lab.server is None:
        assert (
            'timemachine_queue_messages{kind="embed_backlog",queue="indexing"}'
            in lab.api.get("../metrics").text
        )
    began, replay = time.monotonic(), lab.launched()
    finished(lab.api, replay.id)
    assert time.monotonic() - began < 4, "it did not wait for the backlog"
    assert embeddings(lab) < before + BACKLOG / 2
    lab.stub.script(Script(model="toy"))
    wait_until(lambda: embeddings(lab) >= before + BACKLOG)


def put(lab: Lab, collection: str, text: str) -> None:
    assert lab.api.post(f"/collections/{collection}/put", json={"text": text, "title": text}).is_success


def embeddings(lab: Lab) -> int:
    return sum(call.path.endswith("/embeddings") for call in lab.stub.calls())


def test_a_message_that_no_queue_has_was_not_sent(lab: Lab) -> None:
    if lab.broker != "rabbitmq":
        pytest.skip("only RabbitMQ confirms")
    with Connection(
        lab.environment["CELERY_BROKER_URL"], transport_options={"confirm_publish": True}
    ) as connection:
        limits = {"x-queue-type": "quorum", "x-max-length": 1, "x-overflow": "reject-publish"}
        connection.default_channel.queue_declare("full", durable=True, auto_delete=False, arguments=limits)
        producer = connection.Producer()
        with pytest.raises(OperationalError, match="refused"):  # a quorum queue counts a little later
            list(map(partial(producer.publish, exchange="", routing_key="full"), "abcdefghi"))
        with pytest.raises(OperationalError, match="NO_ROUTE"):
            producer.publish("a", exchange="", routing_key="missing")
        with connection.channel() as channel:
            channel.queue_declare("empty", durable=True, auto_delete=False, arguments=limits)
        producer.publish(
            "b", exchange="", routing_key="empty", retry=True, retry_policy={"max_retries": 2}
        )  # not with the confirmation of the one before
        with connection.channel() as channel:
            assert channel.basic_get("empty", no_ack=True).body == "b"


def test_nothing_is_lost_while_the_broker_is_away(lab: Lab) -> None:
    """A replay that runs goes on, and one that is launched meanwhile starts when the broker is back, if not before."""
    if lab.server is None:
        return  # it is the database: see tests/e2e/test_crash_lab.py
    began, running = time.monotonic(), lab.launched()
    lab.stub.wait_for_calls(running.before + AT_ONCE)
    lab.server.kill()
    gone = time.monotonic()
    running.account("killed while a replay runs", began, gone)
    waiting = lab.launched()
    assert time.monotonic() - gone < AWAY / 2, "who launches does not wait for a broker that is away"
    time.sleep(max(0, gone + AWAY - time.monotonic()))
    assert lab.api.get(f"/replays/{waiting.id}").json()["status"] == "queued"
    lab.server.start()
    waiting.account(f"away for {AWAY} s", gone, time.monotonic())


def database_restarted(lab: Lab) -> None:
    began, replay = time.monotonic(), lab.launched()
    lab.stub.wait_for_calls(replay.before + AT_ONCE)
    lab.database.stop_hard(signal.SIGQUIT)
    lab.database.start()
    replay.account("PostgreSQL restarted", began, time.monotonic())


def broker_restarted(lab: Lab) -> None:
    if lab.server is None:
        return
    began, replay = time.monotonic(), lab.launched()
    lab.server.kill()
    lab.server.start()
    replay.account("killed and restarted", began, time.monotonic())


def worker_killed(lab: Lab) -> None:
    """Another worker takes over; that a single one is replaced is in tests/e2e/test_worker_killed.py."""
    with another_worker(lab):
        began, replay = time.monotonic(), lab.launched()
        lab.stub.wait_for_calls(replay.before + AT_ONCE)
        os.kill(lab.worker, signal.SIGKILL)
        replay.account("worker killed", began, time.monotonic())


def worker_asleep(lab: Lab) -> None:
    """Another worker takes over the replay and the periodic jobs of one that sleeps, which then writes nothing."""
    with another_worker(lab):
        asleep = lab.worker
        began, replay = time.monotonic(), lab.launched()
        lab.stub.wait_for_calls(replay.before + AT_ONCE)
        os.kill(asleep, signal.SIGSTOP)
        try:
            finished(lab.api, replay.id)
        finally:
            os.kill(asleep, signal.SIGCONT)
        replay.account("worker asleep past its lease", began, time.monotonic())


@contextmanager
def another_worker(lab: Lab) -> Iterator[None]:
    """A worker of another machine, started as docs/operating.md says, which takes work only from `replays` and `default`."""
    folder = lab.product.home.with_name("another")
    folder.mkdir(exist_ok=True)
    environment = clean_environment() | lab.environment | {"TIMEMACHINE_HOME": str(lab.product.home)}
    command = "-m celery -A timemachine.config worker --pool threads --queues replays,default --beat-thread"
    process = subprocess.Popen(
        [sys.executable, *command.split(), "-s", "schedule", "--without-gossip", "--without-mingle"],
        cwd=folder,
        env=environment,
    )
    try:
        wait_until(lambda: "2 workers are" in lab.api.get("../health/workers").text)
        yield
    finally:
        process.terminate()
        process.wait(30)


FAULTS: Final[tuple[Callable[[Lab], None], ...]] = (
    database_restarted,
    broker_restarted,
    worker_killed,
    worker_asleep,
)


def test_nothing_is_lost_and_nothing_is_done_twice(lab: Lab) -> None:
    if not IN_FULL:
        pytest.skip("takes minutes: `make crash`")
    for fault in FAULTS:
        fault(lab)

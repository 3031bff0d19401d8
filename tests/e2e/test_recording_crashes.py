"""Recording while clients are killed or the database stops hard: acknowledged actions are stored once and in order."""

import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import Any

import httpx
import pytest

from tests.crash_figures import remark
from tests.e2e import writer
from tests.e2e.database import Database
from tests.e2e.product import OwnProduct
from tests.e2e.writer import complete_lines
from tests.embedded.machine import Machine
from tests.waiting import wait_until
from timemachine.client import TimeMachine
from timemachine.client.recording import delivery
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder

pytestmark = pytest.mark.crash
LONG = "CRASH_KILLS" in os.environ
WRITERS, RECORDERS, SENDERS = 32 if LONG else 12, 4, 3
SECONDS = 30.0 if LONG else 3.0
STOPS = (signal.SIGQUIT, signal.SIGKILL) * 3 if LONG else (signal.SIGQUIT,)


@pytest.fixture(scope="module")
def database(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("database")
    running = Database(folder, used_home)
    yield running
    postgres.stop(running.process)
    clear_socket_folder(folder, running.cluster.sockets)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Iterator[OwnProduct]:
    home = tmp_path_factory.mktemp("product") / "home"
    machine = Machine(
        home, DATABASE_URL=database.cluster.url, DATABASE_OWNER_URL=database.cluster.owner_url
    ).ready()
    yield OwnProduct(machine)
    assert machine.end() == 0


@pytest.fixture
def api(product: OwnProduct) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=product.url, headers=headers, timeout=60) as opened:
        yield opened


def settle(api: httpx.Client, session: str) -> None:
    """Wait until requests that were in progress when their sender was killed are recorded."""
    seen = [-1]

    def quiet() -> bool:
        time.sleep(1)
        seen.append(api.get(f"/api/sessions/{session}").json()["actions"])
        return len(set(seen[-5:])) == 1

    wait_until(quiet)


def recorded(api: httpx.Client, session: str) -> list[dict[str, Any]]:
    """Return every action of a session, after checking that its sequence has no gap and its count is right."""
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": 200}
    while params.get("after", "first") is not None:
        page = api.get(f"/api/sessions/{session}/actions", params=params).json()
        found += page["items"]
        params["after"] = page["next"]
    assert [each["sequence"] for each in found] == list(range(1, len(found) + 1))
    assert api.get(f"/api/sessions/{session}").json()["actions"] == len(found)
    return found


class Writers:
    """Processes that record into one session; each that is killed is replaced by one with the same notebook."""

    def __init__(self, product: OwnProduct, session: str, folder: Path) -> None:
        self._to = (product.url, product.key, session)
        self.notebooks = {f"w{number}": folder / f"w{number}" for number in range(WRITERS)}
        self._running = {name: self._start(name) for name in self.notebooks}
        self.killed = 0

    def kill_one(self) -> None:
        name = random.choice(list(self.notebooks))
        assert self._running[name].poll() is None, "no writer gives up by itself"
        self._kill(name)
        self.killed += 1
        self._running[name] = self._start(name)

    def end(self) -> None:
        for name in self.notebooks:
            self._kill(name)

    def _kill(self, name: str) -> None:
        self._running[name].kill()
        self._running[name].wait()

    def _start(self, name: str) -> "subprocess.Popen[bytes]":
        program = (
            sys.executable,
            "-S",
            "-E",
            str(writer.__file__),
            *self._to,
            name,
            str(self.notebooks[name]),
        )
        return subprocess.Popen(program, env={}, start_new_session=True)


def test_killing_writers_at_random_causes_no_gaps_duplicates_or_acknowledged_losses(
    product: OwnProduct, api: httpx.Client, tmp_path: Path
) -> None:
    many = f"many-{token_hex(3)}"
    assert api.post("/api/sessions", json={"name": "Many", "key": many}).status_code == 201
    writers = Writers(product, many, tmp_path)
    wait_until(lambda: all(each.exists() and each.stat().st_size for each in writers.notebooks.values()))
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(random.uniform(0.05, 0.15))
        writers.kill_one()
    writers.end()
    settle(api, many)
    found = recorded(api, many)
    acknowledged: dict[str, int] = {}
    for notebook in writers.notebooks.values():
        for line in complete_lines(str(notebook)):
            acknowledged |= json.loads(line)
    names = [each["name"] for each in found]
    assert len(names) == len(set(names)), "nothing is there twice"
    at = {each["name"]: each["sequence"] for each in found}
    assert {name: at.get(name) for name in acknowledged} == acknowledged
    for each in writers.notebooks:
        own = [int(name.rpartition("-")[2]) for name in names if name.startswith(f"{each}-")]
        assert own == list(range(len(own))), "the order of a writer is that of its actions"
    remark(
        f"{WRITERS} writers on one session, {writers.killed} killed in {SECONDS:g} s: {len(acknowledged):,} actions acknowledged, "
        f"{len(found):,} recorded; none lost, none twice, no gap"
    )


class Recorder:
    """A program that records into its own session until it is stopped."""

    def __init__(self, product: OwnProduct, name: str, folder: Path) -> None:
        self._machine = TimeMachine(product.url, product.key, spool=folder / name, patience=90.0)
        self.name = name
        self.recorded = 0

    def record(self, stop: Event) -> None:
        with self._machine.session("Recorder", key=self.name) as session:
            while not stop.wait(0.01):
                session.record("agent", self.recorded)
                self.recorded += 1
        assert self._machine.flush(90), "a close alone does not wait for a server that was away a moment ago"
        assert self._machine.close()


class Sender:
    """An exporter that sends one trace in several batches and counts the acknowledged spans."""

    def __init__(self, product: OwnProduct, name: str) -> None:
        self._product = product
        self.name = name
        self.acknowledged = 0
        self.refused = 0

    def send(self, stop: Event) -> None:
        headers = {"Authorization": f"Bearer {self._product.key}"}
        with httpx.Client(base_url=self._product.url, headers=headers, timeout=60) as client:
            while not stop.wait(0.002):
                spans = [self._span(self.acknowledged + 1 + each) for each in range(3)]
                while not self._accepted(client, spans):
                    self.refused += 1
                    time.sleep(0.2)
                self.acknowledged += len(spans)

    def _accepted(self, client: httpx.Client, spans: list[Any]) -> bool:
        body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
        with suppress(httpx.TransportError):
            answer = client.post("/v1/traces", json=body)
            assert answer.status_code in {200, 429, 503}, answer.text
            return answer.status_code == 200 and answer.json() == {}
        return False

    def _span(self, number: int) -> dict[str, Any]:
        trace = f"{int(self.name.encode().hex(), 16):032x}"
        session = {"key": "session.id", "value": {"stringValue": self.name}}
        times = {"startTimeUnixNano": str(number), "endTimeUnixNano": str(number + 1)}
        return {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "name": str(number),
            "attributes": [session],
            **times,
        }


def test_a_hard_database_stop_during_ingest_only_delays_recording(
    product: OwnProduct,
    api: httpx.Client,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(delivery, "_LONGEST_PAUSE", 1.0)
    this = token_hex(3)
    recorders = [Recorder(product, f"recorder-{each}-{this}", tmp_path) for each in range(RECORDERS)]
    senders = [Sender(product, f"s{each}-{this}") for each in range(SENDERS)]
    stop = Event()
    with ThreadPoolExecutor(RECORDERS + SENDERS) as pool:
        working = [pool.submit(each.record, stop) for each in recorders]
        working += [pool.submit(each.send, stop) for each in senders]
        try:
            for number in STOPS:
                targets = {each: each.acknowledged + 30 for each in senders}
                wait_until(lambda: all(each.acknowledged >= targets[each] for each in targets))  # noqa: B023
                database.stop_hard(number)
                assert product.machine.page("/health/live") == 200
                refused_before = {each: each.refused for each in senders}
                wait_until(lambda: all(each.refused > refused_before[each] for each in refused_before))  # noqa: B023
                database.start()
            targets = {each: each.acknowledged + 30 for each in senders}
            wait_until(lambda: all(each.acknowledged >= targets[each] for each in targets))
        finally:
            stop.set()
        for each in working:
            each.result(120)
    for recorder in recorders:
        outputs = [each["output"] for each in recorded(api, recorder.name)]
        assert outputs == list(range(recorder.recorded))
        wait_until(lambda name=recorder.name: not list((tmp_path / name).iterdir()))  # type: ignore[misc]
    for sender in senders:
        names = [int(each["name"]) for each in recorded(api, sender.name)]
        assert names == list(range(1, sender.acknowledged + 1))
    logged = [each for each in caplog.records if each.name.startswith("timemachine.client")]
    assert all(each.levelno < logging.ERROR for each in logged)
    remark(
        f"The database stopped hard ({len(STOPS)}) under {RECORDERS} recorders and {SENDERS} exporters: "
        f"{sum(each.recorded for each in recorders):,} actions recorded and {sum(each.acknowledged for each in senders):,} spans "
        f"acknowledged, all there once and in order; {sum(each.refused for each in senders)} requests sent again"
    )


def test_without_a_database_pages_and_the_api_answer_503_with_retry_after(
    product: OwnProduct, api: httpx.Client, database: Database
) -> None:
    address = f"/api/sessions/away-{token_hex(3)}"
    api.post("/api/sessions", json={"name": "Away", "key": address.rpartition("/")[2]}).raise_for_status()
    action = {"actions": [{"id": "1", "kind": "event"}]}
    database.stop_hard(signal.SIGQUIT)
    try:
        with httpx.Client(base_url=product.url, cookies={"tm_session": "somebody"}, timeout=60) as browser:
            page = browser.get("/", headers={"Accept": "text/html"})
        responses = [
            api.get("/api/sessions"),
            api.get(f"{address}/export"),
            api.post(f"{address}/actions", json=action),
            api.post("/api/import", content=b'{"messages": []}'),
            api.post("/v1/traces", json={"resourceSpans": []}),
            page,
        ]
        metrics = httpx.get(f"{product.url}/metrics", timeout=60).text
        health = httpx.get(f"{product.url}/health/ready", timeout=60).json()
    finally:
        database.start()
    assert [each.status_code for each in responses] == [503] * len(responses)
    assert all(int(each.headers["Retry-After"]) > 0 for each in responses)
    assert {each.json()["code"] for each in responses[:4]} <= {"database_away", "database_restarting"}
    assert "text/html" in page.headers["content-type"]
    assert health["why"] in {"The database cannot be reached.", "The database is stopping or starting."}
    assert list(health["checks"]) == ["disk", "database"]
    assert "\ntimemachine_database_up 0.0\n" in metrics
    assert "\ntimemachine_http_requests_total{" in metrics
    wait_until(lambda: api.post(f"{address}/actions", json=action).status_code == 201)
    assert api.get(address).json()["actions"] == 1

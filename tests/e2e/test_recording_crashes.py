"""Recording while those who record are killed, and while the database is stopped hard: what was acknowledged is there, once, in order."""

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
from tests.e2e.writer import whole_lines
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
    machine = Machine(home, DATABASE_URL=database.cluster.url).ready()
    yield OwnProduct(machine)
    assert machine.end() == 0


@pytest.fixture
def api(product: OwnProduct) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=product.url, headers=headers, timeout=60) as opened:
        yield opened


def settle(api: httpx.Client, session: str) -> None:
    """Wait for what the product had in hand when its sender was killed: it is recorded, and nobody hears of it."""
    seen = [-1]

    def quiet() -> bool:
        time.sleep(1)
        seen.append(api.get(f"/api/sessions/{session}").json()["actions"])
        return len(set(seen[-5:])) == 1

    wait_until(quiet)


def recorded(api: httpx.Client, session: str) -> list[dict[str, Any]]:
    """Every action of a session, whose sequence has no gap, and which counts as many as it has."""
    found: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"limit": 200}
    while asked.get("after", "first") is not None:
        page = api.get(f"/api/sessions/{session}/actions", params=asked).json()
        found += page["items"]
        asked["after"] = page["next"]
    assert [each["sequence"] for each in found] == list(range(1, len(found) + 1))
    assert api.get(f"/api/sessions/{session}").json()["actions"] == len(found)
    return found


class Writers:
    """Processes that record into one session; each that is killed has a successor with the same notebook."""

    def __init__(self, product: OwnProduct, session: str, folder: Path) -> None:
        self._to = (product.url, product.key, session)
        self.notebooks = {f"w{number}": folder / f"w{number}" for number in range(WRITERS)}
        self._running = {name: self._begun(name) for name in self.notebooks}
        self.killed = 0

    def kill_one(self) -> None:
        name = random.choice(list(self.notebooks))
        assert self._running[name].poll() is None, "no writer gives up by itself"
        self._kill(name)
        self.killed += 1
        self._running[name] = self._begun(name)

    def end(self) -> None:
        for name in self.notebooks:
            self._kill(name)

    def _kill(self, name: str) -> None:
        self._running[name].kill()
        self._running[name].wait()

    def _begun(self, name: str) -> "subprocess.Popen[bytes]":
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


def test_writers_killed_at_random_leave_no_gap_and_no_duplicate_and_lose_nothing_acknowledged(
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
        for line in whole_lines(str(notebook)):
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
    """A program that records into a session of its own until it is told to stop."""

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
    """An exporter of spans, one trace with several batches; what was acknowledged is counted."""

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
                while not self._taken(client, spans):
                    self.refused += 1
                    time.sleep(0.2)
                self.acknowledged += len(spans)

    def _taken(self, client: httpx.Client, spans: list[Any]) -> bool:
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


def test_a_database_that_stops_hard_during_ingest_costs_nothing_but_time(
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
                more = {each: each.acknowledged + 30 for each in senders}
                wait_until(lambda: all(each.acknowledged >= more[each] for each in more))  # noqa: B023
                database.stop_hard(number)
                assert product.machine.page("/health/live") == 200
                behind = {each: each.refused for each in senders}
                wait_until(lambda: all(each.refused > behind[each] for each in behind))  # noqa: B023
                database.start()
            more = {each: each.acknowledged + 30 for each in senders}
            wait_until(lambda: all(each.acknowledged >= more[each] for each in more))
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
    heard = [each for each in caplog.records if each.name.startswith("timemachine.client")]
    assert all(each.levelno < logging.ERROR for each in heard)
    remark(
        f"The database stopped hard ({len(STOPS)}) under {RECORDERS} recorders and {SENDERS} exporters: "
        f"{sum(each.recorded for each in recorders):,} actions recorded and {sum(each.acknowledged for each in senders):,} spans "
        f"acknowledged, all there once and in order; {sum(each.refused for each in senders)} requests sent again"
    )


def test_while_the_database_is_stopped_page_and_api_say_so_and_when_to_come_again(
    product: OwnProduct, api: httpx.Client, database: Database
) -> None:
    away = f"/api/sessions/away-{token_hex(3)}"
    api.post("/api/sessions", json={"name": "Away", "key": away.rpartition("/")[2]}).raise_for_status()
    action = {"actions": [{"id": "1", "kind": "event"}]}
    database.stop_hard(signal.SIGQUIT)
    try:
        with httpx.Client(base_url=product.url, cookies={"tm_session": "somebody"}, timeout=60) as browser:
            page = browser.get("/", headers={"Accept": "text/html"})
        told = [
            api.get("/api/sessions"),
            api.get(f"{away}/export"),
            api.post(f"{away}/actions", json=action),
            api.post("/api/import", content=b'{"messages": []}'),
            api.post("/v1/traces", json={"resourceSpans": []}),
            page,
        ]
    finally:
        database.start()
    assert [each.status_code for each in told] == [503] * len(told)
    assert all(int(each.headers["Retry-After"]) > 0 for each in told)
    assert {each.json()["code"] for each in told[:4]} == {"database_away"}
    assert "text/html" in page.headers["content-type"]
    wait_until(lambda: api.post(f"{away}/actions", json=action).status_code == 201)
    assert api.get(away).json()["actions"] == 1

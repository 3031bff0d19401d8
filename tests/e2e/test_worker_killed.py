"""The worker killed during a replay, a suite run and a file intake: its work continues, and nothing runs twice unnoticed."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import psycopg
import pytest

from tests.crash_figures import note
from tests.e2e.product import OwnProduct
from tests.e2e.replaying import ASKS, AT_ONCE, accounted, client, finished, launched, recorded
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

pytestmark = pytest.mark.crash
STEPS, SESSIONS = 16, 2
PASSAGES = 600


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.1))
        yield running


@pytest.fixture(scope="module")
def product(
    used_home: Path, tmp_path_factory: pytest.TempPathFactory, stub: StubModelServer
) -> Iterator[OwnProduct]:
    """A product whose `openai:` is the stub and which notices dead workers soon."""
    machine = Machine(
        copied(used_home, tmp_path_factory.mktemp("killed") / "home"),
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


def test_a_worker_killed_in_the_middle_of_a_replay_is_replaced(
    product: OwnProduct, api: httpx.Client, stub: StubModelServer
) -> None:
    killed = Event()
    stub.script(Script(mode="slow", seconds=0.2, times=6))
    stub.script(Script(held=killed, times=AT_ONCE))
    began, before, replay = time.monotonic(), len(stub.calls()), launched(api, recorded(api))
    stub.wait_for_calls(before + 6 + AT_ONCE)
    os.kill(product.machine.the(r"celery"), signal.SIGKILL)
    killed.set()
    finished(api, replay)
    seen = accounted(api, replay, len(stub.calls()) - before)
    assert seen["done"] == ASKS
    assert seen["lost"], "the worker was killed while it was at a step"
    note("the whole worker killed", {**seen, "times": 1}, time.monotonic() - began)


def test_a_due_suite_run_survives_its_worker_and_is_launched_once(
    product: OwnProduct, api: httpx.Client, stub: StubModelServer
) -> None:
    suite, before = suite_of_asks(api), len(stub.calls())
    make_due(product)
    wait_until(lambda: len(stub.calls()) >= before + 5)
    make_due(product)  # while the run is in progress
    os.kill(product.machine.the(r"celery"), signal.SIGKILL)
    wait_until(lambda: run_of(api, suite, "latest")["status"] == "done")
    run = run_of(api, suite, 1)
    assert run["steps"] == {
        "total": STEPS,
        "done": STEPS,
        "failed": 0,
        "skipped": 0,
        "cancelled": 0,
    }
    assert (run["due_at"] is not None, run["since"], run["left_out"]) == (True, None, 0)
    wait_until(lambda: any(each["what"] == "skipped" for each in api.get(suite).json()["events"]))
    assert [each["number"] for each in api.get(f"{suite}/runs").json()["items"]] == [1]
    make_due(product)
    wait_until(lambda: run_of(api, suite, "latest")["number"] == 2)
    wait_until(lambda: run_of(api, suite, "latest")["status"] == "done")
    assert run_of(api, suite, 2)["since"] == {"same": STEPS}


def suite_of_asks(api: httpx.Client) -> str:
    """Create a suite of asks that the stub answers; return its address."""
    api.post("/collections/facts/put", json={"text": "Cats sleep sixteen hours a day.", "title": "Cats"})
    for number in range(SESSIONS):
        key = f"cats-{number}"
        api.post("/sessions", json={"name": key, "key": key, "collection": "facts"})
        for ask in range(STEPS // SESSIONS):
            question = {"question": f"How long do cats sleep? ({ask})", "use_model": "local:extractive-1"}
            assert api.post(f"/sessions/{key}/ask", json=question).status_code == 200
    body = {
        "name": "nightly",
        "sessions": [f"cats-{number}" for number in range(SESSIONS)],
        "options": {"audit": True, "reason": "crash"},
        "use_models": ["openai:gpt-4o-mini"],
        "schedule": "every 300 hours",
    }
    return f"/suites/{api.post('/suites', json=body).json()['id']}"


def make_due(product: OwnProduct) -> None:
    """Move the next scheduled run into the past."""
    server = json.loads((product.home / "server.json").read_text())
    with psycopg.connect(server["database_owner_url"]) as connection:
        connection.execute("UPDATE tm_suite SET next_run_at = now() - interval '1 minute'")


def run_of(api: httpx.Client, suite: str, number: int | str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"{suite}/runs/{number}").json()
    return found


def test_a_worker_killed_half_way_through_a_file_loses_and_repeats_nothing(
    product: OwnProduct, api: httpx.Client
) -> None:
    words = "\n\n".join(
        f"Paragraph {number}. " + "It says a thing or two. " * 40 for number in range(PASSAGES)
    )
    api.post("/sessions", json={"name": "s", "key": "s", "collection": "long"})
    uploaded = api.post(
        "/collections/long/files", files={"file": ("long.txt", words.encode())}, data={"session": "s"}
    )
    intake = uploaded.json()["intake_id"]
    wait_until(lambda: api.get(f"/intakes/{intake}").json()["done"] >= PASSAGES // 10)
    os.kill(product.machine.the(r"celery"), signal.SIGKILL)
    half_way = api.get(f"/intakes/{intake}").json()
    assert half_way["status"] == "running"
    assert half_way["done"] < PASSAGES
    wait_until(lambda: api.get(f"/intakes/{intake}").json()["status"] == "done")
    progress = api.get(f"/intakes/{intake}").json()
    assert (progress["done"], progress["total"]) == (PASSAGES, PASSAGES)
    assert progress["report"] == {
        "new": PASSAGES,
        "already_there": 0,
        "ended": 0,
        "ended_frames": [],
        "edited": 0,
        "edited_frames": [],
        "skipped": [],
    }
    assert api.get("/collections/long").json()["frames"] == PASSAGES
    assert api.get("/sessions/s").json()["actions"] == PASSAGES

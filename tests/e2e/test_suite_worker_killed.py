"""A suite on a schedule, under the real beat and a worker killed with -9 in the middle of its run: it goes on and is told once."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.e2e.conftest import Product
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

pytestmark = pytest.mark.crash
ASKS, SESSIONS = 15, 2


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.1))
        yield running


@pytest.fixture
def killable(used_home: Path, tmp_path: Path, stub: StubModelServer) -> Iterator[Product]:
    """A product of its own, whose `openai:` is the stub."""
    machine = Machine(
        copied(used_home, tmp_path / "home"),
        OPENAI_API_KEY="sk-test",
        OPENAI_BASE_URL=f"{stub.url}/v1",
        LEASE_SECONDS="2",
        SWEEP_SECONDS="1",
    ).ready()
    yield Product(machine)
    assert machine.end() == 0


@pytest.fixture
def api(killable: Product) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {killable.key}"}
    with httpx.Client(base_url=f"{killable.url}/api", headers=headers, timeout=30) as client:
        yield client


def test_a_due_run_survives_its_worker_and_is_launched_once(
    killable: Product, api: httpx.Client, stub: StubModelServer
) -> None:
    suite = made(api)
    let_be_due(killable)
    wait_until(lambda: len(stub.calls()) >= 5)
    let_be_due(killable)  # while the run goes
    os.kill(killable.machine.the(r"celery"), signal.SIGKILL)
    wait_until(lambda: told(api, suite, "latest")["status"] == "done")
    run = told(api, suite, 1)
    assert run["steps"] == {
        "total": ASKS * SESSIONS,
        "done": ASKS * SESSIONS,
        "failed": 0,
        "skipped": 0,
        "cancelled": 0,
    }
    assert (run["due_at"] is not None, run["since"], run["left_out"]) == (True, None, 0)
    wait_until(lambda: any(each["what"] == "skipped" for each in api.get(suite).json()["events"]))
    assert [each["number"] for each in api.get(f"{suite}/runs").json()["items"]] == [1]
    let_be_due(killable)
    wait_until(lambda: told(api, suite, "latest")["number"] == 2)
    wait_until(lambda: told(api, suite, "latest")["status"] == "done")
    assert told(api, suite, 2)["since"] == {"same": ASKS * SESSIONS}


def made(api: httpx.Client) -> str:
    """A suite of some asks that the stub answers; its address."""
    api.post("/collections/facts/put", json={"text": "Cats sleep sixteen hours a day.", "title": "Cats"})
    for number in range(SESSIONS):
        key = f"cats-{number}"
        api.post("/sessions", json={"name": key, "key": key, "collection": "facts"})
        for ask in range(ASKS):
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


def let_be_due(product: Product) -> None:
    """Turn the clock of the schedule forward, as only the passing of time could."""
    server = json.loads((product.machine.home / "server.json").read_text())
    with psycopg.connect(server["database_url"]) as connection:
        connection.execute("UPDATE tm_suite SET next_run_at = now() - interval '1 minute'")


def told(api: httpx.Client, suite: str, number: int | str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"{suite}/runs/{number}").json()
    return found

"""A worker killed with -9 in the middle of a replay of fifty asks: nothing is lost, nothing is done twice unseen."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Product
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

pytestmark = pytest.mark.crash
ASKS = 50


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        running.script(Script(mode="slow", seconds=0.1))
        yield running


@pytest.fixture
def killable(tmp_path: Path, stub: StubModelServer) -> Iterator[Product]:
    """A product of its own, whose `openai:` is the stub."""
    machine = Machine(
        tmp_path / "home",
        OPENAI_API_KEY="sk-test",
        OPENAI_BASE_URL=f"{stub.url}/v1",
        LEASE_SECONDS="2",
        SWEEP_SECONDS="1",
    ).ready()
    yield Product(machine)
    assert machine.end() == 0


def test_a_replay_survives_its_worker_and_accounts_for_every_call(
    killable: Product, stub: StubModelServer
) -> None:
    with httpx.Client(
        base_url=f"{killable.url}/api", headers={"Authorization": f"Bearer {killable.key}"}, timeout=30
    ) as api:
        session = recorded(api)
        launched = api.post(
            f"/sessions/{session}/replays",
            json={"audit": True, "reason": "crash", "use_models": ["openai:gpt-4o-mini"]},
        )
        replay = launched.json()["replay_id"]
        wait_until(lambda: len(stub.calls()) >= 10)
        os.kill(killable.machine.the(r"celery"), signal.SIGKILL)
        wait_until(lambda: api.get(f"/replays/{replay}").json()["status"] == "done")
        told = api.get(f"/replays/{replay}").json()
        steps = all_of(api, f"/replays/{replay}/steps")

    assert told["steps"] == {"total": ASKS, "done": ASKS, "failed": 0, "skipped": 0, "cancelled": 0}
    assert told["context"]["verified"] == ASKS
    assert [step["sequence"] for step in steps] == [1 + 2 * n for n in range(ASKS)]
    assert all(step["new"]["output"] for step in steps)
    attempts = [attempt for step in steps for attempt in step["attempts"]]
    lost = [attempt for attempt in attempts if attempt["outcome"] == "lost"]
    assert lost, "the worker was killed while it was at a step"
    intended = [attempt for attempt in attempts if attempt["call_intended_at"]]
    finished = sum(attempt["calls_made"] or 0 for attempt in attempts)
    assert finished == ASKS
    assert finished <= len(stub.calls()) <= len(intended)
    assert told["uncertain_calls"] == len(intended) - ASKS


def recorded(api: httpx.Client) -> str:
    """A session of fifty asks, answered by the local model."""
    api.post("/collections/facts/put", json={"text": "Cats sleep sixteen hours a day.", "title": "Cats"})
    session = str(api.post("/sessions", json={"name": "fifty", "collection": "facts"}).json()["id"])
    for number in range(ASKS):
        answer = api.post(
            f"/sessions/{session}/ask", json={"question": f"How long do cats sleep? ({number})"}
        )
        assert answer.status_code == 200, answer.text
    api.post(f"/sessions/{session}/end")
    return session


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

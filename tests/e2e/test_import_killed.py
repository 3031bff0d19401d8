"""The worker killed in the middle of an import: nothing is half-written, and another one imports the file."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.product import OwnProduct
from tests.e2e.replaying import client
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.recording.importing.claude_code.test_copies import forked, of, turn
from tests.recording.importing.sample_files import document, lines
from tests.waiting import wait_until

pytestmark = pytest.mark.crash
TURNS = 2_000
COPIED = 300


@pytest.fixture(scope="module")
def product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnProduct]:
    """A product which notices dead workers soon."""
    home = copied(used_home, tmp_path_factory.mktemp("killed-imports") / "home")
    machine = Machine(home, LEASE_SECONDS="2", SWEEP_SECONDS="1").ready()
    yield OwnProduct(machine)
    assert machine.end() == 0


@pytest.fixture(scope="module")
def api(product: OwnProduct) -> Iterator[httpx.Client]:
    with client(product) as opened:
        yield opened


def claude_fork(name: str) -> bytes:
    """A fork of a session that is not here, of which `COPIED` turns are copies."""
    turns = [_turn(name, number) for number in range(TURNS)]
    copies = forked(of(name, *turns[:COPIED]), f"before-{name}")
    return lines(*copies, *of(name, *turns[COPIED:]))


def _turn(name: str, number: int) -> list[dict[str, Any]]:
    records = turn(number % 19, f"Prompt {number}.")
    for each in records:
        each["uuid"] = f"{name}-{number}-{each['uuid']}"
        if each["type"] == "assistant":
            each["message"] = each["message"] | {"id": f"{name}-{number}"}
            each["requestId"] = f"{name}-{number}"
    return records


def trajectory(name: str) -> bytes:
    """A trajectory of Harbor that continues another one."""
    metrics = {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.001}
    steps = [
        {"step_id": n, "source": "agent", "message": f"Step {n}.", "is_copied_context": True}
        if n <= COPIED
        else {"step_id": n, "source": "agent", "message": f"Step {n}.", "metrics": metrics}
        for n in range(1, TURNS * 2 + 1)
    ]
    agent = {"name": "terminus-2", "version": "2", "extra": {"parent_session_id": f"before-{name}"}}
    return document({"schema_version": "ATIF-v1.6", "session_id": name, "agent": agent, "steps": steps})


FILES = {"claude_code": (claude_fork, TURNS - COPIED), "atif": (trajectory, TURNS * 2 - COPIED)}


def check_whole(api: httpx.Client, name: str, calls: int, file: bytes) -> None:
    """Assert that the session is complete, counts only its own calls, and that importing it again adds nothing."""
    totals = api.get(f"/sessions/{name}/totals").json()["totals"]
    assert (totals["calls"], totals["input_tokens"]) == (calls, 100 * calls)
    [again] = api.post("/import", content=file, timeout=120).json()["sessions"]
    assert again["actions"] == again["already_there"]


@pytest.mark.parametrize("format_name", FILES)
def test_an_import_whose_worker_is_killed_half_way_is_done_by_another_one(
    product: OwnProduct, api: httpx.Client, format_name: str
) -> None:
    make, calls = FILES[format_name]
    name = f"worker-{format_name}"
    file = make(name)
    worker = product.machine.the(r"celery")  # takes too long while it works
    accepted = api.post("/import?later=true", content=file)
    assert accepted.status_code == 202, accepted.text
    found = accepted.json()["import_id"]
    wait_until(lambda: api.get(f"/imports/{found}").json()["done"] > 0)
    os.kill(worker, signal.SIGKILL)
    half_way = api.get(f"/imports/{found}").json()
    assert half_way["status"] == "running"
    assert half_way["done"] < half_way["total"]
    assert api.get(f"/sessions/{name}").status_code == 404
    wait_until(lambda: api.get(f"/imports/{found}").json()["status"] == "done")
    check_whole(api, name, calls, file)

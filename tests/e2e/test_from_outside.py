"""What an operator sees of a running product: its log."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.product import OwnProduct
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def product(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnProduct]:
    """A product that logs every request and job as JSON."""
    home = copied(used_home, tmp_path_factory.mktemp("outside") / "home")
    machine = Machine(home, LOG_FORMAT="json", LOG_REQUESTS="yes").ready()
    yield OwnProduct(machine)
    assert machine.end() == 0


@pytest.fixture
def api(product: OwnProduct) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=product.url, headers=headers, timeout=60) as client:
        yield client


def logged(product: OwnProduct, program: str, request_id: str) -> list[dict[str, Any]]:
    """Return the lines of a program about a request."""
    lines = (product.home / "logs" / f"{program}.log").read_text().splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    return [line for line in found if line.get("request_id") == request_id]


def test_a_request_can_be_followed_into_its_job(product: OwnProduct, api: httpx.Client) -> None:
    recording = json.dumps({"messages": [{"role": "user", "content": "What is owed?"}]})
    answer = api.post("/api/import", content=recording, headers={"X-Request-ID": "from-the-proxy-1"})
    assert answer.headers["X-Request-ID"] == "from-the-proxy-1"
    wait_until(lambda: any(line.get("job") for line in logged(product, "worker", "from-the-proxy-1")))
    (request,) = logged(product, "web", "from-the-proxy-1")
    assert (request["method"], request["route"]) == ("POST", "/api/import")
    assert request["status"] == answer.status_code
    jobs = logged(product, "worker", "from-the-proxy-1")
    assert all(line["milliseconds"] >= 0 for line in jobs)
    assert "What is owed?" not in (product.home / "logs" / "worker.log").read_text()

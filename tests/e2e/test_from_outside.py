"""What an operator sees of a running product: its log, its metrics and its traces."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.collector import Collector, collecting
from tests.e2e.product import OwnProduct
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture(scope="module")
def product(
    used_home: Path, tmp_path_factory: pytest.TempPathFactory, collector: Collector
) -> Iterator[OwnProduct]:
    """A product that logs every request and job as JSON, and sends traces of them."""
    home = copied(used_home, tmp_path_factory.mktemp("outside") / "home")
    tracing = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    machine = Machine(home, LOG_FORMAT="json", LOG_REQUESTS="yes", **tracing).ready()
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


def metric(product: OwnProduct, name: str, **labels: str) -> float:
    """Return the sum of the samples with these labels."""
    with httpx.Client(timeout=60) as client:
        text = client.get(f"{product.url}/metrics").raise_for_status().text
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    return sum(each.value for each in samples if each.name == name and labels.items() <= each.labels.items())


def test_the_requests_of_all_web_processes_are_counted(product: OwnProduct) -> None:
    before = metric(product, "timemachine_http_requests_total", route="/health/live")
    for _ in range(30):  # each on a connection of its own, which the kernel gives to either process
        httpx.get(f"{product.url}/health/live")
    assert metric(product, "timemachine_http_requests_total", route="/health/live") == before + 30


def test_messages_that_no_worker_takes_are_seen_in_the_queue(product: OwnProduct, api: httpx.Client) -> None:
    wait_until(lambda: metric(product, "timemachine_workers") == 1)
    wait_until(lambda: httpx.get(f"{product.url}/health/workers", timeout=60).status_code == 200)
    worker = product.machine.the(r"-m celery")
    os.kill(worker, signal.SIGSTOP)
    try:
        api.post("/api/sessions", json={"name": "Refund", "key": "refund"}).raise_for_status()
        action = {"actions": [{"id": "1", "kind": "event", "name": "paid"}]}
        api.post("/api/sessions/refund/actions", json=action).raise_for_status()
        wait_until(lambda: metric(product, "timemachine_queue_messages", kind="index_steps") > 0)
        wait_until(lambda: metric(product, "timemachine_queue_oldest_seconds", kind="index_steps") > 1)
    finally:
        os.kill(worker, signal.SIGCONT)
    wait_until(lambda: metric(product, "timemachine_queue_messages") == 0)
    wait_until(lambda: metric(product, "timemachine_actions_recorded_total") > 0)


def test_the_trace_of_a_request_continues_in_its_job(
    product: OwnProduct, api: httpx.Client, collector: Collector
) -> None:
    trace, caller = "5f0c2e7a9b1d4c3e8f6a7b8c9d0e1f2a", "0123456789abcdef"
    headers = {"traceparent": f"00-{trace}-{caller}-01", "X-Request-ID": "traced-1"}
    recording = json.dumps({"messages": [{"role": "user", "content": "Is it Secret?"}]})
    api.post("/api/import", content=recording, headers=headers).raise_for_status()

    def spans() -> dict[str, tuple[str, Span]]:
        found = [(service, each) for service, each in collector.spans if each.trace_id.hex() == trace]
        return {each.name: (service, each) for service, each in found}

    wait_until(lambda: {"POST /api/import", "index_steps"} <= spans().keys())
    service, request = spans()["POST /api/import"]
    assert (service, request.kind, request.parent_span_id.hex()) == (
        "timemachine-web",
        Span.SPAN_KIND_SERVER,
        caller,
    )
    facts = {each.key: each.value for each in request.attributes}
    assert facts["http.route"].string_value == "/api/import"
    assert facts["timemachine.request_id"].string_value == "traced-1"
    assert facts["http.response.status_code"].int_value < 300
    service, job = spans()["index_steps"]
    assert (service, job.kind) == ("timemachine-worker", Span.SPAN_KIND_CONSUMER)
    assert job.parent_span_id == request.span_id
    assert {line["trace_id"] for line in logged(product, "web", "traced-1")} == {trace}
    assert {line["trace_id"] for line in logged(product, "worker", "traced-1")} == {trace}
    assert not any(b"Secret" in each.SerializeToString() for _, each in collector.spans)


def test_health_checks_and_received_spans_are_not_traced(
    product: OwnProduct, api: httpx.Client, collector: Collector
) -> None:
    for path in ("/health/ready", "/metrics"):
        api.get(path)
    api.post("/v1/traces", json={"resourceSpans": []})
    api.get("/api/project", headers={"X-Request-ID": "last"})
    wait_until(lambda: any(each.name == "GET /api/project" for _, each in collector.spans))
    names = {each.name for _, each in collector.spans}
    assert not any("health" in name or "metrics" in name or "/v1/" in name for name in names)

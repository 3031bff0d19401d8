"""How fast spans and actions are accepted: durable when answered, and immediately readable.

`make up` unchanged, on a disk with synchronous writes; OTLP in protobuf, spans of 2 kB with GenAI attributes, `SENDERS` simultaneous connections
(with batches of one, 1 and `MANY`), each with a session of its own. Every answer is awaited; at the end the spans are read back through the API and counted. Baseline in
the same run: as many rows of the same bytes by plain COPY into a table without indexes, one transaction per batch, on one connection.
`SPANS` sets another number for the large batches.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
import psycopg
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.common.report import figure, finish
from tests.e2e.product import OwnProduct, Product
from tests.embedded.machine import Machine
from timemachine.embedded.data_folder import socket_folder
from timemachine.embedded.postgres import Cluster

OTLP = "/v1/traces"
SPANS = int(os.environ.get("SPANS", "30720"))
BATCH, SIZE, SENDERS, MANY, ONES = 512, 2_000, 3, 8, 2_880
WORDS = [
    "lift",
    "drag",
    "boundary",
    "layer",
    "heat",
    "transfer",
    "shock",
    "wave",
    "pressure",
    "wing",
    "flow",
    "plate",
    "cylinder",
    "jet",
]


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder) / "home").ready()
        try:
            product = OwnProduct(machine)
            copying = ("the same bytes by COPY", copied(machine.home))
            large = otlp(product, BATCH, SPANS, SENDERS)
            figure(f"OTLP, batches of {BATCH}", large, "/s", against=copying, least=2_500)
            for senders, least in ((1, None), (MANY, 250)):
                ones = otlp(product, 1, ONES, senders)
                figure(f"OTLP, batches of one, {senders} at once", ones, "/s", against=copying, least=least)
            figure(f"API, batches of {BATCH}", api(product, BATCH, SPANS // 2), "/s", against=copying)
        finally:
            machine.end()


def otlp(product: Product, size: int, count: int, connections: int) -> float:
    """Return spans per second; everything that was accepted is read back."""
    names = [f"otlp-{size}-{sender}-of-{connections}" for sender in range(connections)]
    senders = [requests(name, size, count // connections) for name in names]
    warm = requests(f"warm-{size}-of-{connections}", size, size * SENDERS)
    headers = {"Authorization": f"Bearer {product.key}", "Content-Type": "application/x-protobuf"}
    for body in warm:
        send(product, OTLP, headers, [[body]])
        readable(product, body)
    took = send(product, OTLP, headers, senders)
    for name, sent in zip(names, senders, strict=True):
        assert recorded(product, name) == len(sent) * size
    return sum(map(len, senders)) * size / took


def api(product: Product, size: int, count: int) -> float:
    """Return actions per second by `POST /api/sessions/{id}/actions`, of the same size."""
    headers = {"Authorization": f"Bearer {product.key}", "Content-Type": "application/json"}
    chance = random.Random(2)
    for sender in range(SENDERS):
        body = {"name": "bench", "key": f"api-{sender}"}
        httpx.post(f"{product.url}/api/sessions", headers=headers, json=body).raise_for_status()
    half = SIZE // 2
    bodies = [
        [
            json.dumps(
                {
                    "actions": [
                        {
                            "kind": "llm_call",
                            "id": f"{batch}-{n}",
                            "input": text(chance, half),
                            "output": text(chance, half),
                        }
                        for n in range(size)
                    ]
                }
            ).encode()
            for batch in range(count // SENDERS // size)
        ]
        for _ in range(SENDERS)
    ]
    with ThreadPoolExecutor(SENDERS) as pool:
        began = time.perf_counter()
        list(
            pool.map(
                lambda at: posted(product, f"/api/sessions/api-{at}/actions", headers, bodies[at]),
                range(SENDERS),
            )
        )
        took = time.perf_counter() - began
    return sum(len(each) for each in bodies) * size / took


def send(product: Product, path: str, headers: dict[str, str], senders: Sequence[Sequence[bytes]]) -> float:
    """Send all bodies, those of a sender one after another; return the seconds until the last answer."""
    with ThreadPoolExecutor(len(senders)) as pool:
        began = time.perf_counter()
        list(pool.map(lambda bodies: posted(product, path, headers, bodies), senders))
        return time.perf_counter() - began


def posted(product: Product, path: str, headers: dict[str, str], bodies: Sequence[bytes]) -> None:
    """Uses the standard library: for a small request httpx took half as long as the server did, on the same cores."""
    address = urlsplit(product.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=120)
    with closing(connection):
        for body in bodies:
            while (answer := posted_once(connection, path, headers, body)).status == 429:
                time.sleep(float(answer.headers["Retry-After"]))
            assert answer.status in (200, 201), answer.body
            if path == OTLP:
                result = ExportTraceServiceResponse.FromString(answer.body).partial_success
                assert not result.rejected_spans, result.error_message


def posted_once(connection: HTTPConnection, path: str, headers: dict[str, str], body: bytes) -> Answer:
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    return Answer(answer.status, answer.headers, answer.read())


def readable(product: Product, body: bytes) -> None:
    """Assert that the last span of a request that was just answered can be read."""
    trace = ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans[-1]
    session = next(each.value.string_value for each in trace.attributes if each.key == "session.id")
    headers = {"Authorization": f"Bearer {product.key}"}
    last = recorded(product, session)
    answer = httpx.get(f"{product.url}/api/sessions/{session}/actions/{last}", headers=headers)
    assert answer.raise_for_status().json()["id"] == f"{trace.trace_id.hex()}-{trace.span_id.hex()}"


def recorded(product: Product, session: str) -> int:
    headers = {"Authorization": f"Bearer {product.key}"}
    answer = httpx.get(f"{product.url}/api/sessions/{session}", headers=headers).raise_for_status()
    return int(answer.json()["actions"])


def requests(session: str, size: int, count: int) -> list[bytes]:
    """Return the bodies that an exporter would send, each with this many spans of one trace."""
    chance = random.Random(session)
    return [batch(chance, session, size).SerializeToString() for _ in range(count // size)]


def batch(chance: random.Random, session: str, size: int) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(named("service.name", "bench"))
    trace, root = chance.randbytes(16), chance.randbytes(8)
    began = 1_760_000_000_000_000_000
    spans = [span(chance, trace, root, began + n * 1_000_000, session) for n in range(size)]
    group.scope_spans.add().spans.extend(spans)
    return request


def span(chance: random.Random, trace: bytes, root: bytes, began: int, session: str) -> Span:
    half = SIZE // 2 - 150
    attributes: dict[str, str | float] = {
        "session.id": session,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.usage.input_tokens": chance.randrange(1000),
        "gen_ai.usage.output_tokens": chance.randrange(300),
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": text(chance, half)}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": text(chance, half)}]}]
        ),
    }
    return Span(
        trace_id=trace,
        span_id=chance.randbytes(8),
        parent_span_id=root,
        name="chat gpt-4o-mini",
        start_time_unix_nano=began,
        end_time_unix_nano=began + 900_000,
        attributes=[named(name, value) for name, value in attributes.items()],
    )


def named(name: str, value: str | float) -> KeyValue:
    kinds: dict[type, Callable[..., AnyValue]] = {
        str: lambda found: AnyValue(string_value=found),
        int: lambda found: AnyValue(int_value=found),
        float: lambda found: AnyValue(double_value=found),
    }
    return KeyValue(key=name, value=kinds[type(value)](value))


def text(chance: random.Random, length: int) -> str:
    words = ""
    while len(words) < length:
        words += f"{chance.choice(WORDS)}{chance.randrange(1000)} "
    return words[:length]


def copied(home: Path) -> float:
    """Return rows of `SIZE` bytes per second by plain COPY, one transaction for each `BATCH`."""
    chance = random.Random(1)
    rows = [(n, text(chance, SIZE)) for n in range(BATCH)]
    cluster = Cluster(data=home / "postgres", sockets=socket_folder(home), log=home / "logs" / "postgres.log")
    with psycopg.connect(cluster.owner_url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_copied (id bigint, said text)")
        began = time.perf_counter()
        for _ in range(SPANS // BATCH):
            with cursor.copy("COPY bench_copied FROM STDIN") as copying:
                for row in rows:
                    copying.write_row(row)
        took = time.perf_counter() - began
        cursor.execute("DROP TABLE bench_copied")
    return SPANS / took


if __name__ == "__main__":
    main()
    sys.exit(finish())

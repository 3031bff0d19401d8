"""An overloaded server is asked again after the time it gives, where a repeated request has no further effect."""

from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.client.other_server import answering, other_server
from timemachine.client.connection import Connection
from timemachine.client.errors import Refused
from timemachine.client.server import Server
from timemachine.client.waiting import seconds_of

BUSY = b'{"code": "busy", "message": "Come again.", "facts": {}}'


OTHER = b'{"code": "too_many", "message": "Come again.", "facts": {}}'


def playing(answers: Iterator[int], retry_after: str = "0", *, refusal: bytes = BUSY) -> Any:
    """A server that answers with one status after another."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        status = next(answers)
        body = refusal if status >= 400 else b'{"a": 1}'
        answering(status, body, retry_after=retry_after, content_disposition="attachment")(request)

    return answer


def connection(url: str, longest_wait: float = 5.0) -> Connection:
    return Connection(Server(url=url, key="tmk_a_b"), longest_wait=longest_wait)


def test_reads_are_retried_until_the_server_is_free(tmp_path: Path) -> None:
    with other_server(playing(iter([429, 429, 200, 429, 200]))) as url, connection(url) as client:
        assert client.get("/api/sessions") == {"a": 1}
        client.download("/api/evidence", tmp_path / "bundle")
    assert (tmp_path / "bundle").read_bytes() == b'{"a": 1}'


def test_writes_are_retried_only_with_an_idempotency_key() -> None:
    answers = playing(iter([429, 200, 429]), refusal=OTHER)
    with other_server(answers) as url, connection(url) as client:
        assert client.post("/api/sessions/a/actions", {}, idempotency_key="k") == {"a": 1}
        with pytest.raises(Refused) as refused:
            client.post("/api/sessions/a/find", {})
    assert (refused.value.status, refused.value.retry_after) == (429, 0)


def test_any_request_that_the_server_did_not_start_is_retried() -> None:
    with other_server(playing(iter([429, 429, 200]))) as url, connection(url) as client:
        assert client.post("/api/sessions/a/actions", {"kind": "event"}) == {"a": 1}


def test_a_wait_beyond_the_limit_raises_the_refusal() -> None:
    with (
        other_server(playing(iter([429]), "9")) as url,
        connection(url) as client,
        pytest.raises(Refused) as refused,
    ):
        client.get("/api/sessions")
    assert refused.value.retry_after == 9


def test_a_busy_server_without_retry_after_is_retried_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("timemachine.client.waiting.time.sleep", waited.append)
    with other_server(playing(iter([429, 200]), "soon")) as url, connection(url) as client:
        client.get("/api/sessions")
    assert 1 <= waited[0] <= 1.2


def test_other_refusals_are_not_retried() -> None:
    with other_server(playing(iter([404]))) as url, connection(url) as client, pytest.raises(Refused):
        client.get("/api/sessions")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Mon, 23 Nov 2026 04:00:30 GMT", 30.0),
        ("Mon, 23 Nov 2026 04:00:30", 30.0),
        ("Mon, 23 Nov 2026 03:00:00 GMT", 0.0),
        ("soon", None),
        ("-1", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(written: str | None, seconds: float | None) -> None:
    assert seconds_of(written, datetime(2026, 11, 23, 4, tzinfo=UTC)) == seconds

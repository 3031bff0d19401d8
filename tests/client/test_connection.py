"""Every answer of a server or a network becomes a document or a single exception with advice."""

import json
import socket
import time
from http.server import BaseHTTPRequestHandler

import pytest

from tests.client.other_server import Behaviour, answering, other_server
from timemachine.client.connection import Connection, given, segment
from timemachine.client.errors import ClientError, NoServer, NotFound, NotUnderstood, Refused, Unreachable
from timemachine.client.server import Server


def failure(behaviour: Behaviour, patience: float = 5) -> ClientError:
    """The exception raised by a request to a server with this behaviour."""
    with (
        other_server(behaviour) as url,
        connection(url, patience) as client,
        pytest.raises(ClientError) as raised,
    ):
        client.get("/api/sessions")
    assert "\n" not in raised.value.message
    return raised.value


def connection(url: str, patience: float = 5) -> Connection:
    return Connection(Server(url=url, key="tmk_a_b"), patience=patience)


def breaking_off(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("content-length", "100")
    request.end_headers()
    request.wfile.write(b'{"half":')


def dawdling(request: BaseHTTPRequestHandler) -> None:
    time.sleep(0.5)  # longer than the timeout of the client
    answering(200, b"{}")(request)


def test_a_document_is_returned_unchanged() -> None:
    sent = {"name": "Prüfung 🔍", "half": "\ud83d", "cost_usd": None}
    with other_server(answering(200, json.dumps(sent).encode())) as url, connection(url) as client:
        assert client.post("/api/sessions", sent) == sent


def test_a_refusal_carries_code_message_facts_and_status() -> None:
    body = b'{"code": "key_taken", "message": "Choose another key.", "facts": {"key": "a"}}'
    refused = failure(answering(409, body))
    assert isinstance(refused, Refused)
    assert (refused.status, refused.code, refused.message, refused.facts) == (
        409,
        "key_taken",
        "Choose another key.",
        {"key": "a"},
    )


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        (answering(200, b"<!doctype html>"), "but is not Time Machine"),
        (answering(200, b"[1]"), "but is not Time Machine"),
        (answering(200, b"[" * 100_000), "but is not Time Machine"),
        (answering(404, b"not here"), "Check TIMEMACHINE_URL"),
        (answering(500, b""), "See the server's log"),
        (answering(502, b"<h1>Bad Gateway</h1>"), "502 Bad Gateway"),
        (
            answering(301, b"", location="https://example.org/api/sessions"),
            "redirects to https://example.org",
        ),
        (answering(200, b"\x1f\x8b not gzip", content_encoding="gzip"), "Cannot communicate with"),
    ],
)
def test_an_answer_that_is_not_from_the_api_is_reported_as_such(behaviour: Behaviour, says: str) -> None:
    why = failure(behaviour)
    assert isinstance(why, NotUnderstood)
    assert says in why.message


def test_an_interrupted_answer_is_not_a_refusal() -> None:
    why = failure(breaking_off)
    assert isinstance(why, Unreachable)
    assert "was lost" in why.message


def test_a_timeout_warns_that_the_server_may_still_be_working() -> None:
    why = failure(dawdling, patience=0.1)
    assert (type(why), why.code) == (Unreachable, "timeout")
    assert "may still be working" in why.message


def test_a_refused_connection_explains_how_to_start_a_server() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: no one else gets the port meanwhile
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with connection(url) as client, pytest.raises(Unreachable, match="make up"):
            client.get("/api/sessions")


def test_a_key_is_sent_only_to_its_own_server() -> None:
    keys: list[str | None] = []

    def noting(request: BaseHTTPRequestHandler) -> None:
        keys.append(request.headers.get("authorization"))
        answering(200, b"{}")(request)

    with (
        other_server(noting) as elsewhere,
        other_server(answering(307, b"", location=elsewhere + "/api/sessions")) as url,
        connection(url) as client,
        pytest.raises(NotUnderstood),
    ):
        client.get("/api/sessions")
    assert keys == []


def test_without_a_key_nothing_is_sent() -> None:
    with Connection(Server(url="http://127.0.0.1:1", key=None)) as client, pytest.raises(NoServer) as refused:
        client.get("/api/sessions")
    assert refused.value.code == "no_key"


def test_no_proxy_is_used_for_the_local_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with other_server(answering(200, b'{"a": 1}')) as url, connection(url) as client:
        assert client.get("/api/sessions") == {"a": 1}


def test_an_unusable_proxy_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "nonsense://x")
    with pytest.raises(NoServer, match="proxy"):
        connection("http://example.org")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("sess-1a2b3c4d", "sess-1a2b3c4d"),
        ("a:b@c._-", "a%3Ab%40c._-"),
        ("über uns", "%C3%BCber%20uns"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("", "%20"),
        ("\udcff", "%FF"),
    ],
)
def test_a_name_is_escaped_to_one_path_segment(name: str, path: str) -> None:
    assert segment(name, "collection") == path


def test_a_name_with_a_slash_is_not_found() -> None:
    with pytest.raises(NotFound, match=r"no collection '.*': names and IDs cannot contain a slash"):
        segment("a/../b", "collection")


def test_omitted_arguments_are_not_sent() -> None:
    assert given(a=None, b=0, c="", d=False) == {"b": 0, "c": "", "d": False}


def test_readiness_needs_no_key() -> None:
    body = b'{"status": "not ready", "why": "the database is not responding"}'
    with other_server(answering(503, body)) as url, Connection(Server(url=url, key=None)) as client:
        assert client.ready() == {"status": "not ready", "why": "the database is not responding"}


def test_another_program_does_not_count_as_a_ready_server() -> None:
    with other_server(answering(200, b"[]")) as url, connection(url) as client, pytest.raises(NotUnderstood):
        client.ready()

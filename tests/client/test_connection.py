"""Whatever a server or a network answers becomes a document or one exception that says what to do."""

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
    """What a request to a server that behaves so raises."""
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
    time.sleep(0.5)  # longer than the patience of whoever asks it
    answering(200, b"{}")(request)


def test_a_document_comes_back_as_it_was_sent() -> None:
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
def test_an_answer_that_is_not_the_apis_is_said_to_be_none(behaviour: Behaviour, says: str) -> None:
    why = failure(behaviour)
    assert isinstance(why, NotUnderstood)
    assert says in why.message


def test_an_answer_that_breaks_off_is_told_from_a_refusal() -> None:
    why = failure(breaking_off)
    assert isinstance(why, Unreachable)
    assert "was lost" in why.message


def test_a_server_that_takes_too_long_may_still_be_at_it() -> None:
    why = failure(dawdling, patience=0.1)
    assert (type(why), why.code) == (Unreachable, "timeout")
    assert "may still be working" in why.message


def test_where_nobody_listens_it_says_how_to_start_a_server() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening: nobody else gets the port meanwhile
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with connection(url) as client, pytest.raises(Unreachable, match="make up"):
            client.get("/api/sessions")


def test_a_key_goes_only_to_the_server_it_was_meant_for() -> None:
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


def test_no_proxy_stands_between_a_program_and_its_own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with other_server(answering(200, b'{"a": 1}')) as url, connection(url) as client:
        assert client.get("/api/sessions") == {"a": 1}


def test_a_proxy_that_cannot_be_used_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_name_stays_one_part_of_the_path(name: str, path: str) -> None:
    assert segment(name, "collection") == path


def test_a_name_with_a_slash_names_nothing() -> None:
    with pytest.raises(NotFound, match=r"no collection '.*': names and ids have no slash"):
        segment("a/../b", "collection")


def test_what_was_not_given_is_not_sent() -> None:
    assert given(a=None, b=0, c="", d=False) == {"b": 0, "c": "", "d": False}


def test_a_server_says_whether_it_is_ready_without_a_key() -> None:
    body = b'{"status": "not ready", "why": "the database does not answer"}'
    with other_server(answering(503, body)) as url, Connection(Server(url=url, key=None)) as client:
        assert client.ready() == {"status": "not ready", "why": "the database does not answer"}


def test_another_program_is_not_taken_for_a_server_that_is_ready() -> None:
    with other_server(answering(200, b"[]")) as url, connection(url) as client, pytest.raises(NotUnderstood):
        client.ready()

"""The server of playback: its addresses, with and without /v1, and what it refuses."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.client.playback.agents import exported, recorded
from timemachine.client.playback.recordings import read_recording
from timemachine.client.playback.server import LARGEST_BODY, PlaybackServer

ASKED = {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PlaybackServer]:
    """A playback of one call."""
    call = {"kind": "llm_call", "input": ASKED["messages"], "output": "Hello"}
    with PlaybackServer(read_recording(exported(tmp_path, call)), start_over=True) as running:
        yield running


@pytest.fixture
def http(server: PlaybackServer) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("path", ["/chat/completions", "/messages", "/responses"])
def test_every_address_is_answered_with_and_without_the_version(path: str, http: httpx.Client) -> None:
    body = {"input": "Hi"} if path == "/responses" else ASKED
    answers = [http.post(prefix + path, json=body) for prefix in ("", "/v1")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert answers[0].headers["timemachine-step"] == "1"


def test_the_root_says_what_is_played_back_and_what_is_unused(http: httpx.Client) -> None:
    assert http.get("/").json() == {"playback": "run", "calls": 1, "unused": [1]}
    http.post("/v1/messages", json=ASKED)
    assert http.get("/v1").json()["unused"] == []


def test_a_stream_has_the_bytes_of_the_last_run(http: httpx.Client) -> None:
    first, second = (http.post("/v1/messages", json={**ASKED, "stream": True}) for _ in range(2))
    assert first.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert (first.content, first.headers) == (second.content, second.headers)


def test_other_addresses_are_refused_in_the_form_of_the_vendor(http: httpx.Client) -> None:
    refused = http.post("/v1/embeddings", json={})
    assert refused.status_code == 404
    assert refused.json()["error"]["message"].startswith("Playback does not serve /v1/embeddings.")
    other = http.get("/v1/files", headers={"anthropic-version": "2023-06-01"})
    assert (other.status_code, other.json()["error"]["type"]) == (404, "not_found_error")
    assert other.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_of_a_foreign_page_is_refused(method: str, http: httpx.Client) -> None:
    for headers in ({"Host": "attacker.example"}, {"Origin": "https://attacker.example"}):
        assert http.request(method, "/v1/models", content=b"{}", headers=headers).status_code == 403


def test_a_body_that_is_not_json_is_refused(http: httpx.Client) -> None:
    refused = http.post("/v1/chat/completions", content=b"{")
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET http://[/ HTTP/1.1\r\nHost: localhost", 404),
        ("GET /v1/models HTTP/1.1\r\nHost: [::1", 403),
        ("GET /v1/models HTTP/1.1\r\nHost: [::1]:80", 200),
        ("GET http://LocalHost/v1/models HTTP/1.1\r\nHost: LocalHost", 200),
    ],
)
def test_any_address_and_host_gets_an_answer(head: str, status: int, server: PlaybackServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answer:
        connection.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        assert answer.readline().split()[1] == str(status).encode()


@pytest.mark.parametrize(("length", "status"), [("", 400), ("9" * 5_000, 400), (f"{LARGEST_BODY + 1}", 413)])
def test_a_body_of_no_length_or_too_large_is_refused_unread(
    length: str, status: int, server: PlaybackServer
) -> None:
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answer:
        head = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(head.encode())
        assert answer.readline().split()[1] == str(status).encode()
        assert answer.read().endswith((b"}", b"\n"))  # the connection ends


def test_closing_ends_the_connections_that_are_still_open(tmp_path: Path) -> None:
    with (
        httpx.Client(trust_env=False) as client,
        PlaybackServer(read_recording(exported(tmp_path, *recorded("chat")))) as server,
    ):
        assert client.get(server.url).status_code == 200
        server_url = server.url
    with httpx.Client(trust_env=False) as client, pytest.raises(httpx.TransportError):
        client.get(server_url)


def test_a_port_can_be_chosen(tmp_path: Path) -> None:
    recording = read_recording(exported(tmp_path, *recorded("chat")))
    with PlaybackServer(recording) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            PlaybackServer(recording, port=port)

"""Servers with irregular answers, byte by byte: paid answers are kept, and no call waits endlessly."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.llm.asking import KEY, request_to
from timemachine.core.pure.errors import ModelFailed
from timemachine.llm.calling import complete
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import Connection
from timemachine.llm.pure.completion import Completion

type Play = Callable[[socket.socket], None]

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"
END = b"0\r\n\r\n"


class OddServer:
    """A server that sends these bytes for every request, and then closes."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.requests = 0
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.requests += 1
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(5)
            connection.recv(1 << 16)
            self._play(connection)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(
                1 << 16
            ):  # otherwise unread data would reset the connection before the answer arrives
                pass
        except OSError:
            return

    def close(self) -> None:
        """Accept no more requests."""
        self._listening.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Play], OddServer]]:
    servers: list[OddServer] = []

    def start(play: Play) -> OddServer:
        servers.append(OddServer(play))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def connection_to(server: OddServer, protocol: Any = "openai") -> Connection:
    path = "/v1" if protocol == "openai" else ""
    return Connection(protocol=protocol, base_url=f"http://127.0.0.1:{server.port}{path}", api_key=KEY)


def sending(*parts: bytes, end: bytes = END) -> Play:
    response = HEAD + b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts) + end
    return lambda connection: connection.sendall(response)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return data({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def data(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def call(server: OddServer, **options: Any) -> tuple[Completion, str]:
    """Return the completion, and what was shown while it was written."""
    shown: list[str] = []
    completion = complete(request_to(connection_to(server), **options), Listening(on_text=shown.append))
    return completion, "".join(shown)


def test_an_empty_event_is_only_a_keep_alive(serve: Callable[[Play], OddServer]) -> None:
    server = serve(sending(b"data:\n\n", chunk({"content": "14"}), b"data: \n\n", chunk({}, "stop"), DONE))
    completion, shown = call(server)
    assert completion.text == shown == "14"
    assert not completion.broke_off_after_end


def test_an_answer_is_complete_if_the_connection_breaks_off_after_its_end(
    serve: Callable[[Play], OddServer],
) -> None:
    completion, _ = call(serve(sending(chunk({"content": "14"}), chunk({}, "stop"), end=b"")))
    assert (completion.text, completion.finish_reason, completion.broke_off_after_end) == ("14", "stop", True)
    assert completion.usage is not None
    assert completion.usage.input_tokens is completion.usage.output_tokens is None


def test_a_claude_message_is_complete_if_the_connection_breaks_off_after_its_end(
    serve: Callable[[Play], OddServer],
) -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "model": "m", "usage": {"input_tokens": 3}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "14"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    ]
    server = serve(sending(*map(data, events), end=b""))
    completion = complete(request_to(connection_to(server, "anthropic")))
    assert (completion.text, completion.finish_reason, completion.broke_off_after_end) == (
        "14",
        "end_turn",
        True,
    )
    assert completion.usage is not None
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (3, 1)


def test_an_answer_that_breaks_off_before_its_end_is_a_failure(serve: Callable[[Play], OddServer]) -> None:
    with pytest.raises(ModelFailed) as failure:
        call(serve(sending(chunk({"content": "14"}), end=b"")))
    assert (failure.value.code, failure.value.facts["partial_text"]) == ("model_interrupted", "14")


def test_text_shown_before_a_refusal_is_recorded_with_it(serve: Callable[[Play], OddServer]) -> None:
    pieces = [chunk({"content": "Well, "}), chunk({"refusal": "no."}), chunk({}, "stop"), DONE]
    completion, shown = call(serve(sending(*pieces)))
    assert completion.text == shown == "Well, no."
    assert (completion.finish_reason, completion.refused, completion.whole) == ("refusal", True, False)


def test_a_character_in_two_halves_is_joined(serve: Callable[[Play], OddServer]) -> None:
    pieces = [chunk({"content": "Yes \ud83d"}), chunk({"content": "\ude00!"}), chunk({}, "stop"), DONE]
    completion, shown = call(serve(sending(*pieces)))
    assert completion.text == shown == "Yes 😀!"


def dripping(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
    for _ in range(600):
        time.sleep(0.05)
        connection.sendall(b"x")


def test_a_server_that_sends_its_head_byte_by_byte_times_out(serve: Callable[[Play], OddServer]) -> None:
    server = serve(dripping)
    started = time.monotonic()
    with pytest.raises(ModelFailed) as failure:
        call(server, timeout_seconds=2.0, whole_seconds=0.4)
    assert time.monotonic() - started < 10
    assert failure.value.code == "model_timed_out"
    assert server.requests == 1


def refusing(words: str, status: str = "401 Unauthorized") -> Play:
    body = words.encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return lambda connection: connection.sendall(head.encode() + body)


@pytest.mark.parametrize("before", range(480, 501, 4))
@pytest.mark.parametrize("name", ["message", "type"])
def test_no_part_of_a_key_remains_where_an_error_is_cut(
    serve: Callable[[Play], OddServer], before: int, name: str
) -> None:
    body = {"error": {"message": "No", name: "x" * before + KEY}}
    with pytest.raises(ModelFailed) as failure:
        call(serve(refusing(json.dumps(body))))
    assert KEY[:4] not in failure.value.message + str(dict(failure.value.facts))


def test_a_key_is_also_removed_in_its_json_escaped_form(serve: Callable[[Play], OddServer]) -> None:
    server = serve(refusing(r'{"error": {"details": {"key": "a\\b/c+d"}}}'))
    connection = Connection(
        protocol="openai", base_url=f"http://127.0.0.1:{server.port}/v1", api_key="a\\b/c+d"
    )
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(connection))
    assert "b/c+d" not in failure.value.message + str(dict(failure.value.facts))


def test_no_attempt_begins_after_the_total_time_limit(serve: Callable[[Play], OddServer]) -> None:
    busy = refusing("{}", "429 Busy\r\nretry-after: 2")
    server = serve(busy)
    with pytest.raises(ModelFailed, match="returned 429"):
        call(server, whole_seconds=0.5)
    assert server.requests == 1

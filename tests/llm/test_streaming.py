"""Answers that are read while they are written, and every way in which that can fail."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.llm.asking import KEY, anthropic_connection, openai_connection, request_to
from tests.stub_answers import Mode
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.core.pure.errors import Cancelled, ModelFailed
from timemachine.llm import attempts as exchange
from timemachine.llm import transport
from timemachine.llm.calling import complete
from timemachine.llm.pure.cancellation import Cancellation, Listening
from timemachine.llm.pure.catalogue import LOCAL_CONNECTION, Connection, ModelName

Connect = Callable[[StubModelServer], Connection]
ANSWER = "Refunds take 14 days."

both = pytest.mark.parametrize("connect", [openai_connection, anthropic_connection])


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        yield server


def cancelled_when(begun: Callable[[], bool], cancellation: Cancellation) -> threading.Thread:
    """Start a thread that cancels once the event is set."""

    def wait() -> None:
        wait_until(begun)
        cancellation.cancel()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@both
def test_an_answer_is_read_as_it_is_written(stub: StubModelServer, connect: Connect) -> None:
    begun, read = threading.Event(), list[str]()
    stub.script(Script(answer=ANSWER, held=begun))

    def on_text(text: str) -> None:
        read.append(text)
        if not begun.is_set():
            time.sleep(0.1)
            begun.set()  # the rest is written only now

    completion = complete(request_to(connect(stub)), Listening(on_text=on_text))
    assert "".join(read) == completion.text == ANSWER
    assert len(read) == 4
    assert completion.first_text_ms is not None
    assert completion.first_text_ms <= completion.duration_ms - 100
    assert completion.duration_ms < 30_000
    assert stub.calls()[0].body["stream"] is True


def test_only_servers_with_openai_s_protocol_are_asked_for_usage_in_the_stream(stub: StubModelServer) -> None:
    complete(request_to(openai_connection(stub)))
    complete(request_to(anthropic_connection(stub)))
    options = [call.body.get("stream_options") for call in stub.calls()]
    assert options == [{"include_usage": True}, None]


@both
def test_a_refusal_is_streamed_and_recognised(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="refusal"))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert completion.refused
    assert "".join(read) == completion.text == "I can't help with that."


def test_a_server_without_usage_in_its_stream_is_called_without_that_option(stub: StubModelServer) -> None:
    stub.script(Script(mode="no_usage_in_stream", answer=ANSWER))
    completion = complete(request_to(openai_connection(stub)))
    first, second = stub.calls()
    assert ("stream_options" in first.body, "stream_options" in second.body) == (True, False)
    assert second.body["stream"] is True
    assert (completion.text, completion.attempts, completion.not_accepted) == (ANSWER, 2, ())
    assert completion.usage is not None
    assert completion.usage.output_tokens is None


@both
def test_a_server_that_cannot_stream_is_called_without_streaming(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="no_stream", answer=ANSWER))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert "stream" not in stub.calls()[-1].body
    assert (completion.text, completion.attempts, completion.first_text_ms) == (ANSWER, 2, None)
    assert read == [ANSWER]
    assert completion.usage is not None
    assert completion.usage.output_tokens == 4


@both
def test_a_server_that_ignores_the_stream_option_is_read_in_one_piece(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="in_one_piece", answer=ANSWER))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert (completion.text, completion.attempts, read) == (ANSWER, 1, [ANSWER])


def test_the_local_model_streams_too() -> None:
    read: list[str] = []
    model = ModelName(provider="local", model="extractive-1")
    complete(request_to(LOCAL_CONNECTION, model=model), Listening(on_text=read.append))
    assert read == [ANSWER]


BROKEN: list[tuple[Mode, str, str, str | None]] = [
    (
        "closed",
        "model_interrupted",
        "was interrupted: the server closed the connection in the middle of its answer",
        "Refunds",
    ),
    (
        "error_event",
        "model_interrupted",
        "interrupted its answer: Overloaded. It may have been billed",
        "Refunds",
    ),
    (
        "broken_event",
        "model_not_understood",
        "an event in its stream cannot be read. This is not JSON",
        "Refunds",
    ),
    ("html", "model_not_understood", "it was sent as text/html", None),
    ("garbage", "model_not_understood", "it was sent as application/json", None),
]


@pytest.mark.parametrize(("mode", "code", "words", "partial"), BROKEN)
@both
def test_an_answer_that_breaks_off_is_not_retried_and_the_partial_text_is_kept(
    stub: StubModelServer, connect: Connect, mode: Mode, code: str, words: str, partial: str | None
) -> None:
    stub.script(Script(mode=mode, answer=ANSWER))
    with pytest.raises(ModelFailed, match=words) as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == code
    assert failure.value.facts.get("partial_text") == partial
    assert "billed" in failure.value.message
    assert len(stub.calls()) == 1


@both
def test_an_unstreamed_answer_that_breaks_off_is_not_retried(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="no_stream", times=1))
    stub.script(Script(mode="closed", answer=ANSWER))
    with pytest.raises(ModelFailed, match="was interrupted"):
        complete(request_to(connect(stub)))
    assert ["stream" in call.body for call in stub.calls()] == [True, False]


@both
def test_an_error_inside_a_stream_is_kept_in_the_provider_s_own_words(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="error_event", answer=ANSWER))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(connect(stub)))
    error = failure.value.facts["provider_error"]
    assert (error["message"], error["type"]) == ("Overloaded", "overloaded_error")


@both
def test_an_endless_stream_is_cut_off(
    stub: StubModelServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "LONGEST_TEXT", 100_000)
    stub.script(Script(mode="endless", answer=ANSWER))
    with pytest.raises(ModelFailed, match="longer than") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "answer_too_long"
    assert len(failure.value.facts["partial_text"]) == 100_000
    assert len(stub.calls()) == 1


@both
def test_an_answer_too_long_for_a_record_is_a_failure(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="in_one_piece", answer="x" * 1_000_001))
    with pytest.raises(ModelFailed, match="1,000,000 characters") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "answer_too_long"


@pytest.mark.parametrize("mode", ["slow", "silent", "slow_words"])
@both
def test_a_provider_that_falls_silent_times_out_once(
    stub: StubModelServer, connect: Connect, mode: Mode
) -> None:
    stub.script(Script(mode=mode, answer=ANSWER, seconds=4.0))
    with pytest.raises(ModelFailed, match=r"within 0\.9 seconds") as failure:
        complete(request_to(connect(stub), timeout_seconds=0.9))
    assert failure.value.code == "model_timed_out"
    assert failure.value.facts.get("partial_text") == ("Refunds" if mode == "slow_words" else None)
    assert len(stub.calls()) == 1


@both
def test_an_answer_that_does_not_end_times_out(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="slow_words", answer=ANSWER * 20, seconds=0.05))
    with pytest.raises(ModelFailed, match=r"or finish within 0\.9 seconds"):
        complete(request_to(connect(stub), whole_seconds=0.9))


@pytest.mark.parametrize("mode", ["slow", "silent", "slow_words", "drip"])
@both
def test_a_call_is_cancelled_immediately_even_if_its_provider_is_silent(
    stub: StubModelServer, connect: Connect, mode: Mode
) -> None:
    stub.script(Script(mode=mode, answer=ANSWER, seconds=60.0))
    cancellation = Cancellation()
    cancelled_when(lambda: bool(stub.calls()), cancellation)
    started = time.monotonic()
    with pytest.raises(Cancelled, match="may have been billed") as failure:
        complete(request_to(connect(stub)), Listening(cancellation=cancellation))
    assert time.monotonic() - started < 40
    assert failure.value.facts["attempts"] == 1
    assert "unsent" not in failure.value.facts
    assert len(stub.calls()) == 1


@both
def test_text_written_before_the_cancellation_is_kept(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(answer=ANSWER, held=threading.Event()))
    cancellation, read = Cancellation(), list[str]()
    cancelled_when(lambda: bool(read), cancellation)
    with pytest.raises(Cancelled) as failure:
        complete(request_to(connect(stub)), Listening(on_text=read.append, cancellation=cancellation))
    assert failure.value.facts["partial_text"] == "".join(read) == "Refunds"


def test_a_call_cancelled_while_waiting_for_a_retry_is_not_retried(
    stub: StubModelServer,
) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="15"))
    cancellation = Cancellation()
    cancelled_when(lambda: bool(stub.calls()), cancellation)
    started = time.monotonic()
    with pytest.raises(Cancelled, match="may have been billed") as failure:
        complete(request_to(openai_connection(stub)), Listening(cancellation=cancellation))
    assert time.monotonic() - started < 10
    assert len(stub.calls()) == 1
    assert "unsent" not in failure.value.facts


@both
def test_a_call_cancelled_before_it_starts_is_not_made_and_costs_nothing(
    stub: StubModelServer, connect: Connect
) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled, match="so it cost nothing") as failure:
        complete(request_to(connect(stub)), Listening(cancellation=cancellation))
    assert failure.value.facts["unsent"] is True
    assert stub.calls() == []


def test_a_call_cancelled_while_connecting_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECT_SECONDS", 1.0)  # limits a connection that is never answered
    cancellation, accepted = Cancellation(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def accept() -> None:  # and never send any TLS bytes
            connection, _ = silent.accept()
            accepted.set()
            with connection:
                while connection.recv(4096):
                    pass

        threading.Thread(target=accept, daemon=True).start()
        cancelled_when(accepted.is_set, cancellation)
        address = f"https://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(Cancelled, match="so it cost nothing") as failure:
            complete(
                request_to(Connection(protocol="openai", base_url=address, api_key=KEY)),
                Listening(cancellation=cancellation),
            )
    assert failure.value.facts["unsent"] is True


def test_a_key_does_not_appear_in_any_part_of_a_provider_s_error(stub: StubModelServer) -> None:
    body = f'{{"error": {{"message": "Bad {KEY}", "type": "{KEY}", "param": "{KEY}"}}}}'
    stub.script(Script(mode="error", status=401, body=body))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert KEY not in str(dict(failure.value.facts))


def test_a_provider_s_error_keeps_its_known_fields(stub: StubModelServer) -> None:
    error: dict[str, Any] = {
        "message": "Too long.",
        "type": "invalid",
        "code": "context",
        "param": "messages",
    }
    stub.script(Script(mode="error", body=json.dumps({"error": error})))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert failure.value.facts["provider_error"] == {**error, "request_id": "req_stub"}

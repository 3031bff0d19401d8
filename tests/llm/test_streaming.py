"""Answers that are read while they are written, and every way in which that goes wrong."""

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
SAID = "Refunds take 14 days."

both = pytest.mark.parametrize("connect", [openai_connection, anthropic_connection])


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        yield server


def cancelled_when(begun: Callable[[], bool], cancellation: Cancellation) -> threading.Thread:
    """A thread that cancels once that is so."""

    def wait() -> None:
        wait_until(begun)
        cancellation.cancel()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@both
def test_an_answer_is_read_as_it_is_written(stub: StubModelServer, connect: Connect) -> None:
    begun, read = threading.Event(), list[str]()
    stub.script(Script(answer=SAID, held=begun))

    def on_text(text: str) -> None:
        read.append(text)
        if not begun.is_set():
            time.sleep(0.1)
            begun.set()  # the rest is written only now

    completion = complete(request_to(connect(stub)), Listening(on_text=on_text))
    assert "".join(read) == completion.text == SAID
    assert len(read) == 4
    assert completion.first_text_ms is not None
    assert completion.first_text_ms <= completion.duration_ms - 100
    assert completion.duration_ms < 30_000
    assert stub.calls()[0].body["stream"] is True


def test_only_what_speaks_openais_protocol_is_asked_to_count_in_its_stream(stub: StubModelServer) -> None:
    complete(request_to(openai_connection(stub)))
    complete(request_to(anthropic_connection(stub)))
    asked = [call.body.get("stream_options") for call in stub.calls()]
    assert asked == [{"include_usage": True}, None]


@both
def test_a_refusal_is_streamed_and_known_as_one(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="refusal"))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert completion.refused
    assert "".join(read) == completion.text == "I can't help with that."


def test_a_server_that_cannot_count_in_its_stream_is_asked_without(stub: StubModelServer) -> None:
    stub.script(Script(mode="no_usage_in_stream", answer=SAID))
    completion = complete(request_to(openai_connection(stub)))
    first, second = stub.calls()
    assert ("stream_options" in first.body, "stream_options" in second.body) == (True, False)
    assert second.body["stream"] is True
    assert (completion.text, completion.attempts, completion.not_accepted) == (SAID, 2, ())
    assert completion.usage is not None
    assert completion.usage.output_tokens is None


@both
def test_a_server_that_does_not_stream_is_asked_without(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="no_stream", answer=SAID))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert "stream" not in stub.calls()[-1].body
    assert (completion.text, completion.attempts, completion.first_text_ms) == (SAID, 2, None)
    assert read == [SAID]
    assert completion.usage is not None
    assert completion.usage.output_tokens == 4


@both
def test_a_server_that_overlooks_the_wish_is_read_in_one_piece(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="in_one_piece", answer=SAID))
    read: list[str] = []
    completion = complete(request_to(connect(stub)), Listening(on_text=read.append))
    assert (completion.text, completion.attempts, read) == (SAID, 1, [SAID])


def test_the_local_model_is_heard_too() -> None:
    read: list[str] = []
    model = ModelName(provider="local", model="extractive-1")
    complete(request_to(LOCAL_CONNECTION, model=model), Listening(on_text=read.append))
    assert read == [SAID]


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
def test_an_answer_that_breaks_off_is_not_asked_for_again_and_what_came_is_kept(
    stub: StubModelServer, connect: Connect, mode: Mode, code: str, words: str, partial: str | None
) -> None:
    stub.script(Script(mode=mode, answer=SAID))
    with pytest.raises(ModelFailed, match=words) as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == code
    assert failure.value.facts.get("partial_text") == partial
    assert "billed" in failure.value.message
    assert len(stub.calls()) == 1


@both
def test_an_answer_in_one_piece_that_breaks_off_is_not_asked_for_again(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="no_stream", times=1))
    stub.script(Script(mode="closed", answer=SAID))
    with pytest.raises(ModelFailed, match="was interrupted"):
        complete(request_to(connect(stub)))
    assert ["stream" in call.body for call in stub.calls()] == [True, False]


@both
def test_the_error_inside_a_stream_is_kept_in_the_providers_own_words(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="error_event", answer=SAID))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(connect(stub)))
    said = failure.value.facts["provider_error"]
    assert (said["message"], said["type"]) == ("Overloaded", "overloaded_error")


@both
def test_an_endless_stream_is_not_read_on(
    stub: StubModelServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "LONGEST_TEXT", 100_000)
    stub.script(Script(mode="endless", answer=SAID))
    with pytest.raises(ModelFailed, match="longer than") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "answer_too_long"
    assert len(failure.value.facts["partial_text"]) == 100_000
    assert len(stub.calls()) == 1


@both
def test_an_answer_too_long_for_a_record_is_none(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="in_one_piece", answer="x" * 1_000_001))
    with pytest.raises(ModelFailed, match="1,000,000 characters") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "answer_too_long"


@pytest.mark.parametrize("mode", ["slow", "silent", "slow_words"])
@both
def test_a_provider_that_falls_silent_times_out_once(
    stub: StubModelServer, connect: Connect, mode: Mode
) -> None:
    stub.script(Script(mode=mode, answer=SAID, seconds=4.0))
    with pytest.raises(ModelFailed, match=r"within 0\.9 seconds") as failure:
        complete(request_to(connect(stub), timeout_seconds=0.9))
    assert failure.value.code == "model_timed_out"
    assert failure.value.facts.get("partial_text") == ("Refunds" if mode == "slow_words" else None)
    assert len(stub.calls()) == 1


@both
def test_an_answer_that_does_not_end_times_out(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="slow_words", answer=SAID * 20, seconds=0.05))
    with pytest.raises(ModelFailed, match=r"not to the end within 0\.9"):
        complete(request_to(connect(stub), whole_seconds=0.9))


@pytest.mark.parametrize("mode", ["slow", "silent", "slow_words", "drip"])
@both
def test_a_call_is_cancelled_at_once_however_silent_its_provider_is(
    stub: StubModelServer, connect: Connect, mode: Mode
) -> None:
    stub.script(Script(mode=mode, answer=SAID, seconds=60.0))
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
def test_what_was_written_before_it_was_cancelled_is_kept(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(answer=SAID, held=threading.Event()))
    cancellation, read = Cancellation(), list[str]()
    cancelled_when(lambda: bool(read), cancellation)
    with pytest.raises(Cancelled) as failure:
        complete(request_to(connect(stub)), Listening(on_text=read.append, cancellation=cancellation))
    assert failure.value.facts["partial_text"] == "".join(read) == "Refunds"


def test_a_call_that_is_cancelled_while_it_waits_to_be_repeated_is_not_repeated(
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
def test_a_call_that_was_cancelled_before_is_not_made_and_cost_nothing(
    stub: StubModelServer, connect: Connect
) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with pytest.raises(Cancelled, match="so it cost nothing") as failure:
        complete(request_to(connect(stub)), Listening(cancellation=cancellation))
    assert failure.value.facts["unsent"] is True
    assert stub.calls() == []


def test_a_call_that_is_cancelled_while_it_connects_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECT_SECONDS", 1.0)  # a connection that nobody answers ends by itself
    cancellation, accepted = Cancellation(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def accept() -> None:  # and never say a word of TLS
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


def test_a_key_stands_in_no_part_of_a_providers_error(stub: StubModelServer) -> None:
    body = f'{{"error": {{"message": "Bad {KEY}", "type": "{KEY}", "param": "{KEY}"}}}}'
    stub.script(Script(mode="error", status=401, body=body))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert KEY not in str(dict(failure.value.facts))


def test_a_providers_error_is_kept_by_its_names(stub: StubModelServer) -> None:
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

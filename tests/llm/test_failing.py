"""Providers that are busy, broken, slow or return invalid data: which calls are retried, and how the others end."""

import time

import pytest

from tests.llm.asking import CONNECTIONS, KEY, Connect, anthropic_connection, openai_connection, request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.pure.errors import ModelFailed
from timemachine.llm.calling import complete


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_busy_provider_is_retried(stub: StubModelServer, connect: Connect, waits: list[float]) -> None:
    stub.script(Script(mode="429_then_ok", answer="At last."))
    completion = complete(request_to(connect(stub)))
    assert (completion.text, completion.attempts) == ("At last.", 2)
    assert len(stub.calls()) == 2
    assert 0 < waits[0] < 1


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_broken_provider_is_tried_three_times_and_then_quoted(
    stub: StubModelServer, connect: Connect, waits: list[float]
) -> None:
    stub.script(Script(mode="500"))
    connection = connect(stub)
    with pytest.raises(
        ModelFailed, match=r"returned 500: The stub broke.* It was attempted 3 times\.$"
    ) as failure:
        complete(request_to(connection))
    assert len(stub.calls()) == 3
    assert len(waits) == 2
    assert failure.value.facts == {
        "provider": connection.protocol,
        "model": f"{connection.protocol}:stub-model",
        "status": 500,
        "retryable": True,
        "provider_error": {"message": "The stub broke.", "type": "stub_error", "request_id": "req_stub"},
        "attempts": 3,
    }


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_the_retry_waits_as_long_as_the_provider_says(
    stub: StubModelServer, connect: Connect, waits: list[float]
) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="3"))
    complete(request_to(connect(stub)))
    assert 3 <= waits[0] < 3.3


def test_a_wait_longer_than_a_worker_can_spare_is_a_failure_with_the_time(
    stub: StubModelServer, waits: list[float]
) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="600"))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert failure.value.facts["retry_after_seconds"] == 600
    assert failure.value.facts["retryable"] is True
    assert waits == []


@pytest.mark.parametrize("endless", ["inf", "1e999", "nan", "-inf", "tomorrow"])
def test_an_invalid_retry_after_is_ignored(stub: StubModelServer, waits: list[float], endless: str) -> None:
    stub.script(Script(mode="error", status=429, retry_after=endless))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert "retry_after_seconds" not in failure.value.facts
    assert len(waits) == 2


REFUSALS = [
    (
        401,
        '{"error": {"message": "Incorrect API key provided"}}',
        "returned 401: Incorrect API key provided. Check",
    ),
    (
        404,
        '{"error": "model stub-model not found"}',
        "returned 404: model stub-model not found. Check the model",
    ),
    (402, '{"message": "No credit."}', "returned 402: No credit. Check the account"),
    (422, '{"detail": [{"msg": "extra"}]}', r'returned 422: \{"msg": "extra"\}'),
    (400, '[{"error": {"message": "Bad key"}}]', "returned 400: Bad key."),
    (403, "<html>  Blocked\n by a proxy</html>", "returned 403: <html> Blocked by a proxy</html>."),
    (418, "", "returned 418: I'm a Teapot."),
    (460, "", "returned 460: no reason given."),
    (
        429,
        '{"error": {"code": "insufficient_quota", "message": "Quota exceeded"}}',
        "returned 429: Quota exceeded.",
    ),
]


@pytest.mark.parametrize(("status", "body", "words"), REFUSALS)
@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_refusal_is_quoted_and_not_retried(
    stub: StubModelServer, connect: Connect, status: int, body: str, words: str
) -> None:
    stub.script(Script(mode="error", status=status, body=body or " "))
    with pytest.raises(ModelFailed, match=words) as failure:
        complete(request_to(connect(stub)))
    assert failure.value.facts["status"] == status
    assert failure.value.facts["retryable"] is False
    assert len(stub.calls()) == 1


def test_a_key_never_appears_in_an_error(stub: StubModelServer) -> None:
    stub.script(Script(mode="error", status=401, body=f'{{"error": {{"message": "Bad key {KEY}"}}}}'))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(openai_connection(stub)))
    assert "Bad key [key]." in failure.value.message
    assert KEY not in repr(request_to(openai_connection(stub)))


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_slow_model_times_out_once(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="slow", seconds=3.0))
    with pytest.raises(ModelFailed, match=r"within 0\.6 seconds") as failure:
        complete(request_to(connect(stub), timeout_seconds=0.6))
    assert failure.value.code == "model_timed_out"
    assert failure.value.facts["retryable"] is True
    assert failure.value.facts["attempts"] == 1
    stub.wait_for_calls(1)
    assert len(stub.calls()) == 1


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_an_answer_sent_byte_by_byte_is_cut_off_in_time(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="drip", seconds=0.05))
    started = time.monotonic()
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(connect(stub), whole_seconds=0.4))
    assert failure.value.code == "model_timed_out"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_an_endless_answer_is_not_read(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="huge"))
    with pytest.raises(ModelFailed, match="longer than") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.facts["retryable"] is False
    assert failure.value.facts["provider"] == connect(stub).protocol


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_redirect_is_not_followed(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="redirect"))
    with pytest.raises(ModelFailed, match="a redirect, which is not followed"):
        complete(request_to(connect(stub)))
    assert len(stub.calls()) == 1


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_an_answer_that_is_not_json_is_reported_as_not_understood(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="garbage"))
    with pytest.raises(ModelFailed, match="cannot be read") as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "model_not_understood"


@pytest.mark.parametrize(
    ("connect", "body"), [(openai_connection, '{"choices": []}'), (anthropic_connection, "{}")]
)
def test_an_answer_without_content_is_reported_as_not_understood(
    stub: StubModelServer, connect: Connect, body: str
) -> None:
    stub.script(Script(mode="error", status=200, body=body))
    with pytest.raises(ModelFailed) as failure:
        complete(request_to(connect(stub)))
    assert failure.value.code == "model_not_understood"


def test_a_server_that_does_not_run_is_reported_as_unreachable(waits: list[float]) -> None:
    with StubModelServer() as stopped:
        connection = openai_connection(stopped)
    with pytest.raises(
        ModelFailed, match=r"cannot be reached: no server is listening there\. .* It was attempted 3 times\.$"
    ) as failure:
        complete(request_to(connection))
    assert failure.value.code == "model_unreachable"
    assert failure.value.facts["attempts"] == 3
    assert failure.value.facts["status"] is None
    assert failure.value.facts["unsent"] is True
    assert "refused" in failure.value.facts["connection_error"]
    assert "127.0.0.1" not in failure.value.message

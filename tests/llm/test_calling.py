"""Calling a model at a server on the loopback."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.llm.asking import CONNECTIONS, KEY, Connect, anthropic_connection, openai_connection, request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.pure.errors import ModelFailed
from timemachine.llm.calling import complete
from timemachine.llm.pure.catalogue import LOCAL_CONNECTION, Connection, ModelName
from timemachine.llm.pure.usage import TokenUsage

OF_HTTP = {
    *("host", "connection", "user-agent", "accept", "accept-encoding", "content-type", "content-length"),
}


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_model_answers_with_its_text_usage_and_raw_body(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(question="How long", answer="Refunds take 14 days."))
    completion = complete(request_to(connect(stub)))
    assert completion.text == "Refunds take 14 days."
    assert completion.usage == TokenUsage(
        input_tokens=13,
        output_tokens=4,
        total_tokens=17,
    )
    assert completion.model == "stub-model"
    assert completion.finish_reason in {"stop", "end_turn"}
    assert completion.response_id in {"chatcmpl-stub-1", "msg_stub_1"}
    assert completion.duration_ms > 0
    assert completion.attempts == 1
    assert completion.language_model
    assert not completion.cut_short
    assert not completion.refused


def test_openai_receives_the_prompt_the_key_and_the_parameters(stub: StubModelServer) -> None:
    completion = complete(request_to(openai_connection(stub), temperature=0, seed=7, max_tokens=50))
    (call,) = stub.calls()
    assert call.path == "/v1/chat/completions"
    assert [message["role"] for message in call.body["messages"]] == ["system", "user"]
    assert (call.body["temperature"], call.body["seed"], call.body["max_completion_tokens"]) == (0, 7, 50)
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert completion.parameters == {"temperature": 0, "seed": 7, "max_tokens": 50}
    assert completion.not_accepted == ()


def test_anthropic_receives_the_system_text_separately_and_always_a_limit(stub: StubModelServer) -> None:
    completion = complete(request_to(anthropic_connection(stub), temperature=0.5, seed=7))
    (call,) = stub.calls()
    assert call.path == "/v1/messages"
    assert call.body["system"] == "Answer from the passages."
    assert [message["role"] for message in call.body["messages"]] == ["user"]
    assert (call.body["temperature"], call.body["max_tokens"]) == (0.5, 8192)
    assert "seed" not in call.body
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert set(call.headers) == {*OF_HTTP, "authorization", "anthropic-version"}
    assert completion.parameters == {"temperature": 0.5, "max_tokens": 8192}
    assert completion.not_accepted == ("seed",)


def test_a_server_receives_the_parameters_under_its_own_names(stub: StubModelServer) -> None:
    connection = Connection(protocol="openai", base_url=f"{stub.url}/v1", seed_parameter="random_seed")
    completion = complete(request_to(connection, seed=3, max_tokens=9))
    (call,) = stub.calls()
    assert (call.body["random_seed"], call.body["max_tokens"]) == (3, 9)
    assert completion.parameters == {"seed": 3, "max_tokens": 9}


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_parameters_not_given_are_not_sent(stub: StubModelServer, connect: Connect) -> None:
    complete(request_to(connect(stub)))
    (call,) = stub.calls()
    assert set(call.body) <= {"model", "messages", "system", "max_tokens", "stream", "stream_options"}


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_the_same_prompt_has_the_same_stub_answer(stub: StubModelServer, connect: Connect) -> None:
    first, second = (complete(request_to(connect(stub))) for _ in range(2))
    assert first.text == second.text
    assert first.response_id != second.response_id


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_refusing_model_gives_an_answer_marked_as_a_refusal(
    stub: StubModelServer, connect: Connect
) -> None:
    stub.script(Script(mode="refusal"))
    completion = complete(request_to(connect(stub)))
    assert completion.refused
    assert completion.text == "I can't help with that."


def test_a_refusal_without_a_text_has_the_provider_s_explanation_as_its_text(stub: StubModelServer) -> None:
    refusal = {
        "content": [],
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "bio", "explanation": "This could do harm."},
    }
    stub.script(Script(mode="error", status=200, body=json.dumps(refusal)))
    completion = complete(request_to(anthropic_connection(stub)))
    assert completion.refused
    assert completion.text == "This could do harm."
    assert completion.usage == TokenUsage()


def test_the_thinking_of_a_model_is_not_part_of_its_answer(stub: StubModelServer) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "14 days."},
    ]
    answer = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    stub.script(Script(mode="error", status=200, body=json.dumps(answer)))
    completion = complete(request_to(openai_connection(stub)))
    assert completion.text == "14 days."
    assert (completion.model, completion.response_id) == (None, None)


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_an_answer_cut_by_its_limit_is_marked(stub: StubModelServer, connect: Connect) -> None:
    stub.script(Script(mode="truncated", answer="Refunds take"))
    completion = complete(request_to(connect(stub)))
    assert completion.cut_short
    assert completion.text == "Refunds take"


@pytest.mark.parametrize("connect", CONNECTIONS)
def test_a_temperature_that_a_model_rejects_is_left_out_and_reported(
    stub: StubModelServer, connect: Connect, waits: list[float]
) -> None:
    stub.script(
        Script(
            mode="error",
            body='{"error": {"message": "`temperature` is deprecated for this model."}}',
            times=1,
        )
    )
    completion = complete(request_to(connect(stub), temperature=0.2, max_tokens=5))
    first, second = stub.calls()
    assert first.body["temperature"] == 0.2
    assert "temperature" not in second.body
    assert completion.parameters == {"max_tokens": 5}
    assert completion.not_accepted == ("temperature",)
    assert completion.attempts == 2
    assert waits == []


def test_a_model_that_rejects_two_parameters_in_turn_is_called_without_both(
    stub: StubModelServer,
) -> None:
    for name in ("temperature", "seed"):
        stub.script(
            Script(
                mode="error",
                status=422,
                times=1,
                body=f'{{"error": {{"message": "Unsupported parameter: {name}"}}}}',
            )
        )
    completion = complete(request_to(openai_connection(stub), temperature=0, seed=1))
    assert set(completion.not_accepted) == {"temperature", "seed"}
    assert completion.parameters == {}


def test_a_temperature_out_of_range_is_the_caller_s_error(stub: StubModelServer) -> None:
    stub.script(Script(mode="error", body='{"error": {"message": "temperature: must be at most 1"}}'))
    with pytest.raises(ModelFailed, match="at most 1"):
        complete(request_to(openai_connection(stub), temperature=1.5))
    assert len(stub.calls()) == 1


def test_the_operator_s_account_at_openai_does_not_affect_other_servers(
    stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    request = request_to(openai_connection(stub), model=ModelName(provider="mine", model="m"))
    complete(request)
    (call,) = stub.calls()
    assert set(call.headers) == {*OF_HTTP, "authorization"}
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert "openai-organization" not in call.headers
    complete(replace(request, model=ModelName(provider="openai", model="m")))
    assert stub.calls()[1].headers["openai-organization"] == "org-secret"


def test_a_server_without_a_key_is_called_without_one(
    stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete(request_to(replace(openai_connection(stub), api_key=None)))
    assert KEY not in str(stub.calls()[0].headers)


USAGES: list[tuple[Connect, dict[str, Any], TokenUsage]] = [
    (
        openai_connection,
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        TokenUsage(
            input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=60, reasoning_tokens=5
        ),
    ),
    (
        anthropic_connection,
        {
            "input_tokens": 30,
            "output_tokens": 20,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 10,
            "output_tokens_details": {"thinking_tokens": 4},
        },
        TokenUsage(
            input_tokens=100,
            output_tokens=20,
            total_tokens=120,
            cached_tokens=60,
            cache_write_tokens=10,
            reasoning_tokens=4,
        ),
    ),
]


@pytest.mark.parametrize(("connect", "usage", "expected"), USAGES)
def test_input_tokens_count_everything_that_was_read_at_both_providers(
    stub: StubModelServer, connect: Connect, usage: dict[str, Any], expected: TokenUsage
) -> None:
    stub.script(Script(usage=usage))
    assert complete(request_to(connect(stub))).usage == expected


def test_the_local_model_quotes_the_passages_without_a_language_model() -> None:
    completion = complete(
        request_to(LOCAL_CONNECTION, model=ModelName(provider="local", model="extractive-1"))
    )
    assert completion.text == "Refunds take 14 days."
    assert not completion.language_model
    assert completion.usage is None
    assert completion.parameters == {"sentences": 1}
    assert (completion.model, completion.finish_reason, completion.response_id) == (
        "extractive-1",
        None,
        None,
    )


def test_the_http_client_is_imported_only_when_called() -> None:
    program = "import sys, timemachine.llm.calling; print({'httpx2', 'django'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

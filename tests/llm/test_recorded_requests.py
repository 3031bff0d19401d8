"""Sending a recorded request to a model: with its tools and their results, in the form of each API."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.llm.asking import CONNECTIONS, Connect
from tests.stub_model_server import Script, StubModelServer
from timemachine.llm.calling import complete
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, LOCAL_CONNECTION, Connection, ModelName
from timemachine.llm.pure.completion import Completion, recorded_request
from timemachine.llm.pure.requests.neutral import (
    Message,
    Parameters,
    Request,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)

REQUEST = Request(
    system=(Text("Be brief."),),
    messages=(
        Message(role="user", parts=(Text("What does x say?"),)),
        Message(
            role="assistant", parts=(Text("I look."), ToolCall(id="a", name="read", arguments={"path": "x"}))
        ),
        Message(role="tool", parts=(ToolResult(call_id="a", parts=(Text("See y."),)),)),
    ),
    tools=(Tool(name="read", description="Read a file", schema={"type": "object"}),),
    parameters=Parameters(temperature=0.5, max_tokens=90),
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (("read", {"path": "y"}), ("list", {}))

both = pytest.mark.parametrize("connect", CONNECTIONS)


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        yield server


def sent(connection: Connection, request: Request = REQUEST, **others: float) -> Completion:
    model = ModelName(provider=connection.protocol, model="stub-model")
    return complete(recorded_request(model, connection, request, **others))  # type: ignore[arg-type]


@both
@pytest.mark.parametrize("mode", ["ok", "no_stream"])
def test_the_calls_in_an_answer_are_read_streamed_or_not(
    stub: StubModelServer, connect: Connect, mode: str
) -> None:
    stub.script(Script(answer="I look at y.", tools=CALLS, mode=mode))  # type: ignore[arg-type]
    completion = sent(connect(stub))
    calls = [part for part in completion.parts if isinstance(part, ToolCall)]
    assert completion.text == "I look at y."
    assert [(call.name, call.arguments) for call in calls] == list(CALLS)
    assert completion.finish_reason in {"tool_calls", "tool_use"}


def test_openai_gets_the_request_in_its_form(stub: StubModelServer) -> None:
    sent(CONNECTIONS[0](stub))
    body = stub.calls()[0].body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"path": "x"}'}
    assert body["tools"][0]["function"]["name"] == "read"
    assert (body["temperature"], body["max_completion_tokens"]) == (0.5, 90)


def test_anthropic_gets_the_request_in_its_form(stub: StubModelServer) -> None:
    sent(CONNECTIONS[1](stub))
    body = stub.calls()[0].body
    assert body["system"] == "Be brief."
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "a"
    assert (body["temperature"], body["max_tokens"]) == (0.5, 90)


@both
def test_other_parameters_replace_the_recorded_ones(stub: StubModelServer, connect: Connect) -> None:
    sent(connect(stub), temperature=0.0, max_tokens=5)
    body = stub.calls()[0].body
    assert body["temperature"] == 0
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 5


def test_what_a_provider_does_not_know_is_left_out_and_listed(stub: StubModelServer) -> None:
    thought = Message(
        role="assistant", parts=(Thinking(provider="anthropic", text="hm", signature="s"), Text("Yes."))
    )
    messages = (*REQUEST.messages, thought, Message(role="user", parts=(Text("Sure?"),)))
    completion = sent(CONNECTIONS[0](stub), Request(messages=messages))
    assert completion.dropped
    assert "hm" not in str(stub.calls()[0].body)


def test_the_local_model_is_asked_the_last_message_over_what_came_before() -> None:
    request = Request(
        messages=(
            Message(role="user", parts=(Text("Read x."),)),
            Message(role="assistant", parts=(ToolCall(id="a", name="read", arguments={}),)),
            Message(role="tool", parts=(ToolResult(call_id="a", parts=(Text("Refunds take 14 days."),)),)),
            Message(role="user", parts=(Text("How long do refunds take?"),)),
        )
    )
    model = ModelName(provider=LOCAL, model="extractive-1")
    asked = recorded_request(model, LOCAL_CONNECTION, request)
    assert (asked.question, asked.passages) == (
        "How long do refunds take?",
        ("Read x.", "Refunds take 14 days."),
    )
    assert "14 days" in complete(asked, Listening()).text

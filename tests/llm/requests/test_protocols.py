"""A request is written, and messages are read, in the form of the API that the model's server has."""

import pytest

from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.requests.neutral import Message, Parameters, Request, Text
from timemachine.llm.pure.requests.protocols import body_of, messages_from

SAID = Message(role="user", parts=(Text("Hello"),))


@pytest.mark.parametrize("model", ["openai:gpt-4o", "anthropic:claude-sonnet-5", "mine:llama"])
def test_messages_come_back_from_the_api_of_the_model(model: str) -> None:
    name = ModelName.of(model)
    connection = Connection(protocol=name.protocol, base_url="http://host", api_key=None)
    body = body_of(Request(messages=(SAID,)), name, connection)
    assert messages_from(body["messages"], name) == (SAID,)


def test_parameters_have_the_names_of_the_server() -> None:
    name = ModelName.of("mine:llama")
    connection = Connection(
        protocol="openai",
        base_url="http://host",
        api_key=None,
        limit_parameter="max_tokens",
        seed_parameter=None,
    )
    body = body_of(Request(messages=(SAID,), parameters=Parameters(max_tokens=5, seed=1)), name, connection)
    assert (body["max_tokens"], "seed" in body) == (5, False)

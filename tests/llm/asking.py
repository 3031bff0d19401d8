"""Requests to the stub on the loopback, for the tests of `llm`."""

from collections.abc import Callable
from typing import Any

from tests.stub_model_server import StubModelServer
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.completion import Message, ModelRequest

KEY = "sk-test-0123456789"
PROMPT = (
    Message(role="system", content="Answer from the passages."),
    Message(role="user", content="Refunds take 14 days.\n\nHow long do refunds take?"),
)


def openai_connection(stub: StubModelServer) -> Connection:
    """Return the stub as OpenAI."""
    return Connection(
        protocol="openai",
        base_url=f"{stub.url}/v1",
        api_key=KEY,
        limit_parameter="max_completion_tokens",
        seed_parameter="seed",
    )


def anthropic_connection(stub: StubModelServer) -> Connection:
    """Return the stub as Anthropic."""
    return Connection(protocol="anthropic", base_url=stub.url, api_key=KEY, seed_parameter=None)


def request_to(connection: Connection, **changes: Any) -> ModelRequest:
    """Return a request over the connection, with a question, a passage and a prompt."""
    stated: dict[str, Any] = {
        "model": ModelName(provider=connection.protocol, model="stub-model"),
        "connection": connection,
        "question": "How long do refunds take?",
        "passages": ("Refunds take 14 days.",),
        "messages": PROMPT,
        "timeout_seconds": 10.0,
    }
    return ModelRequest(**{**stated, **changes})


CONNECTIONS = [openai_connection, anthropic_connection]
Connect = Callable[[StubModelServer], Connection]

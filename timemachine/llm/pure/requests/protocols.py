"""Requests and messages in the form of the API that a model's server has."""

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.requests import anthropic_messages, openai_chat
from timemachine.llm.pure.requests.neutral import ANTHROPIC, Message, Request


def body_of(request: Request, model: ModelName, connection: Connection) -> JsonObject:
    """Return the body of a request to the model."""
    if connection.protocol == ANTHROPIC:
        return anthropic_messages.write(request).body
    return openai_chat.write(
        request,
        provider=model.provider,
        limit_parameter=connection.limit_parameter,
        seed_parameter=connection.seed_parameter,
    ).body


def messages_from(value: object, model: ModelName) -> tuple[Message, ...]:
    """Read a list of messages of the model's API. Raises `RequestError` if it is not one."""
    if model.protocol == ANTHROPIC:
        return anthropic_messages.read_messages(value)
    return openai_chat.read_messages(value, provider=model.provider)

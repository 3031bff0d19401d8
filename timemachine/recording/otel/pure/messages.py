"""Input and output of a span: messages, arguments and results, in any of the conventions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.otel.pure.attributes import Attributes, parsed_json
from timemachine.recording.otel.pure.span import Span

GEN_AI: Final = "gen_ai."
"""Begins the names of the events and attributes of the GenAI conventions."""
_INPUT_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_OUTPUT_EVENT: Final = "gen_ai.choice"
_DETAILS: Final = "gen_ai.client.inference.operation.details"
MESSAGE_EVENTS: Final = frozenset({*_INPUT_EVENTS, _OUTPUT_EVENT, _DETAILS})
"""Names of the events of the conventions that have messages."""
_LISTED_EVENTS: Final = ("events", "all_messages_events")
"""Lists of the same events in an attribute, by earlier versions of Pydantic AI and Logfire."""
_WHOLE_EVENTS: Final = {
    "gen_ai.content.prompt": "gen_ai.prompt",
    "gen_ai.content.completion": "gen_ai.completion",
}
"""Events of the conventions before 1.28, with all messages in one attribute."""
_OF_THE_SENDER: Final = (
    "gen_ai.system",
    "gen_ai.provider.name",
    "event.name",
    "gen_ai.message.index",
    "gen_ai.agent.name",
)
_IN: Final = (
    "gen_ai.retrieval.query.text",
    "gen_ai.memory.query.text",
    "reranker.query",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "traceloop.entity.input",
    "input.value",
    "gen_ai.prompt",
    "tool.parameters",
    "ai.toolCall.args",
    "ai.prompt",
    "ai.values",
    "ai.value",
    "tool_arguments",
    "request_data",
)
_OUT: Final = (
    "gen_ai.memory.records",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "output.value",
    "gen_ai.completion",
    "ai.toolCall.result",
    "ai.response.object",
    "tool_response",
    "final_result",
    "response_data",
)
_ADK_IN: Final = ("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.llm_request")
_ADK_OUT: Final = ("gcp.vertex.agent.tool_response", "gcp.vertex.agent.llm_response")


def input_of(span: Span, attributes: Attributes) -> Any:
    """Return the messages that a model received, or other input; None if not recorded. Messages that a tool received
    are its arguments."""
    details = _details(span)
    arguments = attributes.value("gen_ai.tool.call.arguments")
    return (
        arguments
        or attributes.value("gen_ai.input.messages")
        or details.value("gen_ai.input.messages")
        or attributes.value("ai.prompt.messages")
        or _messages(attributes.listed("llm.input_messages"))
        or attributes.listed("gen_ai.prompt")
        or [
            _of_event(each, _INPUT_EVENTS[name])
            for name, each in _message_events(span, attributes)
            if name in _INPUT_EVENTS
        ]
        or _whole_event(span, "gen_ai.content.prompt")
        or _first(attributes, _IN, _ADK_IN)
    )


def output_of(span: Span, attributes: Attributes) -> Any:
    """Return the output: the text if it is one message of text only, else the messages or the value."""
    if (result := attributes.value("gen_ai.tool.call.result")) is not None:
        return result
    messages = (
        attributes.value("gen_ai.output.messages")
        or _details(span).value("gen_ai.output.messages")
        or _ai_sdk_answer(attributes)
        or _messages(attributes.listed("llm.output_messages"))
        or attributes.listed("gen_ai.completion")
        or [
            _of_event(each, "assistant")
            for name, each in _message_events(span, attributes)
            if name == _OUTPUT_EVENT
        ]
        or _whole_event(span, "gen_ai.content.completion")
    )
    if messages:
        text = _only_text(messages)
        return messages if text is None else text
    return _first(attributes, _OUT, _ADK_OUT)


def _message_events(span: Span, attributes: Attributes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and attributes of the span's events, and of those that an attribute lists."""
    for each in span.events:
        yield each.name, each.attributes
    listed = attributes.value(*_LISTED_EVENTS)
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict):
            yield str(each.get("event.name")), each


def _whole_event(span: Span, name: str) -> Any:
    found = (
        Attributes(each.attributes).value(_WHOLE_EVENTS[name]) for each in span.events if each.name == name
    )
    return next(found, None)


def _first(attributes: Attributes, names: Sequence[str], of_adk: Sequence[str]) -> Any:
    """Return the first value. Google's ADK writes an empty object for what a span does not have, or may not show."""
    found = attributes.value(*names)
    if found is not None:
        return found
    return next((value for name in of_adk if (value := attributes.value(name))), None)


def _details(span: Span) -> Attributes:
    """Return the attributes of the events with messages together; some senders write one for the input and one for the
    output."""
    found: JsonObject = {}
    for each in span.events:
        if each.name == _DETAILS:
            found = {**each.attributes, **found}
    return Attributes(found)


def _ai_sdk_answer(attributes: Attributes) -> list[Any]:
    """Return the answer that Vercel's AI SDK recorded, with the tool calls in it, as one message."""
    text = attributes.text("ai.response.text")
    calls = attributes.value("ai.response.toolCalls")
    if text is None and not calls:
        return []
    return [{"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}]


def _messages(listed: Sequence[Any]) -> list[Any]:
    """Remove the wrapper that OpenInference puts around each message."""
    return [
        each["message"] if isinstance(each, dict) and isinstance(each.get("message"), dict) else each
        for each in listed
    ]


def _of_event(attributes: Mapping[str, Any], role: str) -> JsonObject:
    """Return the message of an event, with JSON in its texts parsed. The message of a choice is the message itself."""
    found = {name: parsed_json(value) for name, value in attributes.items() if name not in _OF_THE_SENDER}
    message = found.pop("message", None)
    if isinstance(message, dict):
        found = {**found, **message}
    elif message is not None:
        found["content"] = message
    return {"role": role, **found}


def _only_text(messages: Any) -> str | None:
    """Return the text of a single message that has nothing else."""
    if not isinstance(messages, list) or len(messages) != 1 or not isinstance(messages[0], dict):
        return None
    message = messages[0]
    if any(message.get(name) for name in ("tool_calls", "function_call", "refusal")):
        return None
    parts = message.get("parts", message.get("content"))
    if isinstance(parts, list):
        part = parts[0] if len(parts) == 1 and isinstance(parts[0], dict) else {}
        text = part.get("content", part.get("text")) if part.get("type", "text") == "text" else None
    else:
        text = parts
    return text if isinstance(text, str) and text else None

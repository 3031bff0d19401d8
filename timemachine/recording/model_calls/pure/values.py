"""Read what steps recorded as parts of messages, in whatever form their source writes it."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.content import canonical_json
from timemachine.llm.pure.requests.neutral import Message, Part, Text
from timemachine.llm.pure.requests.recorded import read_messages

_TEXTS: Final = ("text", "content", "message", "answer", "question", "query")
"""Where records hold the text that was written, the first that is there."""
_CALLS: Final = ("tool_calls", "tool_requests", "function_call")


def messages_of(value: Any) -> tuple[Message, ...]:
    """Return a recorded list of messages, empty for any other value."""
    return read_messages(value) or ()


def answer_parts(value: Any) -> tuple[Part, ...]:
    """Return the parts of a recorded answer: text, calls, thinking. Empty if it holds none of them."""
    if isinstance(value, Mapping):
        content = next((value[name] for name in _TEXTS if value.get(name)), None)
        calls = next((value[name] for name in _CALLS if value.get(name)), None)
        if content is None and calls is None:
            return _of_assistant(value)
        items = _of_assistant(content) if isinstance(content, list) else ()
        message = {"role": "assistant", "content": content} | ({"tool_calls": calls} if calls else {})
        return items or _of_assistant(message) or content_parts(content)
    return _of_assistant(value) if isinstance(value, list) else content_parts(value)


def _of_assistant(value: Any) -> tuple[Part, ...]:
    messages = read_messages(value if isinstance(value, list) else [value]) or ()
    return tuple(part for message in messages if message.role == "assistant" for part in message.parts)


def content_parts(value: Any) -> tuple[Part, ...]:
    """Return the parts of recorded content. A value that is no content in any known form is its JSON as text.

    OpenTelemetry's parts have their text in `content`, those of the APIs elsewhere.
    """
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, list):
        field = (
            "parts" if any(isinstance(each, Mapping) and "content" in each for each in value) else "content"
        )
        messages = read_messages([{"role": "user", field: value}]) or ()
        parts = tuple(part for message in messages for part in message.parts)
        if parts:
            return parts
    if isinstance(value, Mapping):
        text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
        if text is not None and len(value) == 1:
            return (Text(text),)
    return (Text(canonical_json(value).decode()),)

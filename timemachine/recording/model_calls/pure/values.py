"""Read what steps recorded as parts of messages, in whatever form their source writes it."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.content import canonical_json
from timemachine.llm.pure.requests.neutral import Message, Part, Text
from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.llm.pure.requests.recorded_answers import read_answer

_TEXTS: Final = ("text", "content", "message", "answer", "question", "query")
"""Where records hold the text that was written, the first that is there."""


def messages_of(value: Any) -> tuple[Message, ...]:
    """Return a recorded list of messages, empty for any other value."""
    return read_messages(value) or ()


def answer_parts(value: Any) -> tuple[Part, ...]:
    """Return the parts of a recorded answer: text, calls, thinking. Empty if it is in no known form."""
    answer = read_answer(value)
    return () if answer is None else answer.parts


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

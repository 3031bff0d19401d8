"""Images, documents and recordings in the results of tools, for APIs whose results have only text.

OpenAI's chat completions take them in a message of the user:
https://platform.openai.com/docs/api-reference/chat/create (messages of the role `tool`)
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from timemachine.llm.pure.requests.neutral import Media, Message, Part, Text, ToolResult
from timemachine.llm.pure.requests.notes import Notes

_WORDS: Final = {"image": "An image", "document": "A document", "audio": "A recording"}


def with_moved_media(messages: Sequence[Message], notes: Notes) -> Iterator[Message]:
    """Yield the messages. What is not text in results follows them in a message of the user, which names the results;
    each such part is noted.
    """
    moved: list[Part] = []
    for message in messages:
        if moved and message.role != "tool":
            yield Message(role="user", parts=tuple(moved))
            moved = []
        if message.role == "tool":
            moved += [part for result in message.results for part in _moved(result, notes)]
            message = replace(message, parts=tuple(map(_without_media, message.parts)))  # noqa: PLW2901
        yield message
    if moved:
        yield Message(role="user", parts=tuple(moved))


def _is_moved(part: Part) -> bool:
    return isinstance(part, Media) and part.text is None


def _moved(result: ToolResult, notes: Notes) -> Iterator[Part]:
    media = [part for part in result.parts if isinstance(part, Media) and _is_moved(part)]
    if media:
        yield Text(f"From the result of {result.name or 'the call'} {result.call_id}".rstrip() + ":")
    for part in media:
        notes.note(f"{_WORDS[part.kind]} in a tool result is sent in a user message after it.")
        yield part


def _without_media(part: Part) -> Part:
    if not isinstance(part, ToolResult):
        return part
    return replace(part, parts=tuple(each for each in part.parts if not _is_moved(each)))

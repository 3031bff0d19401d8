"""A request as plain text: a prompt is one message of the user, and any request is a transcript for people."""

from collections.abc import Iterator, Mapping
from typing import Final

from timemachine.llm.pure.requests.json_values import RequestError, as_text
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Part,
    Refusal,
    Request,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.notes import label

_HEADINGS: Final[Mapping[str, str]] = {
    "system": "System",
    "developer": "Developer",
    "user": "User",
    "assistant": "Assistant",
    "tool": "Tool",
}


def read(prompt: object) -> Request:
    """Read a prompt: one message of the user.

    Raises:
        RequestError: It is not text.
    """
    if not isinstance(prompt, str):
        raise RequestError("The prompt is not text.")
    return Request(messages=(Message(role="user", parts=(Text(prompt),)),) if prompt else ())


def write(request: Request) -> str:
    """Write a prompt as it is, and any other request as a transcript."""
    messages = request.messages
    alone = len(messages) <= 1 and not request.system and not request.tools
    if alone and all(each.role == "user" and _is_text(each) for each in messages):
        return messages[0].text if messages else ""
    return transcript(request)


def _is_text(message: Message) -> bool:
    return all(isinstance(part, Text) for part in message.parts)


def transcript(request: Request) -> str:
    """Write a request for people: each message under its role, calls and results in words.

    Data of media and signatures are left out. This form cannot be read back.
    """
    blocks = [_block("System", request.system)] if request.system else []
    blocks += [_block(_heading(message), message.parts) for message in request.messages]
    return "\n\n".join(blocks)


def _heading(message: Message) -> str:
    role = _HEADINGS[message.role]
    return role if message.name is None else f"{role} ({message.name})"


def _block(heading: str, parts: tuple[Part, ...]) -> str:
    return "\n".join([f"{heading}:", *_lines(parts)])


def _lines(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | Refusal):
            yield part.text
        elif isinstance(part, Thinking):
            yield f"[thinking] {part.text}" if part.text else "[thinking, not readable]"
        elif isinstance(part, ToolCall):
            yield f"[call {part.id or 'without ID'}] {part.name} {_arguments(part)}"
        elif isinstance(part, ToolResult):
            error = ", an error" if part.is_error else ""
            yield "\n".join(
                [f"[result of {part.call_id or 'a call without ID'}{error}]", *_lines(part.parts)]
            )
        else:
            yield _named(part)


def _arguments(call: ToolCall) -> str:
    return as_text(call.arguments) if call.raw is None else call.raw


def _named(part: Media | Other) -> str:
    if isinstance(part, Other):
        return f"[{part.value.get('type', 'a part')}, only for {label(part.provider)}]"
    if part.text is not None:
        return "\n".join([f"[document {part.name or 'without a name'}]", part.text])
    place = part.name or part.url or part.file_id or part.media_type or "in the request"
    return f"[{part.kind} {place}]"

"""Prompts that a person typed while the agent was working.

Such a prompt waits in a queue: a line `queue-operation` with `enqueue` and the text, later one with `dequeue` or `remove`. A
dequeued prompt follows as an ordinary line of the user. A prompt that the running turn absorbed (`remove`, since 2.1.246 with
the reason `absorbed_mid_turn`) follows as an `attachment` of type `queued_command` and as no line of the user; some versions
write the attachment only, or only the operations. With `popAll` the person took the prompts back. Notifications of background
tasks and messages of other agents take the same way with an `origin` or `commandMode` of their own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.values import record_at, text_of_content

_ABSORBED: Final = (None, "absorbed_mid_turn")
_NOTIFICATION: Final = "<task-notification>"
_COMMAND: Final = re.compile(
    r"\s*<(command-(name|message|args)|local-command-(stdout|stderr|caveat)|bash-(input|stdout|stderr))>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """What was typed ahead, by the number of the line that hands it to the agent.

    `delivered` are attachments that are a message of the user. `only_here` are operations after which the prompt appears
    nowhere else. `repeated` are lines of the user, or attachments, that repeat a prompt handed over just before.
    """

    delivered: dict[int, Any] = field(default_factory=dict)
    only_here: dict[int, Any] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)


@dataclass(slots=True, kw_only=True)
class _Waiting:
    text: str
    content: Any
    arrived: bool = False


def queued_in(lines: Sequence[Line]) -> Queued:
    """Return the queued prompts of one session's lines."""
    found = Queued()
    waiting: list[_Waiting] = []
    taken: list[tuple[Line, _Waiting]] = []
    said: dict[str, str] = {}
    for line in lines:
        record = line.record
        if record.get("isSidechain") is True:
            continue
        match record["type"]:
            case "queue-operation":
                _operate(line, waiting, taken)
            case "assistant":
                found.only_here.update((op.number, each.content) for op, each in taken if not each.arrived)
                taken.clear()
                said.clear()
            case "attachment" | "user":
                _arrive(line, found, [*(each for _, each in taken), *waiting], said)
    return found


def is_by_a_person(record: JsonObject) -> bool:
    """Return whether the origin of a line or an attachment is a person, which is so if none is recorded."""
    kind = record_at(record, "origin").get("kind", "human")
    return bool(kind == "human" and record.get("commandMode") != "task-notification")


def _operate(line: Line, waiting: list[_Waiting], taken: list[tuple[Line, _Waiting]]) -> None:
    operation, content = line.record.get("operation"), line.record.get("content")
    text = _text(content)
    if operation == "enqueue":
        if text and is_by_a_person(line.record) and not _is_notification(text):
            waiting.append(_Waiting(text=text, content=content))
    elif operation == "popAll":
        waiting.clear()
    elif operation in {"dequeue", "remove"} and waiting:
        same = [each for each in waiting if each.text == text]
        if text and not same:
            return
        one = (same or waiting)[0]
        waiting.remove(one)
        if operation == "dequeue" or line.record.get("reason") in _ABSORBED:
            taken.append((line, one))


def _arrive(line: Line, found: Queued, expected: Sequence[_Waiting], said: dict[str, str]) -> None:
    """Note a prompt that is handed to the agent: by a line of the user, or by an attachment."""
    kind = line.record["type"]
    content = _prompt(line.record)
    text = _text(content)
    if text and said.get(text, kind) != kind and not holds_result(content):
        found.repeated.add(line.number)
        del said[text]
        return
    if text:
        said[text] = kind
        one = next((each for each in expected if not each.arrived and _hands_over(text, each.text)), None)
        if one is not None:
            one.arrived = True
    if kind == "attachment" and content:
        found.delivered[line.number] = content


def _prompt(record: JsonObject) -> Any:
    """Return what a person typed, of a line of the user or an attachment; None if no person typed it."""
    message = record_at(record, "attachment" if record["type"] == "attachment" else "message")
    if record["type"] == "attachment":
        typed = message.get("type") == "queued_command" and is_by_a_person(message)
        content = message.get("prompt")
    else:
        content = message.get("content")
        typed = record.get("isMeta") is not True and is_by_a_person(record)
    return content if typed and not _is_notification(_text(content)) else None


def _hands_over(text: str, prompt: str) -> bool:
    """Return whether a text hands over a prompt. A command follows as tags with its name."""
    name = prompt.split(maxsplit=1)[0]
    return text == prompt or (name.startswith("/") and f"<command-name>{name}</command-name>" in text)


def tag_of(text: str) -> str | None:
    """Return the tag of a text that nobody typed like this: a command, or a notification of a task in the background."""
    if _COMMAND.match(text):
        return "command"
    return "meta" if _is_notification(text) else None


def _is_notification(text: str) -> bool:
    return text.startswith(_NOTIFICATION)


def holds_result(content: Any) -> bool:
    """Return whether the content of a user's line holds the result of a tool."""
    blocks = content if isinstance(content, list) else []
    return any(record_at(block).get("type") == "tool_result" for block in blocks)


def _text(content: Any) -> str:
    return (text_of_content(content) or "").strip()

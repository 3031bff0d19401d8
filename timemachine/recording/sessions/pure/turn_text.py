"""Render a recorded step as text for a prompt, and as chat messages.

The input of a model call is rendered only from after the model's own last message: what precedes it was rendered with
earlier steps.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject

LONGEST_COUNTED: Final = 16_384
"""Turns with more bytes are estimated instead of counted in tokens: counting takes about a second per half megabyte."""
_CHAT_ROLES: Final = {
    "agent": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_OF_THE_AGENT: Final = {"tool_call", "put", "find", "memory_op"}
"""Kinds of steps that are the agent's own actions. Any other step that is not a message is input to the agent."""
_KINDS: Final = {"llm_call": "model", "tool_call": "tool", "tool_result": "result of", "memory_op": "memory"}
ANSWER: Final = "→ "
"""Precedes an answer in a text that has its question, too."""
_TEXT_FIELDS: Final = ("content", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """That a step was deleted: when, by whom and why. Its place stays."""

    at: datetime
    by: str
    reason: str

    @property
    def moment(self) -> str:
        """The text in its place for outside readers such as model providers: `deleted 2026-11-23 17:05 UTC`. The project
        also sees who and why."""
        return f"deleted {self.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

    def as_json(self) -> dict[str, str]:
        """Return the deletion as JSON."""
        return {"at": written(self.at), "by": self.by, "reason": self.reason}


class Turn(NamedTuple):
    """The parts of a recorded step that are rendered. `input` and `output` are the recorded values, `error` is type and
    message.

    A `copied` turn happened in another session. A `deleted` turn has nothing else.
    """

    sequence: int
    kind: str
    role: str | None = None
    agent: str | None = None
    name: str | None = None
    tool: str | None = None
    model: str | None = None
    significance: str | None = None
    input: Any = None
    output: Any = None
    error: tuple[str | None, str | None] = (None, None)
    copied: bool = False
    deleted: Deleted | None = None


def text_of(turn: Turn) -> str:
    """Return one step as text: number, speaker or action, `copied` if it is, significance unless it is `normal`, and content."""
    significance = f", {turn.significance}" if turn.significance not in {None, "normal"} else ""
    copied = ", copied" if turn.copied else ""
    return f"[{turn.sequence}] {who_of(turn)}{copied}{significance}: {content_of(turn)}"


def messages_of(turn: Turn) -> list[dict[str, str]]:
    """Return the step as chat messages for any model: roles `system`, `user` and `assistant`, and text.

    What the agent did is an assistant message, what it received a user message. A step without text gives no message.
    """
    found = [(role, text) for role, text in _spoken(turn) if text]
    return [{"role": role, "content": text} for role, text in found]


def omission_mark(turns: int) -> str:
    """Return the mark for omitted turns."""
    return f"[{turns:,} turn{'s' if turns != 1 else ''} left out]"


def paragraph(text: str) -> str:
    """Return a turn or mark as part of a longer text. Tokens are counted for this form."""
    return f"{text}\n\n"


def _spoken(turn: Turn) -> Iterator[tuple[str, str]]:
    if turn.kind == "message":
        yield _CHAT_ROLES.get(turn.role or "", "user"), content_of(turn)
    elif turn.deleted is not None:
        yield "user", f"{who_of(turn)}: {content_of(turn)}"
    elif turn.kind == "ask":
        yield "user", _written(turn.input)
        yield "assistant", _written(turn.output) if turn.error == (None, None) else _failed(turn)
    elif turn.kind == "llm_call":
        for message in _given(turn.input):
            yield _CHAT_ROLES.get(str(message.get("role", "")), "user"), message_text(message)
        yield "assistant", _joined(message_text(turn.output), _failed(turn))
    else:
        yield "assistant" if turn.kind in _OF_THE_AGENT else "user", f"{who_of(turn)}: {content_of(turn)}"


def who_of(turn: Turn) -> str:
    """Return who speaks, or what is done."""
    if turn.kind == "message":
        return turn.role or "message"
    named = None if turn.deleted else _named(turn)
    return " ".join(filter(None, (_KINDS.get(turn.kind, turn.kind), named)))


def _named(turn: Turn) -> str | None:
    named = turn.tool or turn.name if turn.kind in {"tool_call", "tool_result"} else turn.name
    return named or (turn.model if turn.kind == "llm_call" else None)


def content_of(turn: Turn) -> str:
    """Return the text of a turn: message, question, answer and error."""
    if turn.deleted is not None:
        return f"[{turn.deleted.moment}]"
    if turn.kind == "message":
        return _joined(_written(turn.input) if turn.output is None else _written(turn.output), _failed(turn))
    if turn.kind == "llm_call":
        return content_with(turn, message_text(turn.output))
    return _joined(_answered(_written(turn.input), _written(turn.output)), _failed(turn))


def content_with(call: Turn, answer: str) -> str:
    """Return the text of a model call with this text as its answer."""
    question = "\n".join(filter(None, (message_text(each) for each in _given(call.input))))
    return _joined(_answered(question, answer), _failed(call))


def _answered(question: str, answer: str) -> str:
    return f"{question}\n{ANSWER}{answer}" if question and answer else question or answer


def _failed(turn: Turn) -> str:
    error = ": ".join(filter(None, turn.error))
    return f"! {error}" if error else ""


def _joined(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _given(value: Any) -> list[JsonObject]:
    """Return the messages of a call after the model's own last one; any other input as one message."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        return [] if value is None else [{"role": "user", "content": value}]
    own = [place for place, each in enumerate(messages) if each.get("role") == "assistant"]
    return messages[own[-1] + 1 :] if own else messages


def message_text(value: Any) -> str:
    """Return the text of a message or of its parts; other values as JSON."""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return "\n".join(filter(None, map(message_text, value)))
    if isinstance(value, dict):
        found = next((value[name] for name in _TEXT_FIELDS if isinstance(value.get(name), str | list)), None)
        rest = {name: each for name, each in value.items() if name == "tool_calls" and each}
        if found is not None or rest:
            return _joined("" if found is None else message_text(found), _written(rest or None))
    return _written(value)


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

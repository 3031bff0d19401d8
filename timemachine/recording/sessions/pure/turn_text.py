"""A recorded step as words for a prompt, and as messages of a chat. Pure.

What a call of a model was given is told from behind the last thing that the model itself had said: what stands before that was told with
the steps before.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from timemachine.core.pure.clock import written

LONGEST_COUNTED: Final = 16_384
"""Turns of more bytes than that are not counted in tokens, but estimated: to count one takes a second for each half megabyte or so."""
_CHAT_ROLES: Final = {
    "agent": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_OF_THE_AGENT: Final = {"tool_call", "put", "find", "memory_op"}
"""Kinds of steps that say what the agent did; whatever else is no message is told to the agent."""
_KINDS: Final = {"llm_call": "model", "tool_call": "tool", "tool_result": "result of", "memory_op": "memory"}
_SAID: Final = ("content", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """That a step was deleted: when, by whom and why. Its place stays."""

    at: datetime
    by: str
    reason: str

    @property
    def moment(self) -> str:
        """What stands in its place where others may read it, a provider of models: `deleted 2026-11-23 17:05 UTC`; the project reads by whom and why, too."""
        return f"deleted {self.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

    def as_json(self) -> dict[str, Any]:
        """The same as a document."""
        return {"at": written(self.at), "by": self.by, "reason": self.reason}


class Turn(NamedTuple):
    """What is told of one recorded step. `input` and `output` are values as they were recorded, `error` is its type and message.

    One that was `deleted` says that, and nothing else.
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
    deleted: Deleted | None = None


def text_of(turn: Turn) -> str:
    """One step: its number, who speaks or what is done, its significance where that is not `normal`, and what was said."""
    weight = f", {turn.significance}" if turn.significance not in {None, "normal"} else ""
    return f"[{turn.sequence}] {who_of(turn)}{weight}: {content_of(turn)}"


def messages_of(turn: Turn) -> list[dict[str, str]]:
    """The step as messages that any chat model takes: roles `system`, `user` and `assistant`, and text.

    What the agent did stands as its own words, what came back to it as words to it; a step that says nothing is no message.
    """
    found = [(role, text) for role, text in _spoken(turn) if text]
    return [{"role": role, "content": text} for role, text in found]


def left_out(turns: int) -> str:
    """The mark of turns that are not told."""
    return f"[{turns:,} turn{'s' if turns != 1 else ''} left out]"


def paragraph(text: str) -> str:
    """A turn or a mark as it stands in a text of several: tokens are counted of this."""
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
            yield _CHAT_ROLES.get(str(message.get("role", "")), "user"), said_in(message)
        yield "assistant", _joined(said_in(turn.output), _failed(turn))
    else:
        yield "assistant" if turn.kind in _OF_THE_AGENT else "user", f"{who_of(turn)}: {content_of(turn)}"


def who_of(turn: Turn) -> str:
    """Who speaks, or what is done."""
    if turn.kind == "message":
        return turn.role or "message"
    named = None if turn.deleted else _named(turn)
    return " ".join(filter(None, (_KINDS.get(turn.kind, turn.kind), named)))


def _named(turn: Turn) -> str | None:
    named = turn.tool or turn.name if turn.kind in {"tool_call", "tool_result"} else turn.name
    return named or (turn.model if turn.kind == "llm_call" else None)


def content_of(turn: Turn) -> str:
    """What was said, asked, answered and gone wrong."""
    if turn.deleted is not None:
        return f"[{turn.deleted.moment}]"
    if turn.kind == "message":
        return _joined(_written(turn.input) if turn.output is None else _written(turn.output), _failed(turn))
    if turn.kind == "llm_call":
        asked = "\n".join(filter(None, (said_in(each) for each in _given(turn.input))))
        return _joined(_answered(asked, said_in(turn.output)), _failed(turn))
    return _joined(_answered(_written(turn.input), _written(turn.output)), _failed(turn))


def _answered(asked: str, answer: str) -> str:
    return f"{asked}\n→ {answer}" if asked and answer else asked or answer


def _failed(turn: Turn) -> str:
    error = ": ".join(filter(None, turn.error))
    return f"! {error}" if error else ""


def _joined(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _given(value: Any) -> list[dict[str, Any]]:
    """The messages of a call behind the model's own last one; anything else that it was given, as one message."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        return [] if value is None else [{"role": "user", "content": value}]
    own = [place for place, each in enumerate(messages) if each.get("role") == "assistant"]
    return messages[own[-1] + 1 :] if own else messages


def said_in(value: Any) -> str:
    """The text of a message, or of the parts of one; whatever has none as it is written."""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return "\n".join(filter(None, map(said_in, value)))
    if isinstance(value, dict):
        found = next((value[name] for name in _SAID if isinstance(value.get(name), str | list)), None)
        rest = {name: each for name, each in value.items() if name == "tool_calls" and each}
        if found is not None or rest:
            return _joined("" if found is None else said_in(found), _written(rest or None))
    return _written(value)


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Lines as Claude Code writes them, and the actions they become."""

import json
from collections.abc import Mapping
from typing import Any

from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft

WHEN = "2026-03-01T10:00:00Z"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR" * 50_000}}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}


def line(kind: str, **fields: Any) -> dict[str, Any]:
    """A line of a session."""
    return {"type": kind, "sessionId": "s1", **fields}


def user(content: Any, uuid: str = "u1", **fields: Any) -> dict[str, Any]:
    """A user line."""
    return line("user", uuid=uuid, message={"role": "user", "content": content}, **fields)


def answer(
    *content: Any, uuid: str = "a1", message: Mapping[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """A line of an answer, by default from the model claude-x."""
    complete = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        **(message or {}),
    }
    return line("assistant", uuid=uuid, message=complete, **fields)


def text(words: str) -> dict[str, str]:
    """A text block."""
    return {"type": "text", "text": words}


def result(content: Any, call_id: str = "t1", **fields: Any) -> dict[str, Any]:
    """A block with the result of a call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def sessions_of(*records: dict[str, Any]) -> tuple[SessionDraft, ...]:
    """The sessions that a file with these lines becomes."""
    return FORMATS["claude_code"].read(b"\n".join(json.dumps(record).encode() for record in records)).sessions


def session_of(*records: dict[str, Any]) -> SessionDraft:
    """The only session that a file with these lines becomes."""
    (session,) = sessions_of(*records)
    return session


def actions_of(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    """The actions that a file with these lines becomes."""
    return session_of(*records).actions

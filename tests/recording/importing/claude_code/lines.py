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


SYSTEM = [{"type": "text", "text": "Be brief."}]
TOOL = {"name": "Read", "description": "Read a file.", "input_schema": {"type": "object"}}


def shape(name: str, *tools: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """The line with the system prompt and the tools of requests."""
    return line("api-request-shape", shapeHash=name, shape={"system": SYSTEM, "tools": list(tools)}, **fields)


def asked(name: str, shaped: str, **fields: Any) -> list[dict[str, Any]]:
    """The lines of a request with one message that is written nowhere else."""
    message = {"role": "user", "content": [text(f"Reminder {name}")]}
    settings = {"model": "claude-x", "max_tokens": 32_000, "betas": ["context-management"]}
    request = {"id": name, "shapeHash": shaped, "params": settings, "keep": 0, "tail": [f"hash-{name}"]}
    return [
        line("api-request-blob", hash=f"hash-{name}", message=message, **fields),
        line("api-request", **request, **fields),
    ]


WITH_REQUESTS = [
    user("Read it."),
    shape("bare"),
    *asked("r1", "bare"),
    answer(CALL, uuid="a1", message={"id": "m1", "stop_reason": "tool_use"}, requestRef="r1"),
    user([result("x = 1")], uuid="u2"),
    shape("full", TOOL),
    *asked("failed", "full"),
    *asked("r2", "full"),
    answer(text("It sets"), uuid="a2", message={"id": "m2"}, requestRef="r2"),
    answer(text("x."), uuid="a3", message={"id": "m2", "stop_reason": "end_turn"}, requestRef="r2"),
    user("And without tools?", uuid="u3"),
    *asked("r3", "bare"),
    answer(text("No."), uuid="a4", message={"id": "m3", "stop_reason": "end_turn"}, requestRef="r3"),
    *asked("r4", "bare"),
]
"""Three answered requests, the last one with the settings of the first; a failed one, and one without an answer yet."""

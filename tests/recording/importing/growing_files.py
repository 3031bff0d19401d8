"""Real files that grew, and all that is recorded of a file, to compare two ways of importing it."""

import json
from collections.abc import Iterator
from typing import Any, Final

from timemachine.core.accounts.models import Project
from timemachine.recording.importing.exporting import export_session
from timemachine.recording.sessions.models import Session

REAL: Final = [
    ("claude_code", "claude_code/session_a.jsonl"),
    ("claude_code", "claude_code/session_b.jsonl"),
    ("claude_code", "more/15-claude-code/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl"),
    ("codex", "codex/rollout_a.jsonl"),
    ("codex", "codex/rollout_b.jsonl"),
    ("codex", "more/16-codex/rollout-codex-0.39.0.jsonl"),
    ("gemini_cli", "more/01-gemini-cli/gemini.jsonl"),
]
TOTALS: Final = (
    "input_tokens", "output_tokens", "cost_usd", "unknown_cost_calls", "error_count", "last_sequence", "ended_at",
    "name", "first_step_at", "last_step_ended_at", "is_undated",
)  # fmt: skip


def recorded(project: Project) -> list[dict[str, Any]]:
    """All that is recorded, without the times of recording."""
    return [
        {
            **{name: getattr(session, name) for name in TOTALS},
            "started_at": session.stated_start,
            "written": list(without_recording_time(b"".join(export_session(session).parts))),
        }
        for session in Session.objects.of(project).order_by("key")
    ]


def without_recording_time(exported: bytes) -> Iterator[dict[str, Any]]:
    for line in exported.splitlines():
        values = json.loads(line)
        yield {
            name: value
            for name, value in values.items()
            if name not in {"recorded_at", "created_at", "created_by"}
        }


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    if type(one) is type(other) and isinstance(one, dict):
        for name in {**one, **other}:
            yield from differences(one.get(name), other.get(name), f"{at}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{at}[{place}]")
    elif one != other:
        yield f"{at}: {str(one)[:300]} instead of {str(other)[:300]}"

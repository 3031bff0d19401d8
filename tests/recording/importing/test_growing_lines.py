"""A file that is imported while it grows, in any parts, becomes what the complete file becomes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import export_session
from timemachine.recording.importing.growing import LinesImported, import_lines
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
REAL = [
    ("claude_code", "claude_code/session_a.jsonl"),
    ("claude_code", "claude_code/session_b.jsonl"),
    ("claude_code", "more/15-claude-code/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl"),
    ("codex", "codex/rollout_a.jsonl"),
    ("codex", "codex/rollout_b.jsonl"),
    ("codex", "more/16-codex/rollout-codex-0.39.0.jsonl"),
    ("gemini_cli", "more/01-gemini-cli/gemini.jsonl"),
]
TOTALS = (
    "input_tokens", "output_tokens", "cost_usd", "unknown_cost_calls", "error_count", "last_sequence", "started_at", "ended_at",
    "name", "first_step_at", "last_step_ended_at", "is_undated",
)  # fmt: skip


class Follower:
    """Sends a growing file as `timemachine watch` does. If answers are `lost`, all lines are sent twice."""

    def __init__(self, project: Project, format_name: str, *, lost: bool = False) -> None:
        self.project, self.format_name, self.lost = project, format_name, lost
        self.context: list[str] = []
        self.waiting: list[str] = []
        self.position: dict[str, int] = {}
        self.sent = 0

    def send(self, lines: Sequence[str], *, idle: float = 0.0) -> LinesImported:
        self.waiting += lines
        body = [*self.context, *self.waiting]
        self.sent += sum(map(len, body))
        for _ in range(2 if self.lost else 1):
            done = import_lines(
                self.project,
                body,
                format_name=self.format_name,
                by="test",
                repeated=len(self.context),
                position=self.position,
                idle=idle,
            )
        self.waiting = body[done.lines :]
        self.context = [body[number - 1] for number in done.needed]
        self.position = dict(done.position)
        return done


def grown(
    project: Project, format_name: str, lines: Sequence[str], most: int, *, lost: bool = False
) -> Follower:
    """Send the lines in parts of up to `most` lines, chosen at random."""
    follower = Follower(project, format_name, lost=lost)
    random = Random(most)
    at = 0
    while at < len(lines):
        size = random.randint(1, most)
        follower.send(lines[at : at + size])
        at += size
    follower.send([], idle=3_600)
    return follower


def recorded(project: Project) -> list[dict[str, Any]]:
    """All that is recorded, without the times of recording."""
    return [
        {
            **{name: getattr(session, name) for name in TOTALS},
            "written": list(without_recording_time(b"".join(export_session(session).parts))),
        }
        for session in Session.objects.of(project).order_by("key")
    ]


def without_recording_time(exported: bytes) -> Iterator[dict[str, Any]]:
    for line in exported.splitlines():
        values = json.loads(line)
        yield {name: value for name, value in values.items() if name not in {"recorded_at", "created_at"}}


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    if type(one) is type(other) and isinstance(one, dict):
        for name in {**one, **other}:
            yield from differences(one.get(name), other.get(name), f"{at}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{at}[{place}]")
    elif one != other:
        yield f"{at}: {str(one)[:300]} instead of {str(other)[:300]}"


@pytest.mark.recordings
@pytest.mark.parametrize(("format_name", "name"), REAL)
@pytest.mark.parametrize("most", [1, 9])
def test_real_files_line_by_line(
    project: Project, other_project: Project, recordings: Path, format_name: str, name: str, most: int
) -> None:
    data = (recordings / name).read_bytes()
    import_file(project, data, by="test", format_name=format_name)
    follower = grown(other_project, format_name, data.decode().splitlines(), most)
    assert not list(differences(recorded(other_project), recorded(project)))
    assert follower.sent < 15 * len(data)

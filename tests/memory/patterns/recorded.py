"""Sessions with errors and questions, read for patterns as a worker does it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from timemachine.core.accounts.models import Project
from timemachine.memory.patterns import clustering
from timemachine.memory.patterns.models import Wording
from timemachine.memory.patterns.queries import PatternFilter, patterns_of
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def failed(text: str, **fields: Any) -> ActionDraft:
    """Return a tool result that reports a failure."""
    return ActionDraft(
        **{"kind": "tool_result", "layer": "tool", "tool": "pay", "output": f"Error: {text}", **fields}
    )


def tool_call(arguments: Any, output: Any, **fields: Any) -> ActionDraft:
    """Return a tool call with its result in one step."""
    return ActionDraft(
        **{
            "kind": "tool_call",
            "layer": "tool",
            "tool": "pay",
            "input": arguments,
            "output": output,
            **fields,
        }
    )


def agent_message(text: Any, **fields: Any) -> ActionDraft:
    """Return a message of the agent."""
    return ActionDraft(**{"kind": "message", "role": "agent", "output": text, **fields})


def user_message(text: str, **fields: Any) -> ActionDraft:
    """Return a message of a user."""
    return ActionDraft(**{"kind": "message", "role": "user", "output": text, **fields})


def session_of(project: Project, *drafts: ActionDraft, key: str | None = None, **fields: Any) -> Session:
    """Return a session with these steps, not yet read for patterns."""
    session = start_session(project, name=key or "a run", by="test", key=key, **fields)
    append(session.id, drafts)
    session.refresh_from_db()
    return session


def read(project: Project) -> None:
    """Read everything that the project recorded."""
    while clustering.update_patterns(project.id):
        pass


def patterns(project: Project, **filters: Any) -> list[Wording]:
    """Return the project's patterns, most recently seen first."""
    return list(patterns_of(project, PatternFilter(**filters)))


def pattern_counts(project: Project, **filters: Any) -> dict[str, tuple[int, int]]:
    """Return the number of steps and of sessions of each pattern, by its text."""
    return {each.text: (each.steps, each.sessions) for each in patterns(project, **filters)}


def imported(project: Project, paths: Sequence[Path], format_name: str) -> None:
    """Import these files of another tool."""
    for path in paths:
        import_file(project, path.read_bytes(), format_name=format_name, by="test")

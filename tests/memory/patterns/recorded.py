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
    """A result of a tool that says that it failed."""
    return ActionDraft(
        **{"kind": "tool_result", "layer": "tool", "tool": "pay", "output": f"Error: {text}", **fields}
    )


def called(arguments: Any, output: Any, **fields: Any) -> ActionDraft:
    """A call of a tool with its result in one step."""
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


def said(text: Any, **fields: Any) -> ActionDraft:
    """A message of the agent."""
    return ActionDraft(**{"kind": "message", "role": "agent", "output": text, **fields})


def asked(text: str, **fields: Any) -> ActionDraft:
    """A message of a user."""
    return ActionDraft(**{"kind": "message", "role": "user", "output": text, **fields})


def session_of(project: Project, *drafts: ActionDraft, key: str | None = None, **fields: Any) -> Session:
    """A session that recorded these steps; nobody read them yet."""
    session = start_session(project, name=key or "a run", by="test", key=key, **fields)
    append(session.id, drafts)
    session.refresh_from_db()
    return session


def read(project: Project) -> None:
    """Read what the project recorded, to its end."""
    while clustering.update_patterns(project.id):
        pass


def patterns(project: Project, **wanted: Any) -> list[Wording]:
    """The project's patterns, the one that was seen last first."""
    return list(patterns_of(project, PatternFilter(**wanted)))


def told(project: Project, **wanted: Any) -> dict[str, tuple[int, int]]:
    """Of each pattern its steps and its sessions, by its text."""
    return {each.text: (each.steps, each.sessions) for each in patterns(project, **wanted)}


def imported(project: Project, paths: Sequence[Path], format_name: str) -> None:
    """What these files of another tool hold, recorded."""
    for path in paths:
        import_file(project, path.read_bytes(), format_name=format_name, by="test")

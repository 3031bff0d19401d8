"""Sessions with steps, recorded through the public interface."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

Record = Callable[..., Session]


@pytest.fixture
def record(project: Project) -> Record:
    """Record drafts as a session of the project."""

    def _record(drafts: Sequence[ActionDraft], **about: Any) -> Session:
        session = start_session(project, by="test", **({"name": "A session"} | about))
        for first in range(0, len(drafts), 1_000):
            append(session.id, drafts[first : first + 1_000])
        session.refresh_from_db()
        return session

    return _record

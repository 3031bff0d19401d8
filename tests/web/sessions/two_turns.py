"""A session of two turns, shared by the tests of manual deletions and legal holds."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


@pytest.fixture
def session(project: Project) -> Session:
    """A session with two turns."""
    return two_turn_session(project)


def two_turn_session(project: Project) -> Session:
    """A session with two turns."""
    started = start_session(project, name="Talk", by="test", key="talk", tags=["junk"])
    append(started.id, [ActionDraft(kind="message", role="user", output=f"the words {n}") for n in range(2)])
    return started

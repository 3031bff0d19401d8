"""A session of two turns that the tests of deleting and holding by hand share."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


@pytest.fixture
def session(project: Project) -> Session:
    """A talk in which two turns were said."""
    return talk_in(project)


def talk_in(project: Project) -> Session:
    """A talk in which two turns were said."""
    begun = start_session(project, name="Talk", by="test", key="talk", tags=["junk"])
    append(begun.id, [ActionDraft(kind="message", role="user", output=f"the words {n}") for n in range(2)])
    return begun

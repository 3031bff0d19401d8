"""A session or replay to share, and a link to it."""

import pytest
from pytest_django.fixtures import Settings

from tests.governance.sharing.recorded import recorded, replayed
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay


@pytest.fixture
def session(project: Project) -> Session:
    """Return a session of six steps."""
    return recorded(project)


@pytest.fixture
def replay(session: Session) -> Replay:
    """Return a replay of its only ask."""
    return replayed(session)


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """Use one round instead of a million, because the hash is not what is tested."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

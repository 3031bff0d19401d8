"""A recorded session of model calls that call tools, and a stub of the models that replay or continue it."""

from collections.abc import Iterator

import pytest

from tests.cli.terminal import Here
from tests.replay.continuation.conftest import drafts
from tests.stub_model_server import StubModelServer
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session


@pytest.fixture
def adding(tm: Here, worker: None) -> Session:
    """Return the session with the key `adding`."""
    session = start_session(tm.project, name="Adding", by="test", key="adding")
    append(session.id, drafts())
    return session


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
        yield server

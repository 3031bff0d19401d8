"""A recorded ask that can be judged, with a scripted model server."""

from collections.abc import Generator

import pytest

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from tests.replay.judging.opinions import ANSWER, ASK, MODEL
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import action_of


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


@pytest.fixture
def session(project: Project, stub: StubModelServer) -> Session:
    """A session whose second step is an ask with a three-sentence answer, the last one invented."""
    stub.script(Script(question="Question: How long", answer=ANSWER, times=1))
    return recorded_session(project, questions=("How long are invoices kept?",), model=MODEL)


@pytest.fixture
def ask(session: Session) -> Action:
    return action_of(session, ASK)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)

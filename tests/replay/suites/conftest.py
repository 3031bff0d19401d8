"""Fixtures for suites of recorded sessions, and a worker that runs them."""

from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.tasks import run_replay

ONE, THREE = "local:extractive-1", "local:extractive-3"
AUDIT = {"audit": True, "reason": "Nightly"}


@pytest.fixture(scope="module")
def recorded(shared_rows: None) -> Session:
    """Return a session that is recorded once for the tests of a file."""
    return recorded_session(Project.objects.create(name="Prüfung"), key="s1")


@pytest.fixture
def project(recorded: Session, db: None) -> Project:
    return Project.objects.get(pk=recorded.project_id)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(recorded: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded.pk)


def made(api: Program, *keys: str, **more: Any) -> dict[str, Any]:
    """A suite with these sessions."""
    body = {"name": "nightly", "sessions": list(keys), "options": AUDIT, "use_models": [ONE]} | more
    sent = api.post("/suites", body)
    assert sent.status_code == 201, sent.content
    return dict(sent.json())


def launched(api: Program, name: str = "nightly", **more: Any) -> dict[str, Any]:
    """A run without a worker yet."""
    sent = api.post(f"/suites/{name}/runs", more)
    assert sent.status_code == 202, sent.content
    return dict(sent.json())


def work_off() -> None:
    """Do the work of a worker for every unfinished replay."""
    for replay_id in Replay.objects.filter(finished_at=None).values_list("id", flat=True):
        run_replay(replay_id)


def ran(api: Program, name: str = "nightly", **more: Any) -> dict[str, Any]:
    """A run that a worker has finished."""
    run = launched(api, name, **more)
    work_off()
    return dict(api.get(f"/suites/{name}/runs/{run['number']}").json())


def report(
    api: Program, number: int | str = "latest", name: str = "nightly", **query: Any
) -> list[dict[str, Any]]:
    """The changes reported for a run."""
    found = api.get(f"/suites/{name}/runs/{number}/report", **query)
    assert found.status_code == 200, found.content
    return list(found.json()["items"])

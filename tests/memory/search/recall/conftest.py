"""Three recorded sessions for recall, created once per test file."""

from datetime import datetime

import pytest

from tests.api.conftest import program
from tests.memory.search.recall.test_recall import DAY, message, now, record
from tests.memory.search.recorded import index
from timemachine.core.accounts.models import Project


@pytest.fixture(scope="module")
def recorded_sessions(shared_rows: None) -> tuple[Project, datetime]:
    """Return a project with three sessions (eight days ago, yesterday, just now) and the time of the last."""
    project = Project.objects.create(name="Prüfung")
    api = program(project)
    today = now()
    record(
        api,
        "pool",
        message("The deploy fails: the connection pool is exhausted.", today - 8 * DAY, significance="error"),
        message("Perhaps the database is slow.", today - 8 * DAY, role="agent", significance="hypothesis"),
        message("I look at the log of slow queries; it is empty.", today - 8 * DAY, role="agent"),
        message(
            "Workers keep their connections after each job: that is the root cause.",
            today - 8 * DAY,
            role="agent",
            significance="breakthrough",
            tags=["cause"],
        ),
        message(
            "Close the connection after each job.", today - 8 * DAY, role="agent", significance="solution"
        ),
        agent="ada",
        user="ann",
        tags=["backend"],
    )
    record(
        api,
        "style",
        message("The button is too small on phones.", today - DAY, significance="normal"),
        message("We make the button 44 pixels high.", today - DAY, role="agent", significance="decision"),
        agent="grace",
        user="ann",
    )
    record(api, "newest", message("Hello, what is the weather?", today), agent="ada", user="bob")
    index(project)
    return project, today


@pytest.fixture
def project(request: pytest.FixtureRequest, db: None) -> Project:
    """Return the project of the recorded sessions for a test that uses them, otherwise a new one."""
    if "last_session_time" in request.fixturenames:
        return Project.objects.get(pk=request.getfixturevalue("recorded_sessions")[0].pk)
    return Project.objects.create(name="Prüfung")


@pytest.fixture
def last_session_time(recorded_sessions: tuple[Project, datetime]) -> datetime:
    """Return the time of the last of three sessions in the project."""
    return recorded_sessions[1]

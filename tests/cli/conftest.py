"""Fixtures for command tests: a real server with an empty project, and the command that talks to it."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.brokers import tending
from tests.cli.terminal import Here, Terminal
from tests.measuring import programs_unmeasured
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project
from timemachine.recording.importing.models import FileImport
from timemachine.recording.importing.worker import work as import_file
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.worker import work as put_file
from timemachine.replay.runs.models import Replay
from timemachine.replay.sweeps.models import Sweep
from timemachine.replay.sweeps.worker import work as measure
from timemachine.replay.tasks import run_replay


@pytest.fixture(scope="module", autouse=True)
def programs_measured_elsewhere() -> Iterator[None]:
    """File readers and commands have tests of their own."""
    with programs_unmeasured():
        yield


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The command without a server."""
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path / "home"))
    for name in ("TIMEMACHINE_URL", "TIMEMACHINE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return Terminal(folder=tmp_path)


@pytest.fixture
def tm(
    transactional_db: None,
    silent_queue: None,
    live_server: LiveServer,
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
) -> Here:
    """The command with a server and a key of an empty project with every scope."""
    project = Project.objects.create(name="Prüfung")
    _, key = make_api_key(project, name="laptop", scopes=SCOPES)
    monkeypatch.setenv("TIMEMACHINE_URL", live_server.url)
    monkeypatch.setenv("TIMEMACHINE_API_KEY", key)
    return Here(project=project, url=live_server.url, folder=terminal.folder)


@pytest.fixture
def worker(tm: Here) -> Generator[None]:  # it works on the rows of that database
    """A worker that processes replays and files while the command waits for them."""

    def process_queue() -> None:
        for replay_id in Replay.objects.filter(status="queued").values_list("id", flat=True):
            run_replay(replay_id)
        for sweep_id in Sweep.objects.filter(status="queued").values_list("id", flat=True):
            measure(sweep_id)
        for intake_id in Intake.objects.filter(status="waiting").values_list("id", flat=True):
            put_file(intake_id)
        for import_id in FileImport.objects.filter(status="waiting").values_list("id", flat=True):
            import_file(import_id)

    with tending(process_queue):
        yield

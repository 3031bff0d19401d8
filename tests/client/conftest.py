"""Fixtures for recording clients: a real server and a gate in front of it, with its own project."""

import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.brokers import tending
from tests.client.gate import Gate
from tests.client.spools import refused, waiting
from timemachine.client import TimeMachine
from timemachine.client.recording import delivery
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project
from timemachine.core.payloads.queries import value
from timemachine.governance.deletion.retention.commands import work as forget
from timemachine.governance.deletion.retention.models import RUNNING, BulkDeletion
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server, the gate in front of it, a key of an empty project, and a spool folder."""

    project: Project
    gate: Gate
    key: str
    spool: Path

    def machine(self, **options: Any) -> TimeMachine:
        """A client of the server, connected through the gate."""
        return TimeMachine(self.gate.url, self.key, **{"spool": self.spool, "patience": 10.0, **options})

    def actions(self, key: str) -> list[Action]:
        """The actions of a session on the server."""
        session = Session.objects.get(project=self.project, key=key)
        return list(session.actions.select_related("input", "output").order_by("sequence"))

    def outputs(self, key: str) -> list[Any]:
        """The outputs of the actions of a session, in order."""
        return [value(each.output) for each in self.actions(key)]

    def run(self, program: str, **more: str) -> "subprocess.Popen[str]":
        """Run a program in another process with access to the server."""
        environment = os.environ | {
            "TIMEMACHINE_URL": self.gate.url,
            "TIMEMACHINE_API_KEY": self.key,
            "TIMEMACHINE_SPOOL": str(self.spool),
            **more,
        }
        command = [sys.executable, "-W", "ignore", "-c", program]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def spooled(self) -> list[bytes]:
        """The lines that wait in spools."""
        return waiting(self.spool)

    def refused(self) -> list[tuple[str, dict[str, Any]]]:
        """The refused actions with their reasons."""
        return refused(self.spool)


@pytest.fixture
def served(
    transactional_db: None,
    silent_queue: None,
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Generator[Served]:
    """A server whose recorders retry soon."""
    monkeypatch.setattr(delivery, "_LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(delivery, "_FIRST_PAUSE", 0.02)
    project = Project.objects.create(name="Prüfung")
    _, key = make_api_key(project, name="agent", scopes=SCOPES)
    with Gate(urlsplit(live_server.url).port or 0) as gate:
        yield Served(project=project, gate=gate, key=key, spool=tmp_path / "spool")


@pytest.fixture
def worker(served: Served) -> Generator[None]:
    """A worker that processes replays and erasures."""

    def process_queue() -> None:
        for replay_id in Replay.objects.filter(status="queued").values_list("id", flat=True):
            work(replay_id, "test")
        for forgetting_id in BulkDeletion.objects.filter(status=RUNNING).values_list("id", flat=True):
            forget(forgetting_id)

    with tending(process_queue):
        yield

"""Workers that are killed at a chosen point, for the crash labs of replays and continuations."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db import connection

from tests.database_roles import OPTIONS
from tests.stub_model_server import StubModelServer
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import overdue
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.tasks import run_replay

Work = Callable[..., str]


@contextmanager
def openai_stub() -> Iterator[StubModelServer]:
    """A stub in place of OpenAI, for workers in other processes."""
    with StubModelServer() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        environment.setenv("OPENAI_API_KEY", "sk-of-nobody")
        yield server


def database_url() -> str:
    """`DATABASE_URL` of a program that uses the database of the test."""
    at = connection.settings_dict
    server = f"postgresql://{at['USER']}@{quote(at['HOST'], safe='')}/{at['NAME']}"
    return f"{server}?options={quote(OPTIONS)}"


@contextmanager
def crashing_workers(**environment: str) -> Iterator[Work]:
    """Yield what has a worker run a replay and returns the outcome, as printed by `tests.replay.crash_worker`."""
    command = [sys.executable, "-m", "tests.replay.crash_worker"]
    with subprocess.Popen(
        command,
        env=os.environ | {"DATABASE_URL": database_url()} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        to, back = process.stdin, process.stdout

        def work(
            replay: Replay, at_once: int = 1, point: str = "-", nth: int = 1, number: str = "SIGKILL"
        ) -> str:
            to.write(f"{replay.id} {at_once} {point} {nth} {number}\n")
            to.flush()
            return back.readline().strip()

        yield work
        to.close()


def expire(replay: Replay) -> None:
    """Let the leases of a dead worker expire, and run the sweeper."""
    ReplayStep.objects.filter(replay=replay, status="running").update(
        lease_until=now() - timedelta(seconds=1)
    )
    overdue(run_replay, at_start=True)

"""Workers of a continuation killed at every point: it has one branch with each call once, and no call that was made again is unmarked."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db import connection

from tests.crash_figures import KILLS, note
from tests.replay.continuation.conftest import drafts, repeat
from tests.replay.runs.crash_worker import OF_A_CONTINUATION
from tests.stub_model_server import StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.continuation.commands import launch
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.tasks import run_replay

pytestmark = pytest.mark.crash
CALLS = 4
OF_EACH = max(2, KILLS // len(OF_A_CONTINUATION))

Work = Callable[..., str]


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        environment.setenv("OPENAI_API_KEY", "sk-of-nobody")
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    session = start_session(project, name="Adding", by="test")
    append(session.id, drafts())
    return session


@pytest.fixture(scope="module")
def worker(django_db_setup: None, stub: StubModelServer) -> Iterator[Work]:
    """Have a worker run a continuation; the outcome, as printed by `tests.replay.runs.crash_worker`."""
    at = connection.settings_dict
    environment = os.environ | {
        "DATABASE_URL": f"postgresql://{at['USER']}@{quote(at['HOST'], safe='')}/{at['NAME']}",
    }
    command = [sys.executable, "-m", "tests.replay.runs.crash_worker"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        to, back = process.stdin, process.stdout

        def work(replay: Replay, point: str = "-", nth: int = 1) -> str:
            to.write(f"{replay.id} 1 {point} {nth} SIGKILL\n")
            to.flush()
            return back.readline().strip()

        yield work
        to.close()


def expire(replay: Replay) -> None:
    """Let the lease of a dead worker expire, and run the sweeper."""
    ReplayStep.objects.filter(replay=replay, status="running").update(
        lease_until=now() - timedelta(seconds=1)
    )
    overdue(run_replay, at_start=True)


def accounted(replay: Replay, made: int) -> Counter[str]:
    """Check that the branch has each call once, and that each call is accounted for; counts of the outcomes."""
    replay.refresh_from_db()
    assert replay.status == "done"
    ending = Ending.stored(replay.steps.get().evidence)
    assert ending is not None
    assert (ending.why, ending.calls, ending.recorded_results) == ("finished", CALLS, 3)
    assert replay.branch is not None
    assert list(Session.objects.filter(parent=replay.session, status="ended")) == [replay.branch]
    steps = list(replay.branch.actions.order_by("sequence"))
    assert [each.kind for each in steps] == [*["llm_call", "tool_call"] * 3, "llm_call", "event"]
    attempts = ReplayAttempt.objects.filter(step__replay=replay)
    lost = attempts.filter(outcome="lost", call_intended_at__isnull=False).count()
    assert attempts.filter(outcome="done").count() == CALLS
    assert attempts.filter(outcome=None).count() == 0
    marked = sum((each.metadata or {}).get("lost_attempts_maybe_billed", 0) for each in steps)
    assert marked == lost
    assert made - CALLS <= lost, "every call that was made again is marked"
    return Counter(
        calls=made,
        marked=lost,
        lost=attempts.count() - CALLS,
        steps=CALLS,
        done=CALLS,
        results=CALLS,
        again=made - CALLS,
    )


@pytest.mark.parametrize("point", OF_A_CONTINUATION)
def test_a_killed_worker_leaves_one_branch_and_no_doubled_call_unmarked(
    point: str, session: Session, stub: StubModelServer, worker: Work
) -> None:
    repeat(stub, always=True)
    began, kills, seen = time.monotonic(), 0, Counter[str]()
    while kills < OF_EACH:
        before = len(stub.calls())
        replay = launch(session, ReplayOptions(continue_from=1, use_model="openai:gpt-4o"), by="test")
        for nth in (1, 2):
            if worker(replay, point, nth) == "killed":
                kills += 1
                expire(replay)
        assert worker(replay) == "ended"
        seen += accounted(replay, len(stub.calls()) - before)
    note(
        f"continuation, killed {point.replace('_', ' ')}", {**seen, "times": kills}, time.monotonic() - began
    )

"""Workers killed at every point of a step, and one that slept past its lease: each step ends once, each call is accounted for.

`CRASH_KILLS` says how many workers are killed (24 where it is not set); the figures are printed.
"""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle
from urllib.parse import quote

import pytest
from django.db import connection

from tests.builders import recorded_session
from tests.replay.crash_worker import POINTS
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.recording.models import Session
from timemachine.replay.commands import due_for_ringing, launch
from timemachine.replay.models import TERMINAL_STEP_STATUSES, Replay, ReplayStep
from timemachine.replay.options import ReplayOptions

pytestmark = pytest.mark.crash
KILLS = int(os.environ.get("CRASH_KILLS", "24"))
QUESTIONS = [f"How long are invoices kept, asked for time {n}?" for n in range(20)]
ASKED = ReplayOptions(audit=True, reason="Was geschieht dabei?", use_model="openai:gpt-4o", skip_finds=True)
LEASE_SECONDS = 2

Work = Callable[..., str]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        server.script(Script(answer="Zehn Jahre."))
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project, questions=QUESTIONS)


@pytest.fixture(params=[1, 4], ids=["one by one", "side by side"])
def worker(request: pytest.FixtureRequest, session: Session, stub: StubModelServer) -> Iterator[Work]:
    """Have a worker take up a replay: its end, as `tests.replay.crash_worker` tells it."""
    at = connection.settings_dict
    environment = os.environ | {
        "DATABASE_URL": f"postgresql://{at['USER']}@{quote(at['HOST'], safe='')}/{at['NAME']}",
        "MODEL_CALLS_AT_ONCE": str(request.param),
        "LEASE_SECONDS": str(LEASE_SECONDS),
    }
    command = [sys.executable, "-m", "tests.replay.crash_worker"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        to, back = process.stdin, process.stdout

        def work(replay: Replay, point: str = "-", nth: int = 1, number: str = "SIGKILL") -> str:
            to.write(f"{replay.id} {point} {nth} {number}\n")
            to.flush()
            return back.readline().strip()

        yield work
        to.close()


def expire(replay: Replay) -> None:
    """Let the time of the leases pass that a dead worker held, and have the sweeper see it."""
    ReplayStep.objects.filter(replay=replay, status="running").update(
        lease_until=now() - timedelta(seconds=1)
    )
    due_for_ringing(at_once=True)


def accounted(replay: Replay, calls: list[str]) -> Counter[str]:
    """Check that each step of a finished replay ended once and that each call is accounted for; what was seen, counted."""
    seen: Counter[str] = Counter(replays=1)
    replay.refresh_from_db()
    assert replay.status in {"done", "failed"}
    for step in replay.steps.select_related("output").prefetch_related("attempts"):
        assert step.status in TERMINAL_STEP_STATUSES
        assert (step.lease_token, step.lease_until) == (None, None)
        assert (step.status == "done") == (step.output is not None)
        attempts = list(step.attempts.all())
        assert all(attempt.outcome is not None for attempt in attempts)
        assert sum(attempt.outcome == "done" for attempt in attempts) == (step.status == "done")
        question = QUESTIONS[step.sequence // 2 - 1]
        made = sum(question in prompt for prompt in calls)
        intended = [attempt for attempt in attempts if attempt.call_intended_at is not None]
        lost = [attempt for attempt in intended if attempt.outcome == "lost"]
        assert made <= len(intended)
        assert made - (step.status == "done") <= len(lost), "every call that was made again is marked"
        seen.update(
            steps=1,
            failed=step.status == "failed",
            lost=len(attempts) - 1,
            again=max(0, made - 1),
            marked=len(lost),
        )
    return seen


def test_killed_workers_lose_nothing_and_every_call_is_accounted_for(
    session: Session, stub: StubModelServer, worker: Work
) -> None:
    chance, points = random.Random(11), cycle(POINTS)
    kills, seen = Counter[str](), Counter[str]()
    while kills.total() < KILLS // 2:  # the other half runs with the other parameter
        before, replay = len(stub.calls()), launch(session, ASKED, by="test")
        while replay.finished_at is None:
            point = next(points)
            if worker(replay, point, chance.randint(1, 3)) == "killed":
                kills[point] += 1
                expire(replay)
            replay.refresh_from_db()
        seen += accounted(replay, [call.prompt for call in stub.calls()[before:]])
    print(f"\n{kills.total()} workers killed, {dict(kills)}: {dict(seen)}")


def test_a_worker_that_slept_past_its_lease_writes_nothing_and_its_call_is_marked(
    session: Session, stub: StubModelServer, worker: Work
) -> None:
    replay = launch(session, ASKED, by="test")
    stopped, pid = worker(replay, "after_call", 3, "SIGSTOP").split()
    assert stopped == "stopped"
    try:
        sleepers = replay.steps.filter(status="running")
        asleep = set(sleepers.values_list("id", flat=True))
        assert asleep
        wait_until(lambda: not sleepers.filter(lease_until__gte=now()).exists())
        due_for_ringing(at_once=True)
        assert worker(replay) == "ended"
        results = {step.id: step.finished_at for step in replay.steps.all()}
    finally:
        os.kill(int(pid), signal.SIGCONT)
    wait_until(lambda: not replay.steps.filter(attempts__finished_at=None).exists())
    seen = accounted(replay, [call.prompt for call in stub.calls()])
    assert seen["marked"] >= 1
    assert {step.id: step.finished_at for step in replay.steps.all()} == results
    assert replay.steps.filter(id__in=asleep, attempts__outcome="lost").exists()

"""Workers killed at every point of a step, or asleep past their lease: each step ends once and each call is accounted for.

`CRASH_KILLS` says how many workers are killed in all; where it is not set, one at each point. What stops the database and the
queue is in tests/e2e/test_crash_lab.py. The figures of both are printed at the end of `make crash`.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from math import ceil

import pytest
from django.db import connection

from tests.builders import recorded_session
from tests.crash_figures import KILLS, note
from tests.replay.crash_worker import POINTS
from tests.replay.killed_workers import Work, crashing_workers, expire, openai_stub
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.tasks import run_replay

pytestmark = pytest.mark.crash
QUESTIONS = [f"How long are invoices kept, asked for time {n}?" for n in range(5)]
ASKING = ReplayOptions(audit=True, reason="Was geschieht dabei?", use_model="openai:gpt-4o", skip_finds=True)
LOCAL = ReplayOptions(audit=True, reason="Und ohne Anruf?", use_model="local:extractive-1", skip_finds=True)
LEASE_SECONDS = 2
WAYS = {"one by one": (ASKING, 1), "side by side": (ASKING, 4), "in groups": (LOCAL, 1)}
"""How steps run: the options and the number of concurrent calls. Steps without a model call run in groups."""
CHANCE = random.Random(11)
FAULTS = [(way, point) for way in WAYS for point in POINTS if (way, point) != ("in groups", "before_call")]
OF_EACH = ceil(KILLS / len(FAULTS))
MOST_KILLS = 4
"""The maximum number of workers that one replay may lose: with more, most of its steps would be given up."""


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with openai_stub() as server:
        server.script(Script(answer="Zehn Jahre."))
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project, questions=QUESTIONS)


@pytest.fixture(scope="module")
def worker(django_db_setup: None, stub: StubModelServer) -> Iterator[Work]:
    with crashing_workers(LEASE_SECONDS=str(LEASE_SECONDS)) as work:
        yield work


def accounted(replay: Replay, calls: list[str]) -> Counter[str]:
    """Check that each step of a finished replay ended once and that each call is accounted for; counts of the outcomes."""
    seen: Counter[str] = Counter()
    replay.refresh_from_db()
    assert replay.status in {"done", "failed"}
    for step in replay.steps.select_related("output").prefetch_related("attempts"):
        assert step.status in TERMINAL_STEP_STATUSES
        assert (step.lease_token, step.lease_until) == (None, None)
        assert (step.status == "done") == (step.output is not None)
        attempts = list(step.attempts.all())
        assert all(attempt.outcome is not None for attempt in attempts)
        results = sum(attempt.outcome == "done" for attempt in attempts)
        assert results == (step.status == "done")
        question = QUESTIONS[step.sequence // 2 - 1]
        made = sum(question in prompt for prompt in calls)
        intended = [attempt for attempt in attempts if attempt.call_intended_at is not None]
        lost = [attempt for attempt in intended if attempt.outcome == "lost"]
        assert made <= len(intended)
        assert made - (step.status == "done") <= len(lost), "every call that was made again is marked"
        seen.update({step.status: 1, "steps": 1, "results": results, "calls": made, "marked": len(lost)})
        seen.update(lost=len(attempts) - results, again=max(0, made - 1))
    return seen


@pytest.mark.parametrize("way", WAYS)
def test_killed_workers_lose_nothing_and_every_call_is_accounted_for(
    way: str, session: Session, stub: StubModelServer, worker: Work
) -> None:
    options, at_once = WAYS[way]
    for point in [point for named, point in FAULTS if named == way]:
        began, kills, seen = time.monotonic(), 0, Counter[str]()
        while kills < OF_EACH:
            before, replay = len(stub.calls()), launch(session, options, by="test")
            kills += killed(replay, worker, at_once, point, min(MOST_KILLS, OF_EACH - kills))
            seen += accounted(replay, [call.prompt for call in stub.calls()[before:]])
        note(f"{way}, killed {point.replace('_', ' ')}", {**seen, "times": kills}, time.monotonic() - began)


def killed(replay: Replay, worker: Work, at_once: int, point: str, times: int) -> int:
    """Kill up to this many workers of a replay at a point, then let one finish it; the number of killed workers."""
    kills = 0
    while (
        kills < times
        and worker(replay, at_once, point, CHANCE.randint(1, 2 if at_once == 1 else 4)) == "killed"
    ):
        kills += 1
        expire(replay)
    assert worker(replay, at_once) == "ended"
    return kills


def test_a_worker_that_slept_past_its_lease_writes_nothing_and_its_call_is_marked(
    session: Session, stub: StubModelServer, worker: Work
) -> None:
    began, before, replay = time.monotonic(), len(stub.calls()), launch(session, ASKING, by="test")
    connected = other_connections()
    stopped, pid = worker(replay, 4, "after_call", 3, "SIGSTOP").split()
    assert stopped == "stopped"
    try:
        sleepers = replay.steps.filter(status="running")
        asleep = set(sleepers.values_list("id", flat=True))
        assert asleep
        wait_until(lambda: not sleepers.filter(lease_until__gte=now()).exists())
        overdue(run_replay, at_start=True)
        assert worker(replay, 4) == "ended"
        results = {step.id: step.finished_at for step in replay.steps.all()}
    finally:
        os.kill(int(pid), signal.SIGCONT)
    wait_until(lambda: not replay.steps.filter(attempts__finished_at=None).exists())
    seen = accounted(replay, [call.prompt for call in stub.calls()[before:]])
    assert seen["marked"] >= 1
    assert {step.id: step.finished_at for step in replay.steps.all()} == results
    assert replay.steps.filter(id__in=asleep, attempts__outcome="lost").exists()
    note("side by side, asleep past the lease", {**seen, "times": 1}, time.monotonic() - began)
    wait_until(
        lambda: other_connections() <= connected
    )  # or the end of the test would delete its rows while it runs


def other_connections() -> int:
    """The number of other database connections."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (number,) = cursor.fetchone()
    return int(number)

"""Workers of a continuation killed at every point: it has one branch with each call once, and no call that was made again is unmarked."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.crash_figures import KILLS, note
from tests.replay.continuation.conftest import answered, asked, drafts, repeat
from tests.replay.crash_worker import OF_A_CONTINUATION
from tests.replay.killed_workers import Work, crashing_workers, expire, openai_stub
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.continuation.commands import launch
from timemachine.replay.runs.models import Replay, ReplayAttempt
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.crash
CALLS = 5
THANKS = asked("Now thank me, please."), answered("You are welcome.")
OF_EACH = max(2, KILLS // len(OF_A_CONTINUATION))


@pytest.fixture(scope="module")
def stub() -> Iterator[StubModelServer]:
    with openai_stub() as server:
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    session = start_session(project, name="Adding", by="test")
    append(session.id, [*drafts(), *THANKS])
    return session


@pytest.fixture(scope="module")
def worker(django_db_setup: None, stub: StubModelServer) -> Iterator[Work]:
    with crashing_workers() as work:
        yield work


def accounted(replay: Replay, made: int) -> Counter[str]:
    """Check that the branch has each call once, and that each call is accounted for; counts of the outcomes."""
    replay.refresh_from_db()
    assert replay.status == "done"
    ending = Ending.stored(replay.steps.get().evidence)
    assert ending is not None
    assert (ending.why, ending.calls, ending.recorded_results) == ("finished", CALLS, 3)
    assert ending.recorded_messages == 1
    assert replay.branch is not None
    assert list(Session.objects.filter(parent=replay.session, status="ended")) == [replay.branch]
    steps = list(replay.branch.actions.order_by("sequence"))
    assert [each.kind for each in steps] == [
        *["llm_call", "tool_call"] * 3,
        *("llm_call", "message", "llm_call", "event"),
    ]
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
    stub.script(Script(question="Now thank me, please.", answer="You are welcome."))
    began, kills, seen = time.monotonic(), 0, Counter[str]()
    while kills < OF_EACH:
        before = len(stub.calls())
        replay = launch(session, ReplayOptions(continue_from=1, use_model="openai:gpt-4o"), by="test")
        for nth in (1, 2):
            if worker(replay, point=point, nth=nth) == "killed":
                kills += 1
                expire(replay)
        assert worker(replay) == "ended"
        seen += accounted(replay, len(stub.calls()) - before)
    note(
        f"continuation, killed {point.replace('_', ' ')}", {**seen, "times": kills}, time.monotonic() - began
    )

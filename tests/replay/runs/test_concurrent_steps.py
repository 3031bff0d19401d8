"""Steps with model calls run concurrently, up to a limit per provider across all workers; other steps are claimed in batches."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from threading import Event
from typing import Any

import pytest
from django.db import Error, connections, transaction
from pytest_django import Settings

from tests.builders import QUESTIONS, recorded_session
from tests.database_roles import as_owner
from tests.stub_answers import Call
from tests.stub_model_server import Script, StubModelServer
from tests.threads import blocked_queries
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.leases import briefly
from timemachine.core.payloads.models import Payload
from timemachine.core.pure.clock import now
from timemachine.evidence.sealing.session_deletion import erase_session
from timemachine.knowledge.models import Frame
from timemachine.llm.queries import ModelLookup
from timemachine.recording.answering import model_asks
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs import leases, steps
from timemachine.replay.runs.claimed_steps import load, outcome_of
from timemachine.replay.runs.commands import cancel, launch
from timemachine.replay.runs.concurrent_steps import CLAIMED_AHEAD
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import steps_of
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.step_results import Result, write
from timemachine.replay.runs.worker import work
from timemachine.text.pure.grounding.schemas import GroundingOut

ASKING = ReplayOptions(audit=True, reason="Wie viele zugleich?", use_model="openai:gpt-4o")
CHECKING = ReplayOptions(audit=True, reason="Stimmt es noch?")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        server.script(Script(answer="Zehn Jahre.", mode="slow", seconds=0.4))
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project, questions=[f"{each} ({n})" for n in range(2) for each in QUESTIONS])


def max_concurrent(calls: list[Call]) -> int:
    """The maximum number of concurrent calls."""
    changes = sorted([(call.at, 1) for call in calls] + [(call.answered_at or "", -1) for call in calls])
    running_counts = [0]
    for _, change in changes:
        running_counts.append(running_counts[-1] + change)
    return max(running_counts)


def run_worker(replay: Replay) -> int:
    """Run a worker in its own thread."""
    try:
        return work(replay.id, "one of several")
    finally:
        connections.close_all()


def test_asks_run_concurrently_and_are_stored_in_order(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    replay = launch(session, ASKING, by="test")
    assert run_worker(replay) == 7
    assert max_concurrent(stub.calls()) == 3
    steps = list(steps_of(replay))
    assert [step.status for step in steps] == ["done"] * 7
    assert all(one.sequence < next_.sequence for one, next_ in pairwise(steps))
    assert ReplayAttempt.objects.filter(step__replay=replay).count() == 7


def test_all_workers_together_respect_the_limit_of_a_provider(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 2
    replays = [launch(session, ASKING, by="test") for _ in range(2)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run_worker, [*replays, *replays]))
    assert max_concurrent(stub.calls()) == 2
    assert len(stub.calls()) == 12
    for replay in replays:
        assert {step.status for step in steps_of(replay)} == {"done"}


def running(replay: Replay) -> int:
    return ReplayStep.objects.filter(replay=replay, status="running").count()


def test_steps_are_claimed_ahead_without_raising_the_number_of_calls(
    project: Project, transactional_db: None, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 2
    session = recorded_session(project, questions=[f"{n}. {QUESTIONS[0]}" for n in range(12)])
    go_on = Event()
    stub.script(Script(question=QUESTIONS[0], answer="Zehn Jahre.", held=go_on))
    replay = launch(session, ASKING, by="test")
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(run_worker, replay)
        wait_until(lambda: running(replay) == 2 + CLAIMED_AHEAD and len(stub.calls()) == 2)
        go_on.set()
        assert working.result(60) == replay.steps.count()
    assert max_concurrent(stub.calls()) == 2
    counts = Counter(call.prompt.rpartition("Question:")[2].split(".")[0].strip() for call in stub.calls())
    assert counts == {str(n): 1 for n in range(12)}


@pytest.mark.usefixtures("stub")
def test_no_step_is_claimed_ahead_after_a_lost_worker_or_with_several_providers(
    session: Session,
) -> None:
    replay = launch(session, ASKING, by="test")
    assert leases.can_claim_ahead(replay.id)
    assert leases.claim(replay.id, "lost", calls=True)
    assert not leases.can_claim_ahead(replay.id)
    other = launch(session, ASKING, by="test")
    last = other.steps.filter(provider="openai").latest("sequence")
    ReplayStep.objects.filter(id=last.id).update(provider="mistral")
    assert not leases.can_claim_ahead(other.id)


@pytest.mark.usefixtures("stub")
def test_a_step_claimed_ahead_counts_as_attempted_only_when_called(
    session: Session, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    replay = launch(session, ASKING, by="test")
    first = leases.claim(replay.id, "one", calls=True, most=7)
    called, given_back = leases.claim(replay.id, "one", calls=True, most=2, spared=first, ahead=True)
    leases.intend_call(called)
    leases.give_back([given_back])
    tried = dict(replay.steps.values_list("id", "attempts_made"))
    assert (tried[called.pk], tried[given_back.pk]) == (1, 0)
    tries = set(ReplayAttempt.objects.values_list("id", flat=True))
    assert tries == {lease.attempt_id for lease in [*first, called]}


@pytest.mark.usefixtures("stub")
def test_only_a_worker_with_every_slot_claims_ahead(session: Session, settings: Settings) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    replay, other = (launch(session, ASKING, by="test") for _ in range(2))
    two = leases.claim(replay.id, "one", calls=True, most=2)
    assert leases.claim(replay.id, "one", calls=True, most=2, spared=two, ahead=True) == []
    (theirs,) = leases.claim(other.id, "another", calls=True, most=7)
    assert leases.claim(replay.id, "one", calls=True, most=2, spared=two, ahead=True) == []
    leases.give_back([theirs])
    three = [*two, *leases.claim(replay.id, "one", calls=True, most=7)]
    assert len(three) == 3
    assert len(leases.claim(replay.id, "one", calls=True, most=2, spared=three, ahead=True)) == 2


@pytest.mark.usefixtures("stub")
def test_a_worker_past_its_lease_takes_no_slot_of_its_successor(session: Session, settings: Settings) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    replay = launch(session, ASKING, by="test")
    slept = leases.claim(replay.id, "slept", calls=True, most=7)
    ReplayStep.objects.filter(replay=replay).exclude(status="done").update(attempts_made=0)
    ReplayStep.objects.filter(lease_token=slept[0].token).update(lease_until=now() - timedelta(seconds=1))
    assert len(leases.claim(replay.id, "awake", calls=True, most=7)) == 3
    for ahead in (False, True):
        assert leases.claim(replay.id, "slept", calls=True, most=7, spared=slept, ahead=ahead) == []


def test_erasing_a_session_during_its_replay_leaves_nothing_behind(
    session: Session, stub: StubModelServer
) -> None:
    replay = launch(session, ASKING, by="test")
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(run_worker, replay)
        stub.wait_for_calls(1)
        erase_session(session, by=None)
        working.result(60)
    assert not Replay.objects.exists()
    assert_only_payloads_of_frames()


def assert_only_payloads_of_frames() -> None:
    frames = set(Frame.objects.values_list("payload_id", flat=True))
    assert set(Payload.objects.values_list("id", flat=True)) == frames


def erase_in_thread(session: Session) -> None:
    """Erase the session in its own thread."""
    try:
        erase_session(session, by=None)
    finally:
        connections.close_all()


def test_an_answer_written_while_its_session_is_erased_is_erased_too(
    session: Session, stub: StubModelServer
) -> None:
    replay = launch(session, ASKING, by="test")
    [lease] = leases.claim(replay.id, "test", calls=True)
    step = load(replay, [lease.pk])[lease.pk]
    outcome = outcome_of(step, lease, ModelLookup(replay.project_id))
    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            assert write([Result(lease=lease, step=step, outcome=outcome)]) == 1
            erasing = thread.submit(erase_in_thread, session)
            wait_until(blocked_queries)
        erasing.result(60)
    assert not Replay.objects.exists()
    assert_only_payloads_of_frames()


def test_steps_claimed_ahead_are_released_when_a_step_crashes(
    project: Project,
    transactional_db: None,
    stub: StubModelServer,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 2
    session = recorded_session(project, questions=[f"{n}. {QUESTIONS[0]}" for n in range(12)])
    replay = launch(session, ASKING, by="test")
    do, breaks = steps.run_step, iter([False, False, True])

    def third_breaks(*given: Any, **named: Any) -> Any:
        if next(breaks, False):
            raise MemoryError("there is no more of it")
        return do(*given, **named)

    monkeypatch.setattr(steps, "run_step", third_breaks)
    with pytest.raises(MemoryError):
        run_worker(replay)
    asks = Counter(replay.steps.filter(provider__isnull=False).values_list("status", flat=True))
    assert asks["running"] == 1  # the failed step is claimed again when its lease expires
    assert asks["waiting"] > CLAIMED_AHEAD // 2
    assert asks["done"] == len(stub.calls()) == 11 - asks["waiting"]


def test_an_internal_error_fails_one_step_and_is_paid_for_once(
    session: Session, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(text: str, passages: Sequence[Passage]) -> GroundingOut:
        if next(breaks, False):
            raise KeyError(text)
        return ground(text, passages)

    ground, breaks = model_asks.grounding_of, iter([True])
    monkeypatch.setattr(model_asks, "grounding_of", faulty)
    stub.script(Script(answer="Zehn Jahre."))
    replay = launch(session, ASKING, by="test")
    run_worker(replay)
    document = ReplayOut.of(Replay.objects.get(id=replay.id)).model_dump()
    failed = replay.steps.get(status="failed")
    assert failed.error_type == "internal_error"
    assert "KeyError" in (failed.error_message or "")
    assert document["unknown_cost_calls"] == 1
    assert len(stub.calls()) == replay.steps.filter(provider="openai").count()


def test_steps_without_a_model_call_are_claimed_together(session: Session) -> None:
    replay = launch(session, CHECKING, by="test")
    taken = leases.claim(replay.id, "one", calls=False)
    assert len(taken) == 7
    assert len({lease.token for lease in taken}) == 1
    assert leases.claim(replay.id, "another", calls=False) == []
    assert leases.claim(replay.id, "another", calls=True) == []


def test_an_answered_step_frees_its_slot_for_the_next(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    replay = launch(session, ASKING, by="test")
    first = leases.claim(replay.id, "one", calls=True, most=7)
    assert len(first) == 3
    assert leases.claim(replay.id, "one", calls=True, most=7) == []
    assert len(leases.claim(replay.id, "one", calls=True, most=7, spared=first[:2])) == 2
    assert leases.claim(replay.id, "another", calls=True, most=7) == []


def test_a_claimed_step_that_was_not_started_is_released_without_a_trace(session: Session) -> None:
    replay = launch(session, CHECKING, by="test")
    first, *others = leases.claim(replay.id, "one", calls=False)
    leases.give_back(others)
    waiting = ReplayStep.objects.filter(replay=replay, status="waiting")
    assert set(waiting.values_list("attempts_made", "lease_token")) == {(0, None)}
    assert [attempt.step_id for attempt in ReplayAttempt.objects.filter(step__replay=replay)] == [first.pk]
    assert cancel(replay).status == "queued"
    assert leases.claim(replay.id, "another", calls=False) == []


def test_leases_are_kept_through_a_brief_database_outage(session: Session, settings: Settings) -> None:
    settings.LEASE_SECONDS = 1
    replay = launch(session, CHECKING, by="test")
    taken = leases.claim(replay.id, "one", calls=False)
    held = ReplayStep.objects.filter(lease_token=taken[0].token)
    before = set(held.values_list("lease_until", flat=True))
    with leases.keeper() as keeper, keeper.keeping(taken[0].token):
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE tm_replay_step RENAME TO tm_gone")
        time.sleep(0.6)  # two renewals fail
        with as_owner() as cursor:
            cursor.execute("ALTER TABLE tm_gone RENAME TO tm_replay_step")
        wait_until(lambda: before.isdisjoint(held.values_list("lease_until", flat=True)))


def test_a_worker_asleep_in_a_transaction_blocks_others_for_at_most_a_lease(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.LEASE_SECONDS = 1
    replay = launch(session, ASKING, by="test")
    asleep, over = Event(), Event()

    def sleeper() -> None:
        try:
            with suppress(Error), briefly():  # its connection is closed when it wakes up
                leases.claim(replay.id, "sleeps", calls=True)
                asleep.set()
                over.wait(20)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        sleeping = thread.submit(sleeper)
        assert asleep.wait(20)
        began = time.monotonic()
        assert leases.claim(replay.id, "awake", calls=True, most=7)
        assert time.monotonic() - began < 10
        over.set()
        sleeping.result(20)
    assert set(ReplayAttempt.objects.values_list("worker", flat=True)) == {"awake"}

"""Cancelling a replay with active workers: running calls are stopped and nothing else is started."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections, transaction
from pytest_django import Settings

from tests.builders import recorded_session
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.replay.runs import leases, steps
from timemachine.replay.runs.commands import cancel, launch
from timemachine.replay.runs.models import Replay, ReplayAttempt
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.worker import work

OPTIONS = ReplayOptions(audit=True, reason="Halt!", use_model="local:extractive-1", skip_finds=True)


@pytest.fixture
def replay(transactional_db: None, project: Project) -> Replay:
    """A replay of ten asks without a model call."""
    questions = [f"How long are invoices kept, asked for time {n}?" for n in range(10)]
    return launch(recorded_session(project, questions=questions), OPTIONS, by="test")


def cancel_elsewhere(replay: Replay) -> None:
    """Cancel the replay over another connection, as someone else would."""

    def cancel_in_thread() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '10s'")  # else a bug would wait forever
            cancel(replay)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(cancel_in_thread).result(30)


def statuses(replay: Replay) -> Counter[str]:
    return Counter(replay.steps.values_list("status", flat=True))


def test_cancelling_takes_effect_within_one_step_of_a_claimed_batch(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, do = [], steps.run_step

    def run_and_cancel(*given: Any, **named: Any) -> Any:
        done.append(do(*given, **named))
        if len(done) == 3:
            cancel_elsewhere(replay)
        return done[-1]

    monkeypatch.setattr(steps, "run_step", run_and_cancel)
    assert work(replay.id, "one") == 3
    replay.refresh_from_db()
    assert (replay.status, replay.finished_at is None) == ("cancelled", False)
    assert statuses(replay) == {"done": 3, "cancelled": 7}
    attempts = ReplayAttempt.objects.filter(step__replay=replay)
    assert list(attempts.values_list("outcome", flat=True)) == ["done"] * 3


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        server.script(Script(answer="Ten years.", mode="silent", seconds=40))
        yield server


def run_worker(replay: Replay) -> float:
    """How long a worker took, in its own thread."""
    started = time.monotonic()
    try:
        work(replay.id, "one")
        return time.monotonic() - started
    finally:
        connections.close_all()


def test_running_calls_are_stopped_and_marked_as_cancelled_and_possibly_billed(
    transactional_db: None, project: Project, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 5
    browser = browser_of(project)
    options = ReplayOptions(audit=True, reason="Halt!", use_model="openai:gpt-4o", skip_finds=True)
    questions = [f"How long are invoices kept, asked for time {n}?" for n in range(5)]
    replay = launch(recorded_session(project, questions=questions), options, by="test")
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(run_worker, replay)
        stub.wait_for_calls(5)
        cancel(replay, by="zoe@example.org")
        assert working.result(60) < 30
    document = ReplayOut.of(Replay.objects.get(id=replay.id)).model_dump()
    assert (document["status"], document["cancel_requested_by"]) == ("cancelled", "zoe@example.org")
    assert statuses(replay) == {"cancelled": 5}
    assert {each.error_type for each in replay.steps.all()} == {"cancelled"}
    attempts = ReplayAttempt.objects.filter(step__replay=replay)
    assert set(attempts.values_list("outcome", "calls_made", "cost_usd")) == {("cancelled", 1, None)}
    assert document["unknown_cost_calls"] == 5
    assert "5 steps cancelled" in document["summary"]
    assert "5 calls of unknown price (recorded $0)" in document["summary"]
    after = browser.get(f"/replays/{replay.id}/").text
    assert "these 5 calls cost" in after
    assert "zoe" in after[after.index("<dt>Cancelled") :][:400]
    assert "may have been billed" in browser.get(f"/replays/{replay.id}/steps/2/").text


@pytest.mark.parametrize("limit", [None, 1000.0])
def test_a_claimed_step_without_a_call_is_cancelled_without_one(
    transactional_db: None,
    project: Project,
    stub: StubModelServer,
    settings: Settings,
    limit: float | None,
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 2
    options = ReplayOptions(
        audit=True, reason="Halt!", use_model="openai:gpt-4o", skip_finds=True, spend_limit_usd=limit
    )
    questions = [f"How long are invoices kept, asked for time {n}?" for n in range(9)]
    replay = launch(recorded_session(project, questions=questions), options, by="test")
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(run_worker, replay)
        wait_until(lambda: replay.steps.filter(status="running").count() > 2)
        stub.wait_for_calls(2)
        cancel_elsewhere(replay)
        working.result(60)
    assert len(stub.calls()) == 2
    assert statuses(replay) == {"cancelled": 9}
    assert ReplayAttempt.objects.filter(step__replay=replay).count() == 2


def test_the_page_shows_how_many_calls_are_being_stopped(project: Project, stub: StubModelServer) -> None:
    options = ReplayOptions(audit=True, reason="Halt!", use_model="openai:gpt-4o", skip_finds=True)
    replay = launch(recorded_session(project), options, by="test")
    leases.claim(replay.id, "one", calls=True)
    cancel(replay, by="zoe@example.org")
    page = browser_of(project).get(f"/replays/{replay.id}/").text
    assert "Cancelling 1 running step" in page


def test_a_step_with_a_busy_model_shows_until_when_it_waits(
    transactional_db: None, project: Project, stub: StubModelServer
) -> None:
    question = "How long are invoices kept?"
    stub.script(Script(question=question, answer="Ten."))
    stub.script(Script(question=question, answer="Ten.", mode="429_then_ok", retry_after="6"))
    options = ReplayOptions(audit=True, reason="Halt!", use_model="openai:gpt-4o", skip_finds=True)
    replay = launch(recorded_session(project, questions=[question]), options, by="test")
    browser = browser_of(project)
    with ThreadPoolExecutor(1) as thread:
        working = thread.submit(run_worker, replay)
        wait_until(lambda: ReplayOut.of(replay).model_dump()["waiting"]["calls"] == 1)
        assert ReplayOut.of(replay).model_dump()["waiting"]["until"] is not None
        page = browser.get(f"/replays/{replay.id}/").text
        assert "returned 429: Too many requests" in page
        assert "Next attempt at" in page
        assert working.result(60) > 5
    assert statuses(replay) == {"done": 1}
    assert ReplayOut.of(replay).model_dump()["waiting"] == {"calls": 0, "until": None}


def test_steps_being_claimed_at_that_moment_are_left_to_their_worker(replay: Replay) -> None:
    with transaction.atomic():
        taken = leases.claim(replay.id, "quicker", calls=False)
        cancel_elsewhere(replay)
    assert len(taken) == leases.CLAIM_BATCH
    assert all(lease.held().exists() for lease in taken)
    assert statuses(replay) == {"running": len(taken), "cancelled": 2}
    leases.give_back(taken)
    assert work(replay.id, "quicker") == 0
    assert statuses(replay) == {"cancelled": 10}

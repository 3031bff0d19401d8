"""The spend limit holds for concurrent calls: each reserves its expected cost before it starts."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections
from pytest_django import Settings

from tests.api.conftest import program
from tests.builders import recorded_session, replayed
from tests.replay.runs.test_concurrent_steps import max_concurrent
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs import leases, spend_limit
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay, ReplayAttempt
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.tallies import tally
from timemachine.replay.runs.worker import work

LIMIT = Decimal("0.005")
QUESTIONS = [f"How long are invoices kept, asked for time {n}?" for n in range(14)]
ASKS = 6
UNPRICED = "openai:nobody-knows-its-price"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        for name in ("OPENAI", "OLLAMA"):
            monkeypatch.setenv(f"{name}_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        yield server


@pytest.fixture
def session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project, questions=QUESTIONS[:ASKS])


@pytest.fixture
def long_session(transactional_db: None, project: Project) -> Session:
    return recorded_session(project, questions=QUESTIONS)


def options(model: str, limit: Decimal, max_tokens: int | None = 100) -> ReplayOptions:
    return ReplayOptions(
        audit=True,
        reason="Was kostet es?",
        use_model=model,
        max_tokens=max_tokens,
        skip_finds=True,
        spend_limit_usd=float(limit),
    )


def answers(stub: StubModelServer, tokens: int, seconds: float = 0.1) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
    stub.script(Script(answer="Ten years.", mode="slow", seconds=seconds, usage=usage))


def run_workers(session: Session, replay_options: ReplayOptions) -> Replay:
    """The finished replay, run by as many threads as a worker may have."""
    return run(launch(session, replay_options, by="test"))


def run(replay: Replay) -> Replay:
    try:
        work(replay.id, "side by side")
    finally:
        connections.close_all()
    replay.refresh_from_db()
    return replay


def test_concurrent_calls_stay_below_the_limit_together(
    long_session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 14
    answers(stub, 100)
    replay = run_workers(long_session, options("openai:gpt-4o", LIMIT))
    totals = tally(replay)
    assert 2 <= max_concurrent(stub.calls()) <= 3
    assert Decimal("0.0035") < totals.cost_usd <= LIMIT
    assert totals.statuses == {"done": len(stub.calls()), "skipped": 14 - len(stub.calls())}
    reserved = ReplayAttempt.objects.filter(call_intended_at__isnull=False).values_list(
        "reserved_usd", flat=True
    )
    assert all(Decimal("0.001") < each < Decimal("0.002") for each in reserved if each is not None)
    assert None not in reserved
    assert ReplayOut.of(replay).model_dump()["over_limit_usd"] == 0
    assert (
        f"{totals.statuses['skipped']} steps not asked because of the spend limit"
        in ReplayOut.of(replay).model_dump()["summary"]
    )
    reasons = replay.steps.filter(status="skipped").values_list("evidence__not_asked", flat=True)
    assert all("spend limit of this replay was reached: $0.00" in each for each in reasons)


def test_calls_that_cannot_be_estimated_run_one_at_a_time_under_a_limit(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 5
    answers(stub, 100, seconds=0.05)
    limited = options(UNPRICED, LIMIT)
    replay = launch(session, limited.model_copy(update={"spend_limit_usd": None}), by="test")
    Replay.objects.update(options=limited.as_json())  # as if the price was known when it was launched
    replay = run(replay)
    assert max_concurrent(stub.calls()) == 1
    assert tally(replay).statuses == {"done": ASKS}
    assert tally(replay).unknown_cost_calls == ASKS


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("sessions/{session}/replays", {"audit": True, "reason": "Why?", "use_models": [UNPRICED]}),
        ("sessions/{session}/replays/estimate", {"audit": True, "reason": "Why?", "use_models": [UNPRICED]}),
        ("comparisons", {"reason": "Why?", "arms": [{"model": "openai:gpt-4o"}, {"model": UNPRICED}]}),
        ("comparisons/estimate", {"arms": [{"model": "openai:gpt-4o"}, {"model": UNPRICED}]}),
        (
            "suites",
            {"name": "Nightly", "use_models": [UNPRICED], "options": {"audit": True, "reason": "Why?"}},
        ),
    ],
)
def test_a_limit_that_an_unknown_price_could_pass_is_refused_before_the_start(
    session: Session, stub: StubModelServer, path: str, body: dict[str, Any]
) -> None:
    api = program(session.project)
    whole = body if path.startswith("sessions") else body | {"sessions": [session.key]}
    limit = {"spend_limit_usd": 1}
    limited = whole | ({"options": whole["options"] | limit} if "options" in whole else limit)
    answer = api.post(f"/{path.format(session=session.key)}", limited)
    assert (answer.status_code, answer.json()["code"]) == (422, "limit_without_price")
    assert f"The price of {UNPRICED} is unknown, so a spend limit cannot be kept" in answer.json()["message"]
    assert not Replay.objects.exists()
    assert not stub.calls()


@pytest.mark.parametrize("model", ["ollama:llama3.2", "local:extractive-1"])
def test_free_calls_are_never_refused(
    session: Session, stub: StubModelServer, settings: Settings, model: str
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 14
    answers(stub, 100)
    replay = run_workers(session, options(model, Decimal(0)))
    assert tally(replay).statuses == {"done": ASKS}
    assert model.startswith("local") or len(stub.calls()) == ASKS


def test_an_exceeded_limit_is_reported_with_the_excess(
    project: Project, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 1
    answers(stub, 1_000, seconds=0)
    session = recorded_session(project, questions=QUESTIONS[:3])
    document = ReplayOut.of(replayed(session, options("openai:gpt-4o", LIMIT))).model_dump()
    assert document["cost_usd"] == 0.01025
    assert document["over_limit_usd"] == pytest.approx(0.00525)
    assert "the spend limit of $0.005 was exceeded by $0.00525" in document["summary"]


def test_an_interrupted_call_counts_as_billed(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 3
    stub.script(Script(answer="Ten years.", mode="closed"))
    replay = run_workers(session, options("openai:gpt-4o", LIMIT))
    totals = tally(replay)
    assert totals.statuses == {"failed": len(stub.calls()), "skipped": ASKS - len(stub.calls())}
    assert 3 <= len(stub.calls()) <= 4
    reasons = replay.steps.filter(status="skipped").values_list("evidence__not_asked", flat=True)
    assert all(
        "$0 of $0.005 is spent and $0.00" in each and "may have been billed" in each for each in reasons
    )


def test_a_call_lost_with_its_worker_counts_as_billed(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 1
    answers(stub, 100, seconds=0)
    replay = launch(session, options("openai:gpt-4o", LIMIT), by="test")
    (lost,) = leases.claim(replay.id, "dies", calls=True)
    spend_limit.intend_call(lost, replay, LIMIT)
    replay.steps.update(lease_until=now() - timedelta(seconds=1))
    work(replay.id, "lives")
    assert stub.calls() == []
    assert tally(replay).statuses == {"skipped": ASKS}


def test_under_a_limit_every_step_is_called_once_in_any_order(
    session: Session, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_CALLS_AT_ONCE = 4
    answers(stub, 1, seconds=0.1)
    stub.script(Script(question=QUESTIONS[2], answer="Ten.", mode="slow", seconds=0.4))
    replay = run_workers(session, options("openai:gpt-4o", Decimal("0.015"), max_tokens=1_000))
    assert tally(replay).statuses == {"done": ASKS}
    attempts = ReplayAttempt.objects.filter(step__replay=replay)
    assert list(attempts.values_list("outcome", flat=True)) == ["done"] * ASKS
    assert len(stub.calls()) == ASKS

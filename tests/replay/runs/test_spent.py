"""The cost of attempts is counted the same way for a replay, a suite run and a comparison."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, compared, recorded_session, replayed, worked_off
from tests.provider_failures import as_vendors
from tests.replay.suites.conftest import made, ran
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.web.people import browser_of
from timemachine.cli.output.comparisons import comparison_lines
from timemachine.client.generated.types import ComparisonResults
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs import leases
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions

LOCAL, PRICED, UNPRICED = "local:extractive-1", "openai:gpt-4o-mini", "openai:stub-model"


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def session(project: Project) -> Session:
    return recorded_session(project, key="s1", questions=QUESTIONS[:1])


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as running:
        yield running


def read_comparison(api: Program, comparison: Comparison) -> dict[str, Any]:
    return dict(api.get(f"/comparisons/{comparison.id}").json())


def test_every_attempt_of_a_call_of_unknown_price_is_counted(
    api: Program, project: Project, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(mode="error", status=503, body="{}", retry_after="0"))
    replay = replayed(session, ReplayOptions(audit=True, reason="r", use_model=UNPRICED))
    assert len(stub.calls()) == 3
    assert api.get(f"/replays/{replay.id}").json()["unknown_cost_calls"] == 3
    made(api, "s1", use_models=[UNPRICED])
    assert ran(api)["unknown_cost_calls"] == 3
    comparison = compared(project, [session], LOCAL, UNPRICED)
    found = read_comparison(api, comparison)
    assert (found["unknown_cost_calls"], found["uncertain_calls"]) == (3, 0)
    assert [each["unknown_cost"] for each in found["columns"][1:]] == [0, 3]
    assert "3 calls of unknown price" in browser_of(project).get(f"/comparisons/{comparison.id}/").text


def test_a_call_lost_with_its_worker_stays_uncertain(
    api: Program, project: Project, session: Session, stub: StubModelServer
) -> None:
    usage = {"prompt_tokens": 1_000, "completion_tokens": 10, "total_tokens": 1_010}
    stub.script(Script(answer="Ten years.", usage=usage))
    sent = {"sessions": ["s1"], "arms": [{"model": LOCAL}, {"model": PRICED}], "reason": "r"}
    comparison = Comparison.objects.get(id=api.post("/comparisons", sent).json()["comparison_id"])
    replay = Replay.objects.get(model=PRICED)
    (lease,) = leases.claim(replay.id, "dies", calls=True)
    leases.intend_call(lease)

    def uncertain() -> tuple[int, int]:
        of_replay = api.get(f"/replays/{replay.id}").json()["uncertain_calls"]
        return of_replay, read_comparison(api, comparison)["uncertain_calls"]

    assert uncertain() == (0, 0)
    replay.steps.update(lease_until=now() - timedelta(seconds=1))
    assert uncertain() == (1, 1)
    worked_off(comparison)
    assert uncertain() == (1, 1)
    found = read_comparison(api, comparison)
    assert (found["unknown_cost_calls"], found["cost_usd"] > 0) == (0, True)
    assert [(each["cost"]["total"], each["unknown_cost"]) for each in found["columns"][1:]] == [
        (0, 0),
        (found["cost_usd"], 1),
    ]
    shown = browser_of(project).get(f"/comparisons/{comparison.id}/").text
    assert "1 attempt lost around a model call; it may have been billed" in shown
    assert "1 interrupted call may have been billed" in "\n".join(
        comparison_lines(cast("ComparisonResults", found), "")
    )

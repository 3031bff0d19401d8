"""Costs of opinions: the known cost, and how many calls have an unknown price."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session
from tests.provider_failures import as_vendors
from tests.replay.comparison.test_opinions import ONE, THREE, judged, says
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.replay.comparison.judge_calls import prompts_of
from timemachine.replay.comparison.judge_queue import cancel_judges, judged_cells
from timemachine.replay.comparison.models import CellOpinion, Comparison

PRICED = "openai:gpt-4o-mini"


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def made(project: Project) -> Comparison:
    return compared(project, [recorded_session(project)], ONE, THREE)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as running:
        usage = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}
        running.script(Script(answer=says("different", "neither"), usage=usage))
        yield running


def test_the_known_cost_of_an_opinion_is_kept_if_one_call_has_none(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    cell, _ = judged_cells(made)
    _, (_, second) = prompts_of(cell)
    stub.script(Script(question=second.messages[-1].content, mode="garbage"))
    half, fully_priced = sorted(judged(api, made, model=PRICED), key=lambda each: each.step_id != cell.id)
    assert (half.state, half.calls_made, half.unknown_cost_calls) == ("failed", 2, 1)
    assert (fully_priced.state, fully_priced.calls_made, fully_priced.unknown_cost_calls) == ("done", 2, 0)
    assert half.cost_usd is not None
    assert fully_priced.cost_usd == 2 * half.cost_usd > 0
    body = api.get(f"/comparisons/{made.id}/judgements/{half.id}").json()
    assert (body["cost_usd"], body["unknown_cost_calls"]) == (float(half.cost_usd), 1)
    judges: dict[str, Any] = api.get(f"/comparisons/{made.id}").json()["judges"]
    assert judges["cost_usd"] == pytest.approx(3 * float(half.cost_usd))
    assert judges["unknown_cost_calls"] == 1
    assert (
        " + 1 call of unknown price"
        in browser_of(made.project).get(f"/comparisons/{made.id}/cells/{half.step_id}/").text
    )


def test_an_opinion_without_any_known_cost_has_none(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    first, _ = judged(api, made, model="openai:stub-judge")
    assert (first.cost_usd, first.calls_made, first.unknown_cost_calls) == (None, 2, 2)
    shown = browser_of(made.project).get(f"/comparisons/{made.id}/cells/{first.step_id}/").text
    assert "2 calls of unknown price" in shown


def test_an_opinion_cancelled_during_a_call_has_a_call_of_unknown_price(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    api.post(f"/comparisons/{made.id}/judgements", {"model": PRICED})
    CellOpinion.objects.update(state="asking")
    cancel_judges(made)
    assert api.get(f"/comparisons/{made.id}").json()["judges"]["unknown_cost_calls"] == 2

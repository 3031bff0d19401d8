"""Judges share the spend limit of their comparison with its replays."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.db import transaction

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session
from tests.provider_failures import as_vendors
from tests.replay.comparison.test_opinions import ONE, THREE, judged, says
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.replay.comparison.judge_queue import judge_waiting
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.runs.spend_limit import (
    LimitReached,
    group_budget,
    reserve_extra_call,
    settle_extra_call,
)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def made(project: Project) -> Comparison:
    return compared(project, [recorded_session(project)], ONE, THREE)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as running:
        yield running


def test_the_spend_limit_of_a_comparison_applies_to_its_judges(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    Comparison.objects.update(spend_limit_usd=0)
    opinions = judged(api, made)
    assert {each.state for each in opinions} == {"cancelled"}
    assert stub.calls() == []


def test_judge_costs_count_towards_the_spend_limit_shared_with_replays(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    Comparison.objects.update(spend_limit_usd=1)
    stub.script(
        Script(
            answer=says("different", "neither"),
            usage={"prompt_tokens": 1_000, "completion_tokens": 10, "total_tokens": 1_010},
        )
    )
    opinions = judged(api, made, model="openai:gpt-4o")
    cost = sum((each.cost_usd or Decimal(0) for each in opinions), Decimal(0))
    assert cost > 0.005
    purse = group_budget(made.id, Decimal(1))
    assert (purse.spent, purse.reserved, purse.uncertain) == (cost, Decimal(0), Decimal(0))
    assert group_budget(uuid7(), Decimal(1)).spent == 0


def test_concurrent_judges_keep_to_the_limit_together(made: Comparison) -> None:
    one, other, cents = uuid7(), uuid7(), Decimal("0.6")

    def reserved(call: UUID) -> bool:
        with transaction.atomic():
            return reserve_extra_call(made.id, Decimal(1), call, cents, longest=timedelta(hours=1))

    assert reserved(one)
    assert not reserved(other)
    settle_extra_call(one, Decimal("0.3"))
    assert reserved(other)
    settle_extra_call(other, None)
    with pytest.raises(LimitReached, match=r"\$0.30 of \$1.00 is spent and \$0.60 more may have been billed"):
        reserved(uuid7())


def test_a_judge_waits_for_other_reserved_costs(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    Comparison.objects.update(spend_limit_usd=1)
    stub.script(Script(answer=says("different", "neither")))
    other_call = uuid7()
    with transaction.atomic():
        assert reserve_extra_call(
            made.id, Decimal(1), other_call, Decimal("0.9999"), longest=timedelta(hours=1)
        )
    opinions = judged(api, made, model="openai:gpt-4o")
    assert {each.state for each in opinions} == {"waiting"}
    settle_extra_call(other_call, Decimal(0))
    judge_waiting(made.id)
    assert {each.state for each in CellOpinion.objects.all()} == {"done"}


def test_a_free_judge_is_called_whatever_the_spend_limit(
    api: Program, made: Comparison, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", f"{stub.url}/v1")
    stub.script(Script(answer=says("different", "neither")))
    Comparison.objects.update(spend_limit_usd=0)
    opinions = judged(api, made, model="ollama:judge")
    assert {each.state for each in opinions} == {"done"}
    assert {each.cost_usd for each in opinions} == {0}

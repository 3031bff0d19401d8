"""Columns of a comparison show exactly what was recorded of refused, failed, priced and missing answers."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.api.conftest import program
from tests.builders import QUESTIONS, compared, recorded_session
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.comparison import results
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.runs.models import ReplayAttempt, ReplayStep

ONE, THREE = "local:extractive-1", "local:extractive-3"
CATS = RetrievalDraft(hits=(HitDraft(rank=1, text="Cats sleep for fifteen hours a day."),))


def comparison_document(project: Project, comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = program(project).get(f"/comparisons/{comparison.id}").json()
    return found


def page(project: Project, comparison: Comparison) -> str:
    return browser_of(project).get(f"/comparisons/{comparison.id}/").content.decode()


def metrics(found: dict[str, Any], a: int, b: int) -> dict[str, Any]:
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (a, b))
    return {each["metric"]: each for each in pair["metrics"]}


def recorded_asks(project: Project, *asks: ActionDraft) -> Session:
    session = start_session(project, name="asks", by="test")
    append(session.id, list(asks))
    return session


def test_a_refusal_is_counted_even_without_a_recorded_answer(project: Project) -> None:
    question = "Which currency do Norwegians pay with?"
    session = recorded_asks(project, ActionDraft(kind="ask", input=question, retrieval=CATS))
    found = comparison_document(project, compared(project, [session], ONE, THREE))
    assert found["columns"][1]["verdicts"] == {"not_recorded": 1}
    assert found["columns"][1]["missing"] == {"refused": 1}
    assert metrics(found, 1, 2)["answered"]["mean_a"] == 0


def test_an_answer_to_a_recorded_refusal_is_excluded_with_that_reason(project: Project) -> None:
    question = "How long do cats sleep?"
    refusal = "The given context does not answer this question."
    session = recorded_asks(project, ActionDraft(kind="ask", input=question, output=refusal, retrieval=CATS))
    found = comparison_document(project, compared(project, [session], ONE, THREE))
    assert found["columns"][1]["verdicts"] == {"newly_answered": 1}
    reason = "recorded answer refused"
    assert metrics(found, 1, 2)["agreement"]["excluded"] == {f"A: {reason}, B: {reason}": 1}


def test_a_cached_answer_has_a_known_cost_of_zero(project: Project) -> None:
    ask = ActionDraft(kind="ask", input="How long?", output="Fifteen hours.", retrieval=CATS, cached=True)
    found = comparison_document(project, compared(project, [recorded_asks(project, ask)], ONE, THREE))
    recording = found["columns"][0]
    assert (recording["cost"]["total"], recording["unknown_cost"]) == (0, 0)


def test_a_failed_call_is_in_its_column_with_its_known_or_unknown_cost(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = ActionDraft(
        kind="ask",
        input="How long do cats sleep?",
        retrieval=CATS,
        model="x:y",
        error_type="timeout",
        cost_usd=Decimal("0.25"),
    )
    session = recorded_asks(project, failed, replace(failed, cost_usd=None))
    with as_vendors(monkeypatch) as stub:
        stub.script(Script(mode="garbage"))
        made = compared(project, [session], ONE, "openai:stub-model")
    found = comparison_document(project, made)
    assert [(each["cost"]["total"], each["unknown_cost"]) for each in found["columns"]] == [
        (0.25, 1),
        (0, 0),
        (None, 2),
    ]
    assert found["unknown_cost_calls"] == 2
    assert "2 calls of unknown price" in page(project, made)


def test_a_column_of_unknown_cost_shows_unknown(project: Project) -> None:
    session = recorded_asks(project, ActionDraft(kind="ask", input="Who sleeps?", error_type="timeout"))
    made = compared(project, [session], ONE, THREE)
    assert comparison_document(project, made)["columns"][0]["cost"]["total"] is None
    assert 'data-label="Cost, total">unknown</td>' in page(project, made)


def test_a_retried_call_counts_the_cost_of_both_attempts(project: Project) -> None:
    made = compared(project, [recorded_session(project, questions=QUESTIONS[:1])], ONE, THREE)
    step = ReplayStep.objects.filter(replay__run__arm=2).get()
    ReplayAttempt.objects.create(
        step=step, number=7, lease_token=uuid7(), worker="w", calls_made=1, cost_usd=Decimal("0.5")
    )
    results.compute(made, progress_of([made])[made.id])
    assert [each["cost"]["total"] for each in comparison_document(project, made)["columns"]] == [0, 0, 0.5]
    assert comparison_document(project, made)["cost_usd"] == 0.5

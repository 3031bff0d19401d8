"""What a column says of answers that refuse, fail, cost or are missing is what was recorded of them, and no more."""

from decimal import Decimal
from typing import Any

import pytest

from tests.api.conftest import program
from tests.asking import as_vendors
from tests.builders import QUESTIONS, compared, recorded_session
from tests.stub_answers import Script
from timemachine.accounts.models import Project
from timemachine.comparison.models import Comparison
from timemachine.recording.commands import append, start_session
from timemachine.recording.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.models import Session

ONE, THREE = "local:extractive-1", "local:extractive-3"
CATS = RetrievalDraft(hits=(HitDraft(rank=1, text="Cats sleep for fifteen hours a day."),))


def told(project: Project, comparison: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = program(project).get(f"/comparisons/{comparison.id}").json()
    return found


def metrics(found: dict[str, Any], a: int, b: int) -> dict[str, Any]:
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (a, b))
    return {each["metric"]: each for each in pair["metrics"]}


def asked(project: Project, *asks: ActionDraft) -> Session:
    session = start_session(project, name="asks", by="test")
    append(session.id, list(asks))
    return session


def test_a_refusal_is_one_where_no_answer_was_recorded(project: Project) -> None:
    question = "Which currency do Norwegians pay with?"
    session = asked(project, ActionDraft(kind="ask", input=question, retrieval=CATS))
    found = told(project, compared(project, [session], ONE, THREE))
    assert found["columns"][1]["verdicts"] == {"not_recorded": 1}
    assert found["columns"][1]["missing"] == {"refused": 1}
    assert metrics(found, 1, 2)["answered"]["mean_a"] == 0


def test_what_answers_where_the_recorded_answer_refused_says_so_as_its_reason(project: Project) -> None:
    question = "How long do cats sleep?"
    refusal = "The given context does not answer this question."
    session = asked(project, ActionDraft(kind="ask", input=question, output=refusal, retrieval=CATS))
    found = told(project, compared(project, [session], ONE, THREE))
    assert found["columns"][1]["verdicts"] == {"newly_answered": 1}
    reason = "recorded answer refused"
    assert metrics(found, 1, 2)["agreement"]["excluded"] == {f"A: {reason}, B: {reason}": 1}

"""Cancelling judges: a judge that is being called is stopped from elsewhere, and no further judge is called."""

import threading
from collections.abc import Iterator

import pytest
from django.db import connection

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.llm.pure.completion import Completion
from timemachine.replay.comparison.judge_queue import cancel_judges, judge_waiting
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.judging.pure.replies import text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as running:
        running.script(Script(mode="silent", seconds=30))
        yield running


@pytest.fixture
def made(project: Project) -> Comparison:
    return compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def worker(api: Program, made: Comparison, stub: StubModelServer) -> threading.Thread:
    """A worker that is calling a silent judge about the first of two cells."""

    def run() -> None:
        judge_waiting(made.id)
        connection.close()

    api.post(f"/comparisons/{made.id}/judgements", {"model": "openai:stub-judge"})
    thread = threading.Thread(target=run)
    thread.start()
    stub.wait_for_calls(1)
    return thread


def test_stopping_the_judging_cancels_the_running_judge(
    project: Project, api: Program, made: Comparison, stub: StubModelServer, worker: threading.Thread
) -> None:
    browser, button = browser_of(project), ">Stop judging</button>"
    assert button in browser.get(f"/comparisons/{made.id}/").text
    assert api.post(f"/comparisons/{made.id}/judgements/cancel").json() == {"cells": 2}
    worker.join(timeout=60)
    assert not worker.is_alive()
    ended, never = CellOpinion.objects.order_by("created_at", "id")
    assert (ended.state, ended.error_type, never.state) == ("failed", "cancelled", "cancelled")
    assert (ended.calls_made, ended.cost_usd) == (1, None), "its question was sent"
    assert "may have been billed" in (ended.error_message or "")
    assert len(stub.calls()) == 1
    assert cancel_judges(made) == 0
    assert button not in browser.get(f"/comparisons/{made.id}/").text


def test_cancelling_a_comparison_cancels_its_judges_too(
    api: Program, made: Comparison, worker: threading.Thread
) -> None:
    assert api.post(f"/comparisons/{made.id}/cancel").status_code == 200
    worker.join(timeout=60)
    assert not worker.is_alive()
    assert set(CellOpinion.objects.values_list("state", flat=True)) == {"failed", "cancelled"}
    assert api.post(f"/comparisons/{made.id}/cancel").json()["code"] == "comparison_over"


def test_a_judge_that_answers_while_being_cancelled_keeps_its_verdict(
    api: Program, made: Comparison, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.post(f"/comparisons/{made.id}/judgements", {"model": "openai:stub-judge"})
    stub.script(Script(answer='{"relation": "different", "better": "neither"}'))

    def read_late(completion: Completion) -> str:
        if len(stub.calls()) == 2:  # else the second call might be cancelled
            cancel_judges(made)
        return text_of(completion)

    monkeypatch.setattr("timemachine.replay.comparison.judge_calls.text_of", read_late)
    judge_waiting(made.id)
    opinions = CellOpinion.objects.order_by("created_at", "id").values_list(
        "state", "error_type", "calls_made"
    )
    assert list(opinions) == [("done", None, 2), ("cancelled", None, 0)]

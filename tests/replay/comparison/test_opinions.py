"""Judges of cells, with a stub model: called twice per cell, stored as opinions, never a verdict, never repeated automatically."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.deletions import erase_session
from timemachine.replay.comparison.judge_calls import ask
from timemachine.replay.comparison.judge_queue import judge_waiting, judged_cells, overdue
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.runs.models import ReplayStep

JUDGE = "openai:stub-judge"
ONE, THREE = "local:extractive-1", "local:extractive-3"


def says(relation: str, better: str) -> str:
    return json.dumps({"relation": relation, "better": better, "reason": "By the passages."})


@pytest.fixture(scope="module")
def of_three(shared_rows: None) -> Comparison:
    """extractive-1 compared with itself and with -3: four cells are identical and two differ."""
    project = Project.objects.create(name="Prüfung")
    return compared(project, [recorded_session(project)], ONE, THREE)


@pytest.fixture
def made(of_three: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=of_three.pk)


@pytest.fixture
def project(made: Comparison) -> Project:
    return made.project


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as running:
        yield running


def judged(api: Program, made: Comparison, **more: Any) -> list[CellOpinion]:
    answer = api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE} | more)
    assert answer.status_code == 202, answer.content
    judge_waiting(made.id)
    return list(CellOpinion.objects.order_by("created_at", "id"))


def test_every_changed_cell_is_judged_in_both_orders(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer=says("different", "first")))
    first, second = judged(api, made)
    assert len(stub.calls()) == 4
    assert (first.state, first.relation, first.preference) == ("done", "different", "undecided")
    assert [each["preference"] for each in first.asked or ()] == ["worse", "better"]
    answers = [call.prompt[call.prompt.index("<answer") :] for call in stub.calls()[:2]]
    assert answers[0] != answers[1]
    assert second.step.verdict != "identical"
    assert [each["order"] for each in value(first.prompt)] == ["recorded_first", "new_first"]
    assert value(first.raw) == [says("different", "first")] * 2


def test_an_opinion_is_shown_in_the_cell_and_changes_no_verdict(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    before = list(ReplayStep.objects.order_by("id").values_list("verdict", flat=True))
    stub.script(Script(answer=says("equivalent", "neither")))
    opinion = judged(api, made)[0]
    assert list(ReplayStep.objects.order_by("id").values_list("verdict", flat=True)) == before
    cells = [
        cell for ask in api.get(f"/comparisons/{made.id}/cells").json()["items"] for cell in ask["cells"]
    ]
    shown = [each for cell in cells for each in cell["opinions"]]
    assert {(each["model"], each["relation"], each["preference"]) for each in shown} == {
        (JUDGE, "equivalent", "neither")
    }
    one = api.get(f"/comparisons/{made.id}/judgements/{opinion.id}").json()
    assert len(one["prompt"]) == len(one["raw_answers"]) == 2
    assert api.get(f"/comparisons/{made.id}").json()["judges"] == {
        "cells": 2,
        "waiting": 0,
        "asking": 0,
        "busy": {"calls": 0, "until": None},
        "failed": 0,
        "cost_usd": 0,
        "unknown_cost_calls": 4,
    }


def test_a_judged_cell_is_judged_again_only_on_request(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer=says("different", "neither")))
    opinion = judged(api, made)[0]
    repeated = api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE})
    assert (repeated.status_code, repeated.json()["code"]) == (409, "nothing_to_judge")
    step = opinion.step
    cell = {"session": str(step.replay.session_id), "sequence": step.sequence, "arm": 2}
    assert len(judged(api, made, **cell)) == 3
    assert api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE, "session": "x"}).status_code == 422


def test_a_failed_judge_gives_the_reason_and_keeps_its_reply(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Both are nice."))
    opinion = judged(api, made)[0]
    assert (opinion.state, opinion.error_type, opinion.relation) == ("failed", "judge_not_understood", None)
    assert value(opinion.raw) == ["Both are nice."]
    assert opinion.calls_made == 1
    browser = browser_of(made.project)
    shown = browser.get(f"/comparisons/{made.id}/cells/{opinion.step_id}/").text
    assert re.search(rf"Judge model <bdi[^>]*>{JUDGE}</bdi> failed", shown)
    assert "judged by" not in shown
    failed = opinion.comparison.opinions.filter(state="failed").count()
    about = browser.get(f"/comparisons/{made.id}/").text
    assert re.search(
        rf"Judge models</dt><dd>{failed} answers, <span[^>]*>all without a verdict: <bdi>The judge", about
    )
    assert api.get(f"/comparisons/{made.id}").json()["judges"]["failed"] == failed
    lines = api.get(f"/comparisons/{made.id}/export", format="csv").content.decode()
    assert f"judge failed ({JUDGE})" in lines


def test_a_malformed_reply_fails_one_opinion_and_the_other_cells_are_judged(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    raw = json.dumps({"relation": "different", "better": ["second"]})
    stub.script(Script(answer=raw))
    opinions = judged(api, made)
    assert [each.error_type for each in opinions] == ["judge_not_understood"] * 2
    assert [value(each.raw) for each in opinions] == [[raw]] * 2
    assert [each.calls_made for each in opinions] == [1, 1]


@pytest.mark.parametrize(
    ("mode", "code"), [("refusal", "judge_refused"), ("garbage", "model_not_understood")]
)
def test_a_provider_refusal_or_failure_is_a_failed_opinion(
    api: Program, made: Comparison, stub: StubModelServer, mode: Any, code: str
) -> None:
    stub.script(Script(mode=mode, answer=None))
    assert {each.error_type for each in judged(api, made)} == {code}


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [("", 422, "model_needed"), (ONE, 422, "cannot_judge"), ("nobody:x", 422, "unknown_model")],
)
def test_a_model_that_cannot_judge_is_refused(
    api: Program, made: Comparison, stub: StubModelServer, model: str, status: int, code: str
) -> None:
    answer = api.post(f"/comparisons/{made.id}/judgements", {"model": model})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_the_cost_of_judging_is_estimated_before_any_call(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    path = f"/comparisons/{made.id}/judgements/estimate"
    unknown = api.get(path, model=JUDGE).json()
    assert (unknown["cells"], unknown["calls"], unknown["cost_usd"]) == (2, 4, None)
    known = api.get(path, model="openai:gpt-4o").json()
    assert known["input_tokens"] == unknown["input_tokens"]
    tokens = known["input_tokens"], known["output_tokens"]
    assert known["cost_usd"] == pytest.approx(tokens[0] * 2.5e-6 + tokens[1] * 10e-6)
    assert stub.calls() == []
    assert not CellOpinion.objects.exists()
    stub.script(Script(answer=says("different", "neither")))
    judged(api, made)
    sent = sum(len(call.prompt) for call in stub.calls())
    assert tokens[0] == pytest.approx(sent / 4, rel=0.1)
    assert tokens[1] == 4 * 60
    assert api.get(path, model=JUDGE).json()["code"] == "nothing_to_judge"
    step = CellOpinion.objects.earliest("id").step
    cell = {"session": step.replay.session.key, "sequence": step.sequence, "arm": 2}
    assert api.get(path, model=JUDGE, **cell).json()["cells"] == 1
    Comparison.objects.update(spend_limit_usd=0)
    assert api.get(path, model="local:extractive").json()["code"] == "cannot_judge"


def test_the_page_shows_what_a_judge_would_cost(
    project: Project, made: Comparison, stub: StubModelServer
) -> None:
    browser = browser_of(project)
    sent = browser.post(f"/comparisons/{made.id}/judge/", {"model": JUDGE, "estimate": "1"})
    assert (sent.status_code, sent["Location"]) == (
        303,
        f"/comparisons/{made.id}/?judge=openai%3Astub-judge#judges",
    )
    page = browser.get(sent["Location"]).text
    assert "2 answers, 4 calls" in page
    assert "estimated cost" in page
    assert "unknown" in page[page.index("estimated cost") :][:60]
    assert f'value="{JUDGE}"' in page
    assert "no model provider" in browser.get(f"/comparisons/{made.id}/?judge=nobody:x").text
    assert stub.calls() == []


def test_too_many_cells_for_a_judge_are_refused(
    api: Program, made: Comparison, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.replay.comparison.judge_queue.MOST_CELLS", 1)
    assert api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE}).json()["code"] == "too_many_cells"


def test_waiting_cells_can_be_cancelled(api: Program, made: Comparison, stub: StubModelServer) -> None:
    api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE})
    assert api.post(f"/comparisons/{made.id}/judgements/cancel").json() == {"cells": 2}
    assert judge_waiting(made.id) == 0
    assert stub.calls() == []


def counts(api: Program, made: Comparison) -> tuple[int, int, int]:
    judges = api.get(f"/comparisons/{made.id}").json()["judges"]
    return judges["cells"], judges["waiting"], judges["asking"]


def test_a_cell_judged_several_times_counts_once_and_a_cancelled_one_does_not(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer=says("different", "neither")))
    address, browser = f"/comparisons/{made.id}", browser_of(made.project)
    judged(api, made)
    judged(api, made, model="openai:stub-other")
    assert counts(api, made) == (2, 0, 0)
    CellOpinion.objects.all().delete()
    api.post(f"{address}/judgements", {"model": JUDGE})
    assert counts(api, made) == (2, 2, 0)
    one = CellOpinion.objects.earliest("id")
    CellOpinion.objects.filter(id=one.id).update(state="asking", asked_at=now())
    assert counts(api, made) == (2, 1, 1)
    assert "2 answers, 1 being judged, 1 waiting" in browser.get(f"{address}/").text
    CellOpinion.objects.filter(state="waiting").update(state="cancelled", finished_at=now())
    assert counts(api, made) == (1, 0, 1)
    assert "hx-trigger" in browser.get(f"{address}/").text
    api.post(f"{address}/judgements/cancel")
    assert counts(api, made) == (1, 0, 0)


def test_a_polling_page_updates_after_another_opinion_on_a_judged_cell(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer=says("different", "neither")))
    step = judged(api, made)[0].step
    before = progress_of([made])[made.id].revision
    judged(api, made, session=str(step.replay.session_id), sequence=step.sequence, arm=2)
    assert progress_of([made])[made.id].revision != before


def test_a_lost_worker_leaves_a_lost_opinion_and_the_rest_are_enqueued(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE})
    first, second = CellOpinion.objects.order_by("id")
    assert overdue() == []
    long_ago = now() - timedelta(hours=2)
    CellOpinion.objects.filter(id=first.id).update(state="asking", asked_at=long_ago)
    CellOpinion.objects.update(created_at=long_ago)
    assert overdue() == [made.id]
    first.refresh_from_db()
    assert first.state == "lost"
    assert api.get(f"/comparisons/{made.id}").json()["judges"]["unknown_cost_calls"] == 1
    stub.script(Script(answer=says("different", "neither")))
    assert judge_waiting(made.id) == 1
    assert len(stub.calls()) == 2
    second.refresh_from_db()
    assert second.state == "done"


def test_erasing_a_session_before_it_is_judged_does_not_stop_the_worker(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    api.post(f"/comparisons/{made.id}/judgements", {"model": JUDGE})
    row = CellOpinion.objects.earliest("id")
    erase_session(row.step.replay.session)
    ask(row)
    assert stub.calls() == []
    assert not CellOpinion.objects.exists()


def test_erasing_a_session_erases_its_opinions_and_their_prompts(
    api: Program, made: Comparison, stub: StubModelServer
) -> None:
    stub.script(Script(answer=says("different", "neither")))
    opinion = judged(api, made)[0]
    erase_session(opinion.step.replay.session)
    assert not CellOpinion.objects.exists()
    assert not Payload.objects.filter(id__in=[opinion.prompt_id, opinion.raw_id]).exists()


def test_a_judge_is_called_from_the_page_and_its_opinion_is_attributed(
    project: Project, made: Comparison, stub: StubModelServer
) -> None:
    browser = browser_of(project)
    stub.script(Script(answer=says("contradicts", "neither")))
    assert "2 answers with other words" in browser.get(f"/comparisons/{made.id}/").text
    sent = browser.post(f"/comparisons/{made.id}/judge/", {"model": JUDGE})
    assert (sent.status_code, sent["Location"]) == (303, f"/comparisons/{made.id}/#judges")
    waiting = browser.get(f"/comparisons/{made.id}/").text
    assert "2 answers, 2 waiting" in waiting
    assert "hx-trigger" in waiting
    judge_waiting(made.id)
    page = browser.get(f"/comparisons/{made.id}/").text
    assert "contradicts, neither is better" in page
    assert JUDGE in page
    step = CellOpinion.objects.order_by("id").first()
    assert step is not None
    cell = f"/comparisons/{made.id}/cells/{step.step_id}/"
    assert "judged by" in browser.get(cell).text
    repeated = browser.post(f"/comparisons/{made.id}/judge/", {"model": JUDGE, "step": str(step.step_id)})
    assert repeated["Location"] == f"{cell}#marks"
    assert browser.post(f"/comparisons/{made.id}/judge/", {"stop": "1"}).status_code == 303
    assert set(CellOpinion.objects.values_list("state", flat=True)) == {"done", "cancelled"}


def test_a_judge_is_not_asked_about_answers_of_the_same_words(made: Comparison) -> None:
    of_it = ReplayStep.objects.filter(replay__run__comparison=made).exclude(verdict="identical")
    before = judged_cells(made).count()
    of_it.filter(id=of_it.values("id")[:1]).update(verdict="formatting")
    assert judged_cells(made).count() == before - 1 == 1

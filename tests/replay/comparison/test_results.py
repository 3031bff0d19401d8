"""Results of a comparison are computed once, cached, and never shown for other answers."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, compared, recorded_session, worked_off
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison import results
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import Comparison, ComparisonFindings
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs import leases
from timemachine.replay.runs.commands import begin, bump
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.worker import work
from timemachine.replay.tasks import compute_results, run_replay

ONE, THREE = "local:extractive-1", "local:extractive-3"
POLL = {"HX-Request": "true", "HX-Target": "div#comparison"}


@pytest.fixture
def project(recorded_once: Session, db: None) -> Project:
    return Project.objects.get(pk=recorded_once.project_id)


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat comparisons of any size as large enough for a worker."""
    monkeypatch.setattr(results, "FEW", 0)


@pytest.fixture
def made(compared_once: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=compared_once.pk)


def read_comparison(api: Program, comparison: Comparison, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/comparisons/{comparison.id}", **query).json()
    return found


def page(browser: Client, comparison: Comparison, query: str = "") -> str:
    answer = browser.get(f"/comparisons/{comparison.id}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_results_of_few_answers_are_computed_directly_and_only_once(
    api: Program, made: Comparison
) -> None:
    first = read_comparison(api, made)
    assert first["results"]["state"] == "current"
    assert first["results"]["answers"] == 6
    assert read_comparison(api, made) == first
    assert read_comparison(api, made)["results"]["computed_at"] == first["results"]["computed_at"]


@pytest.mark.usefixtures("many")
def test_the_results_of_many_answers_are_computed_by_a_worker_while_the_page_polls(
    api: Program, browser: Client, made: Comparison
) -> None:
    waiting = read_comparison(api, made)
    assert (waiting["results"]["state"], waiting["columns"], waiting["asks"]) == ("under_way", None, 3)
    shown = page(browser, made)
    assert "Computing statistics…" in shown
    assert "hx-trigger" in shown
    revision = shown.split("?rev=")[1].split('"')[0]
    address = f"/comparisons/{made.id}/?rev={revision}"
    assert browser.get(address, headers=POLL).status_code == 204
    compute_results(made.id)
    assert "Answers side by side" in browser.get(address, headers=POLL).content.decode()
    found = read_comparison(api, made)
    assert found["results"]["state"] == "current"
    assert found["columns"][1]["verdicts"] == {"identical": 3}
    assert "hx-trigger" not in page(browser, made)


@pytest.mark.usefixtures("many")
def test_results_are_computed_when_the_last_replay_finishes(project: Project, made: Comparison) -> None:
    alone = recorded_session(project, questions=QUESTIONS[:1])
    replay_id = made.runs.values_list("replay_id", flat=True)[0]
    assert run_replay(replay_id) == [(compute_results, made.id)]
    Replay.objects.filter(id=made.runs.values_list("replay_id", flat=True)[1]).update(finished_at=None)
    assert results.finished_with(replay_id) == []
    assert results.finished_with(alone.id) == []


@pytest.mark.usefixtures("many")
def test_results_are_enqueued_once_and_again_by_the_sweep_at_most_three_times(
    api: Program, browser: Client, made: Comparison
) -> None:
    read_comparison(api, made)
    assert results.is_due(made.id)
    assert not results.is_due(made.id)
    assert overdue(compute_results) == []
    ComparisonFindings.objects.update(enqueued_at="2020-01-01T00:00:00Z")
    assert overdue(compute_results) == [made.id]
    ComparisonFindings.objects.update(enqueued_at="2020-01-01T00:00:00Z", attempts=3)
    assert overdue(compute_results) == []
    assert read_comparison(api, made)["results"]["state"] == "failed"
    shown = page(browser, made)
    assert "could not be computed (three attempts)" in shown
    assert "hx-trigger" not in shown


def test_a_waiting_step_updates_the_page_but_not_the_results(
    api: Program, browser: Client, project: Project, session: Session
) -> None:
    plan = Plan(sessions=[session], arms=[Variant(model=ONE), Variant(model=THREE)], reason="Which?")
    made = create(project, plan, by="test")
    first, second = made.runs.order_by("arm").values_list("replay_id", flat=True)
    work(first, "worker of a test")
    begin(second)
    leases.claim(second, "worker of a test", calls=False)
    so_far = read_comparison(api, made, so_far="true")
    assert so_far["results"]["answers"] == 3
    revision = page(browser, made, "?so_far=1").split("rev=")[1].split('"')[0]

    until = now() + timedelta(minutes=5)
    ReplayStep.objects.filter(status="running").update(asked_again_at=until, waits_because="It returned 429.")
    bump(second)
    assert "calls wait" in browser.get(f"/comparisons/{made.id}/?so_far=1&rev={revision}", headers=POLL).text
    still = read_comparison(api, made, so_far="true")
    assert (still["waiting"]["calls"], still["results"]) == (3, so_far["results"])

    ReplayStep.objects.filter(status="running").update(status="waiting", lease_until=None)
    work(second, "worker of a test")
    assert read_comparison(api, made)["results"]["answers"] == 6


@pytest.mark.usefixtures("many")
def test_a_new_answer_makes_the_stored_results_outdated(
    api: Program, browser: Client, made: Comparison
) -> None:
    compute_results(made.id)
    step = ReplayStep.objects.filter(replay__run__comparison=made).earliest("id")
    step.status, step.verdict = "failed", "error"
    step.save()
    api.post(f"/comparisons/{made.id}/retry")
    running = read_comparison(api, made)
    assert (running["status"], running["results"]["state"], running["columns"]) == (
        "running",
        "not_yet",
        None,
    )
    so_far = read_comparison(api, made, so_far="true")
    assert so_far["results"]["state"] == "under_way"
    assert so_far["results"]["answers"] == 6
    worked_off(made)
    assert read_comparison(api, made)["results"]["state"] == "under_way"
    assert "They are being updated for later answers" in page(browser, made)
    compute_results(made.id)
    compute_results(made.id)
    assert read_comparison(api, made)["results"]["state"] == "current"


@pytest.mark.usefixtures("many")
def test_abandoned_results_are_computed_again_after_a_retry(api: Program, made: Comparison) -> None:
    step = ReplayStep.objects.filter(replay__run__comparison=made).earliest("id")
    step.status, step.verdict = "failed", "error"
    step.save()
    read_comparison(api, made)
    ComparisonFindings.objects.create(comparison=made, attempts=3, enqueued_at=now())
    assert read_comparison(api, made)["results"]["state"] == "failed"
    api.post(f"/comparisons/{made.id}/retry")
    worked_off(made)
    assert read_comparison(api, made)["results"]["state"] == "under_way"
    assert results.is_due(made.id)


def test_a_mark_and_an_opinion_change_no_figure_and_are_shown_at_once(
    api: Program, browser: Client, made: Comparison
) -> None:
    before = read_comparison(api, made)
    step = ReplayStep.objects.get(verdict="numbers_differ")
    browser.post(f"/comparisons/{made.id}/cells/{step.id}/", {"verdict": "worse", "note": "x"})
    assert "worse" in page(browser, made)
    after = read_comparison(api, made)
    assert (after["results"], after["columns"]) == (before["results"], before["columns"])
    cells = api.get(f"/comparisons/{made.id}/cells").json()["items"]
    assert [mark["verdict"] for ask in cells for cell in ask["cells"] for mark in cell["marks"]] == ["worse"]


def test_a_running_comparison_shows_progress_and_links_to_partial_results(
    api: Program, browser: Client, session: Session
) -> None:
    body = {
        "sessions": [session.key],
        "arms": [{"model": ONE}, {"model": THREE}],
        "reason": "r",
    }
    made = Comparison.objects.get(id=api.post("/comparisons", body).json()["comparison_id"])
    with CaptureQueriesContext(connection) as queries:
        shown = page(browser, made)
    assert "0 of 6 answered" in shown
    assert "so_far=1" in shown
    assert "Answers side by side" not in shown
    assert not [each for each in queries if "grounding" in each["sql"]]
    so_far = page(browser, made, "?so_far=1")
    assert "Answers side by side" in so_far
    assert "Statistics of 0 answers of 6 so far" in so_far
    assert read_comparison(api, made)["results"] == {"state": "not_yet", "answers": None, "computed_at": None}


def test_stored_results_are_erased_with_any_of_their_sessions(api: Program, project: Project) -> None:
    remaining, erased = (recorded_session(project, questions=QUESTIONS[:1]) for _ in range(2))
    made = compared(project, [remaining, erased], ONE, THREE)
    assert read_comparison(api, made)["asks"] == 2
    erase_session(erased)
    assert not ComparisonFindings.objects.exists()
    assert read_comparison(api, made)["asks"] == 1
    progress = progress_of([made])[made.id]
    erase_session(remaining)
    assert results.compute(made, progress).findings is not None
    results.compute_if_due(made.id)
    assert not ComparisonFindings.objects.exists()


@pytest.mark.usefixtures("many")
def test_an_export_computes_the_results(api: Program, made: Comparison) -> None:
    taken = api.get(f"/comparisons/{made.id}/export").json()
    assert (taken["results"]["state"], len(taken["cells"])) == ("current", 3)
    assert taken == api.get(f"/comparisons/{made.id}/export").json()
    assert taken["cells"] == api.get(f"/comparisons/{made.id}/cells").json()["items"]
    assert [cell["error"] for ask in taken["cells"] for cell in ask["cells"]] == [None] * 9

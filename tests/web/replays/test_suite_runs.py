"""The pages of suite runs: what changed in a run, and runs with cancelled, erased or deleted parts."""

import re

import pytest
from django.test import Client

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, recorded_session
from tests.replay.suites.conftest import AUDIT, launched, made, ran
from tests.web.people import browser_of
from tests.web.replays.suite_forms import ONE, THREE, page, suite_form, words
from timemachine.cli.output.suites import run_lines
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.suites.models import Suite


@pytest.fixture(scope="module")
def session_once(shared_rows: None) -> Session:
    return recorded_session(Project.objects.create(name="Prüfung"), key="s1")


@pytest.fixture(scope="module")
def nightly_once(session_once: Session) -> tuple[Program, str]:
    """A program of the project, and the address of a suite that has run once."""
    api = program(session_once.project)
    suite = made(api, "s1", fail_on=["worse"])
    ran(api)
    return api, f"/suites/{suite['id']}/"


@pytest.fixture
def api(nightly_once: tuple[Program, str], db: None) -> Program:
    return nightly_once[0]


@pytest.fixture
def suite(nightly_once: tuple[Program, str], db: None) -> str:
    return nightly_once[1]


@pytest.fixture
def session(session_once: Session, db: None) -> Session:
    return Session.objects.get(pk=session_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def test_the_report_shows_both_runs_and_links_to_their_steps(
    browser: Client, api: Program, suite: str
) -> None:
    api.patch("/suites/nightly", {"use_models": [THREE]})
    ran(api)
    address = f"{suite}runs/2/"
    shown = words(browser, address)
    assert shown.index("2 worse since run 1.") < shown.index("Failed: worse in 2 steps")
    assert shown.index("Difference") < shown.index("About this run")
    assert "worse in 2 steps" in shown
    assert f"{THREE} before: {ONE}" in shown
    assert QUESTIONS[0] not in shown
    text = page(browser, address)
    steps = ReplayStep.objects.filter(verdict="numbers_differ").get()
    before = Replay.objects.exclude(id=steps.replay_id).get()
    for replay in (before.id, steps.replay_id):
        assert f"/replays/{replay}/steps/{steps.sequence}/" in text
    (difference,) = {
        each
        for each in re.findall(r'href="(/compare/steps/[^"]+)"', text)
        if f"left={steps.sequence}&" in each
    }
    assert browser.get(difference.replace("&amp;", "&")).status_code == 200
    assert QUESTIONS[0] in words(browser, f"{address}?change=same")
    assert QUESTIONS[0] in words(browser, f"{address}?change=all")
    assert QUESTIONS[0] not in words(browser, f"{address}?change=nonsense")
    assert "No step matches" in words(browser, f"{address}?at=99.0")
    assert QUESTIONS[1] in words(browser, f"{address}?at=nonsense")
    suites = words(browser, "/suites/")
    assert "failed conditions 2 worse" in suites
    assert "run 1: 3, run 2: 1" in page(browser, suite)
    shown = words(browser, suite)
    assert (
        shown.index("Run 2 : 2 worse since run 1.") < shown.index("Verdicts") < shown.index("What a run does")
    )
    assert address in page(browser, f"/replays/{steps.replay_id}/")


def test_a_debug_run_distinguishes_verdicts_on_answers_and_on_passages(
    browser: Client, api: Program, session: Session
) -> None:
    debug = made(api, "s1", name="debug", options={"top_k": 1}, use_models=[])
    ran(api, "debug")
    shown = words(browser, f"/suites/{debug['id']}/runs/1/")
    assert "identical passages changed" in shown
    assert "as recorded" in shown


def test_an_erased_session_is_named_on_the_pages(
    browser: Client, api: Program, project: Project, session: Session
) -> None:
    second = recorded_session(project, key="s2", questions=QUESTIONS[:1])
    both = f"/suites/{made(api, 's1', 's2', name='both')['id']}/"
    ran(api, "both")
    erase_session(second)
    assert "deleted: s2" in words(browser, both)
    assert "if it still has sessions or filters: s2" in words(browser, f"{both}edit/")
    assert "s2 : The session has been deleted" in words(browser, f"{both}runs/1/")
    ran(api, "both")
    assert "The session s2 was deleted" in words(browser, f"{both}runs/2/")
    assert browser.post(f"{both}edit/", suite_form(session)).status_code == 303
    assert "deleted: s2" not in words(browser, both)
    erase_session(session)
    assert browser.post(f"{both}edit/", suite_form(repeat="")).status_code == 303
    shown = words(browser, both)
    assert "deleted: s1" in shown
    assert "runs manually" in shown


def test_only_operators_can_cancel_a_run_and_delete_a_suite(
    browser: Client, api: Program, project: Project
) -> None:
    morning = made(api, "s1", name="morning")
    launched(api, "morning")
    viewer = browser_of(project, VIEWER)
    address = f"/suites/{morning['id']}/"
    assert "Run now" not in viewer.get(address).text
    assert "Cancel run" not in viewer.get(f"{address}runs/1/").text
    assert browser.post(f"{address}delete/").status_code == 409
    assert browser.post(f"{address}runs/1/cancel/").status_code == 303
    shown = words(browser, f"{address}runs/1/")
    assert re.search(r"Cancelled \d.+ by operator@example.org", shown)
    assert "0 of 4 steps, 4 cancelled" in shown
    assert "key test 0 of 4 $0" in words(browser, address)
    assert "Delete suite" in words(browser, f"{address}delete/")
    deleted = browser.post(f"{address}delete/", follow=True)
    assert "Suite morning deleted" in deleted.text
    assert "morning with 1 run" in words(browser, "/suites/")


def test_the_replays_of_a_deleted_suite_are_listed_with_their_session(
    browser: Client, api: Program, session: Session
) -> None:
    address, form = f"/replays/{Replay.objects.get().id}/", f"/sessions/{session.id}/replay/"
    assert "Suite run" in page(browser, address)
    assert address not in page(browser, form)
    api.delete("/suites/nightly")
    assert "Comparison</a>" not in page(browser, address)
    assert address in page(browser, form)


def test_an_exceeded_spend_limit_is_shown_with_the_excess(
    browser: Client, api: Program, session: Session
) -> None:
    limited = made(api, "s1", name="limited", options=AUDIT | {"spend_limit_usd": 0.1})
    assert ran(api, "limited")["over_limit_usd"] == 0
    steps = ReplayStep.objects.filter(replay=Replay.objects.latest("created_at"))
    steps.filter(kind="find").update(status="skipped")
    longer = ReplayAttempt.objects.filter(step__in=steps, step__kind="ask").order_by("id")[:1]
    ReplayAttempt.objects.filter(id__in=longer).update(cost_usd="0.1506")
    run = api.get("/suites/limited/runs/1").json()
    assert run["over_limit_usd"] == pytest.approx(0.0506)
    assert "; the spend limit of $0.10 was exceeded by $0.0506" in run["summary"]
    shown = words(browser, f"/suites/{limited['id']}/runs/1/")
    assert "Spent $0.15 of at most $0.10 exceeded by $0.0506" in shown
    assert "Not asked 1 step, because the spend limit was nearly reached" in shown
    assert "$0.15, limit $0.10, exceeded by $0.0506" in " ".join(run_lines(run, (), "address"))
    assert api.get("/suites/nightly/runs/1").json()["over_limit_usd"] is None


def test_a_run_form_with_the_id_of_another_suites_run_is_refused(browser: Client, session: Session) -> None:
    for name in ("one", "two"):
        browser.post("/suites/new/", suite_form(session, name=name))
    one, two = Suite.objects.filter(name__in=["one", "two"]).order_by("name")
    run_id = str(uuid7())
    assert browser.post(f"/suites/{one.id}/run/", {"run_id": run_id}).status_code == 303
    refused = browser.post(f"/suites/{two.id}/run/", {"run_id": run_id})
    assert refused.status_code == 409
    assert "Reload the page" in refused.text
    assert not two.runs.exists()

"""The pages of suites: the list, the form, one suite with its runs, what changed in a run."""

import re
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client

from tests.api.conftest import program
from tests.builders import QUESTIONS, recorded_session
from tests.replay.suites.conftest import AUDIT, launched, made, ran, work_off
from tests.web.people import browser_of
from timemachine.cli.output.suites import run_lines
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteRun

ONE, THREE = "local:extractive-1", "local:extractive-3"


@pytest.fixture
def session(project: Project) -> Session:
    return recorded_session(project, key="s1")


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def asked(*sessions: Session, **more: str | list[str]) -> dict[str, str | list[str]]:
    form: dict[str, str | list[str]] = {
        "name": "Nächtlich ☾",
        "sessions": [str(each.id) for each in sessions],
        "kind": "audit",
        "model": ONE,
        "reason": "Regression",
        "repeat": "weekly",
        "weekday": "friday",
        "at": "07:30",
        "timezone": "Europe/Berlin",
        "fail_on": "worse, new failure",
    }
    return form | more


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def words(browser: Client, address: str) -> str:
    """What a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", page(browser, address)).split())


def test_a_suite_is_made_by_the_form_and_run_by_a_button(browser: Client, session: Session) -> None:
    assert "No suites yet" in words(browser, "/suites/")
    ticked = f"/suites/new/?session={session.id}"
    assert ticked in page(browser, f"/sessions/{session.id}/replay/")
    assert "checked" in page(browser, ticked)
    sent = browser.post("/suites/new/", asked(session))
    suite = Suite.objects.get()
    assert (sent.status_code, sent["Location"]) == (303, f"/suites/{suite.id}/")
    said = words(browser, sent["Location"])
    for part in (
        "Nächtlich ☾",
        session.name,
        ONE,
        "weekly friday 07:30 Europe/Berlin",
        "worse, new failure",
    ):
        assert part in said
    assert "Not run yet" in said
    run_id = re.findall(r'name="run_id" value="([^"]+)"', page(browser, sent["Location"]))[0]
    first, again = (browser.post(f"/suites/{suite.id}/run/", {"run_id": run_id}) for _ in range(2))
    assert first["Location"] == again["Location"] == f"/suites/{suite.id}/runs/1/"
    assert SuiteRun.objects.count() == 1
    waiting = page(browser, first["Location"])
    assert "Cancel run" in waiting
    (poll,) = re.findall(r'hx-get="\?([^"]+)"', waiting)
    asks = {"HX-Request": "true", "HX-Target": "run"}
    assert browser.get(f"{first['Location']}?{poll}", headers=asks).status_code == 204
    assert "Run 1 is active" in words(browser, f"/suites/{suite.id}/")
    work_off()
    fresh = browser.get(f"{first['Location']}?{poll}", headers=asks)
    assert (fresh.status_code, b"<html" in fresh.content, b"hx-trigger" in fresh.content) == (
        200,
        False,
        False,
    )
    said = words(browser, first["Location"])
    assert "no earlier audit run to compare with" in said
    assert all(question in said for question in QUESTIONS)


def test_the_report_shows_both_runs_and_leads_to_their_steps(
    browser: Client, project: Project, session: Session
) -> None:
    api = program(project)
    suite = made(api, "s1", fail_on=["worse"])
    ran(api)
    api.patch("/suites/nightly", {"use_models": [THREE]})
    ran(api)
    address = f"/suites/{suite['id']}/runs/2/"
    said = words(browser, address)
    assert "since run 1: 2 worse" in said
    assert "worse in 2 steps" in said
    assert f"{THREE} before: {ONE}" in said
    assert QUESTIONS[0] not in said
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
    bars = page(browser, f"/suites/{suite['id']}/")
    assert "run 1: 3, run 2: 1" in bars
    assert f"/suites/{suite['id']}/runs/2/" in page(browser, f"/replays/{steps.replay_id}/")


def test_a_debug_run_tells_verdicts_of_answers_from_those_of_passages(
    browser: Client, project: Project, session: Session
) -> None:
    api = program(project)
    suite = made(api, "s1", options={"top_k": 1}, use_models=[])
    ran(api)
    said = words(browser, f"/suites/{suite['id']}/runs/1/")
    assert "identical passages changed" in said
    assert "as recorded" in said


def test_what_is_refused_is_said_at_its_field(browser: Client, session: Session) -> None:
    for wrong, field, says in (
        ({"sessions": []}, "sessions", "at least one session"),
        ({"others": "nobody"}, "others", "no session"),
        ({"reason": " "}, "reason", "needs a reason"),
        ({"other_models": ONE}, "model", "each once"),
        ({"fail_on": "rain"}, "fail_on", "not &#x27;rain&#x27;"),
        (
            {"kind": "debug", "search_mode": "lexical", "embedding_model": "x"},
            "embedding_model",
            "cannot be used with",
        ),
        ({"name": ""}, "name", "required"),
        ({"repeat": "every", "hours": "0"}, "hours", "Enter a whole number of hours from 1 to 336"),
        ({"repeat": "every", "hours": "some"}, "hours", "Enter a whole number of hours from 1 to 336"),
    ):
        refused = browser.post("/suites/new/", asked(session, **wrong))
        assert refused.status_code in {404, 422}, wrong
        assert says in refused.text, wrong
        assert f"id_{field}" in refused.text
    assert not Suite.objects.exists()


def test_the_form_begins_with_the_suite_as_it_is_and_saves_it_unchanged(
    browser: Client, session: Session
) -> None:
    for number, more in enumerate(
        (
            {},
            {"repeat": "every", "hours": "5", "other_models": THREE},
            {"match_tag": "regression", "match_agent": "desk", "match_most": "7"},
            {
                "repeat": "daily",
                "kind": "debug",
                "model": "",
                "adaptive": "no",
                "top_k": "3",
                "as_of": "recorded",
            },
            {
                "repeat": "",
                "spend_limit_usd": "1.5",
                "skip_finds": "on",
                "temperature": "0.5",
                "system_prompt": "Be brief.",
            },
        )
    ):
        browser.post("/suites/new/", asked(session, name=f"suite {number}", **more))
        suite = Suite.objects.get(name=f"suite {number}")
        before = Suite.objects.filter(id=suite.id).values().get()
        form = browser.get(f"/suites/{suite.id}/edit/").context["form"]
        sent = {name: value for name in form.fields if (value := form[name].value()) not in (None, "", False)}
        saved = browser.post(f"/suites/{suite.id}/edit/", sent | {"sessions": form["sessions"].value()})
        assert saved.status_code == 303, saved.text
        assert Suite.objects.filter(id=suite.id).values().get() == before
        assert list(SuiteEvent.objects.filter(suite=suite).values_list("what", flat=True)) == ["created"]


def test_the_form_shows_a_schedule_whose_timezone_is_unknown_and_keeps_it_until_another_is_chosen(
    browser: Client, session: Session
) -> None:
    browser.post("/suites/new/", asked(session))
    suite, lost = Suite.objects.get(), "weekly friday 07:30 Mars/Olympus"
    Suite.objects.update(schedule=lost)
    address = f"/suites/{suite.id}/edit/"
    shown = browser.get(address)
    form = shown.context["form"]
    schedule = ("repeat", "weekday", "timezone")
    assert [form[name].value() for name in schedule] == ["weekly", "friday", "Mars/Olympus"]
    assert "does not know this time zone" in shown.text[shown.text.index('id="id_timezone_error"') :][:200]
    sent = asked(session, timezone="Mars/Olympus")
    assert browser.post(address, sent | {"name": "renamed"}).status_code == 303
    assert Suite.objects.values_list("name", "schedule").get() == ("renamed", lost)
    refused = browser.post(address, sent | {"at": "08:00"})
    assert (refused.status_code, "not &#x27;Mars/Olympus&#x27;" in refused.text) == (422, True)
    assert browser.post(address, asked(session, timezone="Europe/Berlin")).status_code == 303
    assert Suite.objects.get().schedule == "weekly friday 07:30 Europe/Berlin"
    assert "does not know this time zone" not in browser.get(address).text


def test_the_form_estimates_a_run_before_anything_is_kept(
    browser: Client, project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_session(project, key="s2")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    wanted = {"estimate": "1", "other_models": "openai:gpt-4o-mini", "match_q": "s"}
    sent = browser.post("/suites/new/", asked(session, **wanted))
    said = " ".join(re.sub(r"<[^>]+>", "", sent.text).split())
    assert f"{ONE}: 6 asks, $0" in said
    assert "openai:gpt-4o-mini: 6 asks, $0.00" in said
    assert not Suite.objects.exists()
    suite = made(program(project), "s1", use_models=["openai:gpt-4o-mini"])
    (told,) = program(project).post("/suites/nightly/runs/estimate").json()["estimates"]
    assert (told["asks"], told["unknown_cost_calls"], told["cost_usd"] > 0) == (3, 0, True)
    checked = asked(session, estimate="1", model="")
    sent = browser.post(f"/suites/{suite['id']}/edit/", checked)
    assert "no model is called" in sent.text
    assert Suite.objects.get().name == "nightly"
    assert browser.post("/suites/new/", asked(estimate="1")).status_code == 422


def test_a_run_form_with_the_id_of_another_suites_run_is_refused(browser: Client, session: Session) -> None:
    for name in ("one", "two"):
        browser.post("/suites/new/", asked(session, name=name))
    one, two = Suite.objects.order_by("name")
    run_id = str(uuid7())
    assert browser.post(f"/suites/{one.id}/run/", {"run_id": run_id}).status_code == 303
    refused = browser.post(f"/suites/{two.id}/run/", {"run_id": run_id})
    assert refused.status_code == 409
    assert "Reload the page" in refused.text
    assert not two.runs.exists()


def test_a_form_that_is_sent_twice_makes_one_suite(browser: Client, session: Session) -> None:
    form_id = str(browser.get("/suites/new/").context["form"]["form_id"].value())
    first, again = (browser.post("/suites/new/", asked(session, form_id=form_id)) for _ in range(2))
    assert first["Location"] == again["Location"] == f"/suites/{Suite.objects.get().id}/"
    taken = browser.post("/suites/new/", asked(session))
    assert (taken.status_code, "Choose another name" in taken.text) == (409, True)


def test_an_edit_is_saved_and_stands_in_the_history(browser: Client, session: Session) -> None:
    browser.post("/suites/new/", asked(session))
    suite = Suite.objects.get()
    saved = browser.post(f"/suites/{suite.id}/edit/", asked(session, name="Täglich", repeat="daily"))
    assert saved["Location"] == f"/suites/{suite.id}/"
    said = words(browser, saved["Location"])
    assert "Edited: name, schedule by" in said
    assert "daily 07:30 Europe/Berlin" in said
    assert browser.post(f"/suites/{suite.id}/edit/", asked(session, name="a/b")).status_code == 422
    assert browser.post(f"/suites/{suite.id}/edit/", asked(session, name="")).status_code == 422


def test_sessions_that_match_are_told_on_the_pages(
    browser: Client, project: Project, session: Session
) -> None:
    browser.post("/suites/new/", asked(match_q="s1", match_most="3"))
    suite = Suite.objects.get()
    said = words(browser, f"/suites/{suite.id}/")
    assert "the newest 3 sessions with q s1 searched at each run, 1 now" in said
    assert "Sessions none" in said
    assert "0 + matching" in words(browser, "/suites/")
    browser.post(f"/suites/{suite.id}/run/")
    assert Replay.objects.get().session_id == session.id
    nobody = made(program(project), matching={"tag": "nobody"})
    assert browser.post(f"/suites/{nobody['id']}/run/").status_code == 422


def test_an_erased_session_is_named_on_the_pages(browser: Client, project: Project, session: Session) -> None:
    second = recorded_session(project, key="s2", questions=QUESTIONS[:1])
    api = program(project)
    suite = made(api, "s1", "s2")
    ran(api)
    erase_session(second)
    assert "deleted: s2" in words(browser, f"/suites/{suite['id']}/")
    assert "if it still has sessions or filters: s2" in words(browser, f"/suites/{suite['id']}/edit/")
    assert "s2 : The session has been deleted" in words(browser, f"/suites/{suite['id']}/runs/1/")
    ran(api)
    assert "The session s2 was deleted" in words(browser, f"/suites/{suite['id']}/runs/2/")
    assert browser.post(f"/suites/{suite['id']}/edit/", asked(session)).status_code == 303
    assert "deleted: s2" not in words(browser, f"/suites/{suite['id']}/")
    erase_session(session)
    assert browser.post(f"/suites/{suite['id']}/edit/", asked(repeat="")).status_code == 303
    said = words(browser, f"/suites/{suite['id']}/")
    assert "deleted: s1" in said
    assert "runs manually" in said


def test_a_run_is_cancelled_and_a_suite_deleted_by_operators_only(
    browser: Client, project: Project, session: Session
) -> None:
    api = program(project)
    suite = made(api, "s1")
    launched(api)
    viewer = browser_of(project, VIEWER)
    address = f"/suites/{suite['id']}/"
    assert "Run now" not in viewer.get(address).text
    assert "Cancel run" not in viewer.get(f"{address}runs/1/").text
    for part in ("run/", "delete/", "edit/", "runs/1/cancel/"):
        assert viewer.post(f"{address}{part}").status_code == 403
    assert viewer.get("/suites/new/").status_code == 403
    assert browser.post(f"{address}delete/").status_code == 409
    assert browser.post(f"{address}runs/1/cancel/").status_code == 303
    said = words(browser, f"{address}runs/1/")
    assert re.search(r"Cancelled \d.+ by operator@example.org", said)
    assert "0 of 4 steps, 4 cancelled" in said
    assert "key test 0 of 4 $0" in words(browser, address)
    assert "Delete suite" in words(browser, f"{address}delete/")
    gone = browser.post(f"{address}delete/", follow=True)
    assert "Suite nightly deleted" in gone.text
    assert "nightly with 1 run" in words(browser, "/suites/")


def test_the_replays_of_a_deleted_suite_are_listed_with_their_session(
    browser: Client, project: Project, session: Session
) -> None:
    api = program(project)
    made(api, "s1")
    ran(api)
    address, form = f"/replays/{Replay.objects.get().id}/", f"/sessions/{session.id}/replay/"
    assert "Suite run" in page(browser, address)
    assert address not in page(browser, form)
    api.delete("/suites/nightly")
    assert "Comparison</a>" not in page(browser, address)
    assert address in page(browser, form)


def test_the_list_goes_on_by_name(browser: Client, project: Project, session: Session) -> None:
    api = program(project)
    for name in ("b", "a"):
        made(api, "s1", name=name)
    assert "b" in words(browser, "/suites/?after=a")
    assert "The list ends here" in words(browser, "/suites/?after=b")
    assert browser.get("/suites/?after=%00").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_twice_at_the_same_time_makes_one_suite(
    browser: Client, session: Session
) -> None:
    browsers = [browser, copy(browser)]
    together = Barrier(len(browsers))

    def send(browser: Client, form_id: str) -> tuple[int, str]:
        together.wait()
        try:
            sent = browser.post("/suites/new/", asked(session, name=form_id, form_id=form_id))
            return sent.status_code, sent["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(browsers)) as pool:
        for form_id in [str(uuid7()) for _ in range(10)]:
            sent = list(pool.map(send, browsers, [form_id, form_id]))
            assert sent == [(303, f"/suites/{form_id}/")] * 2
    assert Suite.objects.count() == SuiteEvent.objects.count() == 10


def test_a_spend_limit_that_a_run_passed_is_told_with_by_how_much(
    browser: Client, project: Project, session: Session
) -> None:
    api = program(project)
    suite = made(api, "s1", options=AUDIT | {"spend_limit_usd": 0.1})
    assert ran(api)["over_limit_usd"] == 0
    longer = ReplayAttempt.objects.filter(step__kind="ask").order_by("id")[:1]
    ReplayAttempt.objects.filter(id__in=longer).update(cost_usd="0.1506")
    ReplayStep.objects.filter(kind="find").update(status="skipped")
    run = api.get("/suites/nightly/runs/1").json()
    assert run["over_limit_usd"] == pytest.approx(0.0506)
    assert "; the spend limit of $0.10 was exceeded by $0.0506" in run["summary"]
    said = words(browser, f"/suites/{suite['id']}/runs/1/")
    assert "Spent $0.15 of at most $0.10 exceeded by $0.0506" in said
    assert "Not asked 1 step, because the spend limit was nearly reached" in said
    assert "$0.15, limit $0.10, exceeded by $0.0506" in " ".join(run_lines(run, (), "address"))
    made(api, "s1", name="free")
    assert ran(api, "free")["over_limit_usd"] is None

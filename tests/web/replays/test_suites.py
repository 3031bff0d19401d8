"""The pages of suites: the list, the form, and one suite."""

import re

import pytest
from django.test import Client

from tests.api.conftest import program
from tests.builders import QUESTIONS, recorded_session
from tests.replay.suites.conftest import made, work_off
from tests.web.people import browser_of
from tests.web.replays.suite_forms import ONE, THREE, page, suite_form, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.suites.models import Suite, SuiteEvent, SuiteRun


@pytest.fixture(scope="module")
def session_once(shared_rows: None) -> Session:
    return recorded_session(Project.objects.create(name="Prüfung"), key="s1")


@pytest.fixture
def session(session_once: Session, db: None) -> Session:
    return Session.objects.get(pk=session_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def test_a_suite_is_created_by_the_form_and_run_by_a_button(browser: Client, session: Session) -> None:
    assert "No suites yet" in words(browser, "/suites/")
    ticked = f"/suites/new/?session={session.id}"
    assert ticked in page(browser, f"/sessions/{session.id}/replay/")
    assert "checked" in page(browser, ticked)
    sent = browser.post("/suites/new/", suite_form(session))
    suite = Suite.objects.get()
    assert (sent.status_code, sent["Location"]) == (303, f"/suites/{suite.id}/")
    shown = words(browser, sent["Location"])
    for part in (
        "Nächtlich ☾",
        session.name,
        ONE,
        "weekly friday 07:30 Europe/Berlin",
        "worse, new failure",
    ):
        assert part in shown
    assert "Not run yet" in shown
    run_id = re.findall(r'name="run_id" value="([^"]+)"', page(browser, sent["Location"]))[0]
    first, second = (browser.post(f"/suites/{suite.id}/run/", {"run_id": run_id}) for _ in range(2))
    assert first["Location"] == second["Location"] == f"/suites/{suite.id}/runs/1/"
    assert SuiteRun.objects.count() == 1
    waiting = page(browser, first["Location"])
    assert "Cancel run" in waiting
    (poll,) = re.findall(r'hx-get="\?([^"]+)"', waiting)
    htmx = {"HX-Request": "true", "HX-Target": "run"}
    assert browser.get(f"{first['Location']}?{poll}", headers=htmx).status_code == 204
    assert "Run 1 is active" in words(browser, f"/suites/{suite.id}/")
    work_off()
    fresh = browser.get(f"{first['Location']}?{poll}", headers=htmx)
    assert (fresh.status_code, b"<html" in fresh.content, b"hx-trigger" in fresh.content) == (
        200,
        False,
        False,
    )
    shown = words(browser, first["Location"])
    assert "no earlier audit run to compare with" in shown
    assert all(question in shown for question in QUESTIONS)


def test_an_invalid_value_is_reported_at_its_field(browser: Client, session: Session) -> None:
    for wrong, field, message in (
        ({"sessions": []}, "sessions", "at least one session"),
        ({"others": "nobody"}, "others", "no session"),
        ({"reason": " "}, "reason", "needs a reason"),
        ({"models": f"{ONE} {ONE}"}, "models", "each only once"),
        ({"models": ""}, "models", "Choose a model."),
        ({"fail_on": "rain"}, "fail_on", "not &#x27;rain&#x27;"),
        (
            {"kind": "search", "search_mode": "lexical", "embedding_model": "x"},
            "embedding_model",
            "cannot be used with",
        ),
        ({"name": ""}, "name", "required"),
        ({"repeat": "every", "hours": "0"}, "hours", "Enter a whole number of hours from 1 to 336"),
    ):
        refused = browser.post("/suites/new/", suite_form(session, **wrong))
        assert refused.status_code in {404, 422}, wrong
        assert message in refused.text, wrong
        assert f"id_{field}" in refused.text
    assert not Suite.objects.exists()


def test_the_edit_form_is_prefilled_and_saving_it_changes_nothing(browser: Client, session: Session) -> None:
    for number, more in enumerate(
        (
            {},
            {"repeat": "every", "hours": "5", "models": f"{ONE}, {THREE}"},
            {"match_tag": "regression", "match_agent": "desk", "match_most": "7"},
            {
                "repeat": "daily",
                "kind": "search",
                "models": "",
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
        browser.post("/suites/new/", suite_form(session, name=f"suite {number}", **more))
        suite = Suite.objects.get(name=f"suite {number}")
        before = Suite.objects.filter(id=suite.id).values().get()
        form = browser.get(f"/suites/{suite.id}/edit/").context["form"]
        sent = {name: value for name in form.fields if (value := form[name].value()) not in (None, "", False)}
        saved = browser.post(f"/suites/{suite.id}/edit/", sent | {"sessions": form["sessions"].value()})
        assert saved.status_code == 303, saved.text
        assert Suite.objects.filter(id=suite.id).values().get() == before
        assert list(SuiteEvent.objects.filter(suite=suite).values_list("what", flat=True)) == ["created"]


def test_the_form_keeps_a_schedule_with_an_unknown_time_zone_until_it_is_changed(
    browser: Client, session: Session
) -> None:
    browser.post("/suites/new/", suite_form(session))
    suite, unknown = Suite.objects.get(), "weekly friday 07:30 Mars/Olympus"
    Suite.objects.update(schedule=unknown)
    address = f"/suites/{suite.id}/edit/"
    shown = browser.get(address)
    form = shown.context["form"]
    schedule = ("repeat", "weekday", "timezone")
    assert [form[name].value() for name in schedule] == ["weekly", "friday", "Mars/Olympus"]
    assert "does not know this time zone" in shown.text[shown.text.index('id="id_timezone_error"') :][:200]
    sent = suite_form(session, timezone="Mars/Olympus")
    assert browser.post(address, sent | {"name": "renamed"}).status_code == 303
    assert Suite.objects.values_list("name", "schedule").get() == ("renamed", unknown)
    refused = browser.post(address, sent | {"at": "08:00"})
    assert (refused.status_code, "not &#x27;Mars/Olympus&#x27;" in refused.text) == (422, True)
    assert browser.post(address, suite_form(session, timezone="Europe/Berlin")).status_code == 303
    assert Suite.objects.get().schedule == "weekly friday 07:30 Europe/Berlin"
    assert "does not know this time zone" not in browser.get(address).text


def test_the_form_estimates_a_run_without_saving_anything(
    browser: Client, project: Project, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded_session(project, key="s2")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    options = {"estimate": "1", "models": f"{ONE}, openai:gpt-4o-mini", "match_q": "s"}
    sent = browser.post("/suites/new/", suite_form(session, **options))
    shown = " ".join(re.sub(r"<[^>]+>", " ", sent.text).split())
    assert "Steps 6 asks, 2 finds, for each of 2 models Model calls 12 Tokens" in shown
    assert f"{ONE} $0 openai:gpt-4o-mini $0.00" in shown
    assert not Suite.objects.exists()
    suite = made(program(project), "s1", use_models=["openai:gpt-4o-mini"])
    (estimate,) = program(project).post("/suites/nightly/runs/estimate").json()["estimates"]
    assert (estimate["calls"], estimate["unknown_cost_calls"], estimate["cost_usd"] > 0) == (3, 0, True)
    checked = suite_form(session, estimate="1", kind="verify", name="")
    sent = browser.post(f"/suites/{suite['id']}/edit/", checked)
    assert "Model calls none Cost $0" in " ".join(re.sub(r"<[^>]+>", " ", sent.text).split())
    assert Suite.objects.get().name == "nightly"
    assert browser.post("/suites/new/", suite_form(estimate="1")).status_code == 422


def test_a_form_that_is_sent_twice_creates_one_suite(browser: Client, session: Session) -> None:
    form_id = str(browser.get("/suites/new/").context["form"]["form_id"].value())
    first, second = (browser.post("/suites/new/", suite_form(session, form_id=form_id)) for _ in range(2))
    assert first["Location"] == second["Location"] == f"/suites/{Suite.objects.get().id}/"
    taken = browser.post("/suites/new/", suite_form(session))
    assert (taken.status_code, "Choose another name" in taken.text) == (409, True)


def test_an_edit_is_saved_and_listed_in_the_history(browser: Client, session: Session) -> None:
    browser.post("/suites/new/", suite_form(session))
    suite = Suite.objects.get()
    saved = browser.post(f"/suites/{suite.id}/edit/", suite_form(session, name="Täglich", repeat="daily"))
    assert saved["Location"] == f"/suites/{suite.id}/"
    shown = words(browser, saved["Location"])
    assert "Edited: name, schedule by" in shown
    assert "daily 07:30 Europe/Berlin" in shown
    assert browser.post(f"/suites/{suite.id}/edit/", suite_form(session, name="a/b")).status_code == 422
    assert browser.post(f"/suites/{suite.id}/edit/", suite_form(session, name="")).status_code == 422


def test_matching_sessions_are_shown_on_the_pages(
    browser: Client, project: Project, session: Session
) -> None:
    browser.post("/suites/new/", suite_form(match_q="s1", match_most="3"))
    suite = Suite.objects.get()
    shown = words(browser, f"/suites/{suite.id}/")
    assert "the newest 3 sessions with q s1 searched at each run, 1 now" in shown
    assert "Sessions none" in shown
    assert "0 + matching" in words(browser, "/suites/")
    browser.post(f"/suites/{suite.id}/run/")
    assert Replay.objects.get().session_id == session.id
    without_match = made(program(project), matching={"tag": "nobody"})
    assert browser.post(f"/suites/{without_match['id']}/run/").status_code == 422


def test_the_list_is_paged_by_name(browser: Client, project: Project, session: Session) -> None:
    api = program(project)
    for name in ("b", "a"):
        made(api, "s1", name=name)
    assert "b" in words(browser, "/suites/?after=a")
    assert "The list ends here" in words(browser, "/suites/?after=b")
    assert browser.get("/suites/?after=%00").status_code == 200

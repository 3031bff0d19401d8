"""The form that launches a comparison, and its page until the comparison has finished."""

import re
from uuid import UUID

import pytest
from django.test import Client

from tests.builders import QUESTIONS, recorded_session, worked_off
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.models import Replay

ONE, THREE = "local:extractive-1", "local:extractive-3"


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def comparison_form(*sessions: Session, **more: str | list[str]) -> dict[str, str | list[str]]:
    form: dict[str, str | list[str]] = {
        "sessions": [str(each.id) for each in sessions],
        "arm1-model": ONE,
        "arm2-model": THREE,
        "reason": "Prüfung ☃",
        "repeats": "1",
    }
    return form | more


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.text


def without_markup(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def words(browser: Client, address: str) -> str:
    """Return the text of a page without its markup."""
    return without_markup(page(browser, address))


def test_the_form_launches_a_comparison_and_its_page_follows_the_progress(
    browser: Client, session: Session
) -> None:
    launched = browser.post("/comparisons/new/", comparison_form(session, noise_floor="on"))
    made = Comparison.objects.get()
    address = f"/comparisons/{made.id}/"
    assert (launched.status_code, launched["Location"]) == (303, address)
    started = page(browser, address)
    assert "0 of 12 answered" in without_markup(started)
    rev = re.search(r"rev=([\w.-]+)", started)
    assert rev is not None
    htmx = {"HX-Request": "true", "HX-Target": "div#comparison"}
    assert browser.get(f"{address}?rev={rev[1]}", headers=htmx).status_code == 204
    worked_off(made)
    news = browser.get(f"{address}?rev={rev[1]}", headers=htmx)
    assert (news.status_code, b"<html" in news.content) == (200, False)
    assert re.search(r'id="judging" hx-swap-oob="true">\s*<section', news.text)
    done = page(browser, address)
    shown = without_markup(done)
    assert "Prüfung ☃" in shown
    assert all(question in shown for question in QUESTIONS)
    assert "numbers differ" in shown
    assert "Grounding: too few" in shown
    noise = shown.split("Noise floor: each variant against itself")[1]
    assert "The same variant again" not in noise
    assert "the same in all 3 asks" in " ".join(noise.split())
    assert "hx-trigger" not in done
    assert "answers as recorded in 3 of 3 asks" in shown
    assert address in page(browser, "/comparisons/")


def test_a_form_sent_twice_launches_one_comparison(browser: Client, session: Session) -> None:
    twice = comparison_form(session, form_id=str(uuid7()))
    first, second = (browser.post("/comparisons/new/", twice)["Location"] for _ in range(2))
    assert first == second
    assert Replay.objects.count() == 2


def test_a_form_sent_again_with_other_choices_is_refused_and_launches_under_a_new_id(
    browser: Client, session: Session
) -> None:
    form = comparison_form(session, form_id=str(uuid7()))
    browser.post("/comparisons/new/", form)
    for more in (
        {"arm2-model": "local:extractive-5"},
        {"arm1-temperature": "0.5"},
        {"repeats": "2"},
        {"noise_floor": "on"},
        {"reason": "Another one"},
        {"spend_limit_usd": "1"},
    ):
        refused = browser.post("/comparisons/new/", form | more)
        assert refused.status_code == 409, more
        assert "already launched a different comparison" in refused.text
    assert Comparison.objects.count() == 1
    fresh = re.search(r'name="form_id" value="([^"]+)"', refused.text)
    assert fresh is not None
    assert browser.post("/comparisons/new/", form | more | {"form_id": fresh[1]}).status_code == 303
    assert Comparison.objects.count() == 2


def test_a_form_sent_again_for_other_sessions_is_refused(
    browser: Client, project: Project, session: Session
) -> None:
    form_id = str(uuid7())
    browser.post("/comparisons/new/", comparison_form(session, form_id=form_id))
    refused = browser.post(
        "/comparisons/new/",
        comparison_form(recorded_session(project, questions=QUESTIONS[:1]), form_id=form_id),
    )
    assert refused.status_code == 409
    assert Comparison.objects.count() == 1


def test_the_id_of_another_projects_form_is_refused(
    browser: Client, other_project: Project, session: Session
) -> None:
    form_id = str(uuid7())
    plan = Plan(
        sessions=[recorded_session(other_project, questions=QUESTIONS[:1])],
        arms=[Variant(model=ONE), Variant(model=THREE)],
        reason="r",
    )
    create(other_project, plan, by="somebody", comparison_id=UUID(form_id))
    assert browser.post("/comparisons/new/", comparison_form(session, form_id=form_id)).status_code == 409
    assert Comparison.objects.count() == 1


def test_the_form_ticks_the_session_named_in_the_address(browser: Client, session: Session) -> None:
    recorded_session(session.project, questions=QUESTIONS[:1])
    shown = page(browser, f"/comparisons/new/?session={session.id}")
    assert re.search(rf'value="{session.id}"\s+checked', shown)
    assert len(re.findall(r"\schecked", shown)) == 1


@pytest.mark.parametrize("reason", ["Prüfung ☃", ""])
def test_the_form_estimates_without_launching_or_requiring_a_reason(
    browser: Client, session: Session, reason: str
) -> None:
    answer = browser.post(
        "/comparisons/new/", comparison_form(session, estimate="1", repeats="2", reason=reason)
    )
    shown = " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())
    assert "Steps 3 asks, 2 times, for each of 2 models Model calls 12 Tokens" in shown
    assert "local:extractive-3 $0" in shown
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"reason": ""}, "needs a reason"),
        ({"sessions": []}, "at least one session"),
        ({"others": "nobody"}, "no session"),
        ({"arm2-model": ""}, "2 to 8 variants"),
        ({"arm2-model": "nobody:x"}, "no model provider"),
        ({"arm2-model": ONE}, "are the same"),
        ({"arm1-temperature": "9"}, "must be a number from 0 to 2."),
        ({"repeats": "0"}, "must be a whole number from 1 to "),
    ],
)
def test_an_invalid_form_shows_the_reason_and_keeps_its_input(
    browser: Client, session: Session, more: dict[str, str | list[str]], message: str
) -> None:
    answer = browser.post("/comparisons/new/", comparison_form(session) | more)
    assert answer.status_code in {404, 422}
    assert message in answer.content.decode()
    assert str(comparison_form(session, **more)["reason"]) in answer.content.decode()
    assert not Comparison.objects.exists()


def test_a_comparison_is_cancelled_and_retried_from_its_page(browser: Client, project: Project) -> None:
    browser.post("/comparisons/new/", comparison_form(recorded_session(project, questions=QUESTIONS[:1])))
    made = Comparison.objects.get()
    address = f"/comparisons/{made.id}/"
    assert "Cancel comparison" in page(browser, address)
    assert browser.post(f"{address}cancel/").status_code == 303
    shown = words(browser, address)
    assert "0 of 2 answered, 2 cancelled" in shown
    assert re.search(r"Cancelled ?\d.+ by operator@example.org", shown)
    assert "Retry cancelled answers" in shown
    assert "Retry failed answers" not in shown
    assert "cancelled 1 " in shown
    assert "1 of 1 ask" in words(browser, f"{address}?lacking=cancelled")
    assert "0 of 2, 2 cancelled" in words(browser, "/comparisons/")
    assert browser.post(f"{address}cancel/").status_code == 409
    assert browser.post(f"{address}retry/").status_code == 303
    worked_off(made)
    shown = words(browser, address)
    assert "answers as recorded in 1 of 1 ask" in shown
    assert "Cancelled" not in shown


def test_another_projects_session_cannot_be_compared(other_project: Project, session: Session) -> None:
    assert browser_of(other_project).post("/comparisons/new/", comparison_form(session)).status_code == 422
    assert not Comparison.objects.exists()


def test_the_empty_pages_say_what_to_do(other_project: Project) -> None:
    browser = browser_of(other_project)
    assert "No comparisons yet" in page(browser, "/comparisons/")
    start_session(other_project, name="without an ask", by="test")
    assert "Nothing to compare yet" in page(browser, "/comparisons/new/")


def test_the_page_of_a_session_leads_to_the_comparison_of_models_on_it(
    browser: Client, session: Session
) -> None:
    (link,) = re.findall(
        '<a class="item" href="([^"]+)">Compare models</a>', page(browser, f"/sessions/{session.id}/")
    )
    form = page(browser, link)
    assert re.search(rf'value="{session.id}"[^>]* checked', form)
    assert "has no ask or model call" not in form
    without = start_session(session.project, name="Only messages", by="test")
    assert "The session you came from has no ask or model call" in page(
        browser, f"/comparisons/new/?session={without.id}"
    )

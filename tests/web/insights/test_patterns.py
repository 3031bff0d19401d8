"""The pages of patterns, the alert mark in the navigation, and the line on a step."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from tests.memory.patterns.recorded import agent_message, failed, patterns, read, session_of, user_message
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import ADMIN, VIEWER, Project
from timemachine.memory.patterns.models import PatternAlert, PatternRule, Wording
from timemachine.memory.patterns.rules import create_rule
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
SHORT = "gift card balance is not enough"
LONG = "not enough balance in payment method gift_card_8190333"


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


@pytest.fixture
def two(project: Project) -> list[Session]:
    first = session_of(
        project,
        failed(SHORT),
        agent_message("Take the <other> card.", significance="solution"),
        key="first",
        agent="ada",
    )
    second = session_of(project, failed(LONG), *[failed(SHORT)] * 11, key="second")
    read(project)
    return [first, second]


def page(browser: Client, address: str, status: int = 200) -> str:
    answer = browser.get(address)
    assert answer.status_code == status
    text: str = answer.content.decode()
    return text


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_list_without_patterns_says_so_and_counts_unindexed_steps(
    browser: Client, project: Project
) -> None:
    assert "No patterns yet" in page(browser, "/patterns/")
    session_of(project, failed(SHORT))
    assert "1 step waiting to be indexed" in words(page(browser, "/patterns/"))


def test_a_pattern_is_listed_with_its_trend_in_words(browser: Client, two: list[Session]) -> None:
    text = page(browser, "/patterns/")
    assert f"Error: {SHORT}" in text
    assert 'role="img" aria-label="13 times, all on ' in text
    assert "in 1 of 2" in words(text)


def test_filters_are_in_the_address(browser: Client, two: list[Session]) -> None:
    for query, expected in (
        ("?kind=question", "No pattern matches"),
        ("?q=gift_card", SHORT),
        ("?solved=no", "No pattern matches"),
        ("?after=x", "Invalid filter"),
        ("?kind=x", "Invalid filter"),
        ("?since=x", "Invalid filter"),
    ):
        wrong = expected == "Invalid filter"
        assert expected in page(browser, f"/patterns/{query}", 422 if wrong else 200), query


def test_a_pattern_shows_where_it_occurred_and_what_solved_it(
    browser: Client, project: Project, two: list[Session]
) -> None:
    pattern = patterns(project)[0]
    shown = words(page(browser, f"/patterns/{pattern.id}/"))
    assert "13 times in 2 sessions" in shown
    assert "most recently in first : step 2 is marked as the solution" in shown
    assert "Take the &lt;other&gt; card." in shown
    assert "not enough balance in payment method gift_card_&lt;id&gt; 1 step" in shown
    assert "and 2 more" in shown
    assert f'href="/sessions/{two[1].id}/?step=1"' in page(browser, f"/patterns/{pattern.id}/")


def test_the_address_of_a_wording_merged_into_a_pattern_redirects_to_it(
    browser: Client, project: Project, two: list[Session]
) -> None:
    pattern = patterns(project)[0]
    other = Wording.objects.exclude(id=pattern.id).get(pattern=pattern)
    answer = browser.get(f"/patterns/{other.id}/")
    assert (answer.status_code, answer["Location"]) == (303, f"/patterns/{pattern.id}/")
    assert page(browser, "/patterns/nothing/", 404)


def test_lists_continue_on_the_next_page(
    browser: Client, project: Project, two: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.web.insights.views.patterns.SHOWN", 1)
    session_of(project, failed("the gate did not open in time"))
    session_of(project, failed("the gate did not open in time"))
    read(project)
    first = page(browser, "/patterns/")
    [after] = re.findall(r'class="button"\s+href="(\?after=[^"]*)"', first)
    rest = page(browser, f"/patterns/{after.replace('&amp;', '&')}")
    assert "the gate did not open" in first
    assert "the gate did not open" not in rest
    assert SHORT in rest
    pattern = next(each for each in patterns(project) if SHORT in each.text)
    one = page(browser, f"/patterns/{pattern.id}/")
    [after] = re.findall(r'href="(\?after=[^"]*)">More sessions', one)
    assert "ada" in page(browser, f"/patterns/{pattern.id}/{after.replace('&amp;', '&')}")


def test_a_step_shows_how_many_other_sessions_have_it_and_where_it_was_solved(
    browser: Client, two: list[Session]
) -> None:
    first, second = two
    shown = words(page(browser, f"/sessions/{second.id}/?step=1"))
    assert "Seen in 1 other session ; solved in first : step 2 is marked as the solution" in shown
    own = words(page(browser, f"/sessions/{first.id}/?step=1"))
    assert "Seen in 1 other session" in own
    assert "solved in" not in own
    assert "Seen in" not in words(page(browser, f"/sessions/{first.id}/?step=2"))


def test_a_step_without_a_pattern_needs_one_query_fewer_than_one_with_it(
    browser: Client, project: Project, two: list[Session]
) -> None:
    def queries(step: int) -> list[str]:
        page(browser, f"/sessions/{two[1].id}/?step={step}")
        with CaptureQueriesContext(connection) as captured:
            page(browser, f"/sessions/{two[1].id}/?step={step}")
        return [each["sql"] for each in captured if "tm_pattern_step" in each["sql"]]

    assert len(queries(1)) == 2
    Wording.objects.update(sessions=1)
    assert len(queries(1)) == 1


def test_a_rule_is_created_and_deleted_and_its_alert_is_marked_until_dismissed(
    browser: Client, project: Project, two: list[Session]
) -> None:
    form = {
        "kind": "error",
        "sessions": "2",
        "window": "month",
        "form_id": "018f6e4a-1c2b-7d3e-8f90-a1b2c3d4e5f6",
    }
    for _ in range(2):
        assert browser.post("/patterns/rules/", form).status_code == 303
    rule = PatternRule.objects.get()
    session_of(project, failed(SHORT))
    read(project)
    text = page(browser, "/")
    assert 'title="1 recurring pattern"' in text
    listed = words(page(browser, "/patterns/"))
    assert "Errors in 2 sessions within one month" in listed
    assert "in 3 sessions in the month from 1 " in listed
    alert = PatternAlert.objects.get()
    assert browser.post(f"/patterns/alerts/{alert.id}/seen/").status_code == 303
    assert "recurring pattern" not in page(browser, "/")
    assert "Dismissed (1)" in words(page(browser, "/patterns/"))
    assert browser.post(f"/patterns/rules/{rule.id}/delete/").status_code == 303
    assert PatternRule.objects.count() == PatternAlert.objects.count() == 0


def test_an_invalid_rule_is_refused_at_its_field(project: Project) -> None:
    administrator = browser_of(project, ADMIN)
    for wrong in ({"sessions": "1"}, {"window": "year"}, {"kind": "x"}, {"url": "http://127.0.0.1/x"}):
        answer = administrator.post("/patterns/rules/", {"sessions": "2", "window": "week"} | wrong)
        assert answer.status_code == 422, wrong
        assert 'class="error"' in answer.text
    assert PatternRule.objects.count() == 0


def test_only_an_administrator_sets_a_url(project: Project, settings: Settings) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    form = {"sessions": "2", "window": "week", "url": "http://127.0.0.1/x"}
    operator, administrator = browser_of(project), browser_of(project, ADMIN)
    assert operator.post("/patterns/rules/", form).status_code == 303
    assert PatternRule.objects.get().url == ""
    assert administrator.post("/patterns/rules/", form).status_code == 303
    with_url = PatternRule.objects.get(url="http://127.0.0.1/x")
    assert operator.post(f"/patterns/rules/{with_url.id}/delete/").status_code == 403
    assert f"/patterns/rules/{with_url.id}/" not in page(operator, "/patterns/")
    assert f"/patterns/rules/{with_url.id}/" in page(administrator, "/patterns/")
    viewer = browser_of(project, VIEWER)
    assert "New rule" not in page(viewer, "/patterns/")


def test_a_rule_beyond_the_maximum_is_refused(project: Project, browser: Client) -> None:
    for sessions in range(2, 22):
        create_rule(project, sessions=sessions, window="day", by="ada")
    answer = browser.post("/patterns/rules/", {"sessions": "2", "window": "week"})
    assert answer.status_code == 409
    assert "which is the maximum" in answer.content.decode()


def test_a_duplicate_rule_is_refused(project: Project, browser: Client) -> None:
    form = {"sessions": "2", "window": "week"}
    assert browser.post("/patterns/rules/", form).status_code == 303
    second = browser.post("/patterns/rules/", form)
    assert (second.status_code, "already has this rule" in second.text) == (409, True)


def test_an_alert_disappears_when_one_of_its_sessions_is_deleted(project: Project, browser: Client) -> None:
    create_rule(project, sessions=2, window="week", by="ada")
    sessions = [session_of(project, failed(SHORT)) for _ in range(2)]
    read(project)
    assert "1 recurring pattern" in page(browser, "/patterns/")
    erase_session(sessions[0])
    read(project)
    assert "recurring pattern" not in page(browser, "/patterns/").lower()


def test_a_repeated_question_is_a_pattern(browser: Client, project: Project) -> None:
    for _ in range(2):
        session_of(project, user_message("How long does a refund take?"))
    read(project)
    assert "How long does a refund take?" in page(browser, "/patterns/?kind=question")


def test_a_share_link_shows_nothing_of_other_sessions(project: Project, two: list[Session]) -> None:
    _, path = shared(project, two[1])
    visitor, address = opened(path)
    text = page(visitor, f"{address}?step=1")
    assert SHORT in text
    assert "Seen in" not in text
    assert "/patterns/" not in text


def test_the_counts_of_a_pattern_reflect_a_deletion_immediately(project: Project, browser: Client) -> None:
    sessions = [session_of(project, failed(SHORT)) for _ in range(3)]
    read(project)
    address = f"/patterns/{patterns(project)[0].id}/"
    assert "3 times in 3 sessions" in page(browser, address)
    erase_session(sessions[0])
    assert "2 times in 2 sessions" in page(browser, address)
    assert 'data-label="Steps">2<' in browser.get("/patterns/").text
    erase_session(sessions[1])
    assert 'data-label="Steps">' not in browser.get("/patterns/").text


def test_a_new_rule_immediately_reports_what_it_found(project: Project, browser: Client) -> None:
    for _ in range(2):
        session_of(project, failed(SHORT))
    read(project)
    browser.post("/patterns/rules/", {"sessions": "2", "window": "week"})
    shown = page(browser, "/patterns/")
    assert "Rule created. 1 alert raised already." in shown
    assert "1 recurring pattern" in shown

"""The page that searches all sessions."""

import re
from html import unescape

import pytest
from django.test import Client
from playwright.sync_api import Browser
from pytest_django import DjangoAssertNumQueries
from pytest_django.live_server_helper import LiveServer

from tests.memory.search.recorded import index, session_of
from tests.memory.search.recorded import message as message_step
from timemachine.core.accounts.models import Project

pytestmark = pytest.mark.django_db


def words(browser: Client, address: str) -> str:
    """Return the text of a page without its markup."""
    answer = browser.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", answer.text)))


def test_an_empty_search_says_what_can_be_searched_for(viewer: Client) -> None:
    page = viewer.get("/search/").text
    assert "autofocus" in page
    assert "an exact identifier" in page
    assert "still being indexed" not in page


def test_hits_are_listed_under_their_sessions_with_matches_marked(viewer: Client, project: Project) -> None:
    session = session_of(
        project, message_step("All well."), message_step("The gateway timed out."), name="Nightly <repair>"
    )
    index(project)
    page = viewer.get("/search/?q=gateway").text
    assert "Nightly &lt;repair&gt;" in page
    assert "<mark>gateway</mark>" in page
    assert f"/sessions/{session.id}/?step=2" in page
    assert "words 1." in page
    assert "meaning 0." in page


def test_recorded_markup_is_escaped_and_hidden_characters_are_replaced(
    viewer: Client, project: Project
) -> None:
    session_of(project, message_step("<img src=x onerror=alert(1)> gateway \u202e hidden </mark>"))
    index(project)
    page = viewer.get("/search/?q=gateway+onerror").text
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;/mark&gt;" in page


def test_further_hits_in_a_session_link_to_a_search_within_it(viewer: Client, project: Project) -> None:
    session = session_of(project, *(message_step(f"gateway {n}") for n in range(8)))
    index(project)
    address = f"?q=gateway&amp;mode=text&amp;session={session.id}"
    page = viewer.get("/search/?q=gateway&mode=text").text
    assert address in page
    assert "3 more in this session" in page
    narrowed = viewer.get(f"/search/?q=gateway&mode=text&session={session.id}").text
    assert narrowed.count("<mark>") == 8
    assert "Search all sessions" in narrowed


def test_further_sessions_are_on_the_next_page(viewer: Client, project: Project) -> None:
    for n in range(12):
        session_of(project, message_step("gateway"), name=f"run {n}")
    index(project)
    page = viewer.get("/search/?q=gateway&mode=text").text
    more = unescape(re.findall(r'href="(\?q=gateway[^"]+after=[^"]+)"', page)[0])
    part = viewer.get(f"/search/{more}", headers={"HX-Request": "true", "HX-Target": "more"}).text
    assert "<html" not in part
    names = re.findall(r"<bdi>(run \d+)</bdi>", page + part)
    assert sorted(names) == sorted(f"run {n}" for n in range(12))
    assert "Back to the best" in viewer.get(f"/search/{more}").text


def test_steps_that_are_not_yet_indexed_are_counted(viewer: Client, project: Project) -> None:
    session_of(project, *(message_step("gateway") for _ in range(1_000)))
    session_of(project, *(message_step("gateway") for _ in range(234)))
    assert "1,234 steps are still being indexed" in words(viewer, "/search/")
    assert "1,234 steps are still being indexed" in words(viewer, "/search/?q=gateway")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("q=-not", "It only excludes words"),
        ("q=x&kind=dance", "“kind” cannot be 'dance'"),
        ("q=x&since=yesterday", "yesterday"),
        ("q=x&after=nowhere", "Invalid page"),
        ("q=nothing", "No results Nothing is recorded yet."),
        ("q=nothing&tool=read&min_cost=2", "No step matches the filter: tool read, session cost from 2.0."),
        ("q=x&since=2026-02-02&until=2026-01-01", "is later than “until”"),
        ("q=nothing&mode=text&tool=read", "Search all steps of all sessions"),
        ("q=the&mode=text", "All words are too common"),
        ("q=%00", "Enter a word to search for"),
    ],
)
def test_invalid_queries_and_empty_results_are_explained(viewer: Client, query: str, message: str) -> None:
    assert message in words(viewer, f"/search/?{query}")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("q=-only+-left", "q"),
        ("q=x&kind=dance", "kind"),
        ("q=x&status=asleep", "status"),
        ("q=x&min_cost=much", "min_cost"),
        ("q=x&since=foo", "since"),
        ("q=x&since=2026-11-03&until=2026-11-02", "since"),
        ("q=x&until=foo", "until"),
    ],
)
def test_an_invalid_value_is_marked_at_its_field(viewer: Client, query: str, field: str) -> None:
    page = viewer.get(f"/search/?{query}").text
    marked = [tag for tag in re.findall(r"<(?:input|select)[^>]*>", page) if 'aria-invalid="true"' in tag]
    assert len(marked) == 1
    assert f'name="{field}"' in marked[0]


@pytest.mark.parametrize("page", ["search", "recall"])
def test_an_unknown_session_is_reported_next_to_the_form(viewer: Client, page: str) -> None:
    answer = viewer.get(f"/{page}/?q=gateway+timed+out&session=nosuch&tool=read")
    assert answer.status_code == 404
    assert 'value="gateway timed out"' in answer.text
    assert "There is no session" in answer.text
    assert 'name="session"' not in answer.text


def test_the_words_are_named_as_the_cause_only_if_they_are(viewer: Client, project: Project) -> None:
    session_of(project, message_step("The gateway timed out."))
    index(project)
    for query, reason in (
        ("gateway+mutex", "A step must contain all words. Leave one out, or put “or” between them."),
        ("mutex", "No step matches."),
        ("%22timed+gateway%22+-x", "Words in quotation marks must occur in that order."),
        ("gateway&tool=read", "No step matches the filter: tool read."),
    ):  # fmt: skip
        shown = words(viewer, f"/search/?mode=text&q={query}")
        assert reason in shown
        assert ("leave one out" in shown) == ("all of the words" in reason)


def test_an_empty_semantic_search_does_not_suggest_leaving_out_words(
    viewer: Client, project: Project
) -> None:
    session_of(project, message_step("The gateway timed out."))
    index(project)
    shown = words(viewer, "/search/?mode=semantic&q=zzz+%22qqq+xxq%22+-vvv")
    assert "No step has a similar meaning." in shown
    assert "leave one out" not in shown


def test_another_projects_sessions_are_neither_found_nor_searched(
    viewer: Client, project: Project, other_project: Project
) -> None:
    theirs = session_of(other_project, message_step("their gateway"), name="theirs")
    index(other_project)
    assert "theirs" not in viewer.get("/search/?q=gateway").text
    assert viewer.get(f"/search/?q=gateway&session={theirs.id}").status_code == 404


def test_searching_requires_signing_in() -> None:
    assert Client().get("/search/?q=x").status_code == 302


def test_the_number_of_queries_does_not_grow_with_hits(
    viewer: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(10):
        session_of(project, *(message_step("gateway") for _ in range(4)), name=f"run {n}")
    index(project)
    with django_assert_max_num_queries(18):
        viewer.get("/search/?q=gateway")


@pytest.mark.browser
def test_one_box_searches_and_goes_to_places_by_keyboard(
    transactional_db: None, live_server: LiveServer, chromium: Browser, project: Project, operator: Client
) -> None:
    context = chromium.new_context()
    context.add_cookies(
        [{"name": "tm_session", "value": operator.cookies["tm_session"].value, "url": live_server.url}]
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/suites/")
    page.keyboard.press("/")
    page.locator("#find:focus").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.locator("#find:focus").wait_for()
    page.keyboard.type("gateway")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=gateway*", wait_until="load")
    page.keyboard.press("/")
    page.locator("#q:focus").wait_for()
    page.keyboard.type("other")
    assert page.input_value("#q") == "other"
    context.close()


def test_filters_written_into_the_field_become_those_of_the_form(viewer: Client, project: Project) -> None:
    failed = message_step("The gateway timed out.", error_message="504")
    session_of(project, message_step("The gateway is up."), failed)
    index(project)
    answer = viewer.get("/search/?q=gateway+status:error&mode=text&after=x", follow=True)
    assert answer.redirect_chain == [("/search/?q=gateway&mode=text&status=error", 302)]
    assert "1 step in 1 session." in answer.text
    assert '<option value="error"\n                      selected>' in answer.text
    assert "Enter a word to search for" in viewer.get("/search/?q=status:error", follow=True).text
    wrong = viewer.get("/search/?q=gateway+status:eror", follow=True).text
    assert "“status” cannot be &#x27;eror&#x27;" in wrong


def test_similar_steps_are_not_called_matches(viewer: Client, project: Project) -> None:
    session_of(project, message_step("The gateway timed out."))
    index(project)
    assert "No step has these words. 1 similar step in 1 session:" in words(
        viewer, "/search/?q=gateway+exploded"
    )
    assert "No step has" not in words(viewer, "/search/?q=gateway")
    assert "No step has" not in words(viewer, "/search/?q=gateway+exploded&mode=semantic")


def test_a_session_that_matches_by_name_is_mentioned_beside_similar_steps(
    viewer: Client, project: Project
) -> None:
    session_of(project, message_step("The gateway timed out."), name="Exploded gateway")
    index(project)
    said = "No step has these words, but 1 session matches by name, key or tag. 1 similar step in 1 session:"
    assert said in words(viewer, "/search/?q=gateway+exploded")

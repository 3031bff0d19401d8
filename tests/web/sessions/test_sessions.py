"""The list of sessions, and payloads as files, over HTTP."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.builders import tamper
from tests.web.people import browser_of
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import ADMIN, SCOPES, VIEWER, Project
from timemachine.core.pure.home import local_key_file, write_private
from timemachine.evidence import commands as evidence
from timemachine.evidence.models import Seal, SealCheck
from timemachine.evidence.sealing.seals import seal_session
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 20, 9, tzinfo=UTC)
PART = {"HX-Request": "true", "HX-Target": "tr#more"}


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def begin(project: Project, key: str, **about: Any) -> Session:
    return start_session(project, by="test", key=key, **({"name": f"Session {key}"} | about))


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_a_new_project_says_how_to_record_with_this_servers_address(
    browser: Client, settings: Settings
) -> None:
    page = browser.get("/").content.decode()
    assert "No sessions yet" in page
    assert "timemachine watch" in page
    assert "timemachine proxy" in page
    assert f"curl {settings.PUBLIC_URL}/api/sessions" in page.replace("&#x27;", "'")
    assert f'TimeMachine("{settings.PUBLIC_URL}"' in page.replace("&quot;", '"')
    assert page.count("s.record(") == 2


def test_a_working_key_is_shown_only_in_a_closed_disclosure_and_in_no_example(project: Project) -> None:
    _, key = make_api_key(project, name="here", scopes=list(SCOPES))
    write_private(local_key_file(), key + "\n")
    try:
        page = browser_of(project, ADMIN).get("/").content.decode()
        others = browser_of(project).get("/").content.decode()
    finally:
        local_key_file().unlink()
    before, _, after = page.partition("<summary>Show this machine's key</summary>")
    assert page.count(key) == 1
    assert key in after
    assert before.rstrip().endswith('<details class="more">')
    assert "Bearer tmk_…" in before
    assert key not in others


def test_a_session_is_summarised_in_one_row(browser: Client, project: Project) -> None:
    session = begin(project, "s1", name="Fix the parser", agent="mender", tags=["bug"], started_at=START)
    append(
        session.id,
        [
            ActionDraft(
                kind="ask", model="a:m", usage=Usage(input_tokens=1_000, output_tokens=234), error_type="E"
            ),
            ActionDraft(kind="event"),
        ],
    )
    end_session(session.id, at=START + timedelta(minutes=2, seconds=3))
    page = browser.get("/").content.decode()
    assert '<span title="1 call of unknown price">unknown</span>' in page
    row = text_of(page)
    for word in (
        "Fix the parser",
        "bug",
        "mender",
        "2 min 03 s",
        "1.2 k",
    ):
        assert word in row


def test_missing_values_are_shown_as_not_recorded(browser: Client, project: Project) -> None:
    begin(project, "s1", imported_as="claude_code")
    page = browser.get("/").content.decode()
    assert (
        page.count('<span class="absent unrecorded">not recorded</span>') == 5
    )  # agent, start, duration, tokens, cost
    assert "just now" not in text_of(page)


def test_load_more_reaches_all_sessions_with_and_without_javascript(
    browser: Client, project: Project
) -> None:
    for n in range(55):
        begin(project, f"s{n:03}", started_at=START - timedelta(minutes=n))
    seen: list[str] = []
    address = "/"
    headers: dict[str, str] = {}
    while address:
        page = browser.get(address, headers=headers).content.decode()
        seen += re.findall(r"Session (s\d{3})", page)
        assert ("<html" in page) != bool(headers)
        found = re.search(r'href="(\?after=[^"]+)"[^>]*>Load more', page)
        address, headers = ("/" + found[1], PART) if found else ("", {})
    assert seen == [f"s{n:03}" for n in range(55)]
    second = browser.get(
        "/" + re.findall(r"\?after=[^\"]+", browser.get("/").content.decode())[0]
    ).content.decode()
    assert "<html" in second
    assert "Back to the newest" in second


def test_caches_distinguish_the_page_from_its_part(browser: Client, project: Project) -> None:
    begin(project, "s1")
    for headers in ({}, PART):
        assert "HX-Request" in browser.get("/", headers=headers)["Vary"]


def test_filters_are_in_the_address_and_can_be_cleared(browser: Client, project: Project) -> None:
    begin(project, "s1", agent="mender", tags=["bug & co"])
    begin(project, "s2", agent="scribe")
    page = browser.get("/?agent=mender&tag=bug+%26+co").content.decode()
    assert "Session s1" in page
    assert "Session s2" not in page
    assert 'href="?agent=mender"' in page
    empty = browser.get("/?q=zzz&status=ended").content.decode()
    assert "No session matches" in empty
    assert "Clear filters" in empty
    assert "zzz" in empty


def test_the_number_of_queries_does_not_grow_with_rows(
    browser: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    append(begin(project, "s0", agent="a", tags=["x"]).id, [ActionDraft(kind="event")])
    with django_assert_max_num_queries(9) as one:
        browser.get("/")
    for n in range(1, 40):
        session = begin(project, f"s{n}", agent="a", tags=["x", "y"])
        append(session.id, [ActionDraft(kind="event")] * n)
    with django_assert_max_num_queries(9) as many:
        page = browser.get("/").content.decode()
    assert len(many) == len(one)
    assert page.count('class="course"') == 40
    assert page.count('class="seal-icon ') == 40


def test_each_session_shows_its_seal_and_the_result_of_its_last_check(
    browser: Client, project: Project
) -> None:
    def seal_text() -> str:
        found = re.search(r'<td class="seal-cell">(.*?)</td>', browser.get("/").text, re.DOTALL)
        assert found is not None
        return " ".join(re.sub("<[^>]*>", " ", found[1]).split())

    session = begin(project, "s0")
    append(session.id, [ActionDraft(kind="event")])
    assert seal_text() == "not sealed yet"
    seal = seal_session(session.id)
    assert seal_text() == "sealed so far, not checked"
    evidence.run_check(evidence.request_check(seal, by="test").id)
    assert seal_text() == "sealed so far, intact just now"
    append(session.id, [ActionDraft(kind="event")])
    assert seal_text() == "sealed so far, intact just now"
    tamper("UPDATE tm_action SET label = label, agent = 'another' WHERE sequence = %s", [1])
    evidence.run_check(evidence.request_check(seal, by="test").id)
    assert seal_text() == "altered, checked just now"
    Seal.objects.update(problem="A record is missing.")
    SealCheck.objects.all().delete()
    assert seal_text() == "sealing stopped, not checked"


def test_another_projects_sessions_are_not_listed(browser: Client, other_project: Project) -> None:
    begin(other_project, "s1", name="Secret")
    assert "Secret" not in browser.get("/").content.decode()


def test_a_viewer_is_offered_no_way_to_record(project: Project) -> None:
    page = browser_of(project, VIEWER).get("/").content.decode()
    assert "Load the demo" not in page
    assert 'type="file"' not in page


@pytest.fixture
def with_payloads(project: Project) -> Session:
    hit = HitDraft(rank=1, text="a frozen passage")
    session = begin(project, "payloads")
    drafts = [
        ActionDraft(
            kind="find",
            input={"q": "<b>"},
            output="\x00<script>",
            source=["s"],
            retrieval=RetrievalDraft(hits=(hit,)),
        )
    ]
    append(session.id, drafts)
    return session


def payloads(session: Session) -> dict[str, bytes]:
    action = Action.objects.select_related("input", "output", "source").get(session=session)
    found = [action.input, action.output, action.source, action.hits.get().payload]
    return {each.sha256: bytes(each.data) for each in found if each is not None}


def test_every_payload_of_a_session_can_be_downloaded_in_full(
    browser: Client, with_payloads: Session
) -> None:
    found = payloads(with_payloads)
    assert len(found) == 4
    for sha256, data in found.items():
        assert browser.get(reverse("payload", args=["payloads", sha256])).content == data


def test_a_payload_is_a_file_that_no_browser_interprets(browser: Client, with_payloads: Session) -> None:
    answer = browser.get(reverse("payload", args=[with_payloads.id, next(iter(payloads(with_payloads)))]))
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Content-Type"].startswith("text/plain")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("sha256", ["0" * 64, "x", "%00"])
def test_an_unknown_payload_is_not_found(browser: Client, with_payloads: Session, sha256: str) -> None:
    assert browser.get(f"/sessions/payloads/payloads/{sha256}").status_code == 404


def test_a_payload_of_another_session_of_the_project_is_not_found(
    browser: Client, project: Project, with_payloads: Session
) -> None:
    begin(project, "other")
    sha256 = next(iter(payloads(with_payloads)))
    assert browser.get(reverse("payload", args=["other", sha256])).status_code == 404


def test_single_keys_are_switched_off_by_a_cookie_and_the_page_says_so(
    browser: Client, project: Project
) -> None:
    begin(project, "s1")
    assert "data-keys" not in browser.get("/").content.decode()
    answer = browser.post(
        reverse("shortcuts"), {"keys": "off"}, headers={"Referer": "http://testserver/?q=a"}
    )
    assert answer["Location"] == "/?q=a"
    assert 'data-keys="off"' in browser.get("/").content.decode()
    browser.post(reverse("shortcuts"), {"keys": "on"}, headers={"Referer": "http://elsewhere.example/"})
    assert "data-keys" not in browser.get("/").content.decode()


def test_the_redirect_after_a_switch_never_leads_to_another_site(browser: Client) -> None:
    answer = browser.post(
        reverse("shortcuts"), {"keys": "off"}, headers={"Referer": "http://elsewhere.example/"}
    )
    assert answer["Location"] == "/"


@pytest.mark.parametrize(
    ("cookie", "attribute"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')]
)
def test_a_chosen_theme_is_set_on_the_page(browser: Client, cookie: str, attribute: str) -> None:
    browser.cookies["tm_theme"] = cookie
    assert attribute in browser.get("/").content.decode()


@pytest.mark.parametrize("cookie", ["auto", "", '"><script>'])
def test_any_other_theme_means_that_of_the_system(browser: Client, cookie: str) -> None:
    browser.cookies["tm_theme"] = cookie
    assert "data-theme" not in browser.get("/").content.decode()


def test_an_address_that_only_this_machine_can_open_is_marked(browser: Client, settings: Settings) -> None:
    for address, is_marked in (
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("http://localhost", True),
        ("http://0.0.0.0:8000", True),
        ("https://example.org", False),
        ("https://10.0.0.7", False),
    ):
        settings.PUBLIC_URL = address
        assert ("TIMEMACHINE_PUBLIC_URL" in browser.get("/sessions/new/").text) is is_marked

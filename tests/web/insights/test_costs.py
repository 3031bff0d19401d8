"""The costs page: its sums, its links, and its messages for an empty result or a wrong day."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.builders import QUESTIONS, recorded_session, replayed
from tests.recording.usage.costs.recorded import NOON, call, two_sessions
from tests.web.people import browser_of
from timemachine.core.accounts.models import VIEWER, Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.commands import append, start_session
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.web.insights.views import costs as view

DAYS = "since=2026-11-20&until=2026-11-21"


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def words(browser: Client, address: str, status: int = 200, **headers: str) -> str:
    """Return the text of a page without its markup."""
    answer = browser.get(address, headers=headers)
    assert answer.status_code == status
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def links(browser: Client, address: str) -> set[str]:
    return {unescape(each) for each in re.findall(r'href="([^"]+)"', browser.get(address).content.decode())}


def test_the_page_adds_up_what_was_recorded(browser: Client, project: Project) -> None:
    two_sessions(project)
    shown = words(browser, f"/costs/?{DAYS}")
    assert "Steps that began from 2026-11-20 to 2026-11-21 (2 days, UTC)" in shown
    assert (
        "Cost $0.42 + 1 call of unknown price 1 call: no reason was recorded · Show sessions Sessions 2 Model calls 5 Tool calls 3 Tokens 48"
        in shown
    )
    assert "Saved by the answer cache $0.05 1 answer" in shown
    assert (
        "3 model calls with recorded duration (for an ask, from the question to the grounded answer): p50 996 ms"
        in shown
    )
    assert "acme:large 2 24 $0.40 996 ms 2.0 s Sessions of acme:large" in shown
    assert "acme:odd 1 12 1 call of unknown price not recorded not recorded" in shown
    assert "sub 1 12 $0.10" in shown
    assert "nightly 3 36 $0.40 + 1 call of unknown price" in shown
    assert "read 2 1 50.0% 20 ms 20 ms" in shown
    assert "2026-11-21: $0.02 + 1 call of unknown price" in shown
    assert "1 day with calls with unknown cost, hatched and marked with “?”." in shown


def test_rows_link_to_their_own_costs_and_to_their_sessions(browser: Client, project: Project) -> None:
    coder, reviewer = two_sessions(project)
    found = links(browser, f"/costs/?{DAYS}")
    for filtered in ("agent=sub", "model=acme:large", "tag=eu", "tool=read"):
        assert f"?{DAYS}&{filtered}" in found
        assert f"/?{DAYS}&{filtered}" in found
    assert "?since=2026-11-21&until=2026-11-21" in found
    alone = words(browser, f"/costs/?{DAYS}&model=acme:small")
    assert "model: acme:small" in alone
    assert "By tool" not in alone
    assert f"?{DAYS}" in links(browser, f"/costs/?{DAYS}&model=acme:small")
    listed = words(browser, "/?model=acme:small")
    assert reviewer.name in listed
    assert coder.name not in listed
    assert "model: acme:small" in listed
    assert coder.name in words(browser, "/?tool=read&since=2020-01-01")
    assert "No session matches" in words(browser, "/?tool=read&until=2020-01-01")


def test_sessions_before_the_shown_days_are_counted_with_a_link_to_them(
    browser: Client, project: Project
) -> None:
    two_sessions(project)
    assert "are not shown" not in words(browser, f"/costs/?{DAYS}")
    later = "since=2026-11-21&until=2026-11-22"
    assert (
        "1 session has steps before 2026-11-21, which are not shown. Show 2026-11-20 to 2026-11-22"
        in words(browser, f"/costs/?{later}")
    )
    assert "?since=2026-11-20&until=2026-11-22" in links(browser, f"/costs/?{later}")
    empty = "since=2028-11-22&until=2028-11-30"
    shown = words(browser, f"/costs/?{empty}&tag=eu")
    assert "2 sessions have steps before 2028-11-22, which are not shown." in shown
    assert "?since=2026-11-20&until=2028-11-30&tag=eu" in links(browser, f"/costs/?{empty}&tag=eu")
    assert "are not shown" not in words(browser, f"/costs/?{later}&agent=nobody")


def test_an_empty_project_shows_how_to_fill_the_page(browser: Client, project: Project) -> None:
    assert "Nothing recorded yet" in words(browser, "/costs/")
    assert "Record a session" in words(browser, "/costs/")
    viewer = browser_of(project, VIEWER)
    assert "Record a session" not in words(viewer, "/costs/")
    two_sessions(project)
    shown = words(browser, "/costs/?since=2020-01-01&until=2020-01-02&agent=coder")
    assert "No matching steps from 2020-01-01 to 2020-01-02" in shown


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("since=yesterday", "since", "'yesterday' is not a date. Write “From” like 2026-11-20."),
        ("until=%00", "until", "is not a date"),
        ("since=2026-11-22&until=2026-11-20", "since", "is after “to” (2026-11-20). Use an earlier “From”."),
        ("since=1020-01-01&until=2026-11-20", "since", "the maximum is 36,600"),
    ],
)
def test_a_wrong_day_is_reported_at_its_field_and_costs_are_still_shown(
    browser: Client, project: Project, query: str, field: str, message: str
) -> None:
    session = start_session(project, name="Today", by="test", agent="coder")
    append(session.id, [call("acme:large", "0.30", day=(now() - NOON).days)])
    answer = browser.get(f"/costs/?{query}")
    page = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert message in page
    assert f'aria-describedby="{field}_error"' in page
    assert f'id="{field}_error"' in page
    assert "acme:large" in page


def test_with_many_steps_latencies_and_tags_load_after_the_rest(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_sessions(project)
    monkeypatch.setattr(view, "AT_ONCE", 3)
    first = browser.get(f"/costs/?{DAYS}").content.decode()
    assert 'hx-trigger="load"' in first
    assert "By tag" not in first
    assert f"?{DAYS}&latency=on" in links(browser, f"/costs/?{DAYS}")
    htmx = {"HX-Request": "true", "HX-Target": "groups"}
    part = browser.get(f"/costs/?{DAYS}&latency=on", headers=htmx).content.decode()
    assert part.strip().startswith('<div id="groups"')
    assert "hx-trigger" not in part
    assert "By tag" in part
    assert "996 ms" in part


def test_replay_spending_is_shown_on_a_separate_line(browser: Client, project: Project) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1])
    replayed(session, ReplayOptions(audit=True, reason="Test", use_model="local:extractive-3"))
    assert "is not included. Replays and continuations spent $0 on these days." in words(browser, "/costs/")
    assert "continuations spent" not in words(browser, "/costs/?model=local:extractive-1")


def test_many_rows_are_summarised_in_a_last_line(browser: Client, project: Project) -> None:
    session = start_session(project, name="Many", by="test")
    append(session.id, [call(f"acme:{number:02}", "0.01") for number in range(30)])
    assert "Show all by model · 25 more, cost $0.25 in total" in words(browser, f"/costs/?{DAYS}")
    shown = words(browser, f"/costs/?{DAYS}&all=model")
    assert "5 more, cost $0.05 in total" in shown
    assert "acme:24" in shown
    assert "acme:25" not in shown


def test_the_days_are_in_one_table_with_the_cost_of_each_model(browser: Client, project: Project) -> None:
    session = start_session(project, name="Two models", by="test")
    append(session.id, [call("acme:large", "0.30"), call("acme:small", "0.02")])
    shown = words(browser, f"/costs/?{DAYS}").partition("By day, as a table")[2].partition("By model")[0]
    assert "Model calls Tokens acme:large acme:small Cost p50 p95" in shown
    assert "$0.30 $0.02 $0.32" in shown


def test_a_long_span_is_shown_by_weeks(browser: Client, project: Project) -> None:
    two_sessions(project)
    since = (NOON.date() - timedelta(days=99)).isoformat()
    session = start_session(project, name="Old", by="test")
    append(session.id, [call("acme:large", "0.30")])
    shown = words(browser, f"/costs/?since={since}&until=2026-11-27")
    assert "Cost per week" in shown
    assert "By week, as a table" in shown


def test_recorded_names_are_escaped(browser: Client, project: Project) -> None:
    odd = "<script>\x00\u202e"
    session = start_session(project, name="Odd", by="test", agent=odd, tags=[odd])
    append(session.id, [call(odd, "0.30")])
    page = browser.get(f"/costs/?{DAYS}").content.decode()
    assert "<script>\x00" not in page
    assert "&lt;script&gt;⟨NUL⟩⟨U+202E⟩" in page
    (link,) = {
        each for each in links(browser, f"/costs/?{DAYS}") if each.startswith("?") and "agent=" in each
    }
    assert "$0.30" in words(browser, f"/costs/{link}")


def test_another_project_sees_none_of_the_costs(other_project: Project, project: Project) -> None:
    two_sessions(project)
    assert "Nothing recorded yet" in words(browser_of(other_project), f"/costs/?{DAYS}")


def test_the_number_of_queries_does_not_grow_with_sessions(
    browser: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser.get("/costs/")
    for _ in range(3):
        two_sessions(project)
        with django_assert_max_num_queries(14):
            assert browser.get(f"/costs/?{DAYS}").status_code == 200


def test_the_sessions_with_unknown_costs_are_those_of_the_figures(browser: Client, project: Project) -> None:
    two_sessions(project)  # the call of unknown cost was made on the day after its session started
    unknown = "cost=unknown&steps_since={0}&steps_until={0}"
    assert "No session matches" in words(browser, "/?" + unknown.format("2026-11-20"))
    assert "Code" in words(browser, "/?" + unknown.format("2026-11-21"))
    page = browser.get("/costs/?since=2026-11-21&until=2026-11-21&agent=coder").text
    address = re.search(r'href="(/\?[^"]*steps_since=[^"]+)"', page)
    assert address is not None
    assert "Code" in words(browser, unescape(address[1]))
    assert "Invalid filter" in words(browser, "/?steps_since=soon")

"""A session imported without times: nothing takes the time of the import for its own, or for that of its steps."""

from decimal import Decimal
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.web.people import browser_of
from tests.web.timelines import get, words
from timemachine.core.accounts.models import Project
from timemachine.memory.search.indexing import index_new_steps
from timemachine.recording.sessions.commands import append, end_imported, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

ANY_DAY = "2000-01-01"


@pytest.fixture
def undated(project: Project) -> Session:
    session = start_session(project, name="Refund run", key="undated", by="test", imported_as="tau_bench")
    drafts = [
        ActionDraft(kind="message", role="user", output="Refunds of damaged umbrellas take a week"),
        ActionDraft(kind="llm_call", model="acme:m", cost_usd=Decimal("0.25")),
        ActionDraft(kind="checkpoint", name="half-way", output={}),
    ]
    append(session.id, drafts, imported=True)
    while index_new_steps(project.id):
        pass
    return end_imported(session.id, ended=None)


@pytest.fixture
def dated(project: Project) -> None:
    session = start_session(project, name="Umbrella shop", key="dated", by="test")
    append(session.id, [ActionDraft(kind="message", role="user", output="Umbrellas are damaged by storms")])
    while index_new_steps(project.id):
        pass


def found(api: Program, path: str, **query: Any) -> list[str]:
    items = api.get(path, **query).json()["items"]
    return [each["key"] if "key" in each else each["session"]["key"] for each in items]


@pytest.mark.usefixtures("undated", "dated")
def test_no_range_of_days_matches(api: Program) -> None:
    assert sorted(found(api, "/sessions")) == ["dated", "undated"]
    assert found(api, "/sessions", since=ANY_DAY) == ["dated"]
    assert sorted(found(api, "/search", q="umbrellas", mode="text")) == ["dated", "undated"]
    assert found(api, "/search", q="umbrellas", mode="text", since=ANY_DAY) == ["dated"]
    assert found(api, "/search", q="umbrellas", mode="text", until="2099-01-01") == ["dated"]


@pytest.mark.usefixtures("undated", "dated")
def test_recalled_turns_have_no_time_and_match_no_range(api: Program) -> None:
    def recalled(**options: Any) -> dict[str, str | None]:
        body = api.post("/recall", {"queries": ["damaged umbrellas"], "mode": "text", **options}).json()
        return {each["session"]["key"]: each["at"] for each in body["items"][0]["results"]}

    times = recalled()
    assert times["undated"] is None
    assert times["dated"]
    assert list(recalled(since=ANY_DAY)) == ["dated"]


@pytest.mark.usefixtures("undated")
def test_costs_are_on_no_day(api: Program) -> None:
    body = api.get("/costs").json()
    assert (body["totals"]["cost_usd"], body["totals"]["calls"]) == (None, 0)
    assert body["undated"] == {"calls": 1, "cost_usd": 0.25, "unknown_cost_calls": 0}
    assert api.get("/costs", model="acme:other").json()["undated"]["calls"] == 0


@pytest.mark.usefixtures("undated")
def test_states_and_checkpoints_have_no_time(api: Program) -> None:
    assert api.get("/sessions/undated/state", at=2).json()["as_of"] is None
    assert api.post("/sessions/undated/resume", {}).json()["checkpoint"]["at"] is None


@pytest.mark.usefixtures("undated")
def test_pages_say_that_the_start_is_not_recorded(project: Project) -> None:
    browser = browser_of(project, "operator")
    assert "just now" not in words(get(browser, "/"))
    assert (
        "Started not recorded Ended not recorded Duration not recorded Imported from tau_bench on"
        in words(get(browser, "/sessions/undated/"))
    )
    assert "start not recorded" in words(get(browser, "/search/?q=umbrellas&mode=text"))
    assert "time not recorded" in words(get(browser, "/recall/?q=umbrellas&mode=text"))
    assert "Not included: 1 model call in imported steps without times ($0.25)." in words(
        get(browser, "/costs/")
    )


@pytest.mark.usefixtures("undated")
def test_not_all_costs_are_known_while_one_without_a_day_is_not(project: Project) -> None:
    browser = browser_of(project, "operator")
    today = start_session(project, name="Today", by="test")
    append(today.id, [ActionDraft(kind="llm_call", model="acme:m", cost_usd=Decimal("0.10"))])
    assert "All costs are known." in words(get(browser, "/costs/"))
    later = start_session(project, name="Trip", by="test", imported_as="tau_bench")
    append(later.id, [ActionDraft(kind="llm_call", model="acme:unpriced")], imported=True)
    page = words(get(browser, "/costs/"))
    assert "Not included: 2 model calls in imported steps without times ($0.25 + 1 call of unknown" in page
    assert "All costs are known." not in page

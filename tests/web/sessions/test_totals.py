"""Totals of steps, over HTTP: on their own page, and above the list if the address requests them."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.recording.usage.costs.recorded import two_sessions
from tests.web.timelines import get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


def names(page: str) -> list[str]:
    return [words(found).strip() for found in re.findall(r'<th scope="row".*?</th>', page, re.DOTALL)]


def test_the_page_shows_the_totals_of_the_steps_with_a_link_for_each_row(
    operator: Client, project: Project
) -> None:
    session, _ = two_sessions(project)
    page = get(operator, f"/sessions/{session.id}/totals/?by=model")
    assert names(page) == ["acme:large", "not recorded", "acme:odd"]
    assert (
        "6 steps · step time 3.0 s recorded for 4 of them · $0.40 + 1 call of unknown price (1 call: no reason was recorded · Show steps ) · 1 error"
        in words(page)
    )
    addresses = re.findall(r'href="([^"]+)" title="Only these steps"', page)
    assert addresses == [
        f"/sessions/{session.id}/?filter={each}"
        for each in ("model:acme:large", "-model:%2A", "model:acme:odd")
    ]
    for address, steps in zip(addresses, ("2 of 6 steps", "3 of 6 steps", "1 of 6 steps"), strict=True):
        assert steps in words(get(operator, address))
    assert re.findall(r'<rect width="([\d.]+)"', page) == ["98.7", "1.3", "0.0"]
    assert "98.7%" in page


def test_a_filter_is_kept_by_every_grouping_and_an_invalid_one_is_reported(
    operator: Client, project: Project
) -> None:
    session, _ = two_sessions(project)
    address = f"/sessions/{session.id}/totals/"
    page = get(operator, f"{address}?filter=kind:tool_call&by=tool")
    assert names(page) == ["read", "write"]
    for by in ("kind", "tool", "model", "agent"):
        assert f'href="?filter=kind:tool_call&amp;by={by}"' in page
    wrong = operator.get(f"{address}?filter=colour:red&by=agent")
    assert wrong.status_code == 422
    assert "Totals of all steps are shown." in wrong.text
    assert names(wrong.text) == ["sub", "coder"]
    assert "No step matches this filter." in get(operator, f"{address}?filter=tool:none")
    assert names(get(operator, f"{address}?by=day")) == ["L llm call", "T tool call"]


def test_totals_are_above_the_list_if_requested_and_follow_the_filtered_range(
    operator: Client, project: Project
) -> None:
    session, _ = two_sessions(project)
    address = f"/sessions/{session.id}/"
    plain = get(operator, address)
    assert 'href="?step=1&amp;totals=kind"' in plain
    assert "Time is the sum of the recorded durations" not in plain
    assert "Time is the sum of the recorded durations" not in get(operator, f"{address}?totals=day")
    page = get(operator, f"{address}?totals=tool&filter=step:4-5&view=table")
    assert names(page)[:1] == ["read"]
    assert 'href="?filter=step:4-5+tool:read&amp;view=table&amp;totals=tool"' in page
    assert f'href="{address}totals/?by=tool&amp;filter=step%3A4-5"' in page
    part = get(operator, f"{address}?totals=agent", "timeline")
    assert names(part) == ["sub", "coder"]


def test_many_rows_are_cut_and_the_rest_is_summarised(
    operator: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    drafts = [ActionDraft(kind="tool_call", tool=f"t{n:03}", duration_ms=1_000 - n) for n in range(30)]
    session = recorded(project, drafts)
    with django_assert_max_num_queries(8):
        page = get(operator, "/sessions/s/totals/?by=tool")
    assert names(page) == [f"t{n:03}" for n in range(25)]
    assert (
        f"5 more with 5 steps in total, cost not recorded . GET /api/sessions/{session.id}/totals?by=tool"
        in words(page)
    )


def test_another_projects_session_is_not_found(operator: Client, other_project: Project) -> None:
    recorded(other_project, [ActionDraft(kind="event")])
    assert operator.get("/sessions/s/totals/").status_code == 404
    assert operator.post("/sessions/s/totals/").status_code == 405

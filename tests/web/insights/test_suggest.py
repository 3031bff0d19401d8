"""Suggestions for the filter, as the page shows them."""

import html
import re
from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.web.people import browser_of
from tests.web.timelines import HOSTILE, example_actions, get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


def test_suggestions_list_options_and_the_filters_they_produce(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/suggest/?filter=status:error tool:&at=18")
    assert 'data-filter="status:error tool:Bash "' in page
    assert 'data-at="23"' in page
    assert "Bash 2" in words(page)
    assert "tool: by name" in words(get(operator, "/sessions/s/suggest/?filter=kind:ask to"))


def test_suggestions_apply_at_the_caret_and_not_at_the_end(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/suggest/?filter=sta kind:ask&at=3")
    assert 'data-filter="status: kind:ask"' in page


def test_recorded_values_are_quoted_and_escaped(operator: Client, project: Project) -> None:
    recorded(project, [ActionDraft(kind="tool_call", tool=HOSTILE.replace("\ud800", "").replace("\x00", ""))])
    page = get(operator, "/sessions/s/suggest/?filter=tool:")
    assert "<script" not in page
    assert "<img" not in page
    option = re.search(r'data-filter="([^"]*)"', page)
    assert option
    found = get(operator, f"/sessions/s/?{_query(html.unescape(option[1]))}")
    assert "1 of 1 step" in words(found)


def _query(written: str) -> str:
    return urlencode({"filter": written})


@pytest.mark.parametrize(
    "query", ["", "?at=x", "?at=-1", "?filter=%00%22", "?filter=tool:%22&at=99999999999"]
)
def test_no_input_causes_an_error(operator: Client, project: Project, query: str) -> None:
    recorded(project, [])
    assert operator.get(f"/sessions/s/suggest/{query}").status_code == 200


def test_suggestions_need_few_queries(
    operator: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    recorded(project, example_actions())
    with django_assert_num_queries(5):  # the user (two), the project, the session, the values
        operator.get("/sessions/s/suggest/?filter=tool:")


def test_another_projects_values_are_not_suggested(project: Project, other_project: Project) -> None:
    recorded(other_project, example_actions())
    assert browser_of(project).get("/sessions/s/suggest/?filter=tool:").status_code == 404


def test_without_javascript_the_filter_is_a_plain_field(operator: Client, project: Project) -> None:
    recorded(project, example_actions())
    page = get(operator, "/sessions/s/")
    assert "combobox" not in page
    assert re.search(r'<ul id="suggestions"[^>]* hidden>\s*</ul>', page)

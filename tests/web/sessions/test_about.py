"""The details of a session: on its own page, and in the list of sessions."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import program
from tests.web.timelines import words
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
CHAT = b'{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]}\n'


def about(browser: Client, session: Session | str, **query: str) -> str:
    page = browser.get(f"/sessions/{session if isinstance(session, str) else session.id}/", query).text
    found = re.search(r'<details class="about">.*?</details>', page, re.DOTALL)
    assert found is not None
    return found[0]


def recorded(project: Project, **more: Any) -> Session:
    session = start_session(project, name="Week 40", key="week-40", by="key desk", **more)
    append(session.id, [ActionDraft(kind="message", role="user", output="hi")])
    return session


@pytest.mark.parametrize("query", [{}, {"view": "table"}, {"view": "raw"}, {"view": "compact"}])
def test_a_session_shows_its_recorded_details(
    viewer: Client, project: Project, query: dict[str, str]
) -> None:
    details = {"agent": "refund-desk", "user": "ann+b@example.org", "tags": ["a&b", "eu"]}
    session = recorded(project, **details, metadata={"release": "2026.11", "n": {"x": 1}})
    shown = about(viewer, session, **query)
    for each in ("week-40", str(session.id), "refund-desk", "ann+b@example.org", "release", '"2026.11"'):
        assert each in shown.replace("&quot;", '"')
    assert 'href="/?user=ann%2Bb%40example.org"' in shown
    assert 'href="/?tag=a%26b"' in shown
    assert "not yet" in shown
    assert "by <bdi>key desk</bdi>" in shown
    end_session(session.id)
    assert "not yet" not in about(viewer, session)


def test_missing_details_of_a_session_are_shown_as_not_recorded(viewer: Client, project: Project) -> None:
    shown = words(about(viewer, recorded(project)))
    assert "Agent not recorded User not recorded" in shown
    assert "Metadata" not in shown
    assert "Branched" not in shown


def test_an_import_shows_its_format_and_no_times_missing_from_its_file(
    viewer: Client, project: Project
) -> None:
    made: Any = program(project).raw("/import", CHAT).json()["sessions"][0]
    shown = words(about(viewer, made["id"]))
    assert (
        "Started not recorded Ended not recorded Duration not recorded Imported from openai_chat on" in shown
    )


def test_a_branch_names_the_session_and_step_it_branched_from(viewer: Client, project: Project) -> None:
    first = recorded(project)
    ends: list[tuple[Session | str, int | None]] = [
        (first, 1),
        (first, None),
        ("elsewhere", 4),
        ("somewhere", None),
    ]
    pages = []
    for number, parent in enumerate(ends):
        branch = start_session(project, name=f"b{number}", by="test", parent=parent)
        append(branch.id, [ActionDraft(kind="message", output="x")])
        pages.append(words(about(viewer, branch)))
    for expected, page in zip(
        (
            "from step 1 of Week 40",
            "from the end of Week 40",
            "from step 4 of elsewhere not in this project",
            "from somewhere",
        ),
        pages,
        strict=True,
    ):
        assert expected in page


def test_many_tags_and_much_metadata_are_cut_and_counted(viewer: Client, project: Project) -> None:
    much = {f"name {n}": "x" * 1_000 for n in range(25)}
    session = recorded(project, tags=[f"tag {n}" for n in range(53)], metadata=much)
    shown = about(viewer, session)
    assert "and 3 more" in shown
    assert "and 5 more" in shown
    assert len(shown) < 20_000


def test_the_list_of_sessions_shows_key_and_user(viewer: Client, project: Project) -> None:
    recorded(project, agent="desk", user="ann@example.org", started_at=now())
    page = viewer.get("/").text
    assert 'title="Key: week-40"' in page
    assert "?user=ann%40example.org" in page
    assert viewer.get("/", {"user": "bob"}).text.count("week-40") == 0

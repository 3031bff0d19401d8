"""What branched from what, as a tree: page, API and command say the same."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Program, program
from tests.builders import recorded_session
from tests.web.people import browser_of
from timemachine.accounts.models import Project
from timemachine.recording import branches
from timemachine.recording.commands import start_session
from timemachine.recording.models import Session

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True)
class Tree:
    """first ← (early ← deep), late; beside them one that is alone."""

    first: Session
    early: Session
    late: Session
    deep: Session
    alone: Session


@pytest.fixture
def tree(project: Project) -> Tree:
    def from_(key: str, parent: tuple[Session, int | None] | None = None) -> Session:
        return start_session(project, name=key.title(), key=key, by="test", parent=parent)

    first = from_("first")
    late = from_("late", (first, 7))
    early = from_("early", (first, 2))
    return Tree(first=first, late=late, early=early, deep=from_("deep", (early, None)), alone=from_("alone"))


@pytest.mark.parametrize("asked", ["first", "early", "late", "deep"])
def test_every_one_of_a_family_tells_the_whole_of_it_in_order(
    tree: Tree, project: Project, asked: str
) -> None:
    found: Any = program(project, "read").get(f"/sessions/{asked}/branches").json()
    assert found["complete"] is True
    assert [(each["key"], each["depth"]) for each in found["items"]] == [
        ("first", 0),
        ("early", 1),
        ("deep", 2),
        ("late", 1),
    ]
    assert found["items"][3]["parent"] == {"session": str(tree.first.id), "sequence": 7}


def test_the_page_nests_each_under_the_one_it_went_on_from(tree: Tree, project: Project) -> None:
    browser = browser_of(project, "viewer")
    page = browser.get(f"/sessions/{tree.early.id}/branches/").content.decode()
    parts = page[page.index('<ul class="branches">') : page.index("</ul>\n", page.rindex("</li>"))]
    shape = [word for word in parts.replace("<", " <").split() if word in ("<ul>", "</ul>", "<li>", "</li>")]
    assert " ".join(shape) == ("<li> <ul> <li> <ul> <li> </li> </ul> </li> <li> </li> </ul> </li>")
    assert f'href="/sessions/{tree.first.id}/?step=7"' in page
    assert page.count("aria-current") == 1 + page[: page.index("<main")].count("aria-current")
    alone = browser.get(f"/sessions/{tree.alone.id}/branches/")
    assert "No session went on from this one" in alone.content.decode()


def test_only_a_timeline_that_has_branches_leads_to_them(project: Project) -> None:
    browser = browser_of(project, "viewer")
    session = recorded_session(project)
    address = f"/sessions/{session.id}/branches/"
    assert address not in timeline(browser, session)
    branch = start_session(project, name="Again", by="test", parent=(session, 1))
    assert address in timeline(browser, session)
    assert f"/sessions/{branch.id}/branches/" in timeline(browser, branch)


def timeline(browser: Client, session: Session) -> str:
    return browser.get(f"/sessions/{session.id}/").content.decode()


def test_of_a_family_too_large_the_next_of_kin_are_told_and_that_there_are_more(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branches, "MOST_ABOVE", 3)
    monkeypatch.setattr(branches, "MOST", 4)
    above: Session | None = None
    for number in range(8):
        above = start_session(
            project,
            name="x",
            key=f"s{number}",
            by="test",
            parent=None if above is None else (above, 1),
        )
    reader: Program = program(project, "read")
    found: Any = reader.get("/sessions/s6/branches").json()
    assert found["complete"] is False
    assert [each["key"] for each in found["items"]] == ["s4", "s5", "s6", "s7"]
    assert [each["depth"] for each in found["items"]] == [0, 1, 2, 3]

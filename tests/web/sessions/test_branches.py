"""The branches of a session as a tree, the same on the page, in the API and in the command."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, recorded_session
from tests.web.people import browser_of
from tests.web.timelines import words
from timemachine.cli.commands.session.sessions import branched_from
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions import branches
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True)
class Tree:
    """first ← (early ← deep), late; and one session without relatives."""

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


@pytest.mark.parametrize("key", ["first", "early", "late", "deep"])
def test_every_session_of_a_tree_lists_the_complete_tree_in_order(
    tree: Tree, project: Project, key: str
) -> None:
    found: Any = program(project, "read").get(f"/sessions/{key}/branches").json()
    assert found["complete"] is True
    assert [(each["key"], each["depth"]) for each in found["items"]] == [
        ("first", 0),
        ("early", 1),
        ("deep", 2),
        ("late", 1),
    ]
    assert found["items"][3]["parent"] == {"session": str(tree.first.id), "sequence": 7}


def test_the_page_nests_each_session_under_its_parent(tree: Tree, project: Project) -> None:
    browser = browser_of(project, "viewer")
    page = browser.get(f"/sessions/{tree.early.id}/branches/").content.decode()
    parts = page[page.index('<ul class="branches">') : page.index("</ul>\n", page.rindex("</li>"))]
    shape = [word for word in parts.replace("<", " <").split() if word in ("<ul>", "</ul>", "<li>", "</li>")]
    assert " ".join(shape) == ("<li> <ul> <li> <ul> <li> </li> </ul> </li> <li> </li> </ul> </li>")
    assert f'href="/sessions/{tree.first.id}/?step=7"' in page
    assert page.count("aria-current") == 1 + page[: page.index("<main")].count("aria-current")
    alone = browser.get(f"/sessions/{tree.alone.id}/branches/")
    assert "No branches." in alone.content.decode()


def test_every_page_of_a_session_leads_to_its_branches_and_a_branch_to_its_parent(project: Project) -> None:
    browser = browser_of(project, "viewer")
    session = recorded_session(project, questions=QUESTIONS[:1])
    branch = start_session(project, name="Again", by="test", parent=(session, 1))
    for page in ("", "transcript/", "notes/", "evidence/"):
        shown = browser.get(f"/sessions/{branch.id}/{page}").text
        assert f'href="/sessions/{branch.id}/branches/"' in shown
        crumbs = shown[shown.index('class="crumbs"') : shown.index("<h1")]
        assert f'href="/sessions/{session.id}/?step=1"' in crumbs


def timeline(browser: Client, session: Session) -> str:
    return browser.get(f"/sessions/{session.id}/").content.decode()


def test_of_a_very_large_tree_only_the_closest_relatives_are_listed(
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


def deleted(project: Project, key: str) -> Any:
    return program(project).delete(f"/sessions/{key}").json()


def test_a_branch_names_the_step_of_the_deleted_session_it_branched_from(
    tree: Tree, project: Project
) -> None:
    assert deleted(project, "first")["branches"] == 2
    api, browser = program(project, "read"), browser_of(project)
    found: Any = api.get("/sessions/early").json()
    assert found["parent"] is None
    assert found["parent_deleted"] == {"session": str(tree.first.id), "sequence": 2}
    assert api.get("/sessions/deep").json()["parent_deleted"] is None
    assert api.get("/sessions/alone").json()["parent_deleted"] is None
    for of in (tree.early, tree.late):
        page = browser.get(f"/sessions/{of.id}/branches/").text
        step = 2 if of == tree.early else 7
        assert f'from step {step} of <a href="/sessions/{tree.first.id}/">a deleted session</a>' in page
        assert "First" not in page
    assert "a deleted session" in browser.get(f"/sessions/{tree.late.id}/").text
    address = browser.get(f"/sessions/{tree.first.id}/")
    assert (address.status_code, "deleted" in address.text) == (404, True)


def test_a_branch_from_the_end_of_a_deleted_session_says_so(tree: Tree, project: Project) -> None:
    deleted(project, "early")
    page = browser_of(project).get(f"/sessions/{tree.deep.id}/branches/").text
    assert "from the end of" in page
    found: Any = program(project, "read").get("/sessions/deep").json()["parent_deleted"]
    assert found == {"session": str(tree.early.id), "sequence": None}


def test_of_a_parent_deleted_by_an_earlier_version_only_the_step_is_known(
    tree: Tree, project: Project
) -> None:
    deleted(project, "first")
    Session.objects.filter(key="late").update(parent_erased=None)
    found: Any = program(project, "read").get("/sessions/late").json()
    assert found["parent_deleted"] == {"session": None, "sequence": 7}
    page = browser_of(project).get(f"/sessions/{tree.late.id}/branches/").text
    assert "from step 7 of a deleted session" in page


def test_the_deletion_page_says_how_many_sessions_branched_from_the_session(
    tree: Tree, project: Project
) -> None:
    admin = browser_of(project, "admin")
    assert "2 sessions</a> branched from it and stay." in admin.get(f"/sessions/{tree.first.id}/delete/").text
    assert "1 session</a> branched from it and stays." in admin.get(f"/sessions/{tree.early.id}/delete/").text
    assert "went on from it" not in admin.get(f"/sessions/{tree.alone.id}/delete/").text


@pytest.mark.parametrize("how", ["imported", "begun anew"])
def test_only_a_reimported_session_gets_its_branches_back(tree: Tree, project: Project, how: str) -> None:
    api = program(project)
    file = b"".join(api.get("/sessions/first/export").streaming_content)
    for _ in range(2):
        deleted(project, "first")
        if how == "imported":
            assert api.raw("/import", file).status_code == 201
        else:
            start_session(project, name="First", key="first", by="test")
            break
    found: Any = api.get("/sessions/first/branches").json()["items"]
    early: Any = api.get("/sessions/early").json()
    if how == "imported":
        assert [each["key"] for each in found] == ["first", "early", "deep", "late"]
        assert early["parent"] == {"session": found[0]["id"], "sequence": 2}
        assert early["parent_deleted"] is None
    else:
        assert [each["key"] for each in found] == ["first"]
        assert early["parent_deleted"] == {"session": str(tree.first.id), "sequence": 2}


def test_a_checkpoint_shows_how_to_resume_it_and_its_branches(project: Project) -> None:
    draft = ActionDraft(kind="checkpoint", name="Before", output={"messages": []})
    first = start_session(project, name="First", key="first", by="test")
    append(first.id, [draft, draft, ActionDraft(kind="message", role="user", output="x")])
    branch = start_session(project, name="Second", key="second", by="test", parent=(first, 1))
    for number in range(10):
        start_session(project, name=f"More {number}", by="test", parent=(first, 3))
    browser = browser_of(project, "viewer")

    def page(step: int) -> str:
        return browser.get(f"/sessions/{first.id}/", {"step": str(step)}).text

    assert "tm.resume(&quot;first&quot;, 1)" in page(1).replace('"first"', "&quot;first&quot;")
    assert "timemachine session resume first --checkpoint 1" in page(1)
    assert f'<a href="/sessions/{branch.id}/"><bdi>Second</bdi></a>' in page(1)
    assert "No session has branched from this checkpoint" in page(2)
    assert "Second" not in page(2)
    assert ("Resume from here" in page(3), page(3).count("<bdi>More ")) == (False, 10)
    assert "all of them" not in page(3)
    start_session(project, name="More of it", by="test", parent=(first, 3))
    assert f'The first 10 are listed. <a href="/sessions/{first.id}/branches/">Show all</a>' in page(3)


def test_a_branch_names_its_parent_that_is_not_on_this_server(project: Project) -> None:
    browser = browser_of(project)
    for key, sequence, expected in (("waits", 2, "step 2 of p2"), ("ended", None, "the end of p2")):
        session = start_session(project, name="Waits", key=key, by="test", parent=("p2", sequence))
        found: Any = program(project, "read").get(f"/sessions/{key}").json()
        assert (found["parent"], found["parent_deleted"]) == (None, None)
        assert found["parent_awaited"] == {"key": "p2", "sequence": sequence}
        assert branched_from(found) == f"{expected}, which is not on this server"
        page = words(browser.get(f"/sessions/{session.id}/branches/").text)
        assert f"from {expected} , which is not in this project" in page
        assert "No branches." not in page
    parent = start_session(project, name="Came", key="p2", by="test")
    found = program(project, "read").get("/sessions/waits").json()
    assert (found["parent"]["session"], found["parent_awaited"]) == (str(parent.id), None)


def test_the_list_of_sessions_can_leave_out_branches_or_show_only_them(tree: Tree, project: Project) -> None:
    start_session(project, name="Waits", key="waits", by="test", parent=("p2", None))
    deleted(project, "first")
    api, browser = program(project, "read"), browser_of(project)
    for branch, keys in (("no", {"alone"}), ("yes", {"early", "late", "deep", "waits"})):
        assert {each["key"] for each in api.get("/sessions", branch=branch).json()["items"]} == keys
        page = browser.get(f"/?branch={branch}").text
        assert {
            key for key in ("alone", "early", "late", "deep", "waits") if f"{key.title()}</bdi>" in page
        } == keys
        assert f"branch: {branch}" in words(page)
    assert api.get("/sessions", branch="perhaps").status_code == 422

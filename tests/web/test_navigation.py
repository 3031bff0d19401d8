"""The navigation of every page, the box that searches or goes somewhere, and the lists that only the navigation leads to."""

import re
from urllib.parse import unquote

import pytest
from django.test import Client

from tests.builders import recorded_session, replayed
from tests.web.people import browser_of
from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.sweeps.commands import launch as launch_sweep
from timemachine.replay.sweeps.pure.grid import Grid

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(project: Project) -> Session:
    made = start_session(project, name="Null check", by="test", key="null-check:1")
    append(made.id, [ActionDraft(kind="message", output="Hello.")] * 3)
    return made


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project, OPERATOR)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/", ["Sessions"]),
        ("/import/", ["Sessions"]),
        ("/compare/", ["Sessions"]),
        ("/replays/", ["Experiments", "Replays"]),
        ("/comparisons/", ["Experiments", "Comparisons"]),
        ("/comparisons/new/", ["Experiments"]),
        ("/sweeps/", ["Experiments", "Sweeps"]),
        ("/suites/", ["Experiments", "Suites"]),
        ("/patterns/", ["Insights", "Patterns"]),
        ("/costs/", ["Insights", "Costs"]),
        ("/collections/", ["Knowledge"]),
        ("/shares/", ["Sharing", "Links"]),
        ("/evidence/", ["Sharing", "Evidence key and log"]),
        ("/settings/sharing/", ["Sharing", "Policy"]),
        ("/settings/retention/", ["Settings"]),
        ("/search/", ["Search words and phrases"]),
        ("/recall/", ["Ask earlier sessions"]),
    ],
)
def test_every_page_marks_where_it_is(browser: Client, path: str, where: list[str]) -> None:
    shown = browser.get(path).text
    marked = re.findall(r'<a\b[^>]*aria-current="(?:page|true)"[^>]*>([^<]*)</a>', shown)
    assert [words for words in marked if words in where] == where
    assert not set(marked) & {"Sessions", "Experiments", "Insights", "Knowledge", "Sharing"} - set(where)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("null-check:1", "/sessions/{id}/"),
        ("{id}", "/sessions/{id}/"),
        ("null-check:1 #2", "/sessions/{id}/?step=2"),
        ("null-check:1 step 3", "/sessions/{id}/?step=3"),
        ("2", "/sessions/{id}/?step=2"),
        ("step 3", "/sessions/{id}/?step=3"),
        ("null check", "/search/?q=null check"),
        ("why did it fail?", "/recall/?q=why did it fail?"),
        ("nowhere:7", "/search/?q=nowhere:7"),
        ("", "/search/"),
    ],
)
def test_the_box_goes_to_what_it_names_and_else_searches(
    browser: Client, session: Session, written: str, address: str
) -> None:
    sent = {"q": written.format(id=session.id), "session": str(session.id)}
    to = unquote(browser.get("/go/", sent)["Location"]).replace("+", " ")
    assert to == address.format(id=session.id)


def test_the_box_opens_nothing_of_another_project(
    browser: Client, session: Session, other_project: Project
) -> None:
    theirs = start_session(other_project, name="Theirs", by="test", key="theirs")
    assert browser.get("/go/", {"q": str(theirs.id)})["Location"].startswith("/search/")
    assert browser.get("/go/", {"q": "2", "session": str(theirs.id)})["Location"] == "/search/?q=2"


def test_replays_and_sweeps_are_listed_newest_first(project: Project, browser: Client) -> None:
    assert "No replays yet" in browser.get("/replays/").text
    assert "No sweeps yet" in browser.get("/sweeps/").text
    recorded = recorded_session(project)
    made = replayed(recorded, ReplayOptions(audit=True, reason="check"))
    sweep = launch_sweep(recorded, Grid(top_k=(4, 8)), by="test")
    assert f'href="/replays/{made.id}/"' in browser.get("/replays/").text
    assert f'href="/sweeps/{sweep.id}/"' in browser.get("/sweeps/").text
    assert "The list ends here" in browser.get("/replays/", {"after": str(made.id)}).text
    assert browser.get("/replays/", {"after": "nonsense"}).status_code == 422


def test_the_account_menu_has_theme_settings_and_sign_out_in_a_details_element(browser: Client) -> None:
    shown = browser.get("/costs/").text
    menu = shown[shown.index('<details class="menu account"') : shown.index("</details>")]
    assert [word for word in ("System", "Light", "Dark", "Settings", "Sign out") if word in menu] == [
        "System",
        "Light",
        "Dark",
        "Settings",
        "Sign out",
    ]
    browser.post("/appearance/", {"theme": "dark"})
    assert 'value="dark" aria-pressed="true"' in browser.get("/costs/").text

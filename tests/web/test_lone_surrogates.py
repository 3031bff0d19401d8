"""Half a character (a lone surrogate) in recorded text is kept, shown, exported and searched like any other text."""

import json

import pytest
from django.test import Client

from tests.api.conftest import program
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.commands.links import unsaved_link
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.memory.search import indexing
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import EXPORTS, export_session
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.django_db
HALF = "\ud83d"


def broken(project: Project) -> Session:
    """Return an indexed session with half a character in everything that a recorder can fill."""
    session = start_session(
        project,
        name=f"orchard {HALF}",
        agent=f"a{HALF}",
        user=f"u{HALF}",
        tags=[f"t{HALF}"],
        metadata={f"m{HALF}": f"v{HALF}"},
        by="test",
    )
    words = {f"q{HALF}": [f"password: {HALF}", f"gateway {HALF}"]}
    append(
        session.id,
        [
            ActionDraft(kind="message", role="user", output=f"gateway {HALF} timed out", tags=(f"t{HALF}",)),
            ActionDraft(kind="tool_call", tool=f"x{HALF}", input=words, output=words, agent=f"b{HALF}"),
            ActionDraft(kind="llm_call", model=f"m{HALF}", input=words, output=f"{HALF}", name=f"n{HALF}"),
            ActionDraft(kind="tool_call", tool="y", error_type=f"E{HALF}", error_message=f"gateway {HALF}"),
        ],
    )
    while indexing.index_new_steps(project.id):
        pass
    session.refresh_from_db()
    return session


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?q=orchard",
        "/?tag=t%ED%A0%BD",
        "/sessions/{id}/",
        "/sessions/{id}/?step=1",
        "/sessions/{id}/?step=2",
        "/sessions/{id}/?step=3",
        "/sessions/{id}/?step=4",
        "/sessions/{id}/?q=gateway",
        "/search/?q=gateway",
        "/search/?q=orchard",
        "/search/?q=%ED%A0%BD",
        "/recall/?q=gateway",
        "/patterns/",
        "/costs/",
    ],
)
def test_a_page_shows_it(path: str, project: Project, operator: Client) -> None:
    session = broken(project)
    answer = operator.get(path.format(id=session.id))
    assert answer.status_code == 200
    assert answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "sessions/{id}",
        "sessions/{id}/actions",
        "search?q=gateway",
        "search?q=orchard",
    ],
)
def test_the_api_returns_it(path: str, project: Project) -> None:
    session = broken(project)
    answer = program(project, "read").get("/" + path.format(id=session.id))
    assert answer.status_code == 200
    assert HALF in json.dumps(answer.json(), ensure_ascii=False)


@pytest.mark.parametrize("name", list(EXPORTS))
def test_every_export_contains_it(name: str, project: Project) -> None:
    assert b"".join(export_session(broken(project), name).parts)


def test_it_is_kept_and_exported_as_it_was(project: Project, other_project: Project) -> None:
    session = broken(project)
    assert session.name == f"orchard {HALF}"
    data = b"".join(export_session(session).parts)
    json.loads(data.splitlines()[0])
    import_file(other_project, data, by="test")
    again = Session.objects.get(project=other_project)
    assert (again.name, again.tags, again.metadata) == (session.name, session.tags, session.metadata)
    labels = [
        list(Action.objects.filter(session=each).order_by("sequence").values_list("label", flat=True))
        for each in (session, again)
    ]
    assert labels[0] == labels[1]


def test_a_link_to_it_is_previewed(project: Project) -> None:
    assert preview_of(unsaved_link(project, broken(project), Terms(), by="test")).read == 4

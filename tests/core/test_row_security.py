"""The database hides the rows of other projects, even from a query that does not name its project."""

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.test import Client, RequestFactory

from tests.core.accounts.people import member
from timemachine.api.access import caller_with
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import Project
from timemachine.core.jobs import JOBS, job
from timemachine.core.pure.ids import uuid7
from timemachine.core.row_security import no_rows, rows_of, rows_of_every_project, see_project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.web import access
from timemachine.web.row_security import RowSecurity

pytestmark = pytest.mark.django_db
NOT_PROTECTED = {
    "tm_frame": "its word indexes would not be used",
    "tm_searched_action": "its word index would not be used",
    "tm_sign_in_link": "it belongs to a person, and may be for no project",
}


INDEXES_OF_EXPRESSIONS: Final = {
    "tm_session_trigrams": "used by tm_sessions_with",
    "tm_action_answer": "used by tm_answers_with",
    "tm_action_when": "times are compared with leakproof operators",
    "session_newest_first": "times are compared with leakproof operators",
}


@pytest.fixture
def recorded(project: Project, other_project: Project) -> tuple[Session, Session]:
    """One session with a step in each of two projects."""
    return session_in(project), session_in(other_project)


def session_in(project: Project) -> Session:
    session = start_session(project, name="Hello", by="test")
    append(session.pk, [ActionDraft(kind="message", output="hello")])
    return session


def visible_sessions() -> list[str]:
    return sorted(Session.objects.values_list("project__name", flat=True))


def test_every_table_with_a_project_is_protected() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
            " WHERE attname = 'project_id' AND relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND NOT (relrowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname = 'one_project'))"
        )
        assert {name for (name,) in cursor.fetchall()} == set(NOT_PROTECTED)


def test_a_query_without_its_project_finds_only_rows_of_the_visible_one(
    project: Project, other_project: Project, recorded: tuple[Session, Session]
) -> None:
    assert visible_sessions() == sorted([project.name, other_project.name])
    with rows_of(project.pk):
        assert visible_sessions() == [project.name]
        assert Action.objects.count() == 1
        assert Project.objects.count() == 1
        with rows_of_every_project():
            assert Action.objects.count() == 2
        with no_rows():
            assert (Session.objects.count(), Action.objects.count(), Project.objects.count()) == (0, 0, 0)
        assert visible_sessions() == [project.name]


def test_rows_of_another_project_cannot_be_written(
    project: Project, recorded: tuple[Session, Session]
) -> None:
    _, theirs = recorded
    with rows_of(project.pk):
        assert Session.objects.filter(pk=theirs.pk).update(name="changed") == 0
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            start_session(theirs.project, name="New", by="test")
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            Session.objects.filter(project=project).update(project=theirs.project)
        assert visible_sessions() == [project.name]
    theirs.refresh_from_db()
    assert theirs.name != "changed"


def test_what_is_visible_survives_a_rollback(project: Project, recorded: tuple[Session, Session]) -> None:
    with transaction.atomic():
        with rows_of(project.pk), transaction.atomic():
            assert visible_sessions() == [project.name]
            transaction.set_rollback(True)
        assert len(visible_sessions()) == 2
    with rows_of(project.pk):
        with pytest.raises(DatabaseError), transaction.atomic(), rows_of_every_project():
            Session.objects.raw("SELECT no_such_column FROM tm_session")[0]
        assert visible_sessions() == [project.name]


@pytest.mark.django_db(transaction=True)
def test_a_connection_without_the_setting_sees_nothing(recorded: tuple[Session, Session]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("RESET timemachine.project")
        cursor.execute("SELECT count(*) FROM tm_action")
        assert cursor.fetchone() == (0,)
    connection.close()
    assert Action.objects.count() == 2


def test_a_request_sees_nothing_until_it_is_known_who_asks(
    project: Project, other_project: Project, recorded: tuple[Session, Session]
) -> None:
    _, key = make_api_key(project, name="agent", scopes=["read"])
    seen: list[list[str]] = []

    def view(request: HttpRequest) -> StreamingHttpResponse:
        seen.append(visible_sessions())
        caller_with(key)
        seen.append(visible_sessions())
        return StreamingHttpResponse(name for name in visible_sessions())

    response: Any = RowSecurity(view)(RequestFactory().get("/"))
    assert seen == [[], [project.name]]
    assert visible_sessions() == sorted([project.name, other_project.name])
    assert response.getvalue().decode() == project.name


def test_what_is_streamed_later_sees_what_its_view_saw(
    project: Project, recorded: tuple[Session, Session]
) -> None:
    def view(request: HttpRequest) -> StreamingHttpResponse:
        see_project(project.pk)

        def parts() -> Iterator[str]:
            yield str(visible_sessions())
            yield str(Action.objects.count())

        return StreamingHttpResponse(parts())

    response: Any = RowSecurity(view)(RequestFactory().get("/"))
    assert response.getvalue().decode() == f"['{project.name}']1"


def test_a_stream_that_is_left_early_ends_with_the_same_rows(
    project: Project, recorded: tuple[Session, Session]
) -> None:
    seen: list[list[str]] = []

    def view(request: HttpRequest) -> StreamingHttpResponse:
        see_project(project.pk)

        def parts() -> Iterator[str]:
            try:
                yield "a"
                yield "b"
            finally:
                seen.append(visible_sessions())

        return StreamingHttpResponse(parts())

    response: Any = RowSecurity(view)(RequestFactory().get("/"))
    assert next(iter(response)) == b"a"
    response.close()
    assert seen == [[project.name]]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_in_a_request_is_replaced_for_the_next(
    project: Project, recorded: tuple[Session, Session]
) -> None:
    """As Django does: it asks for the connection's mode before and after each request."""
    with no_rows(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
        with as_owner_elsewhere() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(DatabaseError):
            cursor.execute("SELECT 1")
    connection.close_if_unusable_or_obsolete()
    assert connection.connection is None
    with rows_of(project.pk):
        assert visible_sessions() == [project.name]


def as_owner_elsewhere() -> psycopg.Connection[Any]:
    """Return another connection, with the rights of the owner."""
    parameters = connection.get_connection_params()
    parameters.pop("options")
    return psycopg.connect(
        **{name: parameters[name] for name in ("dbname", "user", "host", "port") if parameters.get(name)}
    )


def test_a_page_sees_the_project_of_its_reader(
    project: Project,
    other_project: Project,
    recorded: tuple[Session, Session],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[str]] = []
    chosen = access.of

    def of(request: HttpRequest) -> access.Access:
        found = chosen(request)
        seen.append(visible_sessions())
        return found

    monkeypatch.setattr(access, "of", of)
    browser = Client()
    browser.force_login(member(other_project, "viewer").user)
    assert browser.get("/").status_code == 200
    assert set(map(tuple, seen)) == {(other_project.name,)}


def test_a_job_sees_only_the_project_of_its_row(project: Project, recorded: tuple[Session, Session]) -> None:
    seen: list[list[str]] = []

    @job(of=Session)
    def look_around(session_id: UUID) -> None:
        seen.append(visible_sessions())

    try:
        look_around(recorded[0].pk)
    finally:
        del JOBS["look_around"]
    assert seen == [[project.name]]


def test_a_job_whose_row_is_gone_sees_nothing(recorded: tuple[Session, Session]) -> None:
    seen: list[list[str]] = []

    @job(of=Session)
    def look_for_what_is_gone(session_id: UUID) -> None:
        seen.append(visible_sessions())

    try:
        look_for_what_is_gone(uuid7())
    finally:
        del JOBS["look_for_what_is_gone"]
    assert seen == [[]]


def test_every_index_that_a_policy_keeps_from_being_used_has_a_reason() -> None:
    """Those of words and lists, and of expressions: their operators could reveal hidden rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid"
            " JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am ON pg_am.oid = c.relam"
            " WHERE t.relrowsecurity AND (i.indexprs IS NOT NULL OR amname <> 'btree')"
        )
        assert {name for (name,) in cursor.fetchall()} == set(INDEXES_OF_EXPRESSIONS)


def test_what_runs_as_the_owner_is_for_the_application_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, allowed.grantee::regrole::text FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS allowed"
            " WHERE prosecdef AND proname LIKE 'tm\\_%' AND allowed.grantee <> proowner"
        )
        assert set(cursor.fetchall()) == {
            (name, "timemachine_app")
            for name in ("tm_answers_with", "tm_sessions_with", "tm_drop_nearest_index")
        }


def test_every_job_with_an_id_names_the_model_of_its_row() -> None:
    assert {job.name for job in JOBS.values() if job.of is None} == {
        job.name for job in JOBS.values() if job.every is not None
    }

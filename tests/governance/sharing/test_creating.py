"""Creating, listing and revoking links."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.governance.sharing.recorded import recorded
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.core.pure.ids import uuid7
from timemachine.governance.sharing.commands.links import create_link, revoke, url_of
from timemachine.governance.sharing.commands.opening import open_link
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.queries import (
    link_of,
    links_of,
    openings_of,
    target_of,
    with_latest_openings,
)
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay


def test_a_link_shows_the_steps_that_existed_when_it_was_created(project: Project, session: Session) -> None:
    link, _ = create_link(project, session, by="Test")
    append(session.id, [ActionDraft(kind="event", name="afterwards")])
    assert ShareLink.objects.get(pk=link.pk).through_sequence == 6


def test_a_link_may_end_at_an_earlier_step(project: Project, session: Session) -> None:
    link, _ = create_link(project, session, Terms(through_sequence=2), by="Test")
    assert link.through_sequence == 2


@pytest.mark.parametrize("step", [0, -1, 7, 2**63])
def test_a_link_cannot_end_at_a_missing_step(project: Project, session: Session, step: int) -> None:
    with pytest.raises(InvalidInput, match="no step"):
        create_link(project, session, Terms(through_sequence=step), by="Test")


def test_a_session_without_steps_cannot_be_shared(project: Project) -> None:
    empty = start_session(project, name="Leer", by="Test")
    with pytest.raises(InvalidInput, match="no steps"):
        create_link(project, empty, by="Test")


def test_a_link_to_a_replay_covers_all_of_it(project: Project, replay: Replay) -> None:
    link, _ = create_link(project, replay, by="Test")
    assert (link.target_type, link.replay, link.session, link.through_sequence) == (
        "replay",
        replay,
        replay.session,
        2,
    )
    with pytest.raises(InvalidInput, match="shared completely"):
        create_link(project, replay, Terms(through_sequence=2), by="Test")


def test_a_replay_without_steps_cannot_be_shared(project: Project, replay: Replay) -> None:
    replay.steps.all().delete()
    with pytest.raises(InvalidInput, match="no steps"):
        create_link(project, replay, by="Test")


def test_a_session_of_another_project_cannot_be_shared(
    other_project: Project, session: Session, replay: Replay
) -> None:
    for target in (session, replay):
        with pytest.raises(NotFound):
            create_link(other_project, target, by="Test")
    assert not ShareLink.objects.exists()


def test_the_secret_is_not_in_the_database(project: Project, session: Session) -> None:
    link, token = create_link(
        project, session, Terms(passphrase="schöner Käse", label="für Müller ☃"), by="Test"
    )
    opened = open_link(token, "schöner Käse", address="203.0.113.9")
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f'SELECT "{table}"::text FROM "{table}"')
            rows = "\n".join(row for (row,) in cursor.fetchall())
            for secret in (token.split("_", 2)[2], opened.secret, "schöner Käse", "203.0.113.9"):
                assert secret not in rows, table
    assert ShareLink.objects.get(pk=link.pk).label == "für Müller ☃"


def test_the_address_of_a_link_uses_the_public_url(
    settings: Settings, project: Project, session: Session
) -> None:
    settings.PUBLIC_URL = "https://example.org"
    link, token = create_link(project, session, by="Test")
    assert url_of(token) == f"https://example.org/share/tms_{link.public_id}_{token.split('_', 2)[2]}"


def test_a_form_sent_twice_creates_one_link(project: Project, session: Session) -> None:
    sent = uuid7()
    create_link(project, session, by="Test", link_id=sent)
    with pytest.raises(Conflict, match="already submitted"):
        create_link(project, session, by="Test", link_id=sent)
    assert ShareLink.objects.count() == 1


def test_links_are_listed_for_their_project_only_newest_first(
    project: Project, other_project: Project, session: Session
) -> None:
    first, second = (create_link(project, session, by="Test")[0] for _ in range(2))
    create_link(other_project, recorded(other_project), by="Test")
    assert list(links_of(project)) == [second, first]
    assert link_of(project, str(first.id)) == first
    for unknown in (first.id, uuid7(), "x"):
        with pytest.raises(NotFound, match="no such share link"):
            link_of(other_project, unknown)


def test_the_latest_openings_of_many_links_take_two_queries(
    project: Project, session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        _, token = create_link(project, session, by="Test")
        for _ in range(4):
            open_link(token, address="203.0.113.9")
    with django_assert_num_queries(2):
        links = list(with_latest_openings(links_of(project), 3))
    assert [len(link.latest_openings) for link in links] == [3, 3, 3]  # type: ignore[attr-defined]
    assert openings_of(links[0]).count() == 5


def test_a_shared_item_is_found_only_in_its_project(
    project: Project, other_project: Project, session: Session, replay: Replay
) -> None:
    assert target_of(project, "session", session.key) == session
    assert target_of(project, "session", session.id) == session
    assert target_of(project, "replay", str(replay.id)) == replay
    for kind, foreign_target in (
        ("session", session.id),
        ("replay", replay.id),
        ("replay", "x"),
        ("comparison", uuid7()),
        ("comparison", "x"),
    ):
        with pytest.raises(NotFound):
            target_of(other_project, kind, foreign_target)


@pytest.mark.parametrize("kind", ["evidence", "Session", ""])
def test_an_item_that_cannot_be_shared_is_refused_with_a_message(project: Project, kind: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        target_of(project, kind, "x")
    assert refused.value.facts["field"] == "target_type"


def test_revoking_a_link_twice_keeps_the_first_user_and_time(project: Project, session: Session) -> None:
    link, _ = create_link(project, session, by="Test")
    at = revoke(link, by="Ängström").revoked_at
    revoked = revoke(link, by="somebody else")
    assert (revoked.revoked_at, revoked.revoked_by, revoked.state(now())) == (at, "Ängström", "revoked")


def test_a_link_is_deleted_when_its_session_is_erased(
    project: Project, session: Session, replay: Replay
) -> None:
    for target in (session, replay):
        _, token = create_link(project, target, by="Test")
        open_link(token)
    erase_session(session)
    assert not ShareLink.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        "max_opens = 0",
        "opens = 3, max_opens = 2",
        "through_sequence = 0",
        "target_type = 'x'",
        "evidence_only = true",
    ],
)
def test_the_database_refuses_an_invalid_link(project: Project, session: Session, wrong: str) -> None:
    create_link(project, session, by="Test")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE tm_share_link SET {wrong}")


def test_the_reason_why_a_link_does_not_open_is_known(project: Project, session: Session) -> None:
    link, _ = create_link(project, session, Terms(max_opens=2), by="Test")
    assert link.state(now()) == "active"
    assert link.state(link.expires_at) == "expired"
    assert link.state(link.expires_at - timedelta(microseconds=1)) == "active"
    link.opens = 2
    assert link.state(now()) == "exhausted"

"""Which seals are due, and in which order of projects."""

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from tests.builders import compared, recorded_session, replayed
from tests.evidence.sessions import long_session, message
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Unavailable
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import Seal, SigningKey
from timemachine.evidence.sealing import due, seals
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.django_db

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="a test")


def test_a_session_is_due_once_it_ended_or_waited_long_enough(project: Project, settings: Settings) -> None:
    settings.SEAL_SECONDS = 300
    ended, fresh, waited = (
        recorded_session(project, key="ended"),
        long_session(project, 1),
        long_session(project, 1),
    )
    Session.objects.filter(id=waited.id).update(created_at=now() - timedelta(minutes=6))
    start_session(project, name="empty", by="test")
    assert due.sessions() == [ended.id, waited.id]
    for each in (ended, waited, fresh):
        seals.seal_session(each.id)
    append(waited.id, [message("more")])
    assert due.sessions() == []
    Seal.objects.filter(session=waited).update(signed_at=now() - timedelta(minutes=6))
    assert due.sessions() == [waited.id]


def make_key_unreadable(project: Project) -> None:
    """Encrypt the project's key under a SECRET_KEY that no longer exists."""
    assert keys.key_in_use(project).project == project
    SigningKey.objects.filter(project=project).update(private_key=b"of another SECRET_KEY")


def test_a_project_with_an_unreadable_key_does_not_block_others(
    project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "BATCH", 2)
    lost = [recorded_session(project, key=f"lost-{n}") for n in range(3)]
    replay = replayed(lost[0], AUDIT)
    comparison = compared(project, lost[:1], "local:extractive-1", "local:extractive-3")
    waiting = recorded_session(other_project)
    make_key_unreadable(project)
    assert (due.sessions(), due.replays(), due.comparisons()) == ([waiting.id], [], [])
    with pytest.raises(Unavailable, match="SECRET_KEY"):
        seals.seal_session(lost[0].id)
    assert due.sessions() == [waiting.id]
    project_log.replace_key(project, by="ada@example.org")
    assert due.sessions() == [lost[0].id, waiting.id]
    assert replay.id in due.replays()
    assert due.comparisons() == [comparison.id]


def test_projects_take_turns(
    project: Project, other_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [recorded_session(project, key=f"many-{n}") for n in range(3)]
    last = recorded_session(other_project)
    assert due.sessions() == [many[0].id, last.id, many[1].id, many[2].id]
    monkeypatch.setattr(due, "BATCH", 2)
    assert due.sessions() == [many[0].id, last.id]


def test_a_replay_that_could_not_be_signed_is_due_once_it_can_be(project: Project) -> None:
    session = recorded_session(project)
    seals.seal_session(session.id)
    replay = replayed(session, AUDIT)
    make_key_unreadable(project)
    with pytest.raises(Unavailable):
        seals.seal_replay(replay.id)
    assert due.replays() == []
    project_log.replace_key(project, by="ada@example.org")
    assert due.replays() == [replay.id]
    seals.seal_replay(replay.id)
    assert due.replays() == []


def test_the_number_of_queries_for_due_seals_does_not_grow_with_the_projects(
    project: Project, other_project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for each in (project, other_project):
        recorded_session(each)
        keys.key_in_use(each)
    with django_assert_num_queries(2):
        assert len(due.sessions()) == 2

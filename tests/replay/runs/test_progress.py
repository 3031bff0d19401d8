"""The progress of the replays of a session, and the state of its steps in a replay."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.builders import compared, recorded_session, replayed
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import newest_replays, progress_of, replay_named, states_of

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="Regression", use_model="local:extractive-3")


@pytest.fixture
def session(project: Project) -> Session:
    return recorded_session(project)


def test_the_progress_of_a_replay_is_its_last_finished_step(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    done, queued = replayed(session, AUDIT), launch(session, AUDIT, by="test")
    with django_assert_num_queries(1):
        found = progress_of([queued, done])
    assert [(each.done, each.total, each.reached, each.is_open) for each in found] == [
        (0, 4, None, True),
        (4, 4, 6, False),
    ]


def test_the_newest_replays_are_listed_and_the_chosen_one_is_included(
    project: Project, session: Session
) -> None:
    compared(project, [session], "local:extractive-1", "local:extractive-3")
    first, second, third = (launch(session, AUDIT, by="test") for _ in range(3))
    assert newest_replays(session, 2) == [third, second]
    assert newest_replays(session, 2, second) == [third, second]
    assert newest_replays(session, 2, first) == [first, third]


def test_a_replay_is_found_by_id_only_in_its_session(project: Project, session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    assert replay_named(session, str(replay.id)) == replay
    assert replay_named(recorded_session(project, key="other"), str(replay.id)) is None
    assert replay_named(session, str(uuid7())) is None
    assert replay_named(session, "x") is None


def test_states_are_returned_for_the_requested_steps(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    replay = replayed(session, AUDIT)
    with django_assert_num_queries(1):
        found = {each.sequence: each for each in states_of(replay, range(1, 4))}
    assert set(found) == {1, 2}
    assert (found[1].status, found[1].verdict, found[1].context) == ("done", None, "verified")
    assert found[2].verdict is not None

"""Evidence of replays and comparisons covers the steps they repeat: their pages report alterations of those steps."""

from pathlib import Path

import pytest
from django.test import Client

from tests.builders import compared, replayed, tamper
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import SealCheck
from timemachine.evidence.queries import sealed_replay, sealed_session
from timemachine.evidence.sealing import seals
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
BROKEN = "UPDATE tm_action SET model = 'other:one' WHERE session_id = %s AND sequence = %s"


@pytest.fixture(scope="module")
def replay_once(recorded_once: Session) -> Replay:
    made = replayed(recorded_once, ReplayOptions(audit=True, reason="a test"))
    seals.seal_replay(made.id)
    return made


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def replay(replay_once: Replay, db: None) -> Replay:
    return Replay.objects.get(pk=replay_once.pk)


def test_a_check_of_a_replay_finds_alterations_of_the_steps_it_repeats(
    operator: Client, session: Session, replay: Replay, tmp_path: Path
) -> None:
    address = f"/replays/{replay.id}/evidence/"
    operator.post(f"{address}check/")
    checked = SealCheck.objects.get()
    assert (checked.problems, checked.recorded) == ([], 5)
    assert "Also checked: 5 records of its sessions" in operator.get(address).text
    tamper(BROKEN, [str(session.id), 2])
    operator.post(f"{address}check/")
    shown = operator.get(address).text
    assert "Repeated recorded step 2." in shown
    assert "The verifier will name whatever differs in evidence that you download now." in shown
    assert ">altered</a>" in operator.get(f"/replays/{replay.id}/").text
    with (tmp_path / "replay.zip").open("wb") as file:
        exporting.write_replay(file, replay)
    assert tm_verify.verify(str(tmp_path / "replay.zip")).problems


def test_a_check_of_a_comparison_finds_alterations_of_the_steps_it_repeats(
    operator: Client, project: Project, session: Session
) -> None:
    comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
    seals.seal_comparison(comparison.id)
    address = f"/comparisons/{comparison.id}/"
    operator.post(f"{address}evidence/check/")
    assert "Also checked: " in operator.get(f"{address}evidence/").text
    tamper(BROKEN, [str(session.id), 2])
    operator.post(f"{address}evidence/check/")
    assert "Repeated recorded step 2." in operator.get(f"{address}evidence/").text
    assert ">altered</a>" in operator.get(address).text


def test_a_step_that_a_replay_does_not_repeat_is_not_part_of_its_evidence(
    operator: Client, session: Session, replay: Replay
) -> None:
    tamper(BROKEN, [str(session.id), 3])
    operator.post(f"/replays/{replay.id}/evidence/check/")
    checked = SealCheck.objects.get()
    assert (checked.problems, checked.recorded) == ([], 5)


def test_a_known_alteration_of_a_session_is_reported_on_its_unchecked_replay(
    operator: Client, session: Session, replay: Replay
) -> None:
    assert not sealed_replay(replay).altered
    tamper(BROKEN, [str(session.id), 2])
    operator.post(f"/sessions/{session.id}/evidence/check/")
    assert (sealed_session(session).altered, sealed_replay(replay).altered) == (
        True,
        True,
    )
    shown = operator.get(f"/replays/{replay.id}/evidence/").text
    assert "The last check of a session that this replay repeats found differences from its seal" in shown
    assert ">altered</a>" in operator.get(f"/sessions/{session.id}/").text


def test_an_old_check_says_that_it_left_out_the_repeated_steps(operator: Client, replay: Replay) -> None:
    operator.post(f"/replays/{replay.id}/evidence/check/")
    SealCheck.objects.update(recorded=0)
    assert "were not checked with it" in operator.get(f"/replays/{replay.id}/evidence/").text


def test_a_session_in_progress_is_partly_sealed_and_a_replay_has_its_own_badge(
    operator: Client, session: Session, replay: Replay
) -> None:
    assert 'class="seal-icon sealed"' in operator.get(f"/sessions/{session.id}/").text
    assert 'class="seal-icon sealed"' in operator.get(f"/replays/{replay.id}/").text
    assert f'href="/sessions/{session.id}/evidence.zip" download>Download evidence</a>' in (
        operator.get(f"/sessions/{session.id}/").text
    )
    Session.objects.filter(pk=session.pk).update(status=Session.RECORDING)
    assert 'class="seal-icon so-far"' in operator.get(f"/sessions/{session.id}/").text
    assert "sealed so far" in operator.get("/").text

"""The seal as a visitor sees it."""

import base64
import json
from io import BytesIO

from tests.builders import compared, recorded_session, replayed
from tests.verifier.bundles import unpacked
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.evidence import commands as evidence
from timemachine.evidence.models import Seal, SigningKey
from timemachine.evidence.sealing.seals import seal_comparison, seal_replay, seal_session
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.queries import Shareable
from timemachine.governance.sharing.read_models.seals import SharedSeal
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.models import CellMark
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions


def seal_shown(project: Project, target: Shareable, through: int | None = None) -> SharedSeal | None:
    link, _ = create_link(project, target, Terms(through_sequence=through), by="Test")
    return Scope(link=link).seal()


def test_an_unsealed_session_is_not_sealed(project: Project, session: Session) -> None:
    assert seal_shown(project, session) is None


def test_a_seal_states_its_time_and_key_and_what_it_does_not_cover(
    project: Project, session: Session
) -> None:
    seal_session(session.id)
    found = seal_shown(project, session)
    assert found is not None
    assert (found.records, found.left, found.result) == (7, 0, None)
    assert found.key == SigningKey.objects.get(project=project).fingerprint
    append(session.id, [ActionDraft(kind="event", name="afterwards")])
    session.refresh_from_db()
    later, earlier = seal_shown(project, session), seal_shown(project, session, through=3)
    assert later is not None
    assert earlier is not None
    assert (later.records, later.left, earlier.records, earlier.left) == (8, 1, 4, 0)


def test_the_head_of_a_link_names_the_state_in_its_evidence(project: Project, session: Session) -> None:
    seal_session(session.id)
    for through, own_before in ((3, False), (session.last_sequence, True)):
        link, _ = create_link(project, session, Terms(through_sequence=through), by="Test")
        before = Scope(link=link).seal()
        assert before is not None
        assert before.own == own_before
        target = BytesIO()
        Scope(link=link).write_evidence(target)
        after = Scope(link=link).seal()
        assert after is not None
        assert after.own
        signed = json.loads(unpacked(target.getvalue())["statement.json"])
        (tree,) = json.loads(base64.b64decode(signed["payload"]))["predicate"]["trees"]
        assert (tree["sealed_at"], tree["size"]) == (written(after.at), after.records)


def test_a_seal_shows_the_result_of_the_last_check(project: Project, session: Session) -> None:
    seal_session(session.id)
    evidence.run_check(evidence.request_check(Seal.objects.get(session=session), by="Test").id)
    found = seal_shown(project, session)
    assert found is not None
    assert found.result == "intact"
    assert found.checked_at is not None


def test_a_replay_has_a_seal_of_its_own(project: Project) -> None:
    replay = replayed(recorded_session(project), ReplayOptions(audit=True, reason="Prüfung"))
    assert seal_shown(project, replay) is None
    seal_replay(replay.id)
    found = seal_shown(project, replay)
    assert found is not None
    assert found.left == 0


def test_a_comparison_has_a_seal_that_excludes_later_marks(project: Project) -> None:
    comparison = compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")
    assert seal_shown(project, comparison) is None
    seal_comparison(comparison.id)
    found = seal_shown(project, comparison)
    assert found is not None
    assert (found.records, found.left) == (7, 0)
    cell = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    CellMark.objects.create(
        comparison=comparison, step=cell, verdict="worse", marked_by="Test", created_at=now()
    )
    later = seal_shown(project, comparison)
    assert later is not None
    assert (later.records, later.left) == (8, 1)

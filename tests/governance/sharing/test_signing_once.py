"""Downloading evidence that is already signed signs nothing more, even while recording continues."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.builders import compared, replayed
from tests.governance.sharing.recorded import ask
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import LogEntry, SealCheckpoint
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.comparison.commands import mark
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


@pytest.fixture
def recording(project: Project) -> Session:
    """Return a session that is still recording."""
    begun = start_session(project, name="goes on", by="test")
    append(begun.id, [ActionDraft(kind="message", output="begin"), ask("Wann?", "1894")])
    begun.refresh_from_db()
    return begun


def signed() -> tuple[int, int]:
    """Return the number of signed states and the lengths of the logs."""
    return SealCheckpoint.objects.count(), LogEntry.objects.count()


@pytest.mark.parametrize("shown", ["session", "replay", "comparison"])
def test_a_visitor_s_second_download_signs_nothing_though_more_is_recorded(
    project: Project, recording: Session, tmp_path: Path, shown: str
) -> None:
    target: Any = recording
    if shown == "replay":
        target = replayed(recording, ReplayOptions(audit=True, reason="why"))
    elif shown == "comparison":
        target = compared(project, [recording], "local:extractive-1", "local:extractive-3")
    link, _ = create_link(project, target, by="test")
    bundles, after = [], []
    for n in range(3):
        append(recording.id, [ActionDraft(kind="message", output=f"more {n}")])
        with (tmp_path / "x.zip").open("wb") as opened:
            Scope(link=link).write_evidence(opened)
        assert tm_verify.verify(str(tmp_path / "x.zip")).problems == []
        bundles.append((tmp_path / "x.zip").read_bytes())
        after.append(signed())
    assert after[0] == after[1] == after[2]
    assert bundles[0] == bundles[1] == bundles[2]


def test_an_export_of_finished_items_signs_nothing_though_their_session_continues(
    project: Project, recording: Session
) -> None:
    replay = replayed(recording, ReplayOptions(audit=True, reason="why"))
    comparison = compared(project, [recording], "local:extractive-1", "local:extractive-3")
    export(replay, comparison)
    before = signed()
    append(recording.id, [ActionDraft(kind="message", output="more")])
    export(replay, comparison)
    assert signed() == before
    cell = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    mark(comparison, cell, "worse", note="zu kurz", by="Ada")
    export(replay, comparison)
    assert signed() > before


def export(replay: Replay, comparison: Comparison) -> None:
    exporting.write_replay(BytesIO(), replay)
    exporting.write_comparison(BytesIO(), comparison)

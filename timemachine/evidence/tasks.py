"""The jobs of evidence: sealing, checking seals, and reporting the log to witnesses."""

from uuid import UUID

from timemachine.core.jobs import job
from timemachine.evidence import commands
from timemachine.evidence.log import anchors
from timemachine.evidence.models import Anchor, SealCheck
from timemachine.evidence.sealing import due, seals
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


@job(of=Session, overdue=due.sessions)
def seal_session(session_id: UUID) -> None:
    """Seal what a session recorded since its last seal."""
    seals.seal_session(session_id)


@job(of=Replay, overdue=due.replays)
def seal_replay(replay_id: UUID) -> None:
    """Seal a replay that has finished."""
    seals.seal_replay(replay_id)


@job(of=Comparison, overdue=due.comparisons)
def seal_comparison(comparison_id: UUID) -> None:
    """Seal a comparison that has finished."""
    seals.seal_comparison(comparison_id)


@job(of=SealCheck, overdue=commands.overdue)
def check_seal(check_id: UUID) -> None:
    """Compare what is in the database with its seal."""
    commands.run_check(check_id)


@job(of=Anchor, overdue=anchors.overdue)
def send_anchor(anchor_id: int) -> None:
    """Report the length of a log to a witness or a timestamp authority."""
    anchors.send_newest_state(anchor_id)

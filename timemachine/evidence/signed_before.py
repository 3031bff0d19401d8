"""What is asked for was signed before: then whoever reads it has nothing more sealed, and the log does not grow by it."""

from collections.abc import Set as AbstractSet

from timemachine.evidence.models import Seal
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.queries import seal_of
from timemachine.evidence.sealing import comparison_results
from timemachine.evidence.sealing.checkpoints import state_of
from timemachine.evidence.sealing.comparison_records import RESULTS, name_of
from timemachine.evidence.sealing.comparison_subject import comparison_subject, current_seal
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


def signed_session(session: Session, size: int) -> Seal | None:
    """The seal of a session of whose first `size` records a state was signed; None where none was. Two queries."""
    seal = seal_of(session)
    return seal if seal is not None and state_of(seal, size) is not None else None


def signed_replay(replay: Replay) -> Seal | None:
    """The seal of a replay's last run, where all of it was signed. One query."""
    of_it = Seal.objects.filter(
        replay=replay, run_ended_at=replay.finished_at, run_ended_at__isnull=False, state=checkpoint.CLOSED
    )
    return of_it.order_by("-generation").first()


def signed_comparison(comparison: Comparison, rows: AbstractSet[str] | None) -> Seal | None:
    """The seal of a comparison's last run, where these rows of it were signed, or all with today's figures. Ten queries."""
    seal = current_seal(comparison)
    if seal is None or seal.signed_size != seal.size:
        return None
    there = comparison_subject(comparison).rows
    wanted = {*there, name_of(RESULTS, comparison_results.FORM)} if rows is None else rows
    return seal if wanted <= set(there[: seal.size - 1]) else None

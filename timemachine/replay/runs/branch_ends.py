"""Ending the session that a continuation records into, together with the continuation."""

from timemachine.core.pure.clock import now
from timemachine.recording.sessions.commands import append, end_imported
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.endings import Ending


def end_branch(replay: Replay) -> None:
    """Record in the branch of a finished continuation how it ended, and end the branch; again if it went on after an earlier
    end. In the caller's transaction. Does nothing for other replays, and if the branch was deleted."""
    branch = None if replay.branch_id is None else Session.objects.filter(id=replay.branch_id).first()
    if branch is None:
        return
    event = ActionDraft(
        kind="event",
        layer="sys",
        role="system",
        name="continuation_ended",
        output={"finding": _finding(replay), "replay": str(replay.id)},
        started_at=now(),
    )
    append(branch.id, [event], was_open=True)
    end_imported(branch.id, ended=replay.finished_at)


def _finding(replay: Replay) -> str:
    step = replay.steps.get()
    ending = Ending.stored(step.evidence)
    if ending is not None:
        return ending.finding
    why = "" if step.error_message is None else f": {step.error_message}"
    return f"Continuation {replay.status}{why}"

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
    step = replay.steps.get()
    ending = Ending.stored(step.evidence)
    calls = branch.actions.filter(kind="llm_call", client_id__startswith="continue-").count()
    finding = f"Continuation {replay.status}" if ending is None else ending.finding
    event = ActionDraft(
        kind="event",
        id=f"continue-{calls}-{replay.status}{'' if ending is None else f'-{ending.why}'}",
        layer="sys",
        role="system",
        name="continuation_ended",
        output={"finding": finding, "replay": str(replay.id)},
        started_at=now(),
    )
    append(branch.id, [event], was_open=True)
    end_imported(branch.id, ended=replay.finished_at)

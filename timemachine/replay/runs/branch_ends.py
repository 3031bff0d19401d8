"""Ending the session that a continuation records into, together with the continuation."""

from typing import Final

from timemachine.core.pure.clock import now
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.commands import append, end_imported
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.endings import Ending

CONTINUATION_ENDED: Final = "continuation_ended"
COUNTED: Final = frozenset(Ending.model_fields) - {"detail", "unanswered"}
"""What the last step of a branch states of the ending besides the finding: nothing that quotes the run."""


def end_branch(replay: Replay) -> None:
    """Record in the branch of a finished continuation how it ended, and end the branch; again if it went on after an earlier
    end. In the caller's transaction. Does nothing for other replays, and if the branch was deleted."""
    branch = None if replay.branch_id is None else Session.objects.filter(id=replay.branch_id).first()
    if branch is None:
        return
    step = replay.steps.get()
    ending = Ending.stored(step.evidence)
    event = ActionDraft(
        kind="event",
        layer="sys",
        role="system",
        name=CONTINUATION_ENDED,
        output={"finding": _finding(replay, step, ending), "replay": str(replay.id), **_counted(ending)},
        started_at=now(),
    )
    append(branch.id, [event], was_open=True)
    end_imported(branch.id, ended=replay.finished_at)


def _finding(replay: Replay, step: ReplayStep, ending: Ending | None) -> str:
    if ending is not None:
        return ending.finding
    why = "" if step.error_message is None else f": {step.error_message}"
    return f"Continuation {replay.status}{why}"


def _counted(ending: Ending | None) -> JsonObject:
    return {} if ending is None else ending.model_dump(include=set(COUNTED))

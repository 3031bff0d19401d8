"""The estimated cost of a continuation, at current prices."""

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.continuation.commands import checked
from timemachine.replay.continuation.plan import MAX_CALLS
from timemachine.replay.runs.estimate import estimate_steps
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import EstimateOut


def estimate(session: Session, options: ReplayOptions) -> EstimateOut:
    """Return the estimate of a continuation that makes as many calls as its agent made from that step, up to its limit.

    Raises what `commands.launch` raises.
    """
    action, resolved = checked(session, options)
    made = Action.objects.filter(
        session=session, kind=MODEL_CALL, agent=action.agent, sequence__gte=action.sequence
    )
    calls = list(made.order_by("sequence")[: resolved.max_calls or MAX_CALLS])
    for call in calls:
        call.session = session
    sent = ReplayOptions(use_model=resolved.use_model, system_prompt=resolved.system_prompt)
    return estimate_steps(session, calls, sent)

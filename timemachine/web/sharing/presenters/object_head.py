"""The header of the session, replay or comparison that a page of evidence or sharing belongs to."""

from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


def object_head(thing: Session | Replay | Comparison) -> dict[str, object]:
    """Return the template that the page extends, and what that shows."""
    if isinstance(thing, Comparison):
        return {"head": "comparisons/base_comparison.html", "comparison": thing}
    if isinstance(thing, Replay):
        return {"head": "replays/base_replay.html", "replay": thing, "session": thing.session}
    return {"head": "sessions/base_session.html", "session": thing}

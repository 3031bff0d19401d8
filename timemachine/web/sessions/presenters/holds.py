"""Whether a session is under legal hold, for the pages that would offer to delete something of it."""

from timemachine.recording.sessions.holds import held_among
from timemachine.recording.sessions.models import Session
from timemachine.web.template_library import register


@register.simple_tag
def is_on_hold(session: Session) -> bool:
    """Whether nothing of the session may be deleted. One query for a page."""
    kept = session.__dict__
    if "on_hold_here" not in kept:
        kept["on_hold_here"] = session.id in held_among([session.id])
    return bool(kept["on_hold_here"])

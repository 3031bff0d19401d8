"""Legal holds, for pages that offer to delete parts of a session."""

from timemachine.recording.sessions.holds import held_among
from timemachine.recording.sessions.models import Session
from timemachine.web.template_library import register


@register.simple_tag
def is_on_hold(session: Session) -> bool:
    """Return whether the session is under legal hold. One query per page."""
    kept = session.__dict__
    if "on_hold_here" not in kept:
        kept["on_hold_here"] = session.id in held_among([session.id])
    return bool(kept["on_hold_here"])

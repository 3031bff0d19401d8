"""The answer to a link that does not open. Pure."""

from timemachine.core.pure.errors import NotFound


def link_not_valid() -> NotFound:
    """The error for every link, and every page of a link, that shows nothing. Only the owner of the link can see why."""
    return NotFound(
        "There is no such link, or it is no longer valid. Ask whoever sent it for a new one.",
        code="share_link_not_valid",
    )

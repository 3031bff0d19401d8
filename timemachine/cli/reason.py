"""Why an audit or a comparison is made, where the command was not told."""

import getpass


def reason_given(reason: str | None) -> str:
    """The reason, or that it was the command line, and whose."""
    if reason is not None:
        return reason
    try:
        return f"command line, {getpass.getuser()}"
    except (OSError, KeyError):  # no such user is known on this machine
        return "command line"

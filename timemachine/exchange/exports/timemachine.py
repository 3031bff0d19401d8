"""Our own format: a line about the session, then each action on a line of its own, everything that was recorded of it. Pure."""

from typing import IO, Final

from timemachine.exchange.exported import Exported, line_of

NAME: Final = "timemachine"
TITLE: Final = "Time Machine (JSON lines), the whole session"
ENDING: Final = ".jsonl"
MEDIA_TYPE: Final = "application/x-ndjson"


def write(target: IO[bytes], session: Exported) -> None:
    """The session as `formats.timemachine` reads it back."""
    target.write(line_of(session.about) + b"\n")
    for step in session.steps:
        target.write(line_of(step.action) + b"\n")

"""Our own format: a line about the session, then one line for each action with everything that was recorded."""

from collections.abc import Iterator
from typing import Final

from timemachine.recording.importing.pure.exports import Exported, line_of

NAME: Final = "timemachine"
TITLE: Final = "Time Machine (JSON lines), the whole session"
ENDING: Final = ".jsonl"
MEDIA_TYPE: Final = "application/x-ndjson"


def parts(session: Exported) -> Iterator[bytes]:
    """Yield the session as `formats.timemachine` reads it."""
    yield line_of(session.about) + b"\n"
    for step in session.steps:
        yield line_of(step.action) + b"\n"

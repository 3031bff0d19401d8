"""Ids that Claude Code gives sub-agents and answers."""

from typing import Any, Final

from timemachine.recording.importing.pure.values import text_at

_LONGEST: Final = 100


def id_at(record: Any, name: str) -> str | None:
    """Return the id under the name if it is printable ASCII and short, so that it can be looked up and be part of a name."""
    found = text_at(record, name)
    usable = found is not None and len(found) <= _LONGEST and found.isascii() and found.isprintable()
    return found if usable else None

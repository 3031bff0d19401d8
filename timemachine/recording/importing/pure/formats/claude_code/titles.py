"""The name of a session.

Renaming a session writes a line `custom-title`; Claude Code itself writes `ai-title`, and earlier versions `summary`, into the
same file or that of a later session (then `leafUuid` names the line that it summarises).
"""

from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.core.pure.names import shortened
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.values import text_at

_BY_A_PERSON: Final = ("custom-title", "customTitle")
_GENERATED: Final = (("ai-title", "aiTitle"), ("summary", "summary"))


def titles_in(lines: Sequence[Line]) -> list[str]:
    """Return the titles of one session's lines, the best last: the newest that a person gave, else the newest generated."""
    generated = [title for kind, name in reversed(_GENERATED) for title in _titles(lines, kind, name)]
    return [*generated, *_titles(lines, *_BY_A_PERSON)]


def _titles(lines: Sequence[Line], kind: str, name: str) -> Iterator[str]:
    """Yield the titles of one kind, those about lines of another session first."""
    uuids = {text_at(line.record, "uuid") for line in lines} - {None}
    found = [line.record for line in lines if line.record["type"] == kind]
    for is_ours in (False, True):
        for record in found:
            leaf = text_at(record, "leafUuid")
            title = shortened(text_at(record, name) or "")
            if title and (leaf in uuids or kind != "summary") is is_ours:
                yield title

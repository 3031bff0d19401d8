"""What the exports of ChatGPT and claude.ai share: `conversations.json`, alone or in the ZIP archive that is sent."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip
from timemachine.recording.importing.pure.reader import Reader

CONVERSATIONS: Final = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
"""Names of the members with conversations; large exports of ChatGPT have several."""
OTHER_BRANCH: Final = "other_branch"
"""Tag of messages on a branch of a conversation that is not the one shown last."""


def conversations_in(
    reader: Reader, usable: Callable[[JsonObject], bool], otherwise: str
) -> Iterator[JsonObject]:
    """Yield the usable conversations; the others are skipped for the reason `otherwise`."""
    if not is_zip(reader.data):
        yield from reader.records(usable, otherwise)
        return
    archive = Archive(reader.data)
    for name in filter(CONVERSATIONS.fullmatch, archive.names):
        value: Any = reader.document(archive.read(name))
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict) and usable(each):
                yield each
            else:
                reader.skip(otherwise)


def current_branch(leaf: str | None, parents: dict[str, str | None]) -> set[str]:
    """Return the ids from a message up to the first one, or none if it is not recorded which message is the last."""
    found: set[str] = set()
    while leaf is not None and leaf in parents and leaf not in found:
        found.add(leaf)
        leaf = parents[leaf]
    return found

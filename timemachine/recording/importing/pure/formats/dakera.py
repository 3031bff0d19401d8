"""Dakera memories that hold a session: `{agent_id, content: "[role] text", memory_type, importance, tags}`.

JSON lines, a list, or an object with `memories`. The tags give the session, `role:`, `seq:` and the significance. The
report counts memories. They are sorted by `seq:`; a memory without one keeps its place and is named in the report.
"""

import re
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.drafts import Ids, id_with_digest, in_sequence, session_draft
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    list_at,
    moment,
    moment_after_1970,
    number,
    record_at,
    short_text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import LONGEST_WORD
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES

NAME: Final = "dakera"
TITLE: Final = "Dakera memories of a session (JSON list or .jsonl)"
MOST_NAMED: Final = 20
_SPOKEN: Final = re.compile(r"\[(\w{1,20})\] ?(.*)", re.DOTALL)
_SEQUENCE: Final = re.compile(r"seq:([0-9]{1,9})")
_ROLES: Final = {
    "user": "user",
    "human": "user",
    "agent": "agent",
    "assistant": "agent",
    "system": "system",
    "tool": "tool",
}


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a memory with tags."""
    return any(
        {"content", "memory_type", "tags"} <= each.keys() for each in opening.records_inside("memories")
    )


def read(reader: Reader) -> ParsedFile:
    """Return one session for each that the memories name. Raises `InvalidInput` if there are no memories."""
    groups = reader.groups(
        _session_id,
        usable=lambda record: "content" in record,
        otherwise="It has no `content`, so it is not a memory.",
        inside="memories",
    )
    if not groups:
        raise reader.refusal("no record in it has a `content`.")
    return reader.parsed(_session(reader.key(key, found), found, reader) for key, found in groups.items())


def _tags(memory: JsonObject) -> list[str]:
    return [each for each in list_at(memory, "tags") if isinstance(each, str)]


def _session_id(memory: JsonObject) -> str:
    """Return the id from the metadata, else the first tag without a known meaning."""
    named = short_text_at(record_at(memory, "metadata"), "session_id")
    others = [
        tag for tag in _tags(memory) if tag and ":" not in tag and tag not in {"episode", *SIGNIFICANCES}
    ]
    return named or next((tag for tag in others if len(tag) <= LONGEST_WORD), "")


def _sequence(memory: JsonObject) -> int | None:
    for tag in _tags(memory):
        if found := _SEQUENCE.fullmatch(tag):
            return int(found[1])
    return None


def _session(key: str, memories: list[JsonObject], reader: Reader) -> SessionDraft:
    ids = Ids()
    if without := [place for place, each in enumerate(memories, start=1) if _sequence(each) is None]:
        which = ", ".join(map(str, without[:MOST_NAMED])) + ("…" if len(without) > MOST_NAMED else "")
        reader.notes.append(
            f"{counted(len(without), 'record')} of {key} without `seq:` stayed in file order: {which}."
        )
    return session_draft(
        key,
        [_action(memory, ids) for memory in in_sequence(memories, _sequence)],
        agent=short_text_at(memories[0], "agent_id"),
    )


def _action(memory: JsonObject, ids: Ids) -> ActionDraft:
    tags = _tags(memory)
    content = memory.get("content")
    spoken = _SPOKEN.fullmatch(content) if isinstance(content, str) else None
    written_role = next(
        (tag.removeprefix("role:") for tag in tags if tag.startswith("role:")), spoken[1] if spoken else ""
    )
    role = _ROLES.get(written_role)
    importance = number(memory.get("importance"))
    created = memory.get("created_at")
    return ActionDraft(
        kind="message" if role else "event",
        id=ids.claim(short_text_at(memory, "id") or id_with_digest(f"memory-{_sequence(memory)}", memory)),
        layer="sys" if role == "system" else "agent",
        role=role,
        agent=short_text_at(memory, "agent_id"),
        name=None if role else short_text_at(memory, "memory_type"),
        significance=next((tag for tag in tags if tag in SIGNIFICANCES), None),
        importance=importance if importance is not None and 0 <= importance <= 1 else None,
        started_at=moment(created) or moment_after_1970(created),
        output=spoken[2] if spoken and role else content,
        source=memory,
        tags=tuple(tag[:80] for tag in tags if ":" in tag and not tag.startswith(("role:", "seq:"))),
    )

"""Rollouts of Codex: the JSON lines in `~/.codex/sessions/Y/M/D/rollout-….jsonl`.

Every line is `{timestamp, type, payload}`. What the model read and wrote is `response_item`. `event_msg` repeats most
of it for the screen; such a line becomes part of the action that it repeats. `repeats` says which lines do, `actions` what
each line becomes, `copies` which lines an earlier session wrote. The types of lines are those of
https://github.com/openai/codex/blob/main/codex-rs/history/src/lib.rs; a line of a later type becomes an event.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import Ids, first_words, link_results, session_draft
from timemachine.recording.importing.pure.formats.codex.actions import (
    Rollout,
    actions_of,
    contexts_of,
)
from timemachine.recording.importing.pure.formats.codex.copies import copied_lines, parent_of
from timemachine.recording.importing.pure.formats.codex.repeats import repeats_in, request_in
from timemachine.recording.importing.pure.formats.codex.tokens import usages_of
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import record_at, short_text_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of

NAME: Final = "codex"
TITLE: Final = "Codex rollout (.jsonl file from ~/.codex/sessions)"
_TYPES: Final = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_METADATA: Final = ("cwd", "originator", "cli_version", "model_provider", "git", "forked_from_id")
_REQUEST: Final = re.compile(r"^## My request for Codex:\s*$", re.MULTILINE)


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines looks like Codex."""
    return any(map(_is_codex, opening.lines))


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file and the report about its lines. Raises `InvalidInput` if no line can be used."""
    lines = reader.lines(_is_line, "It does not have the `type` and `payload` of a Codex line.")
    metas = [line.record["payload"] for line in lines if line.record["type"] == "session_meta"]
    meta = metas[0] if metas else {}
    begin, end = copied_lines(lines)
    parts = lines[:begin], lines[begin:end], lines[end:]
    parent = parent_of(lines)
    repeats = repeats_in(parts[0]) | repeats_in(parts[1]) | repeats_in(parts[2])
    if repeats:
        reader.notes.append(
            f"{counted(len(repeats), 'event_msg line')} repeated a response_item. Each is stored in the source of that item."
        )
    rollout = Rollout(
        repeats=repeats,
        usages=usages_of(lines, parts[2] if parent else []),
        contexts=contexts_of(lines),
        provider=text_at(meta, "model_provider"),
    )
    ids = Ids()
    first, copied, own = (actions_of(part, rollout, ids) for part in parts)
    actions = link_results([*first, *(_copied(each, parent) for each in copied), *own])
    words = next((line for line in lines if line.record["type"] == "response_item"), lines[0])
    session = session_draft(
        reader.key(short_text_at(meta, "id"), words.record),
        actions,
        name=_request(parts[2]) or first_words(own) or _request(lines) or first_words(actions),
        agent=NAME,
        metadata={name: meta.get(name) for name in _METADATA} | {"git": record_at(meta, "git") or None},
        forked_from=parent,
    )
    return reader.parsed([session])


def _is_codex(record: JsonObject) -> bool:
    return _is_line(record) and record["type"] in _TYPES


def _is_line(record: JsonObject) -> bool:
    return isinstance(record.get("type"), str) and isinstance(record.get("payload"), dict)


def _copied(action: ActionDraft, parent: str | None) -> ActionDraft:
    """Return a copied action. Its line has the time at which it was copied, not that at which it happened."""
    return replace(action, copied_from=copy_of(parent, action.id if parent else None), started_at=None)


def _request(lines: Sequence[Line]) -> str | None:
    """Return the first request, without what an editor put above it."""
    for line in lines:
        text = request_in(line.record["payload"]) or ""
        if request := _REQUEST.split(text)[-1].strip():
            return request
    return None

"""Rollouts of Codex: the JSON lines in `~/.codex/sessions/Y/M/D/rollout-….jsonl`.

Every line is `{timestamp, type, payload}`. What the model read and wrote is `response_item`. `event_msg` repeats most
of it for the screen; such a line becomes part of the action that it repeats. `actions` describes what each line
becomes.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.formats.codex.actions import actions_of
from timemachine.recording.importing.pure.formats.codex.repeats import repeats_in
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft, Skipped, parsed_file
from timemachine.recording.importing.pure.session_builder import (
    Keys,
    first_words,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import record_at, short_text_at, text_at

NAME: Final = "codex"
TITLE: Final = "a Codex rollout (a .jsonl file from ~/.codex/sessions)"
_TYPES: Final = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_METADATA: Final = ("cwd", "originator", "cli_version", "model_provider", "git", "forked_from_id")
_REQUEST: Final = re.compile(r"^## My request for Codex:\s*$", re.MULTILINE)


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines looks like Codex."""
    return any(map(_is_codex, opening.lines))


def read(data: Contents) -> ParsedFile:
    """Return the session of the file and the report about its lines. Raises `InvalidInput` if no line can be used."""
    usable: list[Line] = []
    skipped: list[Skipped] = []
    for line in lines_of(data):
        if isinstance(line, Line) and _is_codex(line.record):
            usable.append(line)
        else:
            skipped.append(line if isinstance(line, Skipped) else _not_codex(line))
    if not usable:
        raise unreadable_file(
            TITLE, f"line {skipped[0].line}: {skipped[0].reason}" if skipped else "it is empty."
        )
    repeats = repeats_in(usable)
    session = _session(usable, repeats)
    repeated = f"{counted(len(repeats), 'event_msg line')} repeated a response_item. Each is stored in the source of that item."
    return parsed_file(
        (session,),
        lines=len(usable) + len(skipped),
        skipped=tuple(skipped),
        notes=(repeated,) if repeats else (),
    )


def _is_codex(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(record.get("payload"), dict)


def _not_codex(line: Line) -> Skipped:
    return Skipped(line=line.number, reason="It has no `type` and `payload` of Codex.")


def _session(lines: Sequence[Line], repeats: dict[int, int]) -> SessionDraft:
    metas = [line.record["payload"] for line in lines if line.record["type"] == "session_meta"]
    meta = metas[0] if metas else {}
    actions = actions_of(lines, repeats, provider=text_at(meta, "model_provider"))
    words = next((line for line in lines if line.record["type"] == "response_item"), lines[0])
    return session_draft(
        Keys(NAME).of(short_text_at(meta, "id"), words.record),
        actions,
        name=_request(lines) or first_words(actions),
        agent=NAME,
        metadata=_metadata(meta),
        forked_from=short_text_at(meta, "forked_from_id"),
    )


def _request(lines: Sequence[Line]) -> str | None:
    """Return the first request, without what an editor put above it."""
    for line in lines:
        text = text_at(line.record["payload"], "message") or ""
        if line.record["payload"].get("type") == "user_message" and (
            request := _REQUEST.split(text)[-1].strip()
        ):
            return request
    return None


def _metadata(meta: dict[str, Any]) -> dict[str, Any]:
    found = {name: meta.get(name) for name in _METADATA}
    return found | {"git": record_at(meta, "git") or None}

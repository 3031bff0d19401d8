"""Recordings of devduck: a ZIP of `events.jsonl`, `snapshots.json` and `metadata.json`. `session.pkl` is never opened.

The report counts the lines of `events.jsonl`, the snapshots, and the metadata, which becomes a final `event`.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive
from timemachine.recording.importing.pure.contents import Line, lines_of
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    link_results,
    session_draft,
    system_event,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    first_at,
    milliseconds,
    model_name,
    moment,
    moment_after_1970,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.validation import copied_from_in
from timemachine.recording.sessions.pure.vocabulary import LAYERS, ROLES

NAME: Final = "devduck"
TITLE: Final = "devduck recording (.zip with events.jsonl)"
_EVENTS: Final = "events.jsonl"
_PICKLED: Final = "session.pkl was not opened: it is a Python pickle, which can run code when it is loaded."
_SPEAKERS: Final = {"user": "user", "system": "system"}


def recognises(opening: Opening) -> bool:
    """Return whether it is an archive with `events.jsonl`."""
    return any(_plain(name) == _EVENTS for name in opening.members)


def read(reader: Reader) -> ParsedFile:
    """Return the session of the archive. Raises `InvalidInput` if it has no events or must not be opened."""
    archive = Archive(reader.data)
    names = {_plain(name): name for name in archive.names}
    if _EVENTS not in names:
        raise reader.refusal(f"it has no {_EVENTS}.")
    ids = Ids()
    if "session.pkl" in names:
        reader.notes.append(_PICKLED)
    actions = _events(archive.read(names[_EVENTS]), reader, ids)
    if "snapshots.json" in names:
        actions += _snapshots(reader.document(archive.read(names["snapshots.json"])), reader, ids)
    metadata: Any = {}
    if "metadata.json" in names:
        metadata = reader.document(archive.read(names["metadata.json"]))
        reader.use()
        client_id = ids.claim(id_with_digest("metadata", metadata))
        actions.append(system_event("metadata", client_id, source={"metadata": metadata}, output=metadata))
    if not actions:
        raise reader.refusal("none of its event lines can be read.")
    about = record_at(metadata)
    session = session_draft(
        reader.key(short_text_at(about, "session_id", "id"), [action.source for action in actions]),
        link_results(actions),
        name=text_at(about, "name", "title"),
        agent=_agent(about),
        metadata={
            name: value for name, value in about.items() if isinstance(value, str | int | float | bool)
        },
    )
    return reader.parsed([session])


def _plain(name: str) -> str:
    """Return the name without its folder."""
    return name.rpartition("/")[2]


def _events(data: bytes, reader: Reader, ids: Ids) -> list[ActionDraft]:
    actions = []
    for line in lines_of(data):
        if isinstance(line, Line):
            reader.use()
            actions.append(_event(line.record, ids.claim(f"line-{line.digest[:16]}")))
        else:
            reader.skip(line.reason, line=line.line)
    return actions


def _event(record: JsonObject, name: str) -> ActionDraft:
    kind = short_text_at(record, "event_type", "type", "event", "name") or "unknown"
    about = record_at(record, "data") or record_at(record, "payload")
    layer = text_at(record, "layer")
    error_message = text_at(about, "error")
    error_type = error_message and "tool_error"
    if "error_type" in about:  # in our exports
        error_type = short_text_at(about, "error_type")
    base = ActionDraft(
        kind="event",
        id=name,
        layer=layer if layer in LAYERS else "sys",
        role=_role(record, "agent" if layer == "agent" else "system"),
        agent=_agent(record),
        name=kind,
        started_at=_time(record),
        duration_ms=milliseconds(record.get("duration_ms", about.get("duration_ms"))),
        error_type=error_type,
        error_message=error_message,
        copied_from=copied_from_in(record.get("copied_from")),
        source=record,
    )
    if kind == "message":
        role = _role(record, _SPEAKERS.get(text_at(about, "role") or "", "agent"))
        content = about.get("content")
        return replace(
            base,
            kind="message",
            role=role,
            name=None,
            output=text_of_content(content) or content or about or None,
        )
    if kind in {"tool.call", "tool.result"}:
        return _tool(base, about, record)
    if kind == "snapshot.created":
        return replace(
            base,
            kind="checkpoint",
            name=short_text_at(about, "name", "description") or kind,
            output=about or None,
        )
    return replace(base, output=about or None)


def _tool(base: ActionDraft, about: JsonObject, record: JsonObject) -> ActionDraft:
    shared = replace(
        base,
        name=None,
        role=_role(record, "agent" if base.name == "tool.call" else "tool"),
        layer="tool",
        tool=short_text_at(about, "tool", "tool_name", "name"),
        call_id=short_text_at(about, "tool_use_id", "call_id", "id"),
    )
    if base.name == "tool.call":
        return replace(
            shared, kind="tool_call", input=first_at(about, "input", "args", "arguments", "parameters")
        )
    given = first_at(about, "result", "output", "content")
    result = replace(shared, kind="tool_result", output=given)
    if about.get("status") != "error" or result.error_type or result.error_message:
        return result
    return replace(result, error_type="tool_error", error_message=text_of_content(given))


def _role(record: JsonObject, otherwise: str) -> str | None:
    """Return the role. Our exports record it, also if it is null."""
    role = record.get("role", otherwise)
    return role if role is None or role in ROLES else otherwise


def _agent(record: JsonObject) -> str | None:
    return short_text_at(record, "agent") if "agent" in record else NAME


def _snapshots(found: Any, reader: Reader, ids: Ids) -> list[ActionDraft]:
    actions = []
    for record in found if isinstance(found, list) else [found]:
        if not reader.takes(record, "a snapshot"):
            continue
        actions.append(
            ActionDraft(
                kind="checkpoint",
                id=ids.claim(id_with_digest("snapshot", record)),
                layer="agent",
                role=_role(record, "agent"),
                agent=_agent(record),
                error_type=short_text_at(record, "error_type"),
                error_message=text_at(record, "error") if "error_type" in record else None,
                name=short_text_at(record, "description", "name", "id", "snapshot_id"),
                started_at=_time(record),
                model=model_name(short_text_at(record, "model")),
                output=record.get("state", record.get("agent")),
                copied_from=copied_from_in(record.get("copied_from")),
                source=record,
            )
        )
    return actions


def _time(record: JsonObject) -> datetime | None:
    written = first_at(record, "timestamp", "ts", "time", "created_at")
    return moment(written, offset_missing=True) or moment_after_1970(written)

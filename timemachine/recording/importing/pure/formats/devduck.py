"""Recordings of devduck: a ZIP of `events.jsonl`, `snapshots.json` and `metadata.json`. `session.pkl` is never opened.

The report counts the lines of `events.jsonl`, the snapshots, and the metadata, which becomes a final `event`.
"""

from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.zip_files import Archive
from timemachine.recording.importing.pure.document import document_of
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    id_with_digest,
    link_results,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import (
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
from timemachine.recording.sessions.pure.vocabulary import LAYERS, ROLES

NAME: Final = "devduck"
TITLE: Final = "a devduck recording (a .zip with events.jsonl)"
_EVENTS: Final = "events.jsonl"
_PICKLED: Final = "session.pkl was not opened: it is a Python pickle, which can run code when it is loaded."
_SPEAKERS: Final = {"user": "user", "system": "system"}


def recognises(opening: Opening) -> bool:
    """Return whether it is an archive with `events.jsonl`."""
    return any(_plain(name) == _EVENTS for name in opening.members)


def read(data: Contents) -> ParsedFile:
    """Return the session of the archive. Raises `InvalidInput` if it has no events or must not be opened."""
    archive = Archive(data)
    names = {_plain(name): name for name in archive.names}
    if _EVENTS not in names:
        raise unreadable_file(TITLE, f"it has no {_EVENTS}.")
    ledger, ids = Ledger(), Ids()
    if "session.pkl" in names:
        ledger.notes.append(_PICKLED)
    actions = _events(archive.read(names[_EVENTS]), ledger, ids)
    if "snapshots.json" in names:
        actions += _snapshots(document_of(archive.read(names["snapshots.json"]), TITLE), ledger, ids)
    about: Any = {}
    if "metadata.json" in names:
        about = document_of(archive.read(names["metadata.json"]), TITLE)
        ledger.use()
        actions.append(
            ActionDraft(
                kind="event", id=ids.claim(id_with_digest("metadata", about)), layer="sys", role="system", name="metadata",
                output=about, source={"metadata": about},
            )
        )  # fmt: skip
    if not actions:
        raise unreadable_file(TITLE, "no line of its events can be read.")
    session = session_draft(
        Keys(NAME).of(short_text_at(about, "session_id", "id"), [action.source for action in actions]),
        link_results(actions),
        name=text_at(about, "name", "title"),
        agent=short_text_at(about, "agent") if "agent" in record_at({"about": about}, "about") else NAME,
        metadata={
            name: value
            for name, value in record_at({"about": about}, "about").items()
            if isinstance(value, str | int | float | bool)
        },
    )
    return ledger.account([session])


def _plain(name: str) -> str:
    """Return the name without its folder."""
    return name.rpartition("/")[2]


def _events(data: bytes, ledger: Ledger, ids: Ids) -> list[ActionDraft]:
    actions = []
    for line in lines_of(data):
        if isinstance(line, Line):
            ledger.use()
            actions.append(_event(line.record, ids.claim(f"line-{line.digest[:16]}")))
        else:
            ledger.skip(line.reason)
    return actions


def _event(record: dict[str, Any], name: str) -> ActionDraft:
    kind = short_text_at(record, "event_type", "type", "event", "name") or "unknown"
    about = record_at(record, "data") or record_at(record, "payload")
    layer = text_at(record, "layer")
    base = ActionDraft(
        kind="event",
        id=name,
        layer=layer if layer in LAYERS else "sys",
        role=_role(record, "agent" if layer == "agent" else "system"),
        agent=_agent(record),
        name=kind,
        started_at=_time(record),
        duration_ms=milliseconds(record.get("duration_ms", about.get("duration_ms"))),
        source=record,
    )
    base = _with_error(base, about)
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


def _tool(base: ActionDraft, about: dict[str, Any], record: dict[str, Any]) -> ActionDraft:
    shared = replace(
        base,
        name=None,
        role=_role(record, "agent" if base.name == "tool.call" else "tool"),
        layer="tool",
        tool=short_text_at(about, "tool", "tool_name", "name"),
        call_id=short_text_at(about, "tool_use_id", "call_id", "id"),
    )
    if base.name == "tool.call":
        given = next(
            (about[name] for name in ("input", "args", "arguments", "parameters") if name in about), None
        )
        return replace(shared, kind="tool_call", input=given)
    given = next((about[name] for name in ("result", "output", "content") if name in about), None)
    result = replace(shared, kind="tool_result", output=given)
    if about.get("status") != "error" or result.error_type or result.error_message:
        return result
    return replace(result, error_type="tool_error", error_message=text_of_content(given))


def _with_error(action: ActionDraft, about: dict[str, Any]) -> ActionDraft:
    """Return the action with its error. Our exports name the type; other recordings have only a message, and get "tool_error"."""
    message = text_at(about, "error")
    kind = short_text_at(about, "error_type") if "error_type" in about else message and "tool_error"
    return replace(action, error_type=kind, error_message=message)


def _role(record: dict[str, Any], otherwise: str) -> str | None:
    """Return the role. Our exports record it, also that there is none."""
    role = record.get("role", otherwise)
    return role if role is None or role in ROLES else otherwise


def _agent(record: dict[str, Any]) -> str | None:
    return short_text_at(record, "agent") if "agent" in record else NAME


def _snapshots(found: Any, ledger: Ledger, ids: Ids) -> list[ActionDraft]:
    actions = []
    for record in found if isinstance(found, list) else [found]:
        if not isinstance(record, dict):
            ledger.skip("It is not a snapshot, because it is not an object.")
            continue
        ledger.use()
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
                source=record,
            )
        )
    return actions


def _time(record: dict[str, Any]) -> Any:
    written = next(
        (record[name] for name in ("timestamp", "ts", "time", "created_at") if name in record), None
    )
    return moment(written, offset_missing=True) or moment_after_1970(written)

"""Recordings of devduck: a ZIP of `events.jsonl`, `snapshots.json` and `metadata.json`. `session.pkl` is never opened. Pure.

A record of the report is a line of `events.jsonl`, a snapshot, or the metadata, which becomes an `event` at the end.
"""

from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.zip_files import Archive
from timemachine.recording.importing.pure.document import document_of
from timemachine.recording.importing.pure.jsonl import Line, lines_of
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Imported, Ledger
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    hopeless,
    linked,
    marked,
    session_of,
)
from timemachine.recording.importing.pure.values import (
    milliseconds,
    moment,
    moment_after_1970,
    named,
    record_at,
    said,
    text_at,
    word_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import LAYERS, ROLES

NAME: Final = "devduck"
TITLE: Final = "a devduck recording (a .zip with events.jsonl)"
_EVENTS: Final = "events.jsonl"
_PICKLED: Final = "session.pkl is a Python pickle, which can run code when it is opened; it was not opened."
_SPEAKERS: Final = {"user": "user", "system": "system"}


def recognises(opening: Opening) -> bool:
    """Whether it is an archive with events."""
    return any(_plain(name) == _EVENTS for name in opening.members)


def read(data: Contents) -> Imported:
    """The session of the archive. Raises `InvalidInput` where it has no events, or is not to be opened."""
    archive = Archive(data)
    names = {_plain(name): name for name in archive.names}
    if _EVENTS not in names:
        raise hopeless(TITLE, f"there is no {_EVENTS} in it.")
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
                kind="event", id=ids.claim(marked("metadata", about)), layer="sys", role="system", name="metadata",
                output=about, source={"metadata": about},
            )
        )  # fmt: skip
    if not actions:
        raise hopeless(TITLE, "no line of its events can be read.")
    session = session_of(
        Keys(NAME).of(word_at(about, "session_id", "id"), [action.source for action in actions]),
        linked(actions),
        name=text_at(about, "name", "title"),
        agent=word_at(about, "agent") if "agent" in record_at({"about": about}, "about") else NAME,
        metadata={
            name: value
            for name, value in record_at({"about": about}, "about").items()
            if isinstance(value, str | int | float | bool)
        },
    )
    return ledger.account([session])


def _plain(name: str) -> str:
    """The name without the folder that everything may lie in."""
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
    kind = word_at(record, "event_type", "type", "event", "name") or "unknown"
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
            base, kind="message", role=role, name=None, output=said(content) or content or about or None
        )
    if kind in {"tool.call", "tool.result"}:
        return _tool(base, about, record)
    if kind == "snapshot.created":
        return replace(
            base, kind="checkpoint", name=word_at(about, "name", "description") or kind, output=about or None
        )
    return replace(base, output=about or None)


def _tool(base: ActionDraft, about: dict[str, Any], record: dict[str, Any]) -> ActionDraft:
    shared = replace(
        base,
        name=None,
        role=_role(record, "agent" if base.name == "tool.call" else "tool"),
        layer="tool",
        tool=word_at(about, "tool", "tool_name", "name"),
        call_id=word_at(about, "tool_use_id", "call_id", "id"),
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
    return replace(result, error_type="tool_error", error_message=said(given))


def _with_error(action: ActionDraft, about: dict[str, Any]) -> ActionDraft:
    """The action with its error: its type is told in an export of ours, and is "tool_error" in a recording that has a message alone."""
    message = text_at(about, "error")
    kind = word_at(about, "error_type") if "error_type" in about else message and "tool_error"
    return replace(action, error_type=kind, error_message=message)


def _role(record: dict[str, Any], otherwise: str) -> str | None:
    """Whose it is: an export of ours says so, also that nobody was recorded."""
    told = record.get("role", otherwise)
    return told if told is None or told in ROLES else otherwise


def _agent(record: dict[str, Any]) -> str | None:
    return word_at(record, "agent") if "agent" in record else NAME


def _snapshots(found: Any, ledger: Ledger, ids: Ids) -> list[ActionDraft]:
    actions = []
    for record in found if isinstance(found, list) else [found]:
        if not isinstance(record, dict):
            ledger.skip("It is no snapshot: no object.")
            continue
        ledger.use()
        actions.append(
            ActionDraft(
                kind="checkpoint",
                id=ids.claim(marked("snapshot", record)),
                layer="agent",
                role=_role(record, "agent"),
                agent=_agent(record),
                error_type=word_at(record, "error_type"),
                error_message=text_at(record, "error") if "error_type" in record else None,
                name=word_at(record, "description", "name", "id", "snapshot_id"),
                started_at=_time(record),
                model=named(word_at(record, "model")),
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

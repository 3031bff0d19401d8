"""Rollouts of Codex before September 2025: items without the envelope `{timestamp, type, payload}`.

Two forms: JSON lines whose first one is the session (`id`, `timestamp`, `instructions`, `git`), as the first versions
in Rust wrote them, with lines `{record_type: "state"}` in between; and the document `{session, items}` of the versions
in TypeScript (codex-cli/src/utils/storage/save-rollout.ts). Items have no times, and no model or tokens are recorded.
The report counts lines, or the session and the items of a document.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import Ids, link_results, session_draft
from timemachine.recording.importing.pure.formats.codex.actions import Rollout, actions_of
from timemachine.recording.importing.pure.reader import Opening, Reader, opening_of
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import list_at, moment, record_at, short_text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "codex_older"
TITLE: Final = "Codex rollout from before September 2025 (.jsonl or .json file from ~/.codex/sessions)"
_ITEMS: Final = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
    "custom_tool_call_output", "web_search_call",
})  # fmt: skip
_PARTS: Final = frozenset({"input_text", "output_text", "input_image"})


def recognises(opening: Opening) -> bool:
    """Return whether it is a document of items, or one of the first lines is a state or an item of a model's answer."""
    return _is_document(opening.fields) or any(map(_is_typical, opening.lines))


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if it has no items."""
    records = list(_records(reader))
    lines = [_enveloped(place, each) for place, each in enumerate(records, start=1)]
    actions = [_with_own_source(each) for each in link_results(actions_of(lines, Rollout(), Ids()))]
    head = next(filter(_is_head, records), {})
    session = session_draft(
        reader.key(short_text_at(head, "id"), records[0]),
        actions,
        agent="codex",
        started_at=moment(head.get("timestamp")),
        metadata={"git": record_at(head, "git") or None},
    )
    return reader.parsed([session])


def _records(reader: Reader) -> Iterator[JsonObject]:
    if _is_document(opening_of(reader.data).fields):
        found = reader.json_object()
        for record in (found.get("session"), *list_at(found, "items")):
            if reader.takes(record, "an item"):
                yield record
        return
    for line in reader.lines(_is_usable, "It is not a Codex session, state or item."):
        yield line.record


def _is_document(found: JsonObject) -> bool:
    about = record_at(found, "session")
    return "id" in about and "timestamp" in about and isinstance(found.get("items"), list)


def _is_head(record: JsonObject) -> bool:
    return "type" not in record and "payload" not in record and {"id", "timestamp"} <= record.keys()


def _is_usable(record: JsonObject) -> bool:
    return "record_type" in record or _is_item(record) or _is_head(record)


def _is_item(record: JsonObject) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in _ITEMS and "payload" not in record


def _is_typical(record: JsonObject) -> bool:
    """Return whether a line is from Codex and from no other tool that writes `type` and `message`."""
    if record.get("record_type") == "state" or (_is_head(record) and "instructions" in record):
        return True
    parts = [each.get("type") for each in list_at(record, "content") if isinstance(each, dict)]
    spoken = record.get("type") == "message" and "role" in record and not _PARTS.isdisjoint(_texts(parts))
    return spoken or (record.get("type") in ("function_call", "function_call_output") and "call_id" in record)


def _texts(values: list[Any]) -> list[str]:
    return [each for each in values if isinstance(each, str)]


def _enveloped(number: int, record: JsonObject) -> Line:
    """Return the line as newer versions write it, so that it is read as they are."""
    kind = "session_meta" if _is_head(record) else "response_item" if _is_item(record) else "event_msg"
    return Line(
        number=number,
        record={"type": kind, "payload": record},
        digest=sha256_hex(canonical_json(record)),
    )


def _with_own_source(action: ActionDraft) -> ActionDraft:
    source = action.source
    if source is None:
        return action
    name = "state" if source["type"] == "event_msg" else action.name
    return replace(action, source=source["payload"], name=name)

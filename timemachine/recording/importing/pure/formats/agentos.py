"""Replay entries of AgentOS: `{sessionId, agentId, action, data, durationMs, timestamp, iteration, sequence}`.

JSON lines, a list, or an object with `entries`. The report counts entries.
"""

from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    in_sequence,
    link_results,
    session_draft,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    first_at,
    milliseconds,
    model_name,
    moment_after_1970,
    record_at,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "agentos"
TITLE: Final = "AgentOS replay entries (JSON list or .jsonl)"
_ACTIONS: Final = {"llm_call", "tool_call", "tool_result", "memory_op"}


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is an entry."""
    return any(
        {"sessionId", "agentId", "action"} <= each.keys() for each in opening.records_inside("entries")
    )


def read(reader: Reader) -> ParsedFile:
    """Return one session per session id. Raises `InvalidInput` if there are no entries."""
    groups = reader.groups(
        lambda entry: short_text_at(entry, "sessionId") or "",
        usable=lambda record: isinstance(record.get("action"), str),
        otherwise="It has no `action`, so it is not an entry.",
        inside="entries",
    )
    if not groups:
        raise reader.refusal("no record in it has an `action`.")
    return reader.parsed(_session(reader.key(key, entries), entries) for key, entries in groups.items())


def _session(key: str, entries: list[JsonObject]) -> SessionDraft:
    ids = Ids()
    ordered = in_sequence(entries, lambda entry: count_at(entry, "sequence"))
    return session_draft(
        key,
        link_results(_action(entry, ids) for entry in ordered),
        agent=short_text_at(entries[0], "agentId"),
    )


def _action(entry: JsonObject, ids: Ids) -> ActionDraft:
    kind = entry["action"]
    about = record_at(entry, "data")
    failure = about.get("error")
    base = ActionDraft(
        kind=kind if kind in _ACTIONS else "event",
        id=ids.claim(id_with_digest(f"entry-{count_at(entry, 'sequence')}", entry)),
        layer="agent",
        role="agent",
        agent=short_text_at(entry, "agentId"),
        name=None if kind in _ACTIONS else kind[:80],
        iteration=count_at(entry, "iteration"),
        started_at=moment_after_1970(entry.get("timestamp"), seconds_each=0.001),
        duration_ms=milliseconds(entry.get("durationMs")),
        error_type="error" if failure else None,
        error_message=failure if isinstance(failure, str) and failure else text_at(failure, "message"),
        source=entry,
    )
    if kind == "llm_call":
        return _call(base, about)
    if kind in {"tool_call", "tool_result"}:
        return _tool(base, about)
    return replace(base, output=entry.get("data"))


def _call(base: ActionDraft, about: JsonObject) -> ActionDraft:
    return replace(
        base,
        model=model_name(short_text_at(about, "model"), short_text_at(about, "provider")),
        usage=usage_of(
            record_at(about, "usage") or about,
            read=["inputTokens", "promptTokens", "input_tokens", "prompt_tokens"],
            written=["outputTokens", "completionTokens", "output_tokens", "completion_tokens"],
            total=["totalTokens", "total_tokens"],
        ),
        cost_usd=dollars(first_at(about, "costUsd", "cost", "cost_usd")),
        input=first_at(about, "messages", "prompt", "input"),
        output=first_at(about, "content", "response", "output"),
    )


def _tool(base: ActionDraft, about: JsonObject) -> ActionDraft:
    shared = replace(
        base,
        layer="tool",
        tool=short_text_at(about, "toolId", "tool", "name"),
        call_id=short_text_at(about, "callId", "toolCallId", "id"),
    )
    if base.kind == "tool_call":
        return replace(shared, input=first_at(about, "args", "arguments", "input"))
    return replace(shared, role="tool", output=first_at(about, "result", "output", "content"))

"""Replay entries of AgentOS: `{sessionId, agentId, action, data, durationMs, timestamp, iteration, sequence}`.

JSON lines, a list, or an object with `entries`. The report counts entries.
"""

from dataclasses import replace
from typing import Any, Final

from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    id_with_digest,
    link_results,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
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
TITLE: Final = "AgentOS replay entries (a JSON list, or .jsonl)"
_ACTIONS: Final = {
    "llm_call": "llm_call",
    "tool_call": "tool_call",
    "tool_result": "tool_result",
    "memory_op": "memory_op",
}


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is an entry."""
    entries = [each for each in list_at(opening.fields, "entries") if isinstance(each, dict)]
    return any(
        {"sessionId", "agentId", "action"} <= each.keys()
        for each in (*opening.records, *opening.lines, *entries)
    )


def read(data: Contents) -> ParsedFile:
    """Return one session per session id. Raises `InvalidInput` if there are no entries."""
    ledger = Ledger()
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in records_of(data, TITLE, inside="entries"):
        if isinstance(line, Line) and isinstance(line.record.get("action"), str):
            ledger.use()
            groups.setdefault(short_text_at(line.record, "sessionId") or "", []).append(line.record)
        else:
            ledger.skip(
                line.reason if isinstance(line, Skipped) else "It has no `action`, so it is not an entry."
            )
    if not groups:
        raise unreadable_file(TITLE, "no record in it has an `action`.")
    keys = Keys(NAME)
    return ledger.account(_session(keys.of(key or None, found), found) for key, found in groups.items())


def _session(key: str, entries: list[dict[str, Any]]) -> SessionDraft:
    """Entries are sorted by their numbers; an entry without a number keeps its place."""
    ids = Ids()
    numbered = iter(
        sorted((each for each in entries if _number(each) is not None), key=lambda each: _number(each) or 0)
    )
    ordered = [each if _number(each) is None else next(numbered) for each in entries]
    return session_draft(
        key,
        link_results(_action(entry, ids) for entry in ordered),
        agent=short_text_at(entries[0], "agentId"),
    )


def _number(entry: dict[str, Any]) -> int | None:
    return count_at(entry, "sequence")


def _action(entry: dict[str, Any], ids: Ids) -> ActionDraft:
    data = entry.get("data")
    about = record_at(entry, "data")
    failure = about.get("error")
    base = ActionDraft(
        kind=_ACTIONS.get(entry["action"], "event"),
        id=ids.claim(id_with_digest(f"entry-{_number(entry)}", entry)),
        layer="agent",
        role="agent",
        agent=short_text_at(entry, "agentId"),
        name=None if entry["action"] in _ACTIONS else entry["action"][:80],
        iteration=count_at(entry, "iteration"),
        started_at=moment_after_1970(entry.get("timestamp"), seconds_each=0.001),
        duration_ms=milliseconds(entry.get("durationMs")),
        error_type="error" if failure else None,
        error_message=failure if isinstance(failure, str) and failure else text_at(failure, "message"),
        source=entry,
    )
    if base.kind == "llm_call":
        return _call(base, about)
    if base.kind in {"tool_call", "tool_result"}:
        return _tool(base, about)
    return replace(base, output=data)


def _call(base: ActionDraft, about: dict[str, Any]) -> ActionDraft:
    usage = record_at(about, "usage") or about
    return replace(
        base,
        model=model_name(short_text_at(about, "model"), short_text_at(about, "provider")),
        usage=usage_of(
            usage,
            read=["inputTokens", "promptTokens", "input_tokens", "prompt_tokens"],
            written=["outputTokens", "completionTokens", "output_tokens", "completion_tokens"],
            total=["totalTokens", "total_tokens"],
        ),
        cost_usd=dollars(
            next((about[name] for name in ("costUsd", "cost", "cost_usd") if name in about), None)
        ),
        input=next((about[name] for name in ("messages", "prompt", "input") if name in about), None),
        output=next((about[name] for name in ("content", "response", "output") if name in about), None),
    )


def _tool(base: ActionDraft, about: dict[str, Any]) -> ActionDraft:
    shared = replace(
        base,
        layer="tool",
        tool=short_text_at(about, "toolId", "tool", "name"),
        call_id=short_text_at(about, "callId", "toolCallId", "id"),
    )
    if base.kind == "tool_call":
        return replace(
            shared,
            input=next((about[name] for name in ("args", "arguments", "input") if name in about), None),
        )
    return replace(
        shared,
        role="tool",
        output=next((about[name] for name in ("result", "output", "content") if name in about), None),
    )

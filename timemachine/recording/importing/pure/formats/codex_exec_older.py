"""Output of `codex exec --json` before October 2025: the settings, the prompt, and events `{id, msg: {type, …}}`.

Each record is read as the line of a rollout that says the same (`codex`), and is the source of its step. Times are not in this
output. The report counts lines. Source: codex-rs/protocol/src/protocol.rs (`EventMsg`) of openai/codex in 2025.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import Ids, link_results, session_draft
from timemachine.recording.importing.pure.formats.codex.actions import Rollout, actions_of, contexts_of
from timemachine.recording.importing.pure.formats.codex.tokens import usages_of
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import first_at, number, record_at, short_text_at, text_at

NAME: Final = "codex_exec_older"
TITLE: Final = "Output of codex exec --json before October 2025 (.jsonl)"
_EVENTS: Final = frozenset({
    "task_started", "task_complete", "agent_message", "agent_reasoning", "exec_command_begin", "token_count",
    "session_configured",
})  # fmt: skip
_SETTINGS: Final = frozenset({"workdir", "model", "sandbox"})
_SPOKEN: Final = {"agent_reasoning": "summary", "agent_reasoning_raw_content": "content"}
_BEGINS: Final = {
    "exec_command_begin": ("exec_command", ("command", "cwd")),
    "patch_apply_begin": ("apply_patch", ("changes",)),
    "mcp_tool_call_begin": (None, ("invocation",)),
    "web_search_begin": ("web_search", ("query",)),
}
_ENDS: Final = frozenset({"exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end"})


def recognises(opening: Opening) -> bool:
    """Return whether one of the first lines is an event."""
    return any(_kind(each) in _EVENTS for each in opening.lines)


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if no line can be used."""
    records = [line.record for line in reader.lines(_is_usable, "It is not an event, settings or a prompt.")]
    lines = [_as_rollout(place, each) for place, each in enumerate(records, start=1)]
    settings = next(filter(_is_settings, records), {})
    rollout = Rollout(
        usages=usages_of(lines, []), contexts=contexts_of(lines), provider=text_at(settings, "provider")
    )
    actions = link_results(actions_of(lines, rollout, Ids()))
    begun = next((record_at(each, "msg") for each in records if _kind(each) == "session_configured"), {})
    session = session_draft(
        reader.key(None, records),
        [replace(each, source=_source(each.source)) for each in actions],
        agent="codex",
        metadata={
            "cwd": text_at(settings, "workdir"),
            "session_id": short_text_at(begun, "session_id"),
        },
    )
    return reader.parsed([session])


def _kind(record: JsonObject) -> str:
    return text_at(record_at(record, "msg"), "type") or ""


def _is_settings(record: JsonObject) -> bool:
    return record.keys() >= _SETTINGS and "msg" not in record


def _is_prompt(record: JsonObject) -> bool:
    return record.keys() == {"prompt"} and isinstance(record["prompt"], str)


def _is_usable(record: JsonObject) -> bool:
    return bool(_kind(record)) or _is_settings(record) or _is_prompt(record)


def _as_rollout(place: int, record: JsonObject) -> Line:
    kind, payload = _statement(record)
    digest = sha256_hex(canonical_json(record))
    return Line(number=place, record={"type": kind, "payload": payload, "written": record}, digest=digest)


def _statement(record: JsonObject) -> tuple[str, JsonObject]:
    """Return the type and the payload of the line of a rollout that says the same."""
    if _is_settings(record):
        named = {"effort": "reasoning effort", "approval_policy": "approval", "sandbox_policy": "sandbox"}
        return "turn_context", {name: record.get(word) for name, word in {"model": "model", **named}.items()}
    item = _item(record)
    if item is not None:
        return "response_item", item
    event = record_at(record, "msg")
    if _kind(record) == "token_count":
        return "event_msg", {**event, "info": event.get("info", {"last_token_usage": event})}
    return ("turn_context" if _kind(record) == "session_configured" else "event_msg"), event


def _item(record: JsonObject) -> JsonObject | None:
    """Return the item of a conversation that a record stands for, or None."""
    event, kind = record_at(record, "msg"), _kind(record)
    if _is_prompt(record):
        return _message("user", "input_text", record["prompt"])
    if kind == "agent_message":
        return _message("assistant", "output_text", event.get("message"))
    if kind in _SPOKEN:
        return {"type": "reasoning", _SPOKEN[kind]: [{"text": event.get("text")}]}
    if kind in _BEGINS:
        return _call(event, *_BEGINS[kind])
    return _result(event) if kind in _ENDS else None


def _message(role: str, kind: str, text: Any) -> JsonObject:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _call(event: JsonObject, tool: str | None, given: tuple[str, ...]) -> JsonObject:
    invocation = record_at(event, "invocation")
    arguments: Any = {name: event[name] for name in given if name in event}
    if invocation:
        tool, arguments = short_text_at(invocation, "tool"), invocation.get("arguments")
    return {"type": "function_call", "name": tool, "call_id": event.get("call_id"), "arguments": arguments}


def _result(event: JsonObject) -> JsonObject:
    """Return the result of a call, with exit code and duration as rollouts of that time had them."""
    streams = [text for name in ("stdout", "stderr") if (text := text_at(event, name))]
    answer = event.get("result")
    text = (
        first_at(event, "aggregated_output", "query")
        if answer is None
        else first_at(record_at(answer), "Ok", "Err")
    )
    output: JsonObject = {"output": "\n".join(streams) if text is None else text}
    took = record_at(event, "duration")
    seconds, nanos = number(took.get("secs")), number(took.get("nanos"))
    metadata = {
        "exit_code": event.get("exit_code"),
        "duration_seconds": None if seconds is None else seconds + (nanos or 0) / 1e9,
    }
    if event.get("success") is False or "Err" in record_at(answer):
        output["success"] = False
    known = {name: value for name, value in metadata.items() if value is not None}
    output |= {"metadata": known} if known else {}
    return {"type": "function_call_output", "call_id": event.get("call_id"), "output": output}


def _source(source: Any) -> Any:
    """Return the records that the lines of a source were made of."""
    if isinstance(source, list):
        return [each["written"] for each in source]
    return source["written"] if isinstance(source, Mapping) else source

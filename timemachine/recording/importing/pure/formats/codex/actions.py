"""What the lines of a Codex rollout become. Pure.

    response_item         of the model: a child of its `llm_call` for each; of others: a `message`, or a `tool_result`
    turn_context          a part of the `llm_call` after it: the model and its parameters
    event_msg             a part of the item that it repeats; a `token_count` is the usage of its call; any other is an `event`
    session_meta, compacted, and what no call took    an `event` named by its type

A call of the model is a run of items that the model wrote, until something else was put before it. Codex has written its tokens
before those items (0.40) and after them. `source` holds the line; where an action has several, the list of them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.session_builder import Ids, linked
from timemachine.recording.importing.pure.values import (
    count_at,
    milliseconds,
    moment,
    number,
    parsed,
    record_at,
    said,
    text_at,
    usage_of,
    word_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "mcp_tool_call"}
_RESULTS = {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output"}
_PARAMETERS = ("effort", "summary", "approval_policy", "sandbox_policy")
_OPENAI = re.compile(r"(gpt-(?!oss)|o\d|codex-|chatgpt-)")
_NOBODY_WROTE = re.compile(
    r"\s*(<(environment_context|user_instructions|INSTRUCTIONS)>|# AGENTS\.md instructions)"
)
_EXIT = re.compile(r"Exit code: (\d+)\nWall time: ([\d.]+) seconds?\n")


@dataclass(slots=True, kw_only=True)
class _Call:
    """A call of the model in the making: its lines of context and tokens, and the items that the model wrote."""

    context: list[Line] = field(default_factory=list)
    tokens: list[Line] = field(default_factory=list)
    items: list[Line] = field(default_factory=list)


def actions_of(lines: Sequence[Line], repeats: dict[int, int], *, provider: str | None) -> list[ActionDraft]:
    """The actions of the lines, in their order; a call stands where its first item stands."""
    told: dict[int, list[Line]] = {}
    for line in lines:
        if line.number in repeats:
            told.setdefault(repeats[line.number], []).append(line)
    calls = _calls(lines, repeats)
    taken = {line.number for call in calls for line in (*call.context, *call.tokens)}
    first = {call.items[0].number: call for call in calls}
    call_of = {line.number: call for call in calls for line in call.items}
    models = _models(lines)
    ids = Ids()
    names: dict[int, str] = {}
    made: list[ActionDraft] = []
    for line in lines:
        if line.number in repeats or line.number in taken:
            continue
        if (begun := first.get(line.number)) is not None:
            names[id(begun)] = ids.claim(f"call-{line.digest[:16]}")
            context = begun.context[-1].record["payload"] if begun.context else models[line.number]
            made.append(_call_action(begun, names[id(begun)], context, provider))
        call = call_of.get(line.number)
        action = _action(line, ids.claim(f"line-{line.digest[:16]}"))
        sources = [line.record, *(each.record for each in told.get(line.number, []))]
        made.append(
            replace(
                action,
                parent=None if call is None else names[id(call)],
                source=sources[0] if len(sources) == 1 else sources,
            )
        )
    return linked(made)


def _calls(lines: Sequence[Line], repeats: dict[int, int]) -> list[_Call]:
    """The calls, each with the lines before its items that tell its context, and the one that tells its tokens."""
    calls: list[_Call] = []
    waiting = _Call()
    open_one = False
    for line in lines:
        kind, payload = line.record["type"], line.record["payload"]
        if kind == "response_item" and _by_model(payload):
            if not open_one:
                calls.append(waiting)
                waiting, open_one = _Call(), True
            calls[-1].items.append(line)
        elif kind == "turn_context":
            waiting.context.append(line)
            open_one = False
        elif _is_usage(line.record):
            last = calls[-1] if calls and not calls[-1].tokens and not waiting.context else waiting
            last.tokens = [*last.tokens, line]
        elif line.number not in repeats and kind != "event_msg":
            open_one = False
    return calls


def _by_model(payload: dict[str, Any]) -> bool:
    kind = text_at(payload, "type")
    return kind == "reasoning" or kind in _CALLS or (kind == "message" and payload.get("role") == "assistant")


def _is_usage(record: dict[str, Any]) -> bool:
    payload = record["payload"]
    told = record["type"] == "event_msg" and payload.get("type") == "token_count"
    return told and bool(record_at(payload, "info", "last_token_usage"))


def _models(lines: Iterable[Line]) -> dict[int, dict[str, Any]]:
    """For each line the context of the turn that it belongs to."""
    context: dict[str, Any] = {}
    found = {}
    for line in lines:
        if line.record["type"] == "turn_context":
            context = line.record["payload"]
        found[line.number] = context
    return found


def _call_action(call: _Call, name: str, context: dict[str, Any], provider: str | None) -> ActionDraft:
    parameters = {word: context[word] for word in _PARAMETERS if context.get(word) is not None}
    held = sorted((*call.context, *call.tokens), key=lambda line: line.number)
    return ActionDraft(
        kind="llm_call",
        id=name,
        layer="agent",
        role="agent",
        agent="codex",
        started_at=moment(call.items[0].record.get("timestamp")),
        model=_model(word_at(context, "model"), provider),
        parameters=parameters or None,
        usage=_usage(call.tokens),
        output={"content": [line.record["payload"] for line in call.items]},
        source=[line.record for line in held] or None,
    )


def _model(named: str | None, provider: str | None) -> str | None:
    """With its provider where the rollout says it, or where only OpenAI has models of such a name."""
    if named is None or (provider is None and not _OPENAI.match(named)):
        return named
    return f"{provider or 'openai'}:{named}"


def _usage(lines: Sequence[Line]) -> Usage | None:
    """The tokens of the last line: Codex may tell those of one call more than once."""
    return usage_of(
        record_at(lines[-1].record, "payload", "info", "last_token_usage") if lines else None,
        read=["input_tokens"],
        written=["output_tokens"],
        cached=["cached_input_tokens"],
        reasoning=["reasoning_output_tokens"],
    )


def _action(line: Line, name: str) -> ActionDraft:
    payload = line.record["payload"]
    kind = text_at(payload, "type") or line.record["type"]
    base = ActionDraft(
        kind="event",
        id=name,
        layer="sys",
        role="system",
        agent="codex",
        name=word_at({"kind": kind}, "kind"),
        started_at=moment(line.record.get("timestamp")),
    )
    if line.record["type"] == "response_item":
        return _item(base, kind, payload)
    if line.record["type"] == "event_msg":
        return _event(base, kind, payload)
    return replace(base, name=line.record["type"], output=payload)


def _item(base: ActionDraft, kind: str, payload: dict[str, Any]) -> ActionDraft:
    if kind == "message":
        return _message(base, payload)
    if kind == "reasoning":
        return _thought(base, _summary(payload) or payload)
    if kind in _CALLS:
        given = next((payload[name] for name in ("arguments", "input", "action") if name in payload), None)
        return replace(
            base,
            kind="tool_call",
            layer="tool",
            role="agent",
            name=None,
            tool=word_at(payload, "name") or kind.removesuffix("_call"),
            call_id=word_at(payload, "call_id", "id"),
            input=parsed(given),
        )
    return _result(base, payload) if kind in _RESULTS else replace(base, output=payload)


def _message(base: ActionDraft, payload: dict[str, Any]) -> ActionDraft:
    role = {"assistant": "agent", "user": "user"}.get(str(payload.get("role")), "system")
    content = payload.get("content")
    texts_only = isinstance(content, list) and all(text_at(part, "text") is not None for part in content)
    text = said(content) if texts_only or isinstance(content, str) else None
    meta = role == "user" and _NOBODY_WROTE.match(text or "") is not None
    return replace(
        base,
        kind="message",
        layer="sys" if role == "system" else "agent",
        role=role,
        name=None,
        tags=("meta",) * meta,
        output=content if text is None else text,
    )


def _thought(base: ActionDraft, output: Any) -> ActionDraft:
    return replace(
        base, kind="message", layer="agent", role="agent", name="thinking", tags=("thinking",), output=output
    )


def _summary(payload: dict[str, Any]) -> str | None:
    """The thoughts in words; None where only their encrypted form was kept."""
    return said(payload.get("summary")) or said(payload.get("content"))


def _result(base: ActionDraft, payload: dict[str, Any]) -> ActionDraft:
    output = parsed(payload.get("output"))
    code, took = _ended(output)
    refused = isinstance(output, dict) and output.get("success") is False
    failed = refused or bool(code)
    return replace(
        base,
        kind="tool_result",
        layer="tool",
        role="tool",
        name=None,
        call_id=word_at(payload, "call_id"),
        output=output,
        duration_ms=took,
        error_type=("exit_code" if code else "tool_error") if failed else None,
        error_message=(f"exit code {code}" if code else said(record_at(output).get("content")))
        if failed
        else None,
    )


def _ended(output: Any) -> tuple[int | None, float | None]:
    """The exit code of a command and how long it ran, in milliseconds, in both forms that Codex has written."""
    if isinstance(output, str) and (head := _EXIT.match(output)):
        return count_at({"code": int(head[1][:9])}, "code"), milliseconds(_seconds(head[2]), of_one=1000)
    told = record_at(output, "metadata")
    return count_at(told, "exit_code"), milliseconds(number(told.get("duration_seconds")), of_one=1000)


def _seconds(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:  # 1.2.3
        return None


def _event(base: ActionDraft, kind: str, payload: dict[str, Any]) -> ActionDraft:
    text = text_at(payload, "message", "text")
    if kind in {"user_message", "agent_message"} and text is not None:
        role = "user" if kind == "user_message" else "agent"
        return replace(base, kind="message", layer="agent", role=role, name=None, output=text)
    if kind in {"agent_reasoning", "agent_reasoning_raw_content"} and text is not None:
        return _thought(base, text)
    if kind in {"error", "stream_error"}:
        return replace(base, error_type=kind, error_message=text, output=payload)
    return replace(base, output=payload)

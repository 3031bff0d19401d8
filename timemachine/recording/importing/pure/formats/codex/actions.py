"""What the lines of a Codex rollout become.

    response_item         by the model: a child of its `llm_call`; by others: a `message` or a `tool_result`
    turn_context          part of the next `llm_call`: the model and its parameters
    event_msg             part of the item it repeats; a `token_count` is the usage of its call, if it tells one
                          (`tokens`); others are `event`s
    token_usage_record    the usage of its call
    inter_agent_communication    a `message` of the agent that wrote it
    session_meta, compacted, and what no call used    an `event` named by its type

A model call is a run of items that the model wrote, until something else came in between. Codex has written the
tokens before these items (0.40) and after them. A line with tokens of no item, such as those of a compaction, is a call of
its own. `source` holds the line, or a list if there are several.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from timemachine.core.pure.content import canonical_json, sha256_hex
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.drafts import Ids, tool_call, tool_result
from timemachine.recording.importing.pure.formats.codex.items import CALLS, RESULTS, by_model
from timemachine.recording.importing.pure.formats.codex.tokens import RECORD, calls_without_items
from timemachine.recording.importing.pure.values import (
    count_at,
    first_at,
    milliseconds,
    model_name,
    moment,
    number,
    parsed_json,
    record_at,
    short_text,
    short_text_at,
    text_at,
    text_of_content,
    text_or_parts,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import COMPACTION

_LETTERS = {"inter_agent_communication", "agent_message"}
_BETWEEN_CALLS = {"session_meta", "response_item", "compacted", "inter_agent_communication", RECORD}
_TIER = "service_tier"
_FAST = {"fast": "priority"}
"""How earlier versions name the tier that they request."""
_PARAMETERS = ("effort", "summary", "approval_policy", "sandbox_policy", _TIER)
_OPENAI = re.compile(r"(gpt-(?!oss)|o\d|codex-|chatgpt-)")
_INJECTED = re.compile(
    r"\s*(<(environment_context|user_instructions|INSTRUCTIONS)>|# AGENTS\.md instructions)"
)
_ENDS = (
    re.compile(r"Exit code: (?P<code>\d+)\nWall time: (?P<seconds>[\d.]+) seconds?\n"),
    re.compile(
        r"(?:Chunk ID: \w+\n)?Wall time: (?P<seconds>[\d.]+) seconds?\n"
        r"Process (?:exited with code (?P<code>\d+)|running with session ID \d+)\n"
    ),
)
"""How the text of a result begins, in two forms. A command that goes on has no exit code yet."""


@dataclass(slots=True, kw_only=True)
class _Call:
    """A model call being collected: its context and token lines, and the items that the model wrote."""

    context: list[Line] = field(default_factory=list)
    tokens: list[Line] = field(default_factory=list)
    items: list[Line] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """What is known of all lines of a rollout, by line number: the item that an event repeats, the tokens of a call, and
    the context of the turn.
    """

    repeats: dict[int, int] = field(default_factory=dict)
    usages: dict[int, JsonObject] = field(default_factory=dict)
    contexts: dict[int, JsonObject] = field(default_factory=dict)
    provider: str | None = None


def actions_of(lines: Sequence[Line], rollout: Rollout, ids: Ids) -> list[ActionDraft]:
    """Return the actions of consecutive lines in their order; a call is at the position of its first item."""
    repeats = rollout.repeats
    repeated: dict[int, list[Line]] = {}
    for line in lines:
        if line.number in repeats:
            repeated.setdefault(repeats[line.number], []).append(line)
    alone = calls_without_items(lines, rollout.usages)
    calls = _calls(lines, replace(rollout, usages=_without(rollout.usages, alone)))
    taken = {line.number for call in calls for line in (*call.context, *call.tokens)}
    first = {call.items[0].number: call for call in calls}
    call_of = {line.number: call for call in calls for line in call.items}
    names: dict[int, str] = {}
    made: list[ActionDraft] = []
    for line in lines:
        if line.number in repeats or line.number in taken:
            continue
        if (begun := first.get(line.number)) is not None:
            names[id(begun)] = ids.claim(f"call-{_digest(line)}")
            made.append(_call_action(begun, names[id(begun)], rollout))
        call = call_of.get(line.number)
        action = _action(line, ids.claim(f"line-{_digest(line)}"))
        sources = [line.record, *(each.record for each in repeated.get(line.number, []))]
        if line.number in alone:
            action = replace(action, kind="llm_call", layer="agent", role="agent", name=None, output=None)
            action = _spending(action, line, rollout.usages[line.number], rollout)
        made.append(
            replace(
                action,
                parent=None if call is None else names[id(call)],
                source=sources[0] if len(sources) == 1 else sources,
            )
        )
    return made


def _digest(line: Line) -> str:
    """Return 16 hex digits of the SHA-256 of a line without its time, which is another one if the line was copied."""
    return sha256_hex(canonical_json([line.record["type"], line.record["payload"]]))[:16]


def _without(usages: Mapping[int, JsonObject], lines: Collection[int]) -> dict[int, JsonObject]:
    return {number: counts for number, counts in usages.items() if number not in lines}


def _calls(lines: Sequence[Line], rollout: Rollout) -> list[_Call]:
    """Return the calls, each with the context lines before its items and the line with its tokens."""
    calls: list[_Call] = []
    waiting = _Call()
    is_open = False
    for line in lines:
        kind = line.record["type"]
        if by_model(line.record):
            if not is_open:
                calls.append(waiting)
                waiting, is_open = _Call(), True
            calls[-1].items.append(line)
        elif kind == "turn_context":
            waiting.context.append(line)
            is_open = False
        elif line.number in rollout.usages:
            last = calls[-1] if calls and not calls[-1].tokens and not waiting.context else waiting
            last.tokens = [*last.tokens, line]
            is_open = is_open and kind != RECORD
        elif kind in _BETWEEN_CALLS:
            is_open = False
    return calls


def contexts_of(lines: Iterable[Line]) -> dict[int, JsonObject]:
    """Return, by line number, the context of the turn that a line belongs to, with the service tier, which settings change. They
    also name the model if no turn does."""
    context: JsonObject = {}
    found = {}
    for line in lines:
        payload = line.record["payload"]
        if line.record["type"] == "turn_context":
            context = {_TIER: context.get(_TIER), **payload}
        elif payload.get("type") == "thread_settings_applied":
            settings = record_at(payload, "thread_settings")
            context = {"model": settings.get("model"), **context, _TIER: settings.get(_TIER)}
        found[line.number] = context
    return found


def _call_action(call: _Call, name: str, rollout: Rollout) -> ActionDraft:
    held = sorted((*call.context, *call.tokens), key=lambda line: line.number)
    action = ActionDraft(
        kind="llm_call",
        id=name,
        layer="agent",
        role="agent",
        agent="codex",
        started_at=moment(call.items[0].record.get("timestamp")),
        output={"content": [line.record["payload"] for line in call.items]},
        source=[line.record for line in held] or None,
    )
    counts = rollout.usages[call.tokens[-1].number] if call.tokens else None
    return _spending(action, call.items[0], counts, rollout)


def _spending(action: ActionDraft, line: Line, counts: JsonObject | None, rollout: Rollout) -> ActionDraft:
    """Return the call with these tokens, and with the model and the parameters that the line is under."""
    context = rollout.contexts.get(line.number, {})
    parameters = {word: context[word] for word in _PARAMETERS if context.get(word) is not None}
    if (tier := text_at(context, _TIER)) in _FAST:
        parameters[_TIER] = _FAST[tier]
    return replace(
        action,
        model=_model(short_text_at(context, "model"), rollout.provider),
        parameters=parameters or None,
        usage=_usage(counts),
    )


def _model(named: str | None, provider: str | None) -> str | None:
    """Return the model with its provider, if the rollout names one or only OpenAI has models with such names."""
    if named is None or (provider is None and not _OPENAI.match(named)):
        return named
    return model_name(named, provider or "openai")


def _usage(counts: JsonObject | None) -> Usage | None:
    return usage_of(
        counts,
        read=["input_tokens"],
        written=["output_tokens"],
        cached=["cached_input_tokens"],
        cache_write=["cache_write_input_tokens"],
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
        name=short_text(kind),
        started_at=moment(line.record.get("timestamp")),
    )
    if line.record["type"] == "response_item":
        return _item(base, kind, payload)
    if line.record["type"] == "event_msg":
        return _event(base, kind, payload)
    if line.record["type"] in _LETTERS:
        return _letter(base, payload)
    named = short_text(line.record["type"])
    return replace(base, name=named, tags=(COMPACTION,) * (named == "compacted"), output=payload)


def _letter(base: ActionDraft, payload: JsonObject) -> ActionDraft:
    """Return what an agent wrote to another one. It can be encrypted."""
    return replace(
        base,
        kind="message",
        layer="agent",
        role="agent",
        agent=short_text_at(payload, "author") or base.agent,
        name=None,
        output=text_of_content(payload.get("content")) or payload,
    )


def _item(base: ActionDraft, kind: str, payload: JsonObject) -> ActionDraft:
    if kind in _LETTERS:
        return _letter(base, payload)
    if kind == "message":
        return _message(base, payload)
    if kind == "reasoning":
        readable = text_of_content(payload.get("summary")) or text_of_content(payload.get("content"))
        return _thought(base, readable or payload)  # sometimes only the encrypted form was stored
    if kind in CALLS:
        return tool_call(
            base,
            tool=short_text_at(payload, "name") or kind.removesuffix("_call"),
            call_id=short_text_at(payload, "call_id", "id"),
            given=parsed_json(first_at(payload, "arguments", "input", "action", "revised_prompt")),
        )
    return _result(base, payload) if kind in RESULTS else replace(base, output=payload)


def _message(base: ActionDraft, payload: JsonObject) -> ActionDraft:
    role = {"assistant": "agent", "user": "user"}.get(str(payload.get("role")), "system")
    content = text_or_parts(payload.get("content"))
    meta = role == "user" and isinstance(content, str) and _INJECTED.match(content) is not None
    return replace(
        base,
        kind="message",
        layer="sys" if role == "system" else "agent",
        role=role,
        name=None,
        tags=("meta",) * meta,
        output=content,
    )


def _thought(base: ActionDraft, output: Any) -> ActionDraft:
    return replace(
        base, kind="message", layer="agent", role="agent", name="thinking", tags=("thinking",), output=output
    )


def _result(base: ActionDraft, payload: JsonObject) -> ActionDraft:
    output = parsed_json(first_at(payload, "output", "tools"))
    code, took = _ended(output)
    refused = isinstance(output, dict) and output.get("success") is False
    failed = refused or bool(code)
    return tool_result(
        replace(base, duration_ms=took),
        call_id=short_text_at(payload, "call_id"),
        output=output,
        error_type=("exit_code" if code else "tool_error") if failed else None,
        error_message=(f"exit code {code}" if code else text_of_content(record_at(output).get("content")))
        if failed
        else None,
    )


def _ended(output: Any) -> tuple[int | None, float | None]:
    """Return the exit code of a command and its duration in milliseconds, in the forms that Codex has written."""
    heads = (form.match(output) for form in _ENDS) if isinstance(output, str) else ()
    if head := next(filter(None, heads), None):
        try:
            seconds: float | None = float(head["seconds"])
        except ValueError:  # 1.2.3
            seconds = None
        code = head["code"]
        return None if code is None else int(code[:9]), milliseconds(seconds, of_one=1000)
    about = record_at(output, "metadata")
    return count_at(about, "exit_code"), milliseconds(number(about.get("duration_seconds")), of_one=1000)


def _event(base: ActionDraft, kind: str, payload: JsonObject) -> ActionDraft:
    text = text_at(payload, "message", "text")
    if kind in {"user_message", "agent_message"} and text is not None:
        role = "user" if kind == "user_message" else "agent"
        return replace(base, kind="message", layer="agent", role=role, name=None, output=text)
    if kind in {"agent_reasoning", "agent_reasoning_raw_content"} and text is not None:
        return _thought(base, text)
    if kind in {"error", "stream_error"}:
        return replace(base, error_type=kind, error_message=text, output=payload)
    return replace(base, output=payload)

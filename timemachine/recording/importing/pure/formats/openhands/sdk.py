"""Events of the OpenHands SDK, which replaced those of `events`: `{id, timestamp, source, kind, …}`.

A conversation is a folder with `base_state.json` and `events/event-00000-….json`. The state has the tokens, the time and
the cost of each response of the model by `usage_id`; events name their response in `llm_response_id`. The shapes are those of
https://github.com/OpenHands/software-agent-sdk (`openhands/sdk/event`, `llm/utils/metrics.py`, `conversation/persistence_const.py`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, link_results, tool_call, tool_result
from timemachine.recording.importing.pure.formats.openhands.events import AGENT, usage_of_run
from timemachine.recording.importing.pure.model_turns import speaker, thought, written
from timemachine.recording.importing.pure.values import (
    dollars,
    list_at,
    milliseconds,
    model_name,
    moment,
    number,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
    text_or_parts,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import SETTINGS

EVENT_FILE: Final = re.compile(r"(?:^|/)events/event-(\d{5,})-[^/]*\.json$")
STATE_FILE: Final = "base_state.json"
_SOURCES: Final = frozenset({"agent", "user", "environment", "hook"})
_KINDS: Final = frozenset({"Condensation", "CondensationRequest", "UserRejectObservation"})
_ENVELOPE: Final = frozenset({"id", "timestamp", "source", "kind"})
_DONE: Final = frozenset({"completed", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the state of a conversation tells about one response of the model."""

    model: str | None = None
    usage: Usage | None = None
    cost: Decimal | None = None
    took_ms: float | None = None


@dataclass(slots=True, kw_only=True)
class _State:
    """The ids so far, the responses by their ids, the calls already made from them, and the calls of an ACP server."""

    ids: Ids
    responses: Mapping[str, Response]
    calls: dict[str, ActionDraft] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)


def is_sdk_event(record: Any) -> bool:
    """Return whether it is an event of the SDK."""
    kind = text_at(record, "kind") or ""
    named = kind in _KINDS or kind.endswith("Event")
    return named and isinstance(record.get("source"), str) and record["source"] in _SOURCES


def responses_in(metrics: JsonObject) -> dict[str, Response]:
    """Return the responses of the model by their ids. Costs have no ids: they are in the order of the tokens if there are
    as many."""
    usages = [each for each in list_at(metrics, "token_usages") if isinstance(each, dict)]
    costs = list_at(metrics, "costs")
    took = {
        name: milliseconds(number(each.get("latency")), of_one=1000)
        for each in list_at(metrics, "response_latencies")
        if (name := text_at(each, "response_id"))
    }
    spent = (
        [dollars(record_at(each).get("cost")) or None for each in costs] if len(costs) == len(usages) else []
    )
    return {
        name: Response(
            model=model_name(short_text_at(each, "model")),
            usage=usage_of_run(each),
            cost=spent[place] if spent else None,
            took_ms=took.get(name),
        )
        for place, each in enumerate(usages)
        if (name := text_at(each, "response_id"))
    }


def sdk_actions(
    events: Sequence[JsonObject], responses: Mapping[str, Response], ids: Ids
) -> list[ActionDraft]:
    """Return the actions of the events; each response is a call, with what its events say below it."""
    state = _State(ids=ids, responses=responses)
    return link_results(action for event in events for action in _event_actions(event, state))


def _event_actions(event: JsonObject, state: _State) -> Iterator[ActionDraft]:
    kind = event["kind"]
    base = ActionDraft(
        kind="event",
        id=state.ids.claim(short_text_at(event, "id") or kind[:80]),
        layer="sys",
        role="system",
        name=kind[:80],
        started_at=moment(event.get("timestamp"), offset_missing=True),
        source=event,
    )
    call, is_new = _call_of(base, event, state)
    parts = list(_parts(base, event, kind, state))
    if call is not None and is_new:
        yield call
    for place, part in enumerate(parts):
        alone = place == 0 and not is_new
        yield replace(
            part,
            id=base.id if alone else state.ids.claim(f"{base.id}/{place + 1}"),
            parent=call.id if call is not None else part.parent,
            source=event if alone else None,
        )


def _call_of(base: ActionDraft, event: JsonObject, state: _State) -> tuple[ActionDraft | None, bool]:
    """Return the call that an event belongs to, and whether the event is its first."""
    name = text_at(event, "llm_response_id")
    if name is None:
        return None, False
    if name in state.calls:
        return state.calls[name], False
    found = state.responses.get(name) or Response()
    ended = base.started_at
    began = ended - timedelta(milliseconds=found.took_ms) if ended and found.took_ms is not None else ended
    state.calls[name] = replace(
        speaker("agent", base),
        kind="llm_call",
        agent=AGENT,
        started_at=began,
        duration_ms=found.took_ms,
        model=found.model,
        usage=found.usage,
        cost_usd=found.cost,
        output={"response_id": name},
    )
    return state.calls[name], True


def _parts(base: ActionDraft, event: JsonObject, kind: str, state: _State) -> Iterator[ActionDraft]:
    if kind == "MessageEvent":
        yield from _message(base, event)
    elif kind == "SystemPromptEvent":
        prompt = [event.get("system_prompt"), event.get("dynamic_context")]
        yield replace(
            speaker("system", base),
            tags=(SETTINGS,),
            input=written(tools=list_at(event, "tools")),
            output=text_of_content(prompt) or prompt,
        )
    elif kind == "ActionEvent":
        stem = replace(speaker("agent", base), agent=AGENT)
        yield from _thoughts(stem, event)
        if words := text_of_content(event.get("thought")):
            yield replace(stem, output=words)
        call = record_at(event, "tool_call")
        given = parsed_json(call.get("arguments")) if call else event.get("action")
        yield tool_call(
            stem,
            tool=short_text_at(event, "tool_name") or short_text_at(call, "name"),
            call_id=short_text_at(event, "tool_call_id") or short_text_at(call, "id"),
            given=given,
        )
    elif kind == "ACPToolCallEvent":
        yield from _acp(base, event, state)
    elif "tool_call_id" in event:
        yield _result(base, event)
    else:
        failed = kind == "ConversationErrorEvent"
        yield replace(
            base,
            output={name: value for name, value in event.items() if name not in _ENVELOPE} or None,
            error_type=(short_text_at(event, "code") or "error") if failed else None,
            error_message=text_at(event, "detail") if failed else None,
        )


def _message(base: ActionDraft, event: JsonObject) -> Iterator[ActionDraft]:
    source = event["source"]
    role = source if source in ("user", "agent") else "system"
    stem = speaker(role, base)
    stem = replace(stem, agent=AGENT if role == "agent" else short_text_at(event, "sender"))
    message = record_at(event, "llm_message")
    yield from _thoughts(stem, message)
    yield replace(stem, output=text_or_parts(message.get("content")))
    if more := text_of_content(event.get("extended_content")):
        yield replace(stem, tags=("meta",), output=more)


def _thoughts(stem: ActionDraft, record: JsonObject) -> Iterator[ActionDraft]:
    """Yield the thoughts. Blocks of a provider repeat what is in `reasoning_content`."""
    reasoned = text_at(record, "reasoning_content")
    item = record_at(record, "responses_reasoning_item")
    summaries = [
        each for name in ("summary", "content") for each in list_at(item, name) if isinstance(each, str)
    ]
    blocks = [text_at(each, "thinking") or each for each in list_at(record, "thinking_blocks")]
    for each in [reasoned] if reasoned else summaries or blocks:
        yield thought(stem, each)


def _result(base: ActionDraft, event: JsonObject) -> ActionDraft:
    observation = record_at(event, "observation")
    failure = text_at(event, "error", "rejection_reason")
    content = (
        text_or_parts(observation.get("content")) if "content" in observation else observation or failure
    )
    failed = failure is not None or observation.get("is_error") is True
    rejected = text_at(event, "rejection_reason") is not None
    return tool_result(
        base,
        tool=short_text_at(event, "tool_name"),
        call_id=short_text_at(event, "tool_call_id"),
        output=content,
        error_type=("rejected" if rejected else "tool_error") if failed else None,
        error_message=(failure or text_of_content(observation.get("content"))) if failed else None,
    )


def _acp(base: ActionDraft, event: JsonObject, state: _State) -> Iterator[ActionDraft]:
    """Yield the call that an agent reports first over the Agent Client Protocol, and its result when it ended. Reports in
    between are events."""
    call_id = short_text_at(event, "tool_call_id") or ""
    tool = short_text_at(event, "tool_kind", "title")
    begins, ended = call_id not in state.running, event.get("status") in _DONE
    state.running.add(call_id)
    if begins:
        yield replace(
            tool_call(base, tool=tool, call_id=call_id or None, given=event.get("raw_input")), agent=AGENT
        )
    if ended:
        failed = event.get("is_error") is True or event["status"] == "failed"
        output = event.get("raw_output") or event.get("content")
        yield tool_result(
            base,
            tool=tool,
            call_id=call_id or None,
            output=output,
            error_type="tool_error" if failed else None,
            error_message=(output if isinstance(output, str) and output else None) if failed else None,
        )
    elif not begins:
        yield replace(base, output={name: value for name, value in event.items() if name not in _ENVELOPE})

"""The events of a session of OpenHands as actions."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, written
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    model_name,
    moment,
    record_at,
    short_text,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import SETTINGS

AGENT: Final = "openhands"
_NO_CALLS: Final = frozenset(
    {"", "null", "recall", "change_agent_state", "condensation", "condensation_request"}
)
_BY_NO_MODEL: Final = _NO_CALLS | {"system"}
_NOT_STORED: Final = frozenset({"id", "action", "timestamp", "source", "message", "thought", "args"})
COUNTS: Final = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")


@dataclass(slots=True, kw_only=True)
class State:
    """What the events so far said: calls by the ids of their events, the latest one, responses of the model, and the
    cost and tokens of the session up to the latest call."""

    ids: Ids
    calls: dict[Any, ActionDraft] = field(default_factory=dict)
    last_call: ActionDraft | None = None
    responses: set[str] = field(default_factory=set)
    cost: Decimal = Decimal(0)
    tokens: dict[str, int] = field(default_factory=dict)
    first: bool = True


def event_actions(event: JsonObject, as_calls: bool, state: State) -> list[ActionDraft]:
    """Return the actions of an event. `as_calls`: its tokens and cost are those of a call, not of the run."""
    kind = text_at(event, "action", "observation") or "unknown"
    number = event.get("id")
    named = isinstance(number, int | str) and not isinstance(number, bool)
    base = ActionDraft(
        kind="event",
        id=state.ids.claim(f"event-{number}"[:80] if named else f"{kind}"[:80]),
        layer="sys",
        role="system",
        name=kind[:80],
        started_at=moment(event.get("timestamp"), offset_missing=True),
        source=event,
    )
    if not isinstance(event.get("action"), str):
        return [_observation(base, event, state)]
    first, state.first = state.first, False
    source = text_at(event, "source") or ("user" if first and kind == "message" else "agent")
    call = _model_call(base, event, kind, as_calls, state) if source == "agent" else None
    parts = list(_action_parts(base, event, kind, source))
    placed = []
    for place, part in enumerate(parts):
        alone = place == 0 and call is None
        client_id = base.id if alone else state.ids.claim(f"{base.id}/{place + 1}")
        placed.append(
            replace(part, id=client_id, parent=call.id if call else None, source=event if alone else None)
        )
    made = placed if call is None else [call, *placed]
    for each in made:
        if each.kind == "tool_call":
            state.last_call = each
            if named:
                state.calls[number] = each
    return made


def _action_parts(base: ActionDraft, event: JsonObject, kind: str, source: str) -> Iterator[ActionDraft]:
    args = record_at(event, "args") or {
        name: value for name, value in event.items() if name not in _NOT_STORED
    }
    role = source if source in ("user", "agent") else "system"
    stem = replace(speaker(role, base), agent=AGENT if role == "agent" else None)
    if (reasoned := text_at(record_at(event, "args"), "thought") or text_at(event, "thought")) is not None:
        yield thought(stem, reasoned)
    if kind == "message":
        yield replace(stem, output=args.get("content"))
    elif kind == "system":
        tools = written(tools=list_at(args, "tools"))
        prompt = replace(speaker("system", base), tags=(SETTINGS,), input=tools)
        yield replace(prompt, output=args.get("content"))
    elif kind in _NO_CALLS:
        yield replace(base, output=args)
    else:
        metadata = record_at(event, "tool_call_metadata")
        given = {name: value for name, value in args.items() if name != "thought"}
        call = tool_call(
            stem, tool=short_text(kind), call_id=short_text_at(metadata, "tool_call_id"), given=given
        )
        yield replace(call, role="user" if role == "user" else "agent")


def _model_call(
    base: ActionDraft, event: JsonObject, kind: str, as_calls: bool, state: State
) -> ActionDraft | None:
    """Return the call that led to the action, once for all actions of one response; without tokens and cost if these are
    only those of the run. What no response is named for is one if a model does it.
    """
    metrics = record_at(event, "llm_metrics")
    response = record_at(event, "tool_call_metadata", "model_response")
    name = text_at(response, "id")
    if (kind in _BY_NO_MODEL and not (metrics or response)) or (name is not None and name in state.responses):
        return None
    state.responses.add(name or "")
    usages = [each for each in list_at(metrics, "token_usages") if isinstance(each, dict)]
    whole = cost_stated(metrics)
    cost = None if whole is None or whole < state.cost else whole - state.cost
    state.cost = state.cost if whole is None else whole
    usage = usage_of_run(record_at(response, "usage"))
    tokens = _since(record_at(metrics, "accumulated_token_usage"), state)
    model = short_text_at(response, "model") or (short_text_at(usages[-1], "model") if usages else None)
    call = replace(
        speaker("agent", base),
        kind="llm_call",
        agent=AGENT,
        output={"response_id": name} if name else None,
    )
    if not as_calls:
        return call
    return replace(
        call,
        model=model_name(model),
        parameters=with_conditions({}, response) or None,
        usage=usage or tokens,
        cost_usd=cost,
    )


def cost_stated(metrics: JsonObject) -> Decimal | None:
    """Return the cost of the session so far. OpenHands writes 0 for a cost that it could not calculate."""
    return dollars(metrics.get("accumulated_cost")) or None


def _since(accumulated: JsonObject, state: State) -> Usage | None:
    """Return the tokens since the call before, from the counts of the session up to each."""
    counts = {name: count for name in COUNTS if (count := count_at(accumulated, name)) is not None}
    grown = {name: count - state.tokens.get(name, 0) for name, count in counts.items()}
    state.tokens |= counts
    return usage_of_run(grown)


def usage_of_run(usage: JsonObject) -> Usage | None:
    """Return the tokens of a call or of a run; None if none are stated."""
    found = usage_of(
        usage,
        read=["prompt_tokens"],
        written=["completion_tokens"],
        cached=["cache_read_tokens", "cache_read_input_tokens"],
        cache_write=["cache_write_tokens", "cache_creation_input_tokens"],
    )
    if found is None:
        return None
    details, wrote = record_at(usage, "prompt_tokens_details"), record_at(usage, "completion_tokens_details")
    cached = count_at(details, "cached_tokens") if found.cached_tokens is None else found.cached_tokens
    reasoning = count_at(wrote, "reasoning_tokens")
    return replace(
        found,
        cached_tokens=cached,
        reasoning_tokens=count_at(usage, "reasoning_tokens") if reasoning is None else reasoning,
    )


def _observation(base: ActionDraft, event: JsonObject, state: State) -> ActionDraft:
    """Return the result of the call that caused it, or without a cause of the call before; else an event."""
    kind = text_at(event, "observation")
    call = state.calls.get(event["cause"]) if _is_key(event.get("cause")) else state.last_call
    failed = kind == "error"
    content = event.get("content")
    extras = record_at(event, "extras")
    if call is None or kind in _NO_CALLS or kind == "agent_state_changed":
        state_error = text_at(extras, "reason") if text_at(extras, "agent_state") == "error" else None
        return replace(
            base,
            output=content or extras or None,
            error_type="error" if failed or state_error else None,
            error_message=text_at(event, "content") if failed else state_error,
        )
    state.last_call = None
    result = tool_result(
        base,
        tool=call.tool,
        call_id=call.call_id,
        output=content,
        error_type="tool_error" if failed else None,
        error_message=text_at(event, "content") if failed else None,
    )
    return replace(result, parent=call.id)


def _is_key(cause: Any) -> bool:
    return isinstance(cause, int | str)

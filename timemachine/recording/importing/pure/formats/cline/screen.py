"""What Cline and Roo Code showed: `{ts, type: "ask" or "say", text, …}`, one record per box on the screen.

`api_req_started` is a request to the model: its text is JSON with tokens and cost. In earlier versions they followed
in `api_req_finished`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, tool_call, tool_result
from timemachine.recording.importing.pure.model_turns import speaker, thought
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    model_name,
    moment_after_1970,
    number,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
    usage_of,
    with_cached_input,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

STARTED: Final = "api_req_started"
_FINISHED: Final = "api_req_finished"
_FROM_USER: Final = {"task", "user_feedback", "user_feedback_diff"}
_FROM_AGENT: Final = {"text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond"}
_CALLS: Final = {
    "tool",
    "command",
    "use_mcp_server",
    "browser_action_launch",
    "browser_action",
    "use_subagents",
}
_RESULTS: Final = {"command_output", "mcp_server_response", "browser_action_result"}
PAID: Final = {"deleted_api_reqs", "subagent_usage"}
_ERROR: Final = re.compile(r"error|_failed$|mistake_limit")


@dataclass(slots=True, kw_only=True)
class Request:
    """A request to the model: its records on the screen, what they state, and whether its answer was found."""

    records: list[JsonObject]
    stated: JsonObject = field(default_factory=dict)
    answered: bool = False

    @property
    def ts(self) -> float | None:
        """When it was made, in milliseconds since 1970."""
        found = self.records[0].get("ts")
        return found if isinstance(found, int | float) else None

    @property
    def usage(self) -> Usage | None:
        """Tokens, None if none were stated."""
        return usage_stated(self.stated)

    @property
    def cost(self) -> Decimal | None:
        """US dollars, None if not stated."""
        return cost_at_their_price(self.stated.get("cost"), self.usage, self.model)

    @property
    def model(self) -> str | None:
        """The model, if the record names it."""
        return model_of(self.records[0])

    @property
    def failure(self) -> str | None:
        """Why it was cancelled, if it was."""
        return short_text_at(self.stated, "cancelReason")


def is_screen(record: Any) -> bool:
    """Return whether it is a message of the screen."""
    return (
        isinstance(record, dict)
        and record.get("type") in ("ask", "say")
        and "ts" in record
        and isinstance(record.get(record["type"]), str)
    )


def model_of(record: JsonObject) -> str | None:
    """Return the model that a message names: `modelId` and `providerId` in the editors, `id` and `provider` in the SDK."""
    info = record_at(record, "modelInfo")
    return model_name(short_text_at(info, "modelId", "id"), short_text_at(info, "providerId", "provider"))


def usage_stated(stated: JsonObject) -> Usage | None:
    """Return the tokens of a request.

    `tokensIn` does not include cached tokens (Cline and Roo Code add up all four), except in later versions of Roo
    Code, which also name the protocol.
    """
    found = usage_of(
        stated, read=["tokensIn"], written=["tokensOut"], cached=["cacheReads"], cache_write=["cacheWrites"]
    )
    if found is None:
        return None
    cached = (found.cached_tokens or 0) + (found.cache_write_tokens or 0)
    includes = "apiProtocol" in stated and (found.input_tokens or 0) >= cached
    return found if includes else with_cached_input(found)


def requests_in(shown: Sequence[JsonObject]) -> list[Request]:
    """Return the requests in their order."""
    found: list[Request] = []
    for record in shown:
        kind = record.get("say")
        stated = parsed_json(record.get("text"))
        if kind == STARTED:
            found.append(Request(records=[record], stated=stated if isinstance(stated, dict) else {}))
        elif kind == _FINISHED and found and isinstance(stated, dict):
            found[-1].records.append(record)
            found[-1].stated = found[-1].stated | stated
    return found


def screen_actions(shown: Sequence[JsonObject], ids: Ids) -> list[ActionDraft]:
    """Return the actions of the screen's messages. A result of a command or server belongs to the call before it."""
    requests = {id(request.records[0]): request for request in requests_in(shown)}
    merged = {id(record) for request in requests.values() for record in request.records[1:]}
    made: list[ActionDraft] = []
    last_call: ActionDraft | None = None
    for place, record in enumerate(shown):
        if id(record) in merged:
            continue
        action = _action(record, requests.get(id(record)), ids)
        if (
            place == 0 and record.get("say") == "text"
        ):  # earlier versions, and Roo Code, show the task like that
            action = speaker("user", action)
        if action.kind == "tool_result" and last_call is not None:
            action = replace(action, parent=last_call.id, tool=last_call.tool)
        last_call = action if action.kind == "tool_call" else last_call
        made.append(action)
    return made


def _action(record: JsonObject, request: Request | None, ids: Ids) -> ActionDraft:
    kind = short_text_at(record, "say", "ask") or "unknown"
    text = record.get("text")
    at = number(record.get("ts"))
    base = ActionDraft(
        kind="event",
        id=ids.claim(f"screen-{'undated' if at is None else int(at)}"),
        layer="sys",
        role="system",
        name=kind[:80],
        started_at=moment_after_1970(record.get("ts"), seconds_each=0.001),
        source=record,
    )
    if request is not None:
        return _request(base, request)
    if kind in _FROM_USER | _FROM_AGENT:
        return replace(speaker("user" if kind in _FROM_USER else "agent", base), output=text)
    if kind == "reasoning":
        return thought(base, text_at(record, "text", "reasoning"))
    return _tool_or_event(base, kind, text)


def _tool_or_event(base: ActionDraft, kind: str, text: Any) -> ActionDraft:
    if kind in _CALLS:
        given = parsed_json(text)
        tool = short_text_at(given, "tool", "toolName") or ("execute_command" if kind == "command" else kind)
        return tool_call(base, tool=tool, call_id=None, given=given)
    if kind in _RESULTS:
        return tool_result(base, call_id=None, output=text)
    if kind in PAID:
        stated = record_at(parsed_json(text))
        usage = usage_stated(stated)
        cost = cost_at_their_price(stated.get("cost"), usage, None)
        return replace(base, output=stated or text, usage=usage, cost_usd=cost)
    failed = bool(_ERROR.search(kind))
    message = text if failed and isinstance(text, str) and text else None
    return replace(base, output=text, error_type=kind[:80] if failed else None, error_message=message)


def _request(base: ActionDraft, request: Request) -> ActionDraft:
    return replace(
        base,
        kind="llm_call",
        layer="agent",
        role="agent",
        name=None,
        model=request.model,
        usage=request.usage,
        cost_usd=request.cost,
        input=request.stated.get("request"),
        error_type=request.failure,
        error_message=text_at(request.stated, "streamingFailedMessage") if request.failure else None,
        source=request.records if len(request.records) > 1 else request.records[0],
    )

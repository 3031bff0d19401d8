"""What `autogen.runtime_logging` of AutoGen 0.2 and AG2 wrote: the lines of its file logger, or the rows of
`chat_completions` in its SQLite database as JSON.

A completion is a model call. The file logger writes its response as Python shows it, with the tokens at its end. AutoGen states a
cost of 0 for models that it has no price of, so 0 is unknown here. Lines do not say which session they belong to; it is the
one that was named last. Source: autogen/logger/ of microsoft/autogen (0.2) and ag2ai/ag2.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, call_and_result, session_draft
from timemachine.recording.importing.pure.model_turns import speaker
from timemachine.recording.importing.pure.reader import Reader
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    milliseconds_between,
    moment,
    parsed_json,
    record_at,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

_COMPLETION: Final = frozenset({"invocation_id", "request", "response", "is_cached"})
_USED: Final = frozenset({"input_args", "returns", "timestamp"})
_AGENT: Final = frozenset({"agent_name", "agent_type", "args"})
_TOKENS: Final = re.compile(
    r"usage=CompletionUsage\(completion_tokens=(\d{1,12}), prompt_tokens=(\d{1,12}), total_tokens=(\d{1,12})"
)
_NOT_PARAMETERS: Final = frozenset(
    {"messages", "model", "tools", "functions", "config_list", "api_key", "cache"}
)
_FLAGS: Final[dict[int | None, bool]] = {0: False, 1: True}
_RECEIVED: Final = "received_message"


def is_logged(record: JsonObject) -> bool:
    """Return whether it is a line of the log, or a row of its completions."""
    names = record.keys()
    return names >= _COMPLETION or names >= _USED or names >= _AGENT or {"json_state", "timestamp"} <= names


def sessions_of(records: Iterable[JsonObject], reader: Reader) -> list[SessionDraft]:
    """Return a session for each that the records name."""
    groups: dict[str | None, list[JsonObject]] = {}
    latest = None
    for record in records:
        latest = short_text_at(record, "session_id") or latest
        groups.setdefault(latest, []).append(record)
    return [_session(name, some, reader) for name, some in groups.items()]


def _session(name: str | None, records: list[JsonObject], reader: Reader) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    for place, record in enumerate(records, start=1):
        reader.use()
        actions += _actions(record, f"line-{place}", ids)
    agents = [agent for each in records if (agent := short_text_at(each, "agent_name"))]
    return session_draft(
        reader.key(name, records[0]),
        actions,
        agent=agents[0] if len(set(agents)) == 1 else None,
        metadata={"agents": list(dict.fromkeys(agents)) or None},
    )


def _actions(record: JsonObject, where: str, ids: Ids) -> list[ActionDraft]:
    base = ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(record, "invocation_id") or where),
        layer="sys",
        role="system",
        agent=short_text_at(record, "source_name", "agent_name"),
        name=short_text_at(record, "event_name") or ("agent" if record.keys() >= _AGENT else "log"),
        started_at=_time(record, "start_time", "timestamp", "current_time"),
        source=record,
    )
    if record.keys() >= _COMPLETION:
        return [_call(base, record)]
    if record.keys() >= _USED:
        given, returned = (_written(record[each]) for each in ("input_args", "returns"))
        return call_and_result(replace(base, role="agent", name=None, input=given, output=returned), ids)
    state = parsed_json(record.get("json_state"))
    if base.name == _RECEIVED and isinstance(state, dict) and "message" in state:
        message = state["message"]
        said = message.get("content") if isinstance(message, dict) else message
        spoken = speaker("agent", replace(base, agent=short_text_at(state, "sender")))
        return [replace(spoken, output=message if said in (None, "") else said)]
    return [replace(base, output=state if state is not None else record.get("args"))]


def _call(base: ActionDraft, record: JsonObject) -> ActionDraft:
    request, response = record_at(parsed_json(record["request"])), parsed_json(record["response"])
    choices = [record_at(each, "message") for each in list_at(response, "choices")]
    shown = response if isinstance(response, str) else text_at(response, "response")
    cost = dollars(record.get("cost")) or None
    is_cached = _FLAGS.get(count_at(record, "is_cached"))
    ended = _time(record, "end_time")
    return replace(
        speaker("agent", base),
        kind="llm_call",
        model=short_text_at(response, "model") or short_text_at(request, "model"),
        parameters={name: value for name, value in request.items() if name not in _NOT_PARAMETERS} or None,
        input=request.get("messages"),
        output=choices[0] if len(choices) == 1 else choices or shown,
        usage=None if is_cached else _usage(response),
        cost_usd=Decimal(0) if is_cached else cost,
        cached=is_cached,
        saved_usd=cost if is_cached else None,
        duration_ms=milliseconds_between(base.started_at, ended),
    )


def _written(value: Any) -> Any:
    """Return the value that a text writes as JSON."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except InvalidInput:
        return value


def _usage(response: Any) -> Usage | None:
    if isinstance(response, str):
        found = _TOKENS.findall(response)
        names = ("completion_tokens", "prompt_tokens", "total_tokens")
        stated: Any = dict(zip(names, map(int, found[-1]), strict=True)) if found else {}
    else:
        stated = record_at(response, "usage")
    return usage_of(stated, read=["prompt_tokens"], written=["completion_tokens"])


def _time(record: JsonObject, *names: str) -> datetime | None:
    """Return the first time under one of the names. AutoGen writes UTC without saying so."""
    times = (moment(record.get(name), offset_missing=True) for name in names)
    return next((time for time in times if time is not None), None)

"""Runs of AutoGen and AG2: the result of a chat (0.2: `chat_history`, `cost`), the messages of agents by name
(`chat_messages`), and the result of a team or its messages (0.4: `source`, `type`, `models_usage`).

A message of 0.4 with `models_usage` is a model call of its agent with the message below it; its model is not recorded.
The cost of a chat of 0.2 is on the final event. `chat_messages` holds a conversation once per partner and side, so each
list is a session of its own. `log` reads what `runtime_logging` wrote.

The report counts messages, and what else the file has. Source: autogen_agentchat/messages.py of microsoft/autogen and
autogen/agentchat/ of ag2ai/ag2.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    link_results,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.formats.autogen.log import is_logged, sessions_of
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    dollars,
    list_at,
    moment,
    parsed_json,
    record_at,
    short_text,
    short_text_at,
    sum_of,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "autogen"
TITLE: Final = "AutoGen or AG2 run (JSON object with chat_history, chat_messages or messages, .jsonl, or runtime_logging log)"
_NONE: Final = "It is not an AutoGen message."
_CALLS: Final = "ToolCallRequestEvent"
_RESULTS: Final = "ToolCallExecutionEvent"
_SUMS: Final = ("usage_excluding_cached_inference", "usage_including_cached_inference")


def recognises(opening: Opening) -> bool:
    """Return whether it is a result of a chat, messages by agent, or has typed messages with a source."""
    found = opening.fields
    typed = [*opening.records, *opening.records_inside("messages")]
    logged = any(map(is_logged, opening.records))
    return logged or _is_chat(found) or _is_by_agent(found) or any(map(_is_typed, typed))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the file. Raises `InvalidInput` (`unknown_format`) if there are no messages."""
    found = reader.document_or_none()
    if isinstance(found, dict) and _is_by_agent(found):
        lists = found["chat_messages"].items()
        return reader.parsed(
            _session(messages, {}, name, reader) for name, messages in lists if isinstance(messages, list)
        )
    if isinstance(found, dict) and (_is_chat(found) or list_at(found, "messages")):
        name = "chat_history" if _is_chat(found) else "messages"
        rest = {word: value for word, value in found.items() if word != name}
        return reader.parsed([_session(found[name], rest, None, reader)])
    records = list(reader.records(lambda each: _is_typed(each) or is_logged(each), _NONE))
    messages = [each for each in records if not is_logged(each)]
    sessions = sessions_of(filter(is_logged, records), reader)
    if messages:
        sessions.insert(0, _session(messages, {}, None, reader))
    if not sessions:
        raise reader.refusal("it has no AutoGen message.")
    return reader.parsed(sessions)


def _is_chat(record: JsonObject) -> bool:
    about = "cost" in record or "summary" in record or "human_input" in record
    return isinstance(record.get("chat_history"), list) and about


def _is_by_agent(record: JsonObject) -> bool:
    lists = record_at(record, "chat_messages")
    return any(isinstance(each, list) for each in lists.values())


def _is_typed(record: JsonObject) -> bool:
    kind = record.get("type")
    named = isinstance(kind, str) and kind.endswith(("Message", "Event"))
    return named and isinstance(record.get("source"), str) and "content" in record


def _session(messages: list[Any], rest: JsonObject, partner: str | None, reader: Reader) -> SessionDraft:
    ids = Ids()
    actions = [
        action
        for place, message in enumerate(messages, start=1)
        if reader.takes(message, "a message")
        for action in _message(message, ids, f"message-{place}")
    ]
    if rest or not actions:
        reader.use()
        actions.append(_end(rest, ids))
    return session_draft(
        reader.key(short_text_at(rest, "chat_id", "id"), [messages, rest, partner]),
        link_results(actions),
        agent=short_text(partner) or next((each.agent for each in actions if each.agent), None),
        metadata={"stop_reason": text_at(rest, "stop_reason"), "partner": partner},
    )


def _end(rest: JsonObject, ids: Ids) -> ActionDraft:
    """Return what a file has in addition to its messages, with the cost and tokens of all models.

    AutoGen states a cost of 0 for a model that it has no price of, so the cost of all models is unknown then.
    """
    cost = record_at(rest, "cost")
    spent = next((found for name in _SUMS if (found := record_at(cost, name))), cost)
    by_model = [each for each in spent.values() if isinstance(each, dict)]
    counts = [usage_of(each, read=["prompt_tokens"], written=["completion_tokens"]) for each in by_model]
    has_prices = all(dollars(each.get("cost")) for each in by_model)
    return replace(
        system_event("result", ids.claim("result"), source=rest, output=rest),
        usage=sum_of([each for each in counts if each is not None]),
        cost_usd=dollars(spent.get("total_cost")) or None if has_prices else None,
    )


def _message(message: JsonObject, ids: Ids, where: str) -> list[ActionDraft]:
    if "source" in message:
        return _typed(message, ids, where)
    named = short_text_at(message, "name")
    base = ActionDraft(kind="event", agent=named)
    responses = [each for each in list_at(message, "tool_responses") if isinstance(each, dict)]
    if not responses:
        return chat_actions(message, base, ids, where)
    return [
        replace(
            tool_result(base, call_id=short_text_at(each, "tool_call_id"), output=each.get("content")),
            id=ids.claim(f"{where}/{place}"),
            source=message if place == 1 else None,
        )
        for place, each in enumerate(responses, start=1)
    ]


def _typed(message: JsonObject, ids: Ids, where: str) -> list[ActionDraft]:
    agent = short_text_at(message, "source")
    role = "user" if agent == "user" else "agent" if agent else None
    base = ActionDraft(
        kind="event",
        id=ids.claim(where),
        layer="agent",
        role=role,
        agent=None if role == "user" else agent,
        started_at=moment(message.get("created_at")),
        source=message,
    )
    usage = usage_of(message.get("models_usage"), read=["prompt_tokens"], written=["completion_tokens"])
    kind = short_text_at(message, "type") or "message"
    called = usage is not None
    call = replace(base, kind="llm_call" if called else "message", usage=usage, output=message.get("content"))
    return turn_or_parts(call, _parts(kind, message.get("content"), base), ids)


def _parts(kind: str, content: Any, base: ActionDraft) -> Iterator[ActionDraft]:
    entries = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    if kind == _CALLS and entries:
        for each in entries:
            given = parsed_json(each.get("arguments"))
            yield tool_call(
                base, tool=short_text_at(each, "name"), call_id=short_text_at(each, "id"), given=given
            )
    elif kind == _RESULTS and entries:
        for each in entries:
            yield _result(each, base)
    elif kind == "ThoughtEvent":
        yield thought(base, content)
    elif kind.endswith("Message"):
        yield replace(speaker("agent", base), role=base.role, output=content)
    else:
        yield replace(base, name=kind, output=content)


def _result(entry: JsonObject, base: ActionDraft) -> ActionDraft:
    failed = entry.get("is_error") is True
    return tool_result(
        base,
        tool=short_text_at(entry, "name"),
        call_id=short_text_at(entry, "call_id"),
        output=entry.get("content"),
        error_type="tool_error" if failed else None,
        error_message=text_at(entry, "content") if failed else None,
    )

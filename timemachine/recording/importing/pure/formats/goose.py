"""Sessions of Goose: the export in JSON (a session with its `conversation`), or the JSON lines
of versions that did not use a database yet.

An assistant's message is a model call with its blocks: `message`, `tool_call`; a `toolResponse` is the result of the
call with its id. Goose records tokens and cost for a session, not for a call: the sums over its life are on the final event. The
counts without `accumulated_` are those of the last call only.

The report counts messages, and the session. Source: crates/goose/src/session/ and conversation/message.rs of
block/goose.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import (
    Ids,
    link_results,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import model_turn, speaker, thought, written
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    list_at,
    model_name,
    moment,
    moment_after_1970,
    record_at,
    short_text,
    short_text_at,
    text_at,
    text_of_content,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "goose"
TITLE: Final = "Goose session (exported .json, or .jsonl)"
_CALLS: Final = frozenset({"toolRequest", "frontendToolRequest"})
_ABOUT: Final = ("working_dir", "session_type", "schedule_id", "provider_name", "message_count")
_ROLES: Final = {"user": "user", "assistant": "agent"}
_MILLISECONDS_FROM: Final = 1e11


def recognises(opening: Opening) -> bool:
    """Return whether it is an exported session, or lines that start like a file of Goose."""
    return _is_session(opening.fields) or any(
        _is_session(each) or _is_head(each) or _is_typical(each) for each in opening.lines
    )


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the file. Raises `InvalidInput` (`unknown_format`) if there are no messages."""
    records = list(
        reader.records(
            lambda each: _is_session(each) or _is_head(each) or _is_message(each),
            "It is not a Goose message.",
        )
    )
    sessions = [each for each in records if _is_session(each)]
    found = [_session(each, _messages(each), reader) for each in sessions]
    lines = [each for each in records if not _is_session(each)]
    if lines:
        head = lines[0] if _is_head(lines[0]) else {}
        found.append(_session(head, lines[1:] if head else lines, reader))
    if not found:
        raise reader.refusal("it has no Goose message.")
    return reader.parsed(found)


def _messages(session: JsonObject) -> list[Any]:
    return list_at(session, "conversation") or list_at(record_at(session, "conversation"), "messages")


def _is_session(record: JsonObject) -> bool:
    return "working_dir" in record and bool(_messages(record))


def _is_head(record: JsonObject) -> bool:
    return "working_dir" in record and ("description" in record or "message_count" in record)


def _is_message(record: JsonObject) -> bool:
    return "role" in record and isinstance(record.get("content"), list)


def _is_typical(record: JsonObject) -> bool:
    """Return whether a message has a block that only Goose writes."""
    kinds = {text_at(each, "type") for each in list_at(record, "content")}
    return _is_message(record) and ("toolRequest" in kinds or "toolResponse" in kinds)


def _session(head: JsonObject, messages: list[Any], reader: Reader) -> SessionDraft:
    ids = Ids()
    actions = [
        action
        for place, message in enumerate(messages, start=1)
        if reader.takes(message, "a message")
        for action in _message(message, ids, f"message-{place}")
    ]
    if head:
        reader.use()
        actions.append(_end(head, ids))
    return session_draft(
        reader.key(short_text_at(head, "id"), [head, messages[:1]]),
        link_results(actions),
        name=text_at(head, "name", "description"),
        agent="goose",
        started_at=moment(head.get("created_at"), offset_missing=True),
        metadata={
            **{name: head.get(name) for name in _ABOUT},
            "model": text_at(record_at(head, "model_config"), "model_name"),
        },
    )


def _end(head: JsonObject, ids: Ids) -> ActionDraft:
    rest = {name: value for name, value in head.items() if name != "conversation"}
    usage = _usage(head)
    model = model_name(
        text_at(record_at(head, "model_config"), "model_name"), short_text_at(head, "provider_name")
    )
    return replace(
        system_event(
            "session",
            ids.claim("session"),
            source=rest,
            output={"name": text_at(head, "name", "description")},
        ),
        usage=usage,
        cost_usd=cost_at_their_price(head.get("accumulated_cost"), usage, model),
    )


def _usage(head: JsonObject) -> Usage | None:
    return usage_of(
        head,
        read=["accumulated_input_tokens"],
        written=["accumulated_output_tokens"],
        total=["accumulated_total_tokens"],
    )


def _message(message: JsonObject, ids: Ids, where: str) -> list[ActionDraft]:
    role = _ROLES.get(text_at(message, "role") or "")
    hidden = record_at(message, "metadata").get("userVisible") is False
    created = message.get("created")
    unit = 1e-3 if isinstance(created, int | float) and created >= _MILLISECONDS_FROM else 1.0
    base = ActionDraft(
        kind="event",
        layer="agent",
        role=role,
        agent="goose" if role == "agent" else None,
        tags=("meta",) if hidden else (),
        started_at=moment_after_1970(created, seconds_each=unit),
    )
    made = list(_blocks(list_at(message, "content"), role, base))
    if role == "agent":
        answer = written(content=message.get("content"))
        call = replace(base, kind="llm_call", id=ids.claim(where), output=answer, source=message)
        return model_turn(call, made, ids)
    return [
        replace(
            each,
            id=ids.claim(where if place == 1 else f"{where}/{place}"),
            source=message if place == 1 else None,
        )
        for place, each in enumerate(made or [replace(base, name="message")], start=1)
    ]


def _blocks(blocks: list[Any], role: str | None, base: ActionDraft) -> Iterator[ActionDraft]:
    for block in blocks:
        kind = text_at(block, "type") or "block"
        if kind == "text":
            yield replace(speaker("agent", base), role=role, output=block.get("text"))
        elif kind == "thinking":
            yield thought(base, block.get("thinking"))
        elif kind in _CALLS:
            call = record_at(block, "toolCall")
            made = record_at(call, "value") or call
            failure = text_at(call, "error")
            yield replace(
                tool_call(
                    base,
                    tool=short_text_at(made, "name"),
                    call_id=short_text_at(block, "id"),
                    given=made.get("arguments"),
                ),
                error_type="tool_error" if failure else None,
                error_message=failure,
            )
        elif kind == "toolResponse":
            yield _result(block, base)
        else:
            yield replace(base, name=short_text(kind), output=block)


def _result(block: JsonObject, base: ActionDraft) -> ActionDraft:
    result = block.get("toolResult")
    state = record_at(result)
    value = state.get("value", result)
    failure = text_at(state, "error")
    failed = failure is not None or record_at(value).get("isError") is True
    content = record_at(value).get("content", value)
    output = failure if failure is not None else content
    return tool_result(
        replace(base, agent=None),
        call_id=short_text_at(block, "id"),
        output=output,
        error_type="tool_error" if failed else None,
        error_message=text_of_content(output) if failed else None,
    )

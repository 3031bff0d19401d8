"""Exports of claude.ai: `conversations.json`, or the ZIP archive with it; one session per conversation.

An answer is a model call with its blocks: `message` and `tool_call` with its `tool_result`. After results begins another. Models and tokens are not exported. Where the
last message of the shown branch is recorded (`current_leaf_message_uuid`), others have the tag `other_branch`.

The report counts messages, and conversations without them. No schema is published; fields are those that exports of
2024 to 2026 have, as their readers in public repositories use them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.chat_exports import (
    CONVERSATIONS,
    OTHER_BRANCH,
    conversations_in,
    current_branch,
)
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    link_results,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import model_turn, speaker, thought
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    list_at,
    moment,
    record_at,
    short_text,
    short_text_at,
    text_at,
    text_of_content,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "claude_ai"
TITLE: Final = "claude.ai export (conversations.json, or the .zip that contains it)"
_NO_MESSAGES: Final = "It has no `chat_messages`, so it is not a claude.ai conversation."
_ROLES: Final = {"human": "user", "user": "user", "assistant": "agent"}
_ATTACHED: Final = ("attachments", "files", "files_v2")


def recognises(opening: Opening) -> bool:
    """Return whether the first records have `chat_messages`, or it is an archive of claude.ai."""
    archived = any(map(CONVERSATIONS.fullmatch, opening.members)) and "users.json" in opening.members
    return archived or any(map(_is_conversation, (opening.fields, *opening.records)))


def read(reader: Reader) -> ParsedFile:
    """Return one session per conversation. Raises `InvalidInput` (`unknown_format`) if there are none."""
    sessions = [_session(each, reader) for each in conversations_in(reader, _is_conversation, _NO_MESSAGES)]
    if not sessions:
        raise reader.refusal("it has no conversation with `chat_messages`.")
    return reader.parsed(sessions)


def _is_conversation(record: JsonObject) -> bool:
    return isinstance(record.get("chat_messages"), list)


def _session(conversation: JsonObject, reader: Reader) -> SessionDraft:
    messages = [each for each in conversation["chat_messages"] if reader.takes(each, "a message")]
    parents = {
        name: text_at(each, "parent_message_uuid")
        for each in messages
        if (name := text_at(each, "uuid")) is not None
    }
    shown = current_branch(text_at(conversation, "current_leaf_message_uuid"), parents)
    ids = Ids()
    actions: list[ActionDraft] = []
    for message in messages:
        tags = (OTHER_BRANCH,) if shown and text_at(message, "uuid") not in shown else ()
        actions += _message(message, tags, ids)
    reader.use()
    rest = {name: value for name, value in conversation.items() if name != "chat_messages"}
    outcome = {name: rest[name] for name in ("name", "summary", "model") if rest.get(name)}
    return session_draft(
        reader.key(short_text_at(conversation, "uuid"), conversation),
        link_results(
            [*actions, system_event("conversation", ids.claim("conversation"), rest, outcome or None)]
        ),
        name=text_at(conversation, "name"),
        agent="Claude",
        started_at=moment(conversation.get("created_at")),
        metadata={
            "model": text_at(conversation, "model"),
            "account": text_at(record_at(conversation, "account"), "uuid"),
            "project": text_at(conversation, "project_uuid"),
        },
    )


def _message(message: JsonObject, tags: tuple[str, ...], ids: Ids) -> list[ActionDraft]:
    role = _ROLES.get(text_at(message, "sender") or "", "system")
    base = ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(message, "uuid") or id_with_digest("message", message)),
        layer="agent",
        role=role,
        agent="Claude" if role == "agent" else None,
        tags=tags,
        started_at=moment(message.get("created_at")),
        source=message,
    )
    if role != "agent":
        return [replace(speaker(role, base), output=_text(message))]
    parts = list(_parts(message, role, base)) or [replace(speaker(role, base), output=_text(message))]
    made: list[ActionDraft] = []
    for place, turn in enumerate(_turns(parts), start=1):
        call = replace(base, kind="llm_call", started_at=turn[0].started_at)
        if place > 1:
            call = replace(call, id=ids.claim(f"{base.id}/call-{place}"), source=None)
        made += model_turn(call, turn, ids)
    return made


def _turns(parts: Sequence[ActionDraft]) -> Iterator[list[ActionDraft]]:
    """Yield the parts of each answer of the model: it answers again after the results of its calls."""
    turn: list[ActionDraft] = []
    for part in parts:
        if turn and turn[-1].kind == "tool_result" and part.kind != "tool_result":
            yield turn
            turn = []
        turn.append(part)
    yield turn


def _text(message: JsonObject) -> Any:
    """Return the text, with what is attached to it if anything is."""
    attached = {name: message[name] for name in _ATTACHED if message.get(name)}
    text = text_at(message, "text") or text_of_content(message.get("content"))
    return {"text": text, **attached} if attached else text


def _parts(message: JsonObject, role: str, base: ActionDraft) -> Iterator[ActionDraft]:
    blocks = [each for each in list_at(message, "content") if isinstance(each, dict)]
    for block in blocks:
        kind = text_at(block, "type") or "block"
        at = replace(base, started_at=moment(block.get("start_timestamp")) or base.started_at)
        if kind == "text":
            yield replace(speaker(role, at), output=block.get("text"))
        elif kind == "thinking":
            yield thought(at, block.get("thinking"))
        elif kind == "tool_use":
            yield tool_call(
                at,
                tool=short_text_at(block, "name"),
                call_id=short_text_at(block, "id"),
                given=block.get("input"),
            )
        elif kind == "tool_result":
            yield _result(block, at)
        else:
            yield replace(at, name=short_text(kind), output=block)


def _result(block: JsonObject, base: ActionDraft) -> ActionDraft:
    failed = block.get("is_error") is True
    output = block.get("content")
    return tool_result(
        base,
        tool=short_text_at(block, "name"),
        call_id=short_text_at(block, "tool_use_id"),
        output=output,
        error_type="tool_error" if failed else None,
        error_message=text_of_content(output) if failed else None,
    )

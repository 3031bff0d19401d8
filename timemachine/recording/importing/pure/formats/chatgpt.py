"""Exports of ChatGPT: `conversations.json`, or the ZIP archive with it; one session per conversation.

A conversation is a tree of nodes. All are read, branch after branch; where the last shown node is recorded, messages of
other branches have the tag `other_branch`. A message to a recipient other than `all` is a tool call. An answer whose
model is recorded is a model call without tokens, which ChatGPT does not export.

The report counts messages, and conversations without them. No schema is published; fields are those that exports of
2023 to 2026 have, as their readers in public repositories use them.
"""

from collections.abc import Iterator
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
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    list_at,
    moment_after_1970,
    parsed_json,
    record_at,
    short_text,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "chatgpt"
TITLE: Final = "ChatGPT export (conversations.json, or the .zip that contains it)"
_NO_TREE: Final = "It has no `mapping`, so it is not a ChatGPT conversation."
_ROLES: Final = {"user": "user", "assistant": "agent", "system": "system"}
_CONTEXT: Final = frozenset({"user_editable_context", "model_editable_context"})


def recognises(opening: Opening) -> bool:
    """Return whether the first records have trees of messages, or it is an archive with conversations of ChatGPT."""
    archived = any(map(CONVERSATIONS.fullmatch, opening.members)) and "users.json" not in opening.members
    return archived or any(map(_is_conversation, (opening.fields, *opening.records)))


def read(reader: Reader) -> ParsedFile:
    """Return one session per conversation. Raises `InvalidInput` (`unknown_format`) if there are none."""
    sessions = [_session(each, reader) for each in conversations_in(reader, _is_conversation, _NO_TREE)]
    if not sessions:
        raise reader.refusal("it has no conversation with a `mapping`.")
    return reader.parsed(sessions)


def _is_conversation(record: JsonObject) -> bool:
    nodes = record.get("mapping")
    return isinstance(nodes, dict) and all(
        isinstance(each, dict) and ("message" in each or "children" in each)
        for each in list(nodes.values())[:3]
    )


def _session(conversation: JsonObject, reader: Reader) -> SessionDraft:
    nodes = {name: node for name, node in conversation["mapping"].items() if isinstance(node, dict)}
    parents = {name: text_at(node, "parent") for name, node in nodes.items()}
    shown = current_branch(text_at(conversation, "current_node"), parents)
    ids = Ids()
    calls: dict[str, str | None] = {}  # the last tool call at or above a node
    actions: list[ActionDraft] = []
    for name in _ordered(nodes, parents):
        message = record_at(nodes[name], "message")
        calls[name] = calls.get(parents[name] or "")
        if not message:
            continue
        reader.use()
        tags = (OTHER_BRANCH,) if shown and name not in shown else ()
        made = list(_message(message, ids.claim(short_text(name) or "node"), calls[name], tags, ids))
        actions += made
        calls[name] = next((each.id for each in made if each.kind == "tool_call"), calls[name])
    reader.use()
    empty = {
        name: node
        for name, node in conversation["mapping"].items()
        if name not in nodes or not nodes[name].get("message")
    }
    rest = {**conversation, "mapping": empty}
    outcome = {name: rest[name] for name in ("title", "current_node", "default_model_slug") if name in rest}
    return session_draft(
        reader.key(short_text_at(conversation, "conversation_id", "id"), conversation),
        [
            *actions,
            system_event("conversation", ids.claim("conversation"), source=rest, output=outcome or None),
        ],
        name=text_at(conversation, "title"),
        agent="ChatGPT",
        started_at=moment_after_1970(conversation.get("create_time")),
        metadata={
            "model": text_at(conversation, "default_model_slug"),
            "gizmo": text_at(conversation, "gizmo_id"),
        },
    )


def _ordered(nodes: dict[str, JsonObject], parents: dict[str, str | None]) -> list[str]:
    """Return the nodes, each after its parent and with the branch below it; those without a parent first."""
    open_ones = [name for name in reversed(nodes) if parents[name] not in nodes]
    found: dict[str, None] = {}
    below: dict[str, list[str]] = {}
    for name, parent in parents.items():
        below.setdefault(parent or "", []).append(name)
    for start in (None, *nodes):  # what is in a circle has no first node
        open_ones += [start] if start is not None and start not in found else []
        while open_ones:
            name = open_ones.pop()
            if name not in found:
                found[name] = None
                open_ones += reversed(_children(name, nodes, below))
    return list(found)


def _children(name: str, nodes: dict[str, JsonObject], below: dict[str, list[str]]) -> list[str]:
    listed = [each for each in list_at(nodes[name], "children") if isinstance(each, str) and each in nodes]
    return list(dict.fromkeys([*listed, *below.get(name, [])]))


def _message(
    message: JsonObject, name: str, call_above: str | None, tags: tuple[str, ...], ids: Ids
) -> Iterator[ActionDraft]:
    about, content = record_at(message, "metadata"), record_at(message, "content")
    role = text_at(record_at(message, "author"), "role") or "unknown"
    kind = text_at(content, "content_type") or "text"
    hidden = about.get("is_visually_hidden_from_conversation") is True or kind in _CONTEXT
    base = ActionDraft(
        kind="event",
        id=name,
        layer="agent",
        tags=(*tags, *(("meta",) if hidden else ())),
        started_at=moment_after_1970(message.get("create_time")),
        source=message,
    )
    if role == "tool":
        yield replace(_result(message, kind, content, base), parent=call_above)
    elif role == "assistant":
        agent = replace(base, role="agent", agent="ChatGPT")
        model = short_text_at(about, "model_slug")
        call = replace(agent, kind="llm_call", model=model, output=content or None)
        yield from turn_or_parts(call, [_answer(message, kind, content, agent)], ids)
    elif role in _ROLES:
        yield replace(speaker(_ROLES[role], base), output=_output(content))
    else:
        yield replace(base, layer="sys", role="system", name=short_text(role), output=_output(content))


def _answer(message: JsonObject, kind: str, content: JsonObject, base: ActionDraft) -> ActionDraft:
    recipient = short_text_at(message, "recipient")
    if recipient not in {None, "all"}:
        return tool_call(base, tool=recipient, call_id=None, given=parsed_json(_output(content)))
    if kind == "thoughts":
        return thought(base, _output(content))
    if kind == "reasoning_recap":
        return replace(base, name=kind, output=_output(content))
    return replace(speaker("agent", base), output=_output(content))


def _result(message: JsonObject, kind: str, content: JsonObject, base: ActionDraft) -> ActionDraft:
    ran = record_at(message, "metadata", "aggregate_result")
    failure = text_at(record_at(ran, "in_kernel_exception"), "name")
    failed = kind == "system_error" or failure is not None or text_at(ran, "status") == "failed"
    output = _output(content)
    return tool_result(
        base,
        tool=short_text_at(record_at(message, "author"), "name"),
        call_id=None,
        output=output,
        error_type=(short_text(failure) or short_text_at(content, "name") or "tool_error")
        if failed
        else None,
        error_message=output if failed and isinstance(output, str) else None,
    )


def _output(content: JsonObject) -> Any:
    """Return the text of a message, or its content if that is not text only."""
    parts = list_at(content, "parts")
    if parts and all(isinstance(each, str) for each in parts):
        return "\n".join(parts)
    thoughts = [text_at(each, "content", "summary") for each in list_at(content, "thoughts")]
    if any(thoughts):
        return "\n".join(filter(None, thoughts))
    return parts or text_at(content, "text", "result", "content") or content or None

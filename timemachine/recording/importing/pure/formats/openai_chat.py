"""Chats in OpenAI's form: JSON lines of `{"messages": […]}`, one session each; or a list of such objects, or one.

The report counts messages, and the other fields of each line if it has any.
"""

from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.chat import conversation_actions
from timemachine.recording.importing.pure.drafts import Ids, link_results, session_draft, system_event
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import record_at, short_text_at
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import SETTINGS

NAME: Final = "openai_chat"
TITLE: Final = "OpenAI-style chats (.jsonl, one object with messages per line)"

_OTHERS: Final = frozenset({"type", "termination_reason", "sessionId", "trajectory_format"})
"""Fields of records of other tools, such as a simulation of tau2-bench."""
_OTHERS_INFO: Final = frozenset({"mini_version", "model_stats"})
"""Fields that mini-swe-agent has in `info`."""


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records has messages with roles and comes from no other tool."""
    return any(_is_chat(record) for record in opening.records) or _is_chat(opening.fields)


def read(reader: Reader) -> ParsedFile:
    """Return one session per chat. Raises `InvalidInput` (`unknown_format`) if there are none."""
    chats = reader.records(lambda chat: isinstance(chat.get("messages"), list), "It has no `messages`.")
    sessions = [_session(chat, reader) for chat in chats]
    if not sessions:
        raise reader.refusal("none of its lines has `messages`.")
    return reader.parsed(sessions)


def _is_chat(record: JsonObject) -> bool:
    messages = record.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return (
        isinstance(first, dict)
        and isinstance(first.get("role"), str)
        and "ts" not in first
        and _OTHERS.isdisjoint(record)
        and _OTHERS_INFO.isdisjoint(record_at(record, "info"))
    )


def _session(chat: JsonObject, reader: Reader) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    rest = {name: value for name, value in chat.items() if name != "messages"}
    if rest or not chat["messages"]:
        reader.use()
        about = system_event("chat", ids.claim("chat"), source=rest, output=rest)
        actions.append(replace(about, tags=(SETTINGS,) if "tools" in rest else ()))
    actions += conversation_actions(chat["messages"], ActionDraft(kind="event"), ids, reader)
    return session_draft(
        reader.key(None, chat), link_results(actions), metadata={"model": short_text_at(chat, "model")}
    )

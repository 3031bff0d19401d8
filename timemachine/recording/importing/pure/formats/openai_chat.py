"""Chats in OpenAI's form: JSON lines of `{"messages": […]}`, one session each; or a list of such objects, or one.

The report counts messages, and the other fields of each line if it has any.
"""

from typing import Any, Final

from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    link_results,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import short_text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "openai_chat"
TITLE: Final = "chats in OpenAI's form (.jsonl, an object with messages on each line)"
_STEM: Final = ActionDraft(kind="event")


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records has messages with roles and comes from no other tool."""
    return any(_is_chat(record) for record in opening.records) or _is_chat(opening.fields)


def read(data: Contents) -> ParsedFile:
    """Return one session per chat. Raises `InvalidInput` (`unknown_format`) if there are none."""
    ledger, keys = Ledger(), Keys(NAME)
    sessions = []
    for line in records_of(data, TITLE):
        if isinstance(line, Line) and isinstance(line.record.get("messages"), list):
            sessions.append(_session(line.record, ledger, keys))
        else:
            ledger.skip(line.reason if isinstance(line, Skipped) else "It has no `messages`.")
    if not sessions:
        raise unreadable_file(TITLE, "no line of it has `messages`.")
    return ledger.account(sessions)


def _is_chat(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and isinstance(first.get("role"), str) and "type" not in record


def _session(chat: dict[str, Any], ledger: Ledger, keys: Keys) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    rest = {name: value for name, value in chat.items() if name != "messages"}
    if rest or not chat["messages"]:
        ledger.use()
        actions.append(
            ActionDraft(
                kind="event",
                id=ids.claim("chat"),
                layer="sys",
                role="system",
                name="chat",
                output=rest,
                source=rest,
            )
        )
    for place, message in enumerate(chat["messages"], start=1):
        if isinstance(message, dict):
            ledger.use()
            actions += chat_actions(message, _STEM, ids, f"message-{place}")
        else:
            ledger.skip("It is not a message, because it is not an object.")
    return session_draft(
        keys.of(None, chat), link_results(actions), metadata={"model": short_text_at(chat, "model")}
    )

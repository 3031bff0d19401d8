"""The one-line label of an action in the timeline, taken from what was recorded."""

import json
from datetime import datetime
from typing import Any

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction.pure.marks import DELETED_TURN

LONGEST = 200
LONGEST_QUESTION = 120  # for a failed step: its error follows


def label(draft: ActionDraft) -> str:
    """Return one line of at most `LONGEST` characters; empty if nothing recorded can name the action.

    It depends only on kind, tool, name, error message, input and output, and on no more of a value than its
    `first_words`. Checks of a seal compute it again.
    """
    tool = draft.tool if draft.kind in {"tool_call", "tool_result"} else None
    return one_line(" ".join(filter(None, (tool or draft.name, _what(draft)))))


def first_words(value: Any) -> str:
    """Return as much of a value as a label can need: a label of it and a label of the value are the same."""
    return _words(value)[: LONGEST * 8]


def label_of_deleted(at: datetime) -> str:
    """Return the label of a step that was deleted then. Visitors of links can read it, so it names nobody."""
    return f"{DELETED_TURN} {at:%Y-%m-%d %H:%M} UTC"


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return the text with white space collapsed, cut with an ellipsis if it is too long."""
    folded = " ".join(text[: LONGEST * 8].split())
    return folded if len(folded) <= longest else folded[: longest - 1] + "…"


def _what(draft: ActionDraft) -> str:
    if draft.error_message:
        question = one_line(_words(draft.input), LONGEST_QUESTION) if draft.kind in {"ask", "find"} else ""
        return f"{question} · {draft.error_message}" if question else draft.error_message
    shown = draft.output if draft.kind in {"llm_call", "tool_result", "event", "message"} else draft.input
    if shown is None:
        shown = draft.input if draft.input is not None else draft.output
    return _words(shown)


def _words(value: Any) -> str:
    """Return the first words of a value that a person would read."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return next((words for item in value if (words := _words(item))), "")
    if isinstance(value, dict):
        return _words_of_object(value)
    return "" if value is None else str(value)


SPEAKING = (
    "text",
    "content",
    "message",
    "query",
    "question",
    "answer",
    "command",
    "file_path",
    "path",
    "name",
    "title",
)


def _words_of_object(value: JsonObject) -> str:
    for key in SPEAKING:
        if isinstance(value.get(key), str | list) and (words := _words(value[key])):
            return words
    return json.dumps(value, ensure_ascii=False)[: LONGEST * 2] if value else ""

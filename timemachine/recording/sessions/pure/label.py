"""The one line by which a row of the timeline names an action: taken from what was recorded, never made up. Pure."""

import json
from typing import Any

from timemachine.recording.sessions.pure.draft import ActionDraft

LONGEST = 200
LONGEST_QUESTION = 120  # of one that failed: why it did follows


def label(draft: ActionDraft) -> str:
    """One line of at most `LONGEST` characters; empty where nothing was recorded that could name the action."""
    parts = [_who(draft), _what(draft)]
    return one_line(" ".join(part for part in parts if part))


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text with every run of white space as one space, cut with an ellipsis where it is too long."""
    folded = " ".join(text[: LONGEST * 8].split())
    return folded if len(folded) <= longest else folded[: longest - 1] + "…"


def _who(draft: ActionDraft) -> str:
    if draft.kind in {"tool_call", "tool_result"}:
        return draft.tool or draft.name or ""
    return draft.name or ""


def _what(draft: ActionDraft) -> str:
    if draft.error_message:
        asked = one_line(_words(draft.input), LONGEST_QUESTION) if draft.kind in {"ask", "find"} else ""
        return f"{asked} · {draft.error_message}" if asked else draft.error_message
    said = draft.output if draft.kind in {"llm_call", "tool_result", "event", "message"} else draft.input
    if said is None:
        said = draft.input if draft.input is not None else draft.output
    return _words(said)


def _words(value: Any) -> str:
    """The first words that a person would read in a value."""
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


def _words_of_object(value: dict[str, Any]) -> str:
    for key in SPEAKING:
        if isinstance(value.get(key), str | list) and (words := _words(value[key])):
            return words
    return json.dumps(value, ensure_ascii=False)[: LONGEST * 2] if value else ""

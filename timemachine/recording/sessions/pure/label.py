"""The one-line label of an action in the timeline, taken from what was recorded."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.verdicts import each_once
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Media, Other, Text
from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.text.redaction.pure.marks import DELETED_TURN

LONGEST = 200
LONGEST_QUESTION = 120  # for a failed step: its error follows
_NAMED_BY_OUTPUT: Final = frozenset({MODEL_CALL, "tool_result", "event", "message"})
_MESSAGES: Final = ("messages", "input", "contents", "prompt")
"""Fields of a request that can have its messages."""
PayloadName = Literal["input", "output"]


def label(draft: ActionDraft) -> str:
    """Return one line of at most `LONGEST` characters; empty if nothing recorded can name the action.

    A model call is named by what the model did. The label depends only on kind, tool, name, error message and the
    `first_words` of input and output. Checks of a seal compute it again.
    """

    def words(name: PayloadName) -> str | None:
        value = getattr(draft, name)
        return None if value is None else first_words(value, draft.kind, name)

    return label_of_words(draft, words)


def label_of_words(named: ActionDraft, words: Callable[[PayloadName], str | None]) -> str:
    """Return the label of an action from the `first_words` of its input and output, None for one that it does not have."""
    tool = named.tool if named.kind in {"tool_call", "tool_result"} else None
    return one_line(" ".join(filter(None, (tool or named.name, _what(named, words)))))


def first_words(value: Any, kind: str, name: PayloadName) -> str:
    """Return as much of the input or output of an action of this kind as its label can need."""
    words = None
    if kind == MODEL_CALL:
        words = _words_of_answer(value) if name == "output" else _words_of_request(value)
    return (_words(value) if words is None else words)[: LONGEST * 8]


def answer_in_words(answer: Answer) -> str:
    """Return what a model did on one line: the tools that it called, and what it said. What it thought, if it did neither."""
    said = answer.text or ("" if answer.calls else answer.thinking)
    others = ", ".join(_name_of(part) for part in answer.parts if isinstance(part, Media | Other))
    tools = each_once(call.name for call in answer.calls)
    return " · ".join(filter(None, (tools, one_line(said) or others)))


def label_of_deleted(at: datetime) -> str:
    """Return the label of a step that was deleted then. Visitors of links can read it, so it names nobody."""
    return f"{DELETED_TURN} {at:%Y-%m-%d %H:%M} UTC"


def one_line(text: str, longest: int = LONGEST) -> str:
    """Return the text with white space collapsed, cut with an ellipsis if it is too long."""
    folded = " ".join(text[: LONGEST * 8].split())
    return folded if len(folded) <= longest else folded[: longest - 1] + "…"


def _what(named: ActionDraft, words: Callable[[PayloadName], str | None]) -> str:
    if named.error_message:
        question = one_line(words("input") or "", LONGEST_QUESTION) if named.kind in {"ask", "find"} else ""
        return f"{question} · {named.error_message}" if question else named.error_message
    by_output = named.kind in _NAMED_BY_OUTPUT
    shown = words("output" if by_output else "input")
    return (words("input" if by_output else "output") if shown is None else shown) or ""


def _words_of_answer(value: Any) -> str | None:
    answer = read_answer(value)
    return None if answer is None else answer_in_words(answer)


def _name_of(part: Media | Other) -> str:
    if isinstance(part, Media):
        return part.kind
    return str(part.value.get("name") or part.value.get("type") or "") if isinstance(part.value, dict) else ""


def _words_of_request(value: Any) -> str | None:
    """Return the text of the last message of a request, or of the results of tools in it."""
    given = (
        next((value[name] for name in _MESSAGES if value.get(name)), None)
        if isinstance(value, dict)
        else value
    )
    messages = read_messages(given[-1:]) if isinstance(given, list) else None
    if not messages:
        return None
    results = (part.text for each in messages[-1].results for part in each.parts if isinstance(part, Text))
    return messages[-1].text or next(results, None)


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

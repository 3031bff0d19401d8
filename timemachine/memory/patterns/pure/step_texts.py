"""Extract from a step what may occur again: what went wrong, or what a person asked. Pure.

A step went wrong if it was recorded with an error, has the significance `error`, or if the tool's result has a
form that programs use for errors: it begins with an error's name or with an exit code other than 0, or is an
object with such a field. A text that only mentions an error is not one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from timemachine.text.pure.language.sentences import sentence_texts

type Kind = Literal["error", "question"]

ERROR: Final = "error"
QUESTION: Final = "question"
KINDS: Final[tuple[Kind, ...]] = (ERROR, QUESTION)
FAILED: Final = "error"
"""The significance by which a person or a program marks a step as a mistake."""
LONGEST: Final = 2_000
_LONGEST_QUESTION: Final = 400
_LINES: Final = 3
_LONGEST_LINES: Final = 600

_UNSPECIFIC: Final = frozenset(
    {"error", "tool_error", "run_error", "model_error", "sample_error", "exception"}
)
_BEGINS: Final = re.compile(
    r"\W{0,5}(?:[\w.]{0,80}(?:error|exception)\b\s*(?:[:\[(]|\d|\Z|\n)|error (?:calling|while|in|executing|running|occurred)\b"
    r"|traceback \(most recent|(?:fatal|panic|failed|failure)(?: error)?:)",
    re.IGNORECASE,
)
_EXIT: Final = re.compile(
    r"\W{0,5}(?:exit[ _]?(?:code|status)|exited with(?: code| status)?)\s*[:=]?\s*(-?\d+)", re.IGNORECASE
)
_EXCEPTION: Final = re.compile(
    r"(?:[\w.]{1,80}\.)?[A-Z]\w{0,80}(?:Error|Exception|Exit|Interrupt|Fault|Timeout)(?::.*)?"
)
_TEXT_FIELDS: Final = ("message", "error", "detail", "stderr", "output", "text", "content")
_ASKED: Final = ("question", "query", "text", "content")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The fields of a step that matter here. `input` and `output` are values; of long payloads, their beginnings
    as text.
    """

    kind: str
    layer: str | None = None
    role: str | None = None
    significance: str | None = None
    error_type: str | None = None
    error_message: str | None = None
    input: Any = None
    output: Any = None


def error_or_question_of(step: Step) -> tuple[Kind, str] | None:
    """Return the step's error or question and which of the two it is, or None."""
    failed = failure_of(step)
    if failed:
        return ERROR, failed
    question = question_of(step)
    return (QUESTION, question) if question else None


def failure_of(step: Step) -> str | None:
    """Return what went wrong, in the most specific words, or None."""
    if step.error_type is not None or step.error_message is not None:
        return _recorded(step)
    if step.kind in {"tool_call", "tool_result"} or (step.kind == "message" and step.layer == "tool"):
        returned = _returned(step.output)
        if returned is not None:
            return returned
    if step.significance == FAILED:
        return _text(step.output)[:LONGEST] or _text(step.input)[:LONGEST] or None
    return None


def question_of(step: Step) -> str | None:
    """Return what a person asked: the question of an ask, or the sentences of a user's message that end in a
    question mark.
    """
    if step.kind == "ask":
        return _question(step.input)[:_LONGEST_QUESTION] or None
    if step.kind != "message" or step.role != "user":
        return None
    text = _text(step.output if step.output is not None else step.input)[:LONGEST]
    sentences = [each.strip() for each in sentence_texts(text)]
    return " ".join(each for each in sentences if each.endswith("?"))[:_LONGEST_QUESTION] or None


def failure_lines(text: str) -> str:
    """Return the part of a text that describes a failure: the last line that names an exception, else the first
    lines after an exit code.
    """
    lines = [line.strip() for line in text[-LONGEST * 8 :].splitlines() if line.strip()]
    named = [line for line in lines if _EXCEPTION.fullmatch(line)]
    if named:
        return named[-1][:_LONGEST_LINES]
    first = [line.strip() for line in text[: LONGEST * 8].splitlines() if line.strip()]
    if len(first) > 1 and _EXIT.match(first[0]):
        first = [_EXIT.match(first[0])[0], *first[1:]]  # type: ignore[index]  # it matched just now
    return " ".join(first[:_LINES])[:_LONGEST_LINES]


def _recorded(step: Step) -> str:
    name = step.error_type or ""
    lines = failure_lines(step.error_message or "") or failure_lines(
        _returned(step.output) or _text(step.output)
    )
    if not lines:
        return name
    if name.casefold() in _UNSPECIFIC or lines.startswith(name):
        return lines
    return f"{name}: {lines}"


def _returned(value: Any) -> str | None:
    """Return a tool's result if it reports a failure."""
    if isinstance(value, Mapping):
        return _failed_object(value)
    text = _text(value)
    exit_code = _EXIT.match(text)
    if exit_code is not None:
        return failure_lines(text) if int(exit_code[1]) else None
    return failure_lines(text) if _BEGINS.match(text) else None


def _failed_object(value: Mapping[str, Any]) -> str | None:
    wrong = value.get("error")
    if wrong and wrong is not True:
        return failure_lines(_text(wrong))
    codes = [value, value.get("metadata")]
    code = next((each for place in codes if isinstance(place, Mapping) for each in _codes(place)), 0)
    flagged = wrong is True or value.get("isError") is True or value.get("is_error") is True
    if code == 0 and not flagged and value.get("status") not in {"error", "failed"}:
        return None
    lines = failure_lines("\n".join(_texts(value)))
    return f"exit code {code} {lines}".strip() if code else lines or None


def _codes(place: Mapping[str, Any]) -> Iterator[int]:
    for name in ("exit_code", "exitCode", "returncode"):
        if isinstance(place.get(name), int) and place[name]:
            yield int(place[name])


def _texts(value: Mapping[str, Any]) -> Iterator[str]:
    for name in _TEXT_FIELDS:
        if (text := value.get(name)) and not isinstance(text, bool):
            yield _text(text)


def _text(value: Any) -> str:
    """Return a value as text: the texts of its parts if it has any, else JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        return "\n".join(filter(None, (_text(each.get("text", each.get("content"))) for each in value)))
    if isinstance(value, Mapping):
        named = [value[name] for name in ("type", "message") if isinstance(value.get(name), str)]
        if named:
            return ": ".join(named)
    return json.dumps(value, ensure_ascii=False)


def _question(value: Any) -> str:
    if isinstance(value, Mapping):
        return next((value[name] for name in _ASKED if isinstance(value.get(name), str)), "").strip()
    return value.strip() if isinstance(value, str) else ""

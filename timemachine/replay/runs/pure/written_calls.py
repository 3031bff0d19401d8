"""Tool calls as texts that can be read and compared line by line."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any, Final, Literal

from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.sessions.pure.label import one_line
from timemachine.replay.runs.pure.actions import pairing

_LONGEST_ARGUMENTS: Final = 80
"""The most characters of the arguments of a call in a line."""
Fate = Literal["same", "other_arguments", "only_recorded", "only_new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPair:
    """A recorded call next to the new one that it is compared with; None on the side that does not make it. Both have their arguments as text."""

    name: str
    fate: Fate
    recorded: str | None
    new: str | None


def paired_calls(recorded: Sequence[ToolCall], new: Sequence[ToolCall]) -> list[CallPair]:
    """Return the calls of two answers in pairs, those that differ first."""
    pairs = pairing(recorded, new)
    return [
        *(_pair("other_arguments", before, after) for before, after in pairs.differing),
        *(_pair("only_recorded", call, None) for call in pairs.only_recorded),
        *(_pair("only_new", None, call) for call in pairs.only_new),
        *(_pair("same", before, after) for before, after in pairs.equal),
    ]


def _pair(fate: Fate, recorded: ToolCall | None, new: ToolCall | None) -> CallPair:
    called = recorded or new
    return CallPair(
        name="" if called is None else called.name,
        fate=fate,
        recorded=None if recorded is None else written_arguments(recorded),
        new=None if new is None else written_arguments(new),
    )


def written_answer(answer: Answer) -> str:
    """Return the text of an answer, followed by the tools that it calls with their arguments."""
    calls = [f"calls {call.name}\n{indent(written_arguments(call), '  ')}" for call in answer.calls]
    return "\n\n".join(filter(None, [answer.text, *calls]))


def answer_line(answer: Answer) -> str:
    """Return what a model did on one line: `Bash {ls -la}, Read {a.py}`, or `answers: The folder holds …`."""
    if not answer.calls:
        return f"answers: {one_line(answer.text)}" if answer.text else "answers nothing"
    return one_line(", ".join(map(_call_in_line, answer.calls)))


def _call_in_line(call: ToolCall) -> str:
    words = one_line(_in_line(call.arguments) if call.raw is None else call.raw, _LONGEST_ARGUMENTS)
    return f"{call.name} {{{words}}}" if words else call.name


def _in_line(arguments: Any) -> str:
    """Return the arguments without quotes: `path: a.py, lines: 20`, of a single one the value."""
    if not isinstance(arguments, dict):
        return "" if arguments is None else _scalar(arguments)
    values = {name: _scalar(value) for name, value in arguments.items()}
    return ", ".join(
        values.values() if len(values) == 1 else (f"{name}: {each}" for name, each in values.items())
    )


def written_arguments(call: ToolCall) -> str:
    """Return the arguments with one line for each name, and a text of several lines indented below its name."""
    if call.raw is not None:
        return call.raw
    return "\n".join(_lines(call.arguments, ""))


def _lines(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _entry(f"{indent}{name}:", value[name], indent)
    elif isinstance(value, list):
        for each in value:
            yield from _entry(f"{indent}-", each, indent)
    else:
        yield f"{indent}{_scalar(value)}"


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield head
        yield from _lines(value, f"{indent}  ")
    elif isinstance(value, str) and "\n" in value:
        yield head
        yield from (f"{indent}  {line}" for line in value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Answering the tool calls of a continued run from the record: the same tool with equal arguments gets the recorded result.

Each recorded result is used once, in order, except those of tools that only read and always give the same result
(`repeatable`). Arguments are equal if their canonical JSON is.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.canonical import canonical_arguments
from timemachine.llm.pure.requests.differences import Difference, call_differences
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall

_MOST_PATHS: Final = 10
_LONGEST: Final = 1_000
"""The most characters of the arguments that are kept of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The recorded call that is most like one without a result. No `differing`: it is equal, but its result was used already."""

    recorded: AnsweredCall
    differing: Sequence[Difference]


class Record:
    """The recorded results that can answer the calls of a run that goes on after step `after`."""

    def __init__(
        self, answered: Sequence[AnsweredCall], *, after: int, repeatable: Collection[str] = ()
    ) -> None:
        self._repeatable = frozenset(repeatable)
        written = [(arguments, each) for each in answered if (arguments := _written(each.call)) is not None]
        # those of the same conversation first: another agent may have called the same tool
        self._following = sorted(
            ((arguments, each) for arguments, each in written if each.sequence > after),
            key=lambda found: found[1].is_aside,
        )
        self._all = written
        self._used: set[int] = set()

    @property
    def remaining(self) -> int:
        """The number of results of the same conversation that were not used."""
        return sum(not each.is_aside and id(each) not in self._used for _, each in self._following)

    def remaining_between(self, after: int, through: int) -> int:
        """Return how many results of the same conversation in these steps were not used."""
        return sum(
            after < each.sequence <= through and not each.is_aside and id(each) not in self._used
            for _, each in self._following
        )

    def has_used_after(self, sequence: int) -> bool:
        """Return whether a result that was recorded later was used."""
        return any(each.sequence > sequence and id(each) in self._used for _, each in self._following)

    def answer(self, call: ToolCall) -> AnsweredCall | None:
        """Return the recorded call whose result answers this one, and mark it as used; None if no recorded call does."""
        arguments = _written(call)
        fitting = self._fitting(self._following, call, arguments)
        found = next((each for each in fitting if id(each) not in self._used), None)
        if found is None and call.name in self._repeatable:
            found = max(
                self._fitting(self._all, call, arguments), key=lambda each: each.sequence, default=None
            )
        if found is not None:
            self._used.add(id(found))
        return found

    def nearest(self, call: ToolCall) -> Nearest | None:
        """Return the recorded call of the same tool with the fewest differing arguments, unused ones first; None if the tool was not called."""
        if _written(call) is None:
            return None
        found = [
            Nearest(recorded=each, differing=call_differences(each.call, call))
            for _, each in self._following
            if each.call.name == call.name
        ]
        return min(
            found, key=lambda each: (len(each.differing), id(each.recorded) in self._used), default=None
        )

    def _fitting(
        self, recorded: Sequence[tuple[str, AnsweredCall]], call: ToolCall, arguments: str | None
    ) -> Iterator[AnsweredCall]:
        return (each for written, each in recorded if each.call.name == call.name and written == arguments)


def are_open_too(missing: Sequence[ToolCall], recorded: Sequence[ToolCall]) -> bool:
    """Return whether the recording made each of these calls as well, and has no result for it either: it ended there."""
    made = [(each.name, _written(each)) for each in recorded]
    return bool(missing) and all((each.name, _written(each)) in made for each in missing)


def unanswered(call: ToolCall, nearest: Nearest | None) -> JsonObject:
    """Return what is stored of a call that the record cannot answer."""
    return {
        "call_id": call.id,
        "tool": call.name,
        "arguments": _short(call),
        "nearest": None if nearest is None else _described(nearest),
    }


def _described(nearest: Nearest) -> JsonObject:
    return {
        "step": nearest.recorded.called_in,
        "tool": nearest.recorded.call.name,
        "arguments": _short(nearest.recorded.call),
        "paths": [each.path for each in nearest.differing[:_MOST_PATHS]],
    }


def _written(call: ToolCall) -> str | None:
    """Return the arguments as canonical JSON; None for a value that JSON does not have."""
    try:
        return canonical_arguments(call)
    except RequestError:
        return None


def _short(call: ToolCall) -> str | None:
    written = _written(call)
    return written if written is None or len(written) <= _LONGEST else f"{written[:_LONGEST]}…"

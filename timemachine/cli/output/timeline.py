"""The steps of a session, one on each line. Pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from timemachine.cli.formatting import duration, json_or_text, shortened, tombstone
from timemachine.cli.output.table import aligned
from timemachine.core.pure.numbers import money_or_unknown, spaced

if TYPE_CHECKING:
    from timemachine.client.generated import types

_KIND, _WHAT, _TOOK = 17, 64, 10
_DEEPEST = 3
_MODEL_CALL = "llm_call"


def action_lines(actions: Iterable[types.ReadAction], *, last: int) -> Iterator[str]:
    """Each action with its number, kind, content, duration, model and cost; children are indented.

    A line waits for the parent of its action: a call is recorded when it ends, after the steps inside it.
    """
    parents: dict[Any, Any] = {}
    waiting: deque[_Line] = deque()
    number = max(len(f"{last:,}"), 1)
    for action in actions:
        parents[action["sequence"]] = action["parent"]
        if action["id"] is not None:
            parents[action["id"]] = action["parent"]
        waiting.append(_Line.of(action))
        while waiting and (depth := _depth(waiting[0].parent, parents, action["sequence"])) is not None:
            yield waiting.popleft().text(depth, number)
    for rest in waiting:
        yield rest.text(_depth(rest.parent, parents, math.inf) or 0, number)


def _depth(parent: Any, parents: Mapping[Any, Any], newest: float) -> int | None:
    """The depth below this parent, given the steps up to `newest`; None if an ancestor can still follow.

    A step whose parent is missing is at the top. A parent that is named by a number up to `newest` and was not read is missing.
    """
    depth = 0
    while parent is not None and depth < _DEEPEST:
        if parent not in parents:
            expected_at = parent if isinstance(parent, int) else math.inf
            return depth if expected_at <= newest else None
        parent, depth = parents[parent], depth + 1
    return depth


@dataclass(frozen=True, slots=True)
class _Line:
    """The parts of an action that its line shows."""

    sequence: int
    parent: int | str | None
    kind: str
    duration_ms: float | None
    what: str
    call: str

    @classmethod
    def of(cls, action: types.ReadAction) -> Self:
        """The line of an action."""
        call = f"{action['model']}, {money_or_unknown(action['cost_usd'])}" if action["model"] else ""
        if action["copied_from"] is not None:
            call = f"{call}, copied" if call else "copied"
        return cls(
            action["sequence"],
            action["parent"],
            action["kind"],
            action["duration_ms"],
            _what(action),
            call,
        )

    def text(self, depth: int, number: int) -> str:
        """The line at a depth below its parent, with the sequence in this many columns."""
        took = "" if self.duration_ms is None else duration(self.duration_ms)
        cells = [
            f"{self.sequence:>{number},}",
            aligned("  " * depth + spaced(self.kind), _KIND),
            aligned(self.what, _WHAT),
            aligned(took, _TOOK, to_right=True),
            self.call,
        ]
        return "  ".join(cells).rstrip()


def _what(action: types.ReadAction) -> str:
    if deleted := action.get("deleted"):
        return shortened(tombstone(deleted), _WHAT)
    label = action["tool"] or action["name"] or action["role"] or ""
    if action["error"] is not None:
        return shortened(
            f"{label} error: {action['error']['message'] or action['error']['type']}".strip(), _WHAT
        )
    if action["kind"] == _MODEL_CALL:
        return shortened(action["label"] or "no text", _WHAT)
    content = action["input"] if action["input"] is not None else action["output"]
    text = "" if content is None else json_or_text(content)
    return shortened(f"{label}: {text}" if label and text else label or text, _WHAT)

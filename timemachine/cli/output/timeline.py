"""The steps of a session, one on each line. Pure."""

import json
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from timemachine.cli.formatting import duration, shortened, tombstone
from timemachine.cli.output.table import aligned
from timemachine.core.pure.numbers import money_or_unknown, spaced

_KIND, _WHAT, _TOOK = 17, 64, 10
_DEEPEST = 3


def action_lines(actions: Iterable[dict[str, Any]], *, last: int) -> Iterator[str]:
    """Each action with its number, kind, content, duration, model and cost; children are indented.

    A line waits for the parent of its action: a call is recorded when it ends, after the steps inside it.
    """
    parents: dict[Any, Any] = {}
    waiting: deque[dict[str, Any]] = deque()
    number = max(len(f"{last:,}"), 1)
    for action in actions:
        parents[action["sequence"]] = action["parent"]
        if action["id"] is not None:
            parents[action["id"]] = action["parent"]
        waiting.append(_shown(action))
        while waiting and (depth := _depth(waiting[0]["parent"], parents, action["sequence"])) is not None:
            yield _line(waiting.popleft(), depth, number)
    for rest in waiting:
        yield _line(rest, _depth(rest["parent"], parents, math.inf) or 0, number)


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


def _shown(action: dict[str, Any]) -> dict[str, Any]:
    """The parts of an action that its line shows."""
    named = ("sequence", "parent", "kind", "duration_ms")
    return {name: action[name] for name in named} | {"what": _what(action), "call": _call(action)}


def _line(shown: dict[str, Any], depth: int, number: int) -> str:
    took = "" if shown["duration_ms"] is None else duration(shown["duration_ms"])
    cells = [
        f"{shown['sequence']:>{number},}",
        aligned("  " * depth + spaced(shown["kind"]), _KIND),
        aligned(shown["what"], _WHAT),
        aligned(took, _TOOK, to_right=True),
        shown["call"],
    ]
    return "  ".join(cells).rstrip()


def _what(action: dict[str, Any]) -> str:
    if deleted := action.get("deleted"):
        return shortened(tombstone(deleted), _WHAT)
    label = action["tool"] or action["name"] or action["role"] or ""
    if action["error"] is not None:
        return shortened(
            f"{label} error: {action['error']['message'] or action['error']['type']}".strip(), _WHAT
        )
    content = action["input"] if action["input"] is not None else action["output"]
    text = (
        content
        if isinstance(content, str)
        else ""
        if content is None
        else json.dumps(content, ensure_ascii=False)
    )
    return shortened(f"{label}: {text}" if label and text else label or text, _WHAT)


def _call(action: dict[str, Any]) -> str:
    return f"{action['model']}, {money_or_unknown(action['cost_usd'])}" if action["model"] else ""

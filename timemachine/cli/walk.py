"""A session's actions, one on a line. Pure."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from timemachine.base.wording import money_or_unknown, spaced
from timemachine.cli.table import aligned
from timemachine.cli.wording import duration, shortened, tombstone

_KIND, _WHAT, _TOOK = 17, 64, 10
_DEEPEST = 3


def action_lines(actions: Iterable[dict[str, Any]], *, last: int) -> Iterator[str]:
    """Each action with its number, kind, content, duration, model and cost; children stand under their parents, indented."""
    depths: dict[Any, int] = {}
    number = max(len(f"{last:,}"), 1)
    for action in actions:
        depth = min(depths.get(action["parent"], -1) + 1, _DEEPEST) if action["parent"] is not None else 0
        depths[action["sequence"]] = depths[action["id"]] = depth
        cells = [
            f"{action['sequence']:>{number},}",
            aligned("  " * depth + spaced(action["kind"]), _KIND),
            aligned(_what(action), _WHAT),
            aligned(
                "" if action["duration_ms"] is None else duration(action["duration_ms"]), _TOOK, to_right=True
            ),
            _call(action),
        ]
        yield "  ".join(cells).rstrip()


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

"""Verdicts on an answer in words. Those of `other_tool` tell what was called: fewer calls, more calls, or other tools."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from timemachine.core.pure.numbers import spaced

OTHER_TOOL: Final = "other_tool"


def verdict_in_words(verdict: str, evidence: Mapping[str, Any] | None) -> str:
    """Return a verdict in words: `fewer calls` if the new answer lacks calls and makes no others, `more calls` if it makes
    others and lacks none."""
    recorded, new = _called(evidence)
    if verdict != OTHER_TOOL or bool(recorded) is bool(new):
        return spaced(verdict)
    return "fewer calls" if recorded else "more calls"


def calls_on_one_side(
    evidence: Mapping[str, Any] | None, recorded: str = "in the recording", new: str = "in the new answer"
) -> str:
    """Return which tools only one of two answers calls: `Bash ×2, Read only in the recording`. Empty if that is not known."""
    sides = zip(_called(evidence), (recorded, new), strict=True)
    return ", ".join(f"{each_once(names)} only {where}" for names, where in sides if names)


def each_once(names: Iterable[str]) -> str:
    """Return names, each once, with how often it occurs: `Bash ×2, Read`."""
    counts = Counter(names)
    return ", ".join(name if times == 1 else f"{name} ×{times:,}" for name, times in counts.items())


def _called(evidence: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    found = evidence or {}
    return found.get("only_recorded") or [], found.get("only_new") or []

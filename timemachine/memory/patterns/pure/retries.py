"""Decide whether a tool call retries a failed one. Pure."""

from collections.abc import Mapping
from typing import Any, Final

MOSTLY: Final = 0.5
"""A retry with changed arguments has more than this share of the arguments in common."""


def changed_between(failed: Any, later: Any) -> tuple[str, ...] | None:
    """Return the names of the arguments that a retry changed (empty if none), or None if it is another call.

    It is a retry with changes if both calls name their arguments and more than half of them are equal. A shell
    takes one argument, so only the same command is a retry.
    """
    if failed == later:
        return () if failed is not None else None
    if not isinstance(failed, Mapping) or not isinstance(later, Mapping):
        return None
    names = [*failed, *(name for name in later if name not in failed)]
    changed = tuple(name for name in names if _differs(failed, later, name))
    return changed if len(names) - len(changed) > MOSTLY * len(names) else None


def _differs(failed: Mapping[str, Any], later: Mapping[str, Any], name: str) -> bool:
    return (name in failed) != (name in later) or failed.get(name) != later.get(name)

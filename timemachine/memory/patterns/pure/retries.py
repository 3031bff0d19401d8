"""Whether a call of a tool is a failed one made again. Pure."""

from collections.abc import Mapping
from typing import Any, Final

MOSTLY: Final = 0.5
"""More than this part of the arguments is the same in a call that is made again with others."""


def changed_between(failed: Any, again: Any) -> tuple[str, ...] | None:
    """The names of the arguments that another call of the same tool changed, none where it changed none; None where it is another call.

    It is the same call with others where both name their arguments and more than half of them are the same: of a shell, which takes one, only
    the same command is the same call.
    """
    if failed == again:
        return () if failed is not None else None
    if not isinstance(failed, Mapping) or not isinstance(again, Mapping):
        return None
    names = [*failed, *(name for name in again if name not in failed)]
    changed = tuple(name for name in names if _differs(failed, again, name))
    return changed if len(names) - len(changed) > MOSTLY * len(names) else None


def _differs(failed: Mapping[str, Any], again: Mapping[str, Any], name: str) -> bool:
    return (name in failed) != (name in again) or failed.get(name) != again.get(name)

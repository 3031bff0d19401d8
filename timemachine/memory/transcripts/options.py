"""Parse the options of a transcript."""

from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.transcripts.transcript import TurnFilter
from timemachine.recording.sessions.pure.vocabulary import KINDS, ROLES, SAME_ROLE, SIGNIFICANCES

MOST_TOKENS: Final = 2**31 - 1


def turn_filter(
    *,
    significance: str = "",
    role: str = "",
    kind: str = "",
    tag: str = "",
    min_importance: str | float | None = None,
    budget: str | int | None = None,
) -> TurnFilter:
    """Return the filter for these options: lists separated by commas, and numbers. Raises `InvalidInput`, which
    names the field.

    Synonyms of a role, such as `assistant`, become the role that is recorded.
    """
    return TurnFilter(
        significance=_known("significance", significance, SIGNIFICANCES),
        role=_known("role", role, ROLES, SAME_ROLE),
        kind=_known("kind", kind, KINDS),
        tag=_apart(tag),
        min_importance=_importance(min_importance),
        budget=_budget(budget),
    )


def _known(
    field: str, given: str, known: tuple[str, ...], same: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(same.get(word, word) for word in _apart(given)))
    for word in found:
        if word not in known:
            raise InvalidInput(
                f"`{field}` cannot be {word[:80]!r}; it must be one or more of {', '.join(known)}, separated by commas.",
                code="invalid_field",
                field=field,
            )
    return found


def _apart(given: str) -> tuple[str, ...]:
    return tuple(word for each in given.split(",") if (word := each.strip()))


def _importance(given: str | float | None) -> float | None:
    if given in {None, ""}:
        return None
    try:
        found = float(str(given))
    except ValueError:
        found = float("nan")
    if not isfinite(found) or not 0 <= found <= 1:
        raise InvalidInput(
            f"{str(given)[:40]!r} is not an importance. Enter a number from 0 to 1, for example 0.9.",
            code="invalid_field",
            field="min_importance",
        )
    return found


def _budget(given: str | int | None) -> int | None:
    if given in {None, ""}:
        return None
    text = str(given).replace(",", "").strip()
    found = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_TOKENS)) else 0
    if not 1 <= found <= MOST_TOKENS:
        raise InvalidInput(
            f"{str(given)[:40]!r} is not a number of tokens. Enter a whole number from 1 to {MOST_TOKENS:,}, for example 4000.",
            code="invalid_field",
            field="budget",
        )
    return found

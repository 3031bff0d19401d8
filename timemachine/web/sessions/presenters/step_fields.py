"""The recorded fields in which two steps differ: numbers with their difference, JSON by its structure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure import safe_text
from timemachine.core.pure.numbers import UNKNOWN, money, spaced
from timemachine.llm.schemas import TOKENS
from timemachine.recording.sessions.models import Action
from timemachine.web import formatting
from timemachine.web.differences import Differing, differing

LONGEST: Final = 500
NAMES: Final = (
    "kind",
    "name",
    "tool",
    "role",
    "layer",
    "agent",
    "model",
    "error_type",
    "error_message",
    "significance",
    "importance",
    "iteration",
    "cached",
)
_GROUNDING_FIELDS: Final = ("label", "score", "grounded_sentences", "sentence_count", "has_warning")
_DRAWN: Final = ("curve", "as_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A recorded field or a total that differs: both values as text, None if not recorded, and for numbers the difference."""

    name: str
    left: str | None
    right: str | None
    difference: str = ""


def fields(left: Action, right: Action) -> list[Field]:
    """Return the fields with a single value in which two steps differ. Ids and times are not compared: they always differ."""
    return [*_named(left, right), *_figures(left, right)]


def structures(left: Action, right: Action) -> Differing | None:
    """Return how parameters, retrieval, grounding, prices and tags differ; None if they are too long to compare here."""
    found = differing(_structure(left), _structure(right))
    return None if found is None else replace(found, distinctions=())  # numbers and names are for texts


def _named(left: Action, right: Action) -> Iterator[Field]:
    for name in NAMES:
        one, other = getattr(left, name), getattr(right, name)
        if one != other:
            yield Field(name=spaced(name).capitalize(), left=_words(name, one), right=_words(name, other))


def _words(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    words = spaced(value) if name == "kind" else f"{value}"
    return safe_text.shown(words if len(words) <= LONGEST else words[:LONGEST] + "…")


def _figures(left: Action, right: Action) -> Iterator[Field]:
    yield from _figure("Duration", left.duration_ms, right.duration_ms, formatting.duration)
    for name in TOKENS:
        yield from _figure(spaced(name).capitalize(), getattr(left, name), getattr(right, name), grouped)
    yield from _cost(left, right)
    yield from _figure("Saved", left.saved_usd, right.saved_usd, money)


def _figure[N: (int, float, Decimal)](
    name: str, left: N | None, right: N | None, words: Callable[[N], str]
) -> Iterator[Field]:
    if left == right:
        return
    yield Field(
        name=name,
        left=None if left is None else words(left),
        right=None if right is None else words(right),
        difference="" if left is None or right is None else signed(right - left, words),
    )


def signed[N: (int, float, Decimal)](difference: N, words: Callable[[N], str]) -> str:
    """Return a difference with its sign; ±0 for equal numbers."""
    if not difference:
        return "±0"
    return f"{'+' if difference > 0 else '−'}{words(abs(difference))}"


def _cost(left: Action, right: Action) -> Iterator[Field]:
    """Return the cost as text; a call with unknown cost is not free."""
    one, other = (
        UNKNOWN if each.cost_usd is None and each.model is not None else each.cost_usd
        for each in (left, right)
    )
    if one == other:
        return
    if isinstance(one, str) or isinstance(other, str):
        known = [each if isinstance(each, str | None) else money(each) for each in (one, other)]
        yield Field(name="Cost", left=known[0], right=known[1])
    else:
        yield from _figure("Cost", one, other, money)


def grouped(number: int) -> str:
    """`48,113`."""
    return f"{number:,}"


def _structure(action: Action) -> dict[str, object]:
    """Return the recorded fields that are compared by their structure."""
    found = {
        "parameters": action.parameters,
        "retrieval": _without(action.retrieval, _DRAWN),
        "grounding": _grounding_result(action.grounding),
        "prices": _without(action.prices, ("at",)),
        "tags": action.tags or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _grounding_result(grounding: Any) -> Any:
    """Return the result of a grounding without its sentences, which are those of the answer."""
    if not isinstance(grounding, Mapping):
        return grounding
    return {name: grounding[name] for name in _GROUNDING_FIELDS if name in grounding}


def _without(recorded: Any, left_out: tuple[str, ...]) -> Any:
    if not isinstance(recorded, Mapping):
        return recorded
    return {name: value for name, value in recorded.items() if name not in left_out}

"""The settings that a sweep tries: every combination of modes, top-k, cut-offs and embedding models."""

from collections.abc import Sequence
from itertools import product
from typing import Final, Literal

from pydantic import ConfigDict, StrictBool

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.schemas import Strict
from timemachine.replay.runs.pure.options import LIMITS, MODES, Mode

MOST_SETTINGS: Final = 200
MOST_FINDS: Final = 20_000


class Setting(Strict):
    """One way to retrieve passages; `embedding_model` is None for a lexical find, which uses none."""

    model_config = ConfigDict(frozen=True)

    mode: str
    top_k: int
    adaptive: StrictBool
    embedding_model: str | None = None


class Grid(Strict):
    """The values to combine; `as_of` is the collection as it was at each step, or `now`.

    Without `embedding_models`, the collection's own is used.
    """

    model_config = ConfigDict(frozen=True)

    modes: Sequence[Mode] = MODES
    top_k: Sequence[int] = (4, 8, 16)
    adaptive: Sequence[StrictBool] = (False, True)
    embedding_models: Sequence[str] = ()
    as_of: Literal["recorded", "now"] = "recorded"


def settings_of(grid: Grid) -> list[Setting]:
    """Return every combination once; a lexical find is tried once for all embedding models. Raises `InvalidInput`."""
    _check(grid)
    found = [
        Setting(
            mode=mode, top_k=top_k, adaptive=adaptive, embedding_model=None if mode == "lexical" else model
        )
        for mode, model, adaptive, top_k in product(
            grid.modes, grid.embedding_models or (None,), grid.adaptive, grid.top_k
        )
    ]
    settings = list(dict.fromkeys(found))
    if len(settings) > MOST_SETTINGS:
        raise _wrong(
            f"That would be {len(settings):,} settings, and a sweep can have at most {MOST_SETTINGS}.",
            "top_k",
        )
    return settings


def check_size(settings: int, steps: int) -> None:
    """Raise `InvalidInput` if the sweep would make too many finds, or none."""
    if not steps:
        raise InvalidInput("This session has no find or ask of its own to repeat.", code="nothing_to_replay")
    if settings * steps > MOST_FINDS:
        raise _wrong(
            f"{settings:,} settings at {steps:,} steps are {settings * steps:,} finds; a sweep can make at "
            f"most {MOST_FINDS:,}. Choose fewer settings.",
            "top_k",
        )


def _check(grid: Grid) -> None:
    for name in ("modes", "top_k", "adaptive"):
        if not getattr(grid, name):
            raise _wrong(f"`{name}` is empty. Name at least one value.", name)
    least, most = LIMITS["top_k"]
    if any(not least <= top_k <= most for top_k in grid.top_k):
        raise _wrong(f"Every `top_k` must be between {least} and {most:,}.", "top_k")


def _wrong(message: str, field: str) -> InvalidInput:
    return InvalidInput(message, code="invalid_field", field=field)

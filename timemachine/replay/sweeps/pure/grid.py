"""The settings that a sweep tries: every combination of modes, top-k, cut-offs and embedding models. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput

MODES: Final = ("hybrid", "semantic", "lexical")
MOMENTS: Final = ("recorded", "now")
LARGEST_TOP_K: Final = 1_000
MOST_SETTINGS: Final = 200
MOST_FINDS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One way to look for passages; `embedding_model` None in a lexical find, which uses none."""

    mode: str
    top_k: int
    adaptive: bool
    embedding_model: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is kept with its row."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What is combined with what; `as_of` is the collection as it was at each step, or `now`."""

    modes: Sequence[str] = MODES
    top_k: Sequence[int] = (4, 8, 16)
    adaptive: Sequence[bool] = (False, True)
    embedding_models: Sequence[str] = ()
    as_of: str = "recorded"

    def as_json(self) -> dict[str, Any]:
        """As it is kept with its sweep."""
        return {name: list(value) if name != "as_of" else value for name, value in asdict(self).items()}


def settings_of(grid: Grid) -> list[Setting]:
    """Every combination, once; a lexical find is tried once for all embedding models. Raises `InvalidInput`."""
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
            f"These are {len(settings):,} settings, and a sweep has at most {MOST_SETTINGS}.", "top_k"
        )
    return settings


def check_size(settings: int, steps: int) -> None:
    """Raise `InvalidInput` for more finds than a sweep makes, or none."""
    if not steps:
        raise InvalidInput(
            "This session has no find or ask whose passages could be looked for.", code="nothing_to_replay"
        )
    if settings * steps > MOST_FINDS:
        raise _wrong(
            f"{settings:,} settings at {steps:,} steps are {settings * steps:,} finds, and a sweep makes at most "
            f"{MOST_FINDS:,}; choose fewer settings.",
            "top_k",
        )


def setting_from(kept: Mapping[str, Any]) -> Setting:
    """The setting that `as_json` kept."""
    return Setting(**kept)


def _check(grid: Grid) -> None:
    for name in ("modes", "top_k", "adaptive"):
        if not getattr(grid, name):
            raise _wrong(f"`{name}` is empty; name at least one to try.", name)
    unknown = [mode for mode in grid.modes if mode not in MODES]
    if unknown:
        raise _wrong(f"`modes` has {unknown[0]!r}; there are {', '.join(MODES)}.", "modes")
    if any(not 1 <= top_k <= LARGEST_TOP_K for top_k in grid.top_k):
        raise _wrong(f"Every `top_k` must lie between 1 and {LARGEST_TOP_K:,}.", "top_k")
    if grid.as_of not in MOMENTS:
        raise _wrong("`as_of` is `recorded` or `now`.", "as_of")


def _wrong(message: str, field: str) -> InvalidInput:
    return InvalidInput(message, code="invalid_field", field=field)

"""The query that a step of a replay looks for passages with: as it was recorded, but for what the options change. Pure."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.replay.runs.pure.options import ReplayOptions

USUAL_MODE: Final = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """How passages are looked for; None leaves it to a find's own default."""

    mode: str
    top_k: int | None
    adaptive: bool
    min_score: float | None
    relative: float | None
    cliff: float | None
    embedding_model: str | None


def looking(
    recorded: Mapping[str, Any] | None, options: ReplayOptions, with_vectors: Collection[str]
) -> Looking:
    """How a step that `recorded` such a retrieval is looked for again; `with_vectors` are the models that can be used.

    A recorded floor or threshold holds as long as mode and cut-off are the recorded ones: on another scale it means something else.
    "As it was recorded" also means by the embedding model of then, where the collection still has vectors of it.
    """
    kept = recorded or {}
    mode = options.search_mode or _word(kept.get("mode")) or USUAL_MODE
    was_adaptive = kept.get("adaptive") is True
    adaptive = was_adaptive if options.adaptive is None else options.adaptive
    same_scale = mode == kept.get("mode") and adaptive == was_adaptive
    shares = _mapping(kept.get("thresholds")) if adaptive and same_scale else {}
    return Looking(
        mode=mode,
        top_k=options.top_k or _count(kept.get("top_k")),
        adaptive=adaptive,
        min_score=_first(options.min_score, _number(kept.get("min_score")) if same_scale else None),
        relative=_first(options.relative, _share(shares.get("relative"))) if adaptive else None,
        cliff=_first(options.cliff, _share(shares.get("cliff"))) if adaptive else None,
        embedding_model=None if mode == "lexical" else _model(kept, options, with_vectors),
    )


def _model(kept: Mapping[str, Any], options: ReplayOptions, with_vectors: Collection[str]) -> str | None:
    if options.embedding_model is not None:
        return options.embedding_model
    recorded = kept.get("embedding_model")
    return recorded if options.as_of == "recorded" and recorded in with_vectors else None


def _first(chosen: float | None, recorded: float | None) -> float | None:
    return recorded if chosen is None else chosen


def _number(found: object) -> float | None:
    is_number = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    return float(found) if is_number else None  # type: ignore[arg-type]


def _share(found: object) -> float | None:
    number = _number(found)
    return number if number is not None and 0 <= number <= 1 else None


def _count(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _word(found: object) -> str | None:
    return found if isinstance(found, str) else None


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}

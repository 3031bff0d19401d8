"""The search that a step of a replay repeats: the recorded settings with the options applied."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from timemachine.replay.runs.pure.options import ReplayOptions

USUAL_MODE: Final = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """How passages are retrieved; None means the default of a find."""

    mode: str
    top_k: int | None
    adaptive: bool
    min_score: float | None
    relative: float | None
    cliff: float | None
    embedding_model: str | None


def retrieval_settings(
    recorded: Mapping[str, Any] | None, options: ReplayOptions, with_vectors: Collection[str]
) -> RetrievalSettings:
    """Return the settings for repeating a recorded retrieval; `with_vectors` are the embedding models that can be used.

    A recorded floor or threshold applies only with the recorded mode and cut-off, because scores of others
    have another scale. "As recorded" includes the recorded embedding model if the collection still has its
    vectors.
    """
    stored = recorded or {}
    mode = options.search_mode or _word(stored.get("mode")) or USUAL_MODE
    was_adaptive = stored.get("adaptive") is True
    adaptive = was_adaptive if options.adaptive is None else options.adaptive
    same_scale = mode == stored.get("mode") and adaptive == was_adaptive
    shares = _mapping(stored.get("thresholds")) if adaptive and same_scale else {}
    return RetrievalSettings(
        mode=mode,
        top_k=options.top_k or _count(stored.get("top_k")),
        adaptive=adaptive,
        min_score=_first(options.min_score, _number(stored.get("min_score")) if same_scale else None),
        relative=_first(options.relative, _share(shares.get("relative"))) if adaptive else None,
        cliff=_first(options.cliff, _share(shares.get("cliff"))) if adaptive else None,
        embedding_model=None if mode == "lexical" else _model(stored, options, with_vectors),
    )


def _model(stored: Mapping[str, Any], options: ReplayOptions, with_vectors: Collection[str]) -> str | None:
    if options.embedding_model is not None:
        return options.embedding_model
    recorded = stored.get("embedding_model")
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

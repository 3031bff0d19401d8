"""Repeating the search of a step, and comparing its hits with the recorded ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.knowledge import find as finding
from timemachine.knowledge.find import FindResult, Query
from timemachine.knowledge.models import Collection
from timemachine.knowledge.pure.cutoff import POOL
from timemachine.knowledge.queries import collection_of
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.recording.sessions.models import Action, Hit
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.step_schemas import RetrievalCompared
from timemachine.text.pure.difference.ranking import Ranked, compare_rankings

USUAL_MODE: Final = "hybrid"


def repeat_search(
    action: Action, hits: Sequence[Hit], options: ReplayOptions
) -> tuple[FindResult, RetrievalCompared]:
    """Return what the step's query finds with these options, and how that differs from its recorded hits.

    Raises: `InvalidInput` if its query was not recorded, `NotFound` if its collection was deleted, and whatever a find raises.
    """
    collection = searched_collection(action, hits)
    with_vectors = models_with_vectors(collection)
    findings = finding.find(collection, query_of(action, options, with_vectors))
    kept = len(findings.hits) if findings.query.adaptive else findings.query.top_k
    depth = max(kept, len(hits))
    compared = compare_rankings(
        [Ranked(key=recorded_key(hit), rank=hit.rank) for hit in hits],
        [Ranked(key=hit.frame, rank=hit.rank) for hit in findings.hits],
        depth,
    )
    return findings, RetrievalCompared.of(
        compared,
        mode=findings.query.mode,
        top_k=findings.query.top_k,
        adaptive=findings.query.adaptive,
        pool=findings.query.top_k if findings.query.adaptive and _has_pool(options) else None,
        thresholds=findings.thresholds.as_json() if findings.thresholds else None,
        min_score=findings.query.min_score,
        cut_by=findings.cut_by,
        curve=findings.curve.as_json(),
        below=findings.below.as_json() if findings.below else None,
        below_needs=findings.below_needs,
        as_of=findings.as_of,
        embedding_model=findings.embedding_model,
        semantic_search=findings.semantic_search,
        not_embedded=findings.not_embedded,
        found_hits=len(findings.hits),
        recorded_hits=len(hits),
    )


def searched_collection(action: Action, hits: Sequence[Hit]) -> Collection:
    """Return the collection that the step searched: its own, if it named one, else that of its session.

    Steps of earlier versions do not name it; then it is that of a frame that they found.

    Raises: `NotFound` if it was deleted.
    """
    named, own = (action.retrieval or {}).get("collection"), action.session.collection
    if named is not None:
        return own if own is not None and own.name == named else collection_of(action.session.project, named)
    frame = next((hit.stored_frame for hit in hits if hit.stored_frame is not None), None)
    found = own if frame is None or (own and own.id == frame.collection_id) else frame.collection
    if found is None:
        raise NotFound(
            "The collection that this step searched was not recorded.", code="collection_not_recorded"
        )
    return found


def searched_in(collection: Collection, action: Action) -> bool:
    """Return whether the step searched this collection of its project, or can have, because none was recorded."""
    named = (action.retrieval or {}).get("collection")
    return named is None or named == collection.name


def query_of(action: Action, options: ReplayOptions, with_vectors: Sequence[str]) -> Query:
    """Return the recorded query with the options applied; what was not recorded is the default of `find`.

    `with_vectors` are the embedding models that the collection can be searched with.
    """
    question = options.question or frozen.question_of(action)
    if question is None:
        raise InvalidInput("The query of this step was not recorded as text.", code="question_not_recorded")
    query = repeated_query(question, action.retrieval, options, with_vectors)
    return replace(query, as_of=moment_of(action)) if options.as_of == "recorded" else query


def repeated_query(
    text: str, recorded: Mapping[str, Any] | None, options: ReplayOptions, with_vectors: Sequence[str]
) -> Query:
    """Return the query that repeats a recorded retrieval; `with_vectors` are the embedding models that can be used.

    A recorded floor or threshold applies only with the recorded mode and cut-off, because scores of others
    have another scale. "As recorded" includes the recorded embedding model if the collection still has its
    vectors.
    """
    stored = recorded or {}
    was_mode, was_adaptive, thresholds = (
        stored.get("mode"),
        stored.get("adaptive") is True,
        stored.get("thresholds"),
    )
    mode = options.search_mode or (isinstance(was_mode, str) and was_mode) or USUAL_MODE
    adaptive = was_adaptive if options.adaptive is None else options.adaptive
    same_scale = mode == was_mode and adaptive == was_adaptive
    shares = thresholds if adaptive and same_scale and isinstance(thresholds, Mapping) else {}
    return Query(
        text=text,
        mode=mode,
        top_k=_most(stored, options, adaptive=adaptive),
        adaptive=adaptive,
        min_score=_first(options.min_score, _number(stored.get("min_score")) if same_scale else None),
        relative=_first(options.relative, _share(shares.get("relative"))) if adaptive else None,
        cliff=_first(options.cliff, _share(shares.get("cliff"))) if adaptive else None,
        embedding_model=None if mode == "lexical" else _model(stored, options, with_vectors),
    )


def moment_of(action: Action) -> datetime:
    """Return the time at which the step searched its collection; if that was not recorded, when the step was recorded."""
    recorded = (action.retrieval or {}).get("as_of")
    return parse_time(recorded) if recorded else action.recorded_at


def recorded_key(hit: Hit) -> int | str:
    """Return what identifies the frame of a hit: its number in the collection, whatever its version, or else its hash or rank."""
    return hit.frame if hit.frame is not None else hit.sha256 or f"rank {hit.rank}"


def _most(stored: Mapping[str, Any], options: ReplayOptions, *, adaptive: bool) -> int:
    """Return how many passages to find at most. An adaptive cut that is chosen looks beyond the recorded top-k."""
    if adaptive and _has_pool(options):
        return min(options.pool or POOL, options.top_k or finding.LARGEST_TOP_K)
    return options.top_k or _count(stored.get("top_k")) or finding.DEFAULT_TOP_K


def _has_pool(options: ReplayOptions) -> bool:
    return options.adaptive is True or options.pool is not None


def _model(stored: Mapping[str, Any], options: ReplayOptions, with_vectors: Sequence[str]) -> str | None:
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

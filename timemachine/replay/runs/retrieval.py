"""Repeating the search of a step, and comparing its hits with the recorded ones."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from timemachine.core.pure.clock import parse_time, written
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge import find as finding
from timemachine.knowledge.find import FindResult, Query
from timemachine.knowledge.vectors import models_with_vectors
from timemachine.recording.sessions.models import Action, Hit
from timemachine.replay.runs import frozen
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.query import retrieval_settings
from timemachine.text.pure.difference.ranking import Ranked, RankingDiff, compare_rankings


def repeat_search(
    action: Action, hits: Sequence[Hit], options: ReplayOptions
) -> tuple[FindResult, dict[str, Any]]:
    """Return what the step's query finds with these options, and how that differs from its recorded hits.

    Raises: `InvalidInput` if its query was not recorded, and whatever a find raises.
    """
    findings = finding.find(action.session.collection, query_of(action, options))  # type: ignore[arg-type]
    depth = max(findings.query.top_k, len(hits))
    compared = compare_rankings(
        [Ranked(key=recorded_key(hit), rank=hit.rank) for hit in hits],
        [Ranked(key=hit.frame, rank=hit.rank) for hit in findings.hits],
        depth,
    )
    return findings, {**diff_json(compared), **_settings_json(findings), "recorded_hits": len(hits)}


def query_of(action: Action, options: ReplayOptions, with_vectors: Sequence[str] | None = None) -> Query:
    """Return the recorded query with the options applied; what was not recorded is the default of `find`.

    `with_vectors` are the embedding models that the collection can be searched with, if they are already
    known.
    """
    question = options.question or frozen.question_of(action)
    if question is None:
        raise InvalidInput("The query of this step was not recorded as text.", code="question_not_recorded")
    if with_vectors is None:
        with_vectors = models_with_vectors(action.session.collection)  # type: ignore[arg-type]
    how = retrieval_settings(action.retrieval, options, with_vectors)
    return Query(
        text=question,
        mode=how.mode,
        top_k=how.top_k or finding.DEFAULT_TOP_K,
        adaptive=how.adaptive,
        min_score=how.min_score,
        relative=how.relative,
        cliff=how.cliff,
        as_of=moment_of(action) if options.as_of == "recorded" else None,
        embedding_model=how.embedding_model,
    )


def moment_of(action: Action) -> datetime:
    """Return the time at which the step searched its collection; if that was not recorded, when the step was recorded."""
    kept = (action.retrieval or {}).get("as_of")
    return parse_time(kept) if kept else action.recorded_at


def recorded_key(hit: Hit) -> int | str:
    """Return what identifies the frame of a hit: its number in the collection, whatever its version, or else its hash or rank."""
    return hit.frame if hit.frame is not None else hit.sha256 or f"rank {hit.rank}"


def diff_json(compared: RankingDiff) -> dict[str, Any]:
    """Return the comparison of two rankings as it is stored with a step.

    `k` is the compared depth, `persistence` the p of the rank-biased overlap. `rank_biased_depth` is the
    length of the shorter list, below which the rank-biased overlap shows nothing; null for lists of equal
    length.
    """
    return {
        "verdict": compared.verdict,
        "gained": list(compared.gained),
        "lost": list(compared.lost),
        "moved": [{"frame": move.key, "from": move.old_rank, "to": move.new_rank} for move in compared.moved],
        "k": compared.k,
        "overlap": compared.overlap,
        "rank_biased_overlap": compared.rank_biased_overlap,
        "rank_biased_depth": compared.depth,
        "persistence": compared.persistence,
    }


def _settings_json(findings: FindResult) -> dict[str, Any]:
    return {
        "mode": findings.query.mode,
        "top_k": findings.query.top_k,
        "adaptive": findings.query.adaptive,
        "thresholds": findings.thresholds.as_json() if findings.thresholds else None,
        "min_score": findings.query.min_score,
        "cut_by": findings.cut_by,
        "curve": findings.curve.as_json(),
        "below": findings.below.as_json() if findings.below else None,
        "as_of": written(findings.as_of),
        "embedding_model": findings.embedding_model,
        "semantic_search": findings.semantic_search,
        "not_embedded": findings.not_embedded,
        "found_hits": len(findings.hits),
    }

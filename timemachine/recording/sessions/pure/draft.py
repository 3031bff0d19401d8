"""An action before it is recorded: what the API, the recorder and every importer hand to `append`. Pure.

None means "not recorded", everywhere; nothing here has a default that somebody could take for a recorded value.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call. `input_tokens` counts all that the model read, cached tokens included."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitDraft:
    """One passage that a find returned, frozen as it was: `rank` from 1; `sha256` is over the UTF-8 bytes of `text`.

    `matched` is why it was found: `terms` and `identifiers`, each with its part of the lexical score. `stored_frame` is the frame's row where the passage came from a collection of ours.
    `unhashed` is a passage whose hash was erased: none is made of what stands in its place.
    """

    rank: int
    score: float | None = None
    scores: dict[str, float] | None = None
    frame: int | str | None = None
    version: int | None = None
    title: str | None = None
    uri: str | None = None
    metadata: dict[str, Any] | None = None
    sha256: str | None = None
    text: str | None = None
    matched: dict[str, Any] | None = None
    stored_frame: int | None = None
    unhashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDraft:
    """How passages were found, and which.

    `curve` is what the cut-off looked at (`leg`, `scores` best first, how many were `kept`), `below` the first frame that it
    left out, `semantic_search` how vectors were searched (`exact` or `hnsw`). `thresholds` are those of an adaptive cut (`relative`,
    `cliff`, `floor`), `min_score` the floor that was asked for.
    """

    mode: str | None = None
    top_k: int | None = None
    adaptive: bool | None = None
    cut_by: str | None = None
    as_of: datetime | None = None
    embedding_model: str | None = None
    semantic_search: str | None = None
    curve: dict[str, Any] | None = None
    below: dict[str, Any] | None = None
    not_embedded: int | None = None
    thresholds: dict[str, Any] | None = None
    min_score: float | None = None
    hits: tuple[HitDraft, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDraft:
    """One action to be recorded. Times are aware; money is US dollars; durations are milliseconds.

    `parent` is the client id or the sequence of another action of the same session, which may arrive later.
    `cached_from` says which ask an answer from a cache was first given to: `session`, `sequence`, `at`, `call_ms`, `usage`.
    `source` is the record of another tool that the action was made from, whole.
    """

    kind: str
    id: str | None = None
    layer: str | None = None
    role: str | None = None
    agent: str | None = None
    name: str | None = None
    tool: str | None = None
    call_id: str | None = None
    parent: str | int | None = None
    significance: str | None = None
    importance: float | None = None
    iteration: int | None = None
    tags: tuple[str, ...] = ()
    started_at: datetime | None = None
    duration_ms: float | None = None
    input: Any = None
    output: Any = None
    error_type: str | None = None
    error_message: str | None = None
    model: str | None = None
    parameters: dict[str, Any] | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    prices: dict[str, Any] | None = None
    cached: bool | None = None
    saved_usd: Decimal | None = None
    cached_from: dict[str, Any] | None = None
    grounding: dict[str, Any] | None = None
    retrieval: RetrievalDraft | None = None
    source: Any = None

"""An action before it is recorded, as the API, the recorder and importers pass it to `append`.

None always means "not recorded"; no default here could be mistaken for a recorded value.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from timemachine.core.pure.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call. `input_tokens` includes cached tokens."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitDraft:
    """A passage that a find returned, as it was. `rank` counts from 1; `sha256` is the hash of the UTF-8 bytes of `text`.

    `matched` shows why it was found: `terms` and `identifiers` with their parts of the lexical score. `stored_frame`
    is the frame's row if the passage came from a collection here. `unhashed` passages had their hash erased; none is
    computed for the text that replaces them.
    """

    rank: int
    score: float | None = None
    scores: dict[str, float] | None = None
    frame: int | str | None = None
    version: int | None = None
    title: str | None = None
    uri: str | None = None
    metadata: JsonObject | None = None
    sha256: str | None = None
    text: str | None = None
    matched: JsonObject | None = None
    stored_frame: int | None = None
    unhashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalDraft:
    """How passages were found, and which. `collection` is the name of the one that was searched.

    `curve` is what the cut-off examined (`leg`, `scores` best first, how many were `kept`), `below` the first frame
    that it left out, `semantic_search` how vectors were searched (`exact` or `hnsw`). `thresholds` are those of an
    adaptive cut (`relative`, `cliff`, `floor`), `min_score` the requested minimum.
    """

    collection: str | None = None
    mode: str | None = None
    top_k: int | None = None
    adaptive: bool | None = None
    cut_by: str | None = None
    as_of: datetime | None = None
    embedding_model: str | None = None
    semantic_search: str | None = None
    curve: JsonObject | None = None
    below: JsonObject | None = None
    not_embedded: int | None = None
    thresholds: JsonObject | None = None
    min_score: float | None = None
    hits: tuple[HitDraft, ...] = ()


def copy_of(session: str | None = None, step: str | int | None = None) -> JsonObject:
    """Return the `copied_from` of a copied action: the key of the session in which it happened, and its client id or
    sequence there. Both are None if unknown.
    """
    return {"session": session, "step": step}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDraft:
    """An action to be recorded. Times are aware, money is US dollars, durations are milliseconds.

    `parent` is the client id or sequence of another action of the session, which may arrive later. `cached_from`
    names the ask that a cached answer was first given to: `session`, `sequence`, `at`, `call_ms`, `usage`. `source`
    is the complete record of another tool that the action was made from.

    `copied_from` says that the action is context copied from an earlier session or file: it happened there, not here.
    `copy_of` makes it.
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
    copied_from: JsonObject | None = None
    significance: str | None = None
    importance: float | None = None
    iteration: int | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject | None = None
    started_at: datetime | None = None
    duration_ms: float | None = None
    input: Any = None
    output: Any = None
    error_type: str | None = None
    error_message: str | None = None
    model: str | None = None
    parameters: JsonObject | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    prices: JsonObject | None = None
    cached: bool | None = None
    saved_usd: Decimal | None = None
    cached_from: JsonObject | None = None
    grounding: JsonObject | None = None
    retrieval: RetrievalDraft | None = None
    source: Any = None

"""What a find and an ask answer, what is under way, and how far an answer is grounded."""

from typing import Any, Final, Literal, NotRequired

from timemachine.api.answers.shape import OF_SESSION, Answers, Document, Page, Usage


class Empty(Document):
    why: Literal["no_frames_yet", "no_frames_then", "no_frames_left"]
    message: str
    first_frame_at: str | None


class Matched(Document):
    terms: NotRequired[dict[str, float]]
    identifiers: NotRequired[dict[str, float]]


class FrameFound(Document):
    rank: int
    score: float
    scores: dict[str, float]
    frame: int
    version: int
    title: str
    uri: str
    metadata: dict[str, Any]
    sha256: str
    text: str
    matched: Matched | None


class Curve(Document):
    leg: str
    scores: list[float]
    kept: int


class Below(Document):
    frame: int
    version: int
    title: str | None
    score: float


class Thresholds(Document):
    relative: float
    cliff: float
    floor: float


class _Findings(Document):
    mode: Literal["hybrid", "semantic", "lexical"]
    top_k: int
    adaptive: bool
    cut_by: str
    as_of: str
    embedding_model: str | None
    semantic_search: Literal["exact", "hnsw"] | None
    curve: Curve
    below: Below | None
    not_embedded: int | None
    thresholds: Thresholds | None
    min_score: float | None
    hits: list[FrameFound]


class Found(_Findings):
    empty: Empty | None
    sequence: int | None


class Answered(_Findings):
    answer: str | None
    model: str
    parameters: dict[str, Any]
    finish_reason: str | None
    cut_off: bool | None
    refused: bool | None
    usage: Usage | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    grounding: dict[str, Any] | None
    cached: bool
    saved_usd: float | None
    cached_from: dict[str, Any] | None
    duration_ms: float | None
    empty: Empty | None
    sequence: int | None


class AskUnderWay(Document):
    id: str
    session: str | None
    question: str
    started_at: str
    cancel_wanted: bool


class AsksUnderWay(Page):
    items: list[AskUnderWay]


class CancelWanted(Document):
    id: str
    cancel_wanted: bool


class Unread(Document):
    answer: int
    passages: int


class Sentence(Document):
    text: str
    start: int
    end: int
    score: float | None
    grounded: bool | None
    frame: int | str | None
    reason: Literal["no_support", "number", "name", "negation"] | None
    passage_start: int | None
    passage_end: int | None
    swapped: bool
    partly: bool
    missing: list[str]


class Grounding(Document):
    score: float | None
    label: Literal["HIGH", "MEDIUM", "LOW"] | None
    sentence_count: int
    grounded_sentences: int
    has_warning: bool
    method: str
    unread_characters: Unread
    sentences: list[Sentence]


class Groundings(Page):
    items: list[Grounding]


_JUDGEMENTS: Final = f"{OF_SESSION}/actions/{{sequence}}/judgements"
ANSWERS: Final[Answers] = {
    ("post", f"{OF_SESSION}/find", 200): Found,
    ("post", f"{OF_SESSION}/ask", 200): Answered,
    ("post", "/api/collections/{name}/find", 200): Found,
    ("post", "/api/collections/{name}/ask", 200): Answered,
    ("get", "/api/asks", 200): AsksUnderWay,
    ("post", "/api/asks/{ask_id}/cancel", 200): CancelWanted,
    ("post", "/api/ground", 200): Grounding | Groundings,
    ("post", f"{_JUDGEMENTS}/{{judgement_id}}/cancel", 200): CancelWanted,
}

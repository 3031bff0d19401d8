"""What a search answers: sessions, each with its best steps and why each was found."""

from typing import Annotated, Final, Literal, NotRequired

from pydantic import Field

from timemachine.api.answers.shape import Answers, Document, Page
from timemachine.recording.sessions.pure.vocabulary import Kind, Status


class Passage(Document):
    in_: Annotated[str, Field(alias="in")]
    text: str
    marks: list[list[int]]
    begins: bool
    ends: bool


class LegScores(Document):
    text: NotRequired[float]
    semantic: NotRequired[float]


class StepFound(Document):
    sequence: int
    kind: Kind
    label: str
    name: str | None
    tool: str | None
    agent: str | None
    model: str | None
    failed: bool
    started_at: str | None
    score: float
    scores: LegScores
    found_by: list[Literal["words", "meaning"]]
    passage: Passage | None
    cut: bool
    address: str


class SessionFound(Document):
    id: str
    key: str
    name: str
    agent: str | None
    status: Status
    started_at: str | None


class SessionHits(Document):
    session: SessionFound
    matches: int | None
    more: int
    hits: list[StepFound]


class SearchPage(Page):
    items: list[SessionHits]
    mode: Literal["hybrid", "text", "semantic"]
    embedding_model: str | None
    no_embeddings: str | None
    too_common: bool
    nothing: str | None
    not_indexed: int


ANSWERS: Final[Answers] = {("get", "/api/search", 200): SearchPage}

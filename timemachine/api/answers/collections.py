"""What collections answer: themselves, their frames in every version, what was put, how far they are embedded."""

from typing import Any, Final

from timemachine.api.answers.shape import Answers, Document, Page, Told


class Collection(Document):
    name: str
    frames: int | None
    embedding_model: str
    created_at: str
    created_by: str


class CollectionPage(Page):
    items: list[Collection]


class FrameSource(Document):
    id: str
    name: str
    title: str
    uri: str
    media_type: str
    start: int | None
    end: int | None
    page: Any
    url: str


class Frame(Document):
    frame: int
    version: int
    title: str
    uri: str
    metadata: dict[str, Any]
    sha256: str
    text: str
    valid_from: str
    valid_until: str | None
    ended_by: str | None
    deleted_by: str | None
    put_by: str
    source: FrameSource | None


class FramePage(Page):
    items: list[Frame]


class FramePlace(Document):
    id: str
    name: str
    uri: str
    created_at: str
    version: int
    start: int | None
    end: int | None
    url: str


class UsedIn(Document):
    session: str
    key: str
    name: str
    steps: int
    last_step: int
    last_used_at: str
    url: str


class UsedBy(Document):
    sessions: list[UsedIn]
    count: int
    steps: int
    at_least: bool


class FrameVersions(Page):
    frame: int
    versions: list[Frame]
    files: list[FramePlace]
    used_by: UsedBy


class NotEmbedded(Document):
    count: int
    frame: int
    reason: str


class EmbeddingTarget(Document):
    embedding_model: str
    embedded: int
    refused: NotEmbedded | None
    requested_by: str
    requested_at: str


class EmbeddingTrouble(Told):
    again_at: str | None


class Embedding(Document):
    collection: str
    embedding_model: str
    frames: int
    embedded: int
    refused: NotEmbedded | None
    target: EmbeddingTarget | None
    trouble: EmbeddingTrouble | None


_ONE: Final = "/api/collections/{name}"
ANSWERS: Final[Answers] = {
    ("get", "/api/collections", 200): CollectionPage,
    ("post", "/api/collections", 201): Collection,
    ("get", _ONE, 200): Collection,
    ("get", f"{_ONE}/frames", 200): FramePage,
    ("get", f"{_ONE}/frames/{{number}}", 200): FrameVersions,
    ("delete", f"{_ONE}/frames/{{number}}", 200): Frame,
    ("get", f"{_ONE}/embedding", 200): Embedding,
    ("post", f"{_ONE}/embedding", 202): Embedding,
}

"""What erasures answer: what would go, what went, and where it stands."""

from typing import Final, Literal, NotRequired

from timemachine.api.answers.shape import OF_SESSION, Answers, Counted, Document, Page, ProfileNamed
from timemachine.recording.sessions.schemas import SummaryKept


class FieldCount(Document):
    field: str
    count: int


class PlaceCount(Document):
    place: str
    count: int


class FieldsOf(Document):
    session: int
    session_again: int
    replays: int
    replays_again: int


class Applied(Document):
    steps: int
    first_steps: list[int]
    of_steps: list[FieldCount]
    of_session: list[str]
    counts: list[Counted]
    replay_steps: int
    elsewhere: list[PlaceCount]
    collections: list[str]
    summaries: NotRequired[list[SummaryKept]]
    kept_by_others: int
    fields: int
    fields_of: FieldsOf


class ErasedPlace(Document):
    sequence: int | None
    field: str
    text: str


class Erasure(Document):
    id: str
    session: str
    status: Literal["looking", "found", "erasing", "done"]
    redaction: ProfileNamed | None
    fields: list[str]
    steps: list[int]
    preview: Applied | None
    result: Applied | None
    problem: str | None
    reason: str | None
    requested_by: str
    requested_at: str
    confirmed_by: str | None
    confirmed_at: str | None
    finished_at: str | None
    first: NotRequired[list[ErasedPlace]]


class ErasurePage(Page):
    items: list[Erasure]


_TURN: Final = f"{OF_SESSION}/actions/{{sequence}}"
ANSWERS: Final[Answers] = {
    ("delete", _TURN, 200): Erasure,
    ("delete", _TURN, 202): Erasure,
    ("post", f"{OF_SESSION}/erasures", 202): Erasure,
    ("get", f"{OF_SESSION}/erasures", 200): ErasurePage,
    ("get", "/api/erasures/{erasure_id}", 200): Erasure,
    ("post", "/api/erasures/{erasure_id}/confirm", 202): Erasure,
}

"""What files answer: those that are put into a collection, and those of other tools that are imported."""

from typing import Any, Final, Literal

from timemachine.api.answers.shape import Answers, Document, Page, Told
from timemachine.recording.answering.schemas import FramePut
from timemachine.recording.sessions.pure.vocabulary import Kind
from timemachine.recording.sessions.schemas import SummaryKept


class LineSkipped(Document):
    line: int
    reason: str


class FrameEnded(Document):
    frame: int
    version: int
    title: str
    edited: bool


class FrameEdited(Document):
    frame: int
    beside: int
    title: str


class PutReport(Document):
    new: int
    already_there: int
    ended: int
    ended_frames: list[FrameEnded]
    edited: int
    edited_frames: list[FrameEdited]
    skipped: list[LineSkipped]


class Source(Document):
    id: str
    name: str
    title: str
    uri: str
    media_type: str
    sha256: str
    left_out: list[str]
    put_by: str
    created_at: str
    url: str


class SourceListed(Source):
    frames: int | None
    edited: int | None


class SourcePage(Page):
    items: list[SourceListed]


class SourceFrame(Document):
    frame: int
    version: int
    sha256: str
    title: str
    start: int | None
    end: int | None
    page: Any


class SourceFrames(Page):
    items: list[SourceFrame]


class FilePassage(FramePut):
    start: int | None
    end: int | None
    page: Any


class FilePut(Document):
    frames: list[FilePassage]
    sequences: list[int]
    source: Source | None
    report: PutReport


class FileTaken(Document):
    intake_id: str


class Intake(Document):
    id: str
    collection: str
    session: str | None
    name: str
    title: str
    uri: str
    replace: bool
    status: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int | None
    report: PutReport
    error: Told | None
    source: str | None
    put_by: str
    created_at: str
    finished_at: str | None
    url: str


class DeletedBefore(Document):
    at: str
    by: str | None
    reason: str | None
    summaries: list[SummaryKept]


class Imported(Document):
    id: str
    key: str
    name: str
    url: str
    actions: int
    already_there: int
    deleted_before: DeletedBefore | None
    deleted_turns: int


class ImportReport(Document):
    lines: int
    became: dict[Kind, int]
    skipped: list[LineSkipped]
    notes: list[str]


class Import(Document):
    sessions: list[Imported]
    report: ImportReport


class HandedIn(Document):
    import_id: str


class ImportKept(Document):
    import_id: str
    name: str
    format: str
    status: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int | None
    error: Told | None
    sessions: list[Imported]
    report: ImportReport | None


_ONE: Final = "/api/collections/{name}"
ANSWERS: Final[Answers] = {
    ("post", f"{_ONE}/files", 201): FilePut,
    ("post", f"{_ONE}/files", 202): FileTaken,
    ("get", f"{_ONE}/sources", 200): SourcePage,
    ("get", f"{_ONE}/sources/{{source_id}}/frames", 200): SourceFrames,
    ("get", "/api/intakes/{intake_id}", 200): Intake,
    ("post", "/api/import", 201): Import,
    ("post", "/api/import", 202): HandedIn,
    ("get", "/api/imports/{import_id}", 200): ImportKept,
}

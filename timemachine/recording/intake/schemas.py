"""Files that are put into a collection, immediately or by a worker, as the API returns them."""

from typing import Any

from django.conf import settings
from django.urls import reverse

from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.commands import NewFrame, PutResult
from timemachine.knowledge.schemas.collections import SourceOut
from timemachine.knowledge.sources import MOST_NAMED, FrameEdited, FrameEnded
from timemachine.recording.answering.schemas import FramePut
from timemachine.recording.importing.pure.report import LineSkipped
from timemachine.recording.importing.schemas import FileFailure, FileStatus
from timemachine.recording.intake.commands import FilePut
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.queries import edited_beside_it, ended_by


class PutReport(Schema):
    """What happened to a file's passages. At most 20 frames are named in `ended_frames`, and in `edited_frames`."""

    new: int
    already_there: int
    ended: int
    ended_frames: list[FrameEnded]
    edited: int
    edited_frames: list[FrameEdited]
    skipped: list[LineSkipped]

    @classmethod
    def of(
        cls,
        counts: FilePut | Intake,
        ended_frames: list[FrameEnded],
        edited: list[FrameEdited],
        skipped: list[LineSkipped],
    ) -> "PutReport":
        """The report; `edited` are all frames that were edited."""
        return cls.from_attributes(
            counts,
            ended_frames=ended_frames,
            edited=len(edited),
            edited_frames=edited[:MOST_NAMED],
            skipped=skipped,
        )


class FilePassage(FramePut):
    """A passage that was put; `start` and `end` count characters of the file's text. They are null if the file has no such text (JSONL)."""

    start: int | None
    end: int | None
    page: Any  # as the frame's metadata has it: a number in a PDF, otherwise null

    @classmethod
    def of(cls, frame: NewFrame, put: PutResult) -> "FilePassage":
        origin = frame.origin
        return cls.from_attributes(
            put.frame,
            frame=put.frame.number,
            already_there=put.already_there,
            start=None if origin is None else origin.start,
            end=None if origin is None else origin.end,
            page=None if origin is None else frame.metadata.get("page"),
        )


class FilePutOut(Schema):
    """A file that was put immediately: its passages, and the sequences of the steps if a session recorded them."""

    frames: list[FilePassage]
    sequences: list[int]
    source: SourceOut | None
    report: PutReport

    @classmethod
    def of(cls, done: FilePut) -> "FilePutOut":
        return cls.model_construct(
            frames=[FilePassage.of(frame, put) for frame, put in zip(done.frames, done.puts, strict=True)],
            sequences=done.sequences,
            source=None if done.source is None else SourceOut.of(done.source),
            report=PutReport.of(done, done.ended_frames, done.edited, skipped=[]),
        )


class IntakeAccepted(Schema):
    """The id of an intake, by which a worker puts the file."""

    intake_id: str


class IntakeOut(Schema):
    """A file that a worker puts into a collection: `done` of `total` passages are put; `total` is null until the file was read."""

    id: str
    collection: str
    session: str | None
    name: str
    title: str
    uri: str
    replace: bool
    status: FileStatus
    done: int
    total: int | None
    report: PutReport
    error: FileFailure | None
    source: str | None
    put_by: str
    created_at: str
    finished_at: str | None
    url: str

    @classmethod
    def of(cls, intake: Intake) -> "IntakeOut":
        """The intake; up to five queries once the file is in."""
        failed = intake.error_code is not None
        skipped = [LineSkipped.model_construct(**each) for each in intake.skipped]
        return cls.from_attributes(
            intake,
            collection=intake.collection.name,
            session=intake.session_id,
            report=PutReport.of(intake, ended_by(intake), edited_beside_it(intake), skipped),
            error=FileFailure.of(intake) if failed else None,
            source=intake.source_id,
            url=f"{settings.PUBLIC_URL}{reverse('intake', args=[intake.id])}",
        )
